"""The kernels of Triton's tutorials: pytest runs this file under `warplab exec`, or on a machine that has a GPU."""

import numpy as np
import pytest
import triton
import triton.language as tl
from device_arrays import DeviceArray, begin, normal, zeros

begin()


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)


def test_vector_add():
    n = 12304
    x, y, out = normal(n), normal(n), zeros(n)
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=1024)
    assert np.array_equal(out.get(), x.like + y.like)


@triton.jit
def softmax_kernel(out, x, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
        at = tl.arange(0, BLOCK)
        mask = at < columns
        values = tl.load(x + row * x_stride + at, mask=mask, other=-float("inf"))
        powers = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + at, powers / tl.sum(powers, axis=0), mask=mask)


def test_fused_softmax():
    x, out = normal(37, 781), zeros(37, 781)
    sizes = x, x.stride(0), out.stride(0), 37, 781
    kernel = softmax_kernel.warmup(out, *sizes, BLOCK=1024, num_stages=4, num_warps=8, grid=(1,))
    kernel._init_handles()
    assert kernel.n_regs > 0 and kernel.metadata.shared > 0
    kernel[(8, 1, 1)](out, *sizes, 1024, 4)
    powers = np.exp(x.like - x.like.max(1, keepdims=True))
    np.testing.assert_allclose(out.get(), powers / powers.sum(1, keepdims=True), rtol=1e-5)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, am, ak, bk, bn, cm, cn,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, LEAKY: tl.constexpr):  # fmt: skip
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    group = min(rows - first, GROUP)
    i, j = first + pid % (GROUP * columns) % group, pid % (GROUP * columns) // group
    at_m, at_n, at_k = (i * BM + tl.arange(0, BM)) % M, (j * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    a_at = a + at_m[:, None] * am + at_k[None, :] * ak
    b_at = b + at_k[:, None] * bk + at_n[None, :] * bn
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(a_at, mask=at_k[None, :] < K - k * BK, other=0.0)
        y = tl.load(b_at, mask=at_k[:, None] < K - k * BK, other=0.0)
        total = tl.dot(x, y, total)
        a_at += BK * ak
        b_at += BK * bk
    if LEAKY:
        total = tl.where(total >= 0, total, 0.01 * total)
    out_m, out_n = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    tl.store(c + out_m[:, None] * cm + out_n[None, :] * cn, total.to(tl.float16), mask=(out_m[:, None] < M) & (out_n[None, :] < N))


def product(a, b):
    return a.like.astype(np.float32) @ b.like.astype(np.float32)


def near(c, wanted):
    np.testing.assert_allclose(c.get().astype(np.float32), wanted, atol=2e-2, rtol=2e-3)


@pytest.mark.parametrize("leaky", [False, True])
def test_matrix_multiplication(leaky):
    M, N, K = 192, 160, 136
    a, b, c = normal(M, K, dtype="float16"), normal(K, N, dtype="float16"), zeros(M, N, dtype="float16")
    strides = [x.stride(axis) for x in (a, b, c) for axis in (0, 1)]
    matmul_kernel[lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]),)](
        a, b, c, M, N, K, *strides, BM=64, BN=64, BK=32, GROUP=8, LEAKY=leaky, num_stages=3, num_warps=4
    )
    wanted = product(a, b)
    near(c, np.where(wanted >= 0, wanted, 0.01 * wanted) if leaky else wanted)


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, tl.where(tl.rand(seed, at) > p, x / (1 - p), 0.0), mask=at < n)


def test_low_memory_dropout():
    x = DeviceArray(np.ones(5000, np.float32))
    found = []
    for seed in (123, 123, 512):
        out = zeros(5000)
        dropout_kernel[(5,)](x, out, 5000, 0.5, seed, BLOCK=1024)
        found.append(out.get())
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])
    assert set(found[0]) == {0, 2} and abs((found[0] > 0).mean() - 0.5) < 0.05


@triton.jit
def layer_norm_forward(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(X + at, mask=at < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.where(at < N, tl.load(X + at, mask=at < N, other=0.0) - mean, 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = at < N
        x = tl.load(X + at, mask=mask, other=0.0)
        tl.store(Y + at, (x - mean) * rstd * tl.load(W + at, mask=mask) + tl.load(B + at, mask=mask), mask=mask)


@triton.jit
def layer_norm_backward(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < N
    Lock += row % GROUP
    Count = Lock + GROUP
    DW += row % GROUP * N + at
    DB += row % GROUP * N + at
    x, dy = tl.load(X + row * stride + at, mask=mask, other=0.0), tl.load(DY + row * stride + at, mask=mask, other=0.0)
    rstd = tl.load(Rstd + row)
    xhat = tl.where(mask, (x - tl.load(Mean + row)) * rstd, 0.0)
    wdy = tl.where(mask, tl.load(W + at, mask=mask) * dy, 0.0)
    first, second = tl.sum(xhat * wdy, axis=0) / N, tl.sum(wdy, axis=0) / N
    tl.store(DX + row * stride + at, (wdy - (xhat * first + second)) * rstd, mask=mask)
    part_w, part_b = dy * xhat, dy
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    if tl.load(Count) == 0:
        tl.atomic_xchg(Count, 1)
    else:
        part_w += tl.load(DW, mask=mask)
        part_b += tl.load(DB, mask=mask)
    tl.store(DW, part_w, mask=mask)
    tl.store(DB, part_b, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


def test_layer_norm():
    M, N, groups = 24, 200, 8
    x, w, b, y, mean, rstd = normal(M, N), normal(N), normal(N), zeros(M, N), zeros(M), zeros(M)
    layer_norm_forward[(M,)](x, y, w, b, mean, rstd, N, N, 1e-5, BLOCK=128, num_warps=4)
    wide = x.like.astype(np.float64)
    scale = 1 / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    xhat = (wide - wide.mean(1, keepdims=True)) * scale
    np.testing.assert_allclose(y.get(), xhat * w.like + b.like, atol=1e-5)
    dy, dx, dw, db, locks = normal(M, N), zeros(M, N), zeros(groups, N), zeros(groups, N), zeros(2 * groups, dtype="int32")
    layer_norm_backward[(M,)](dx, dy, dw, db, x, w, mean, rstd, locks, N, N, GROUP=groups, BLOCK=256, num_warps=4)
    wdy = w.like * dy.like
    np.testing.assert_allclose(
        dx.get(), (wdy - (xhat * (xhat * wdy).mean(1, keepdims=True) + wdy.mean(1, keepdims=True))) * scale, atol=1e-4
    )
    np.testing.assert_allclose(dw.get().sum(0), (dy.like * xhat).sum(0), atol=1e-3)
    np.testing.assert_allclose(db.get().sum(0), dy.like.sum(0), atol=1e-3)


@triton.jit
def attention_kernel(Q, K, V, Out, scale, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    start, base = tl.program_id(0), tl.program_id(1) * n * D
    at_m, at_d, at_n = start * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    q = tl.load(Q + base + at_m[:, None] * D + at_d[None, :])
    most = tl.zeros([BM], dtype=tl.float32) - float("inf")
    total = tl.zeros([BM], dtype=tl.float32) + 1.0
    out = tl.zeros([BM, D], dtype=tl.float32)
    for s in tl.range(0, (start + 1) * BM if CAUSAL else n, BN):
        k = tl.load(K + base + (s + at_n)[None, :] * D + at_d[:, None])
        qk = tl.dot(q, k) * scale * 1.44269504
        if CAUSAL:
            qk = tl.where(at_m[:, None] >= (s + at_n)[None, :], qk, -1.0e6)
        now = tl.maximum(most, tl.max(qk, 1))
        p, fading = tl.math.exp2(qk - now[:, None]), tl.math.exp2(most - now)
        total = total * fading + tl.sum(p, 1)
        v = tl.load(V + base + (s + at_n)[:, None] * D + at_d[None, :])
        out = tl.dot(p.to(tl.float16), v, out * fading[:, None])
        most = now
    tl.store(Out + base + at_m[:, None] * D + at_d[None, :], (out / total[:, None]).to(tl.float16))


@pytest.mark.parametrize("causal", [False, True])
def test_fused_attention(causal):
    heads, n, D = 2, 128, 64
    q, k, v, out = (*(normal(heads, n, D, dtype="float16") for _ in range(3)), zeros(heads, n, D, dtype="float16"))
    attention_kernel[(n // 64, heads)](q, k, v, out, 0.125, n, BM=64, BN=32, D=D, CAUSAL=causal, num_warps=4, num_stages=2)
    scores = np.einsum("hid,hjd->hij", q.like.astype(np.float64), k.like.astype(np.float64)) * 0.125
    if causal:
        scores = np.where(np.tril(np.ones((n, n))) > 0, scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(out.get(), powers / powers.sum(-1, keepdims=True) @ v.like.astype(np.float64), atol=1e-2)


@triton.jit
def asin_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.extra.cuda.libdevice.asin(tl.load(x + at, mask=at < n)), mask=at < n)


def test_functions_of_libdevice():
    x, y = DeviceArray(np.linspace(-1, 1, 1000)), zeros(1000, dtype="float64")
    asin_kernel[(4,)](x, y, 1000, BLOCK=256)
    np.testing.assert_allclose(y.get(), np.arcsin(x.like), rtol=1e-12)


@triton.jit
def grouped_kernel(a_at, b_at, c_at, sizes, GROUPS: tl.constexpr, PROGRAMS: tl.constexpr, B: tl.constexpr, BK: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for g in range(GROUPS):
        M, N, K = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        columns = tl.cdiv(N, B)
        count = tl.cdiv(M, B) * columns
        while tile >= last and tile < last + count:
            a = tl.load(a_at + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_at + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_at + g).to(tl.pointer_type(tl.float16))
            at_m, at_n = (tile - last) // columns * B + tl.arange(0, B), (tile - last) % columns * B + tl.arange(0, B)
            at_k = tl.arange(0, BK)
            total = tl.zeros((B, B), dtype=tl.float32)
            for k in range(0, K, BK):
                x = tl.load(a + at_m[:, None] * K + (k + at_k)[None, :])
                total += tl.dot(x, tl.load(b + (k + at_k)[:, None] * N + at_n[None, :]))
            tl.store(c + at_m[:, None] * N + at_n[None, :], total.to(tl.float16))
            tile += PROGRAMS
        last += count


def test_grouped_multiplication():
    sizes = [(128, 64, 64), (64, 128, 96), (64, 64, 32)]
    sets = [(normal(M, K, dtype="float16"), normal(K, N, dtype="float16"), zeros(M, N, dtype="float16")) for M, N, K in sizes]
    places = [DeviceArray(np.array([s[i].at for s in sets])) for i in range(3)]
    grouped_kernel[(4,)](*places, DeviceArray(np.array(sizes, np.int32)), GROUPS=3, PROGRAMS=4, B=64, BK=32)
    for a, b, c in sets:
        near(c, product(a, b))


@triton.jit
def persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZED: tl.constexpr):
    a_map = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_map = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    c_map = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    for tile in tl.range(tl.program_id(0), (M // BM) * (N // BN), tl.num_programs(0), flatten=True, warp_specialize=SPECIALIZED):
        m, n = tile % (M // BM) * BM, tile // (M // BM) * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K // BK):
            total = tl.dot(a_map.load([m, k * BK]), b_map.load([k * BK, n]), total)
        c_map.store([m, n], total.to(tl.float16))


@pytest.mark.parametrize("specialized", [False, True])
def test_persistent_multiplication_with_maps_that_the_kernel_makes(specialized):
    triton.set_allocator(lambda size, align, stream: zeros(size + align, dtype="int8"))
    a, b, c = normal(128, 192, dtype="float16"), normal(192, 128, dtype="float16"), zeros(128, 128, dtype="float16")
    persistent_kernel[(3,)](a, b, c, 128, 128, 192, BM=64, BN=64, BK=64, SPECIALIZED=specialized, num_warps=4)
    near(c, product(a, b))
