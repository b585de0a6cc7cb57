"""Triton's launcher: grids, hooks, options, tensor maps, types; run as triton_tutorials.py is."""

import ctypes

import numpy as np
import pytest
import triton
import triton.language as tl
from device_arrays import DeviceArray, begin, cuda, normal, succeed, zeros
from triton import knobs
from triton.tools.tensor_descriptor import TensorDescriptor

begin()


@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@pytest.mark.parametrize("grid", [(4,), (4, 1), (4, 1, 1), lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)])
def test_grids(grid):
    x, out = normal(1000), zeros(1000)
    twice[grid](x, out, 1000, BLOCK=256)
    assert np.array_equal(out.get(), 2 * x.like)


@pytest.mark.parametrize(
    "options", [{"launch_cooperative_grid": True}, {"launch_pdl": True}, {"num_ctas": 2}, {"maxnreg": 64}, {"num_warps": 8}]
)
def test_options(options):
    x, out = normal(1000), zeros(1000)
    twice[(2,)](x, out, 1000, BLOCK=512, **options)
    assert np.array_equal(out.get(), 2 * x.like)


def test_hooks():
    seen = []
    hooks = [
        (knobs.runtime.launch_enter_hook, lambda metadata: seen.append(("enter", metadata.get()["name"]))),
        (knobs.runtime.launch_exit_hook, lambda metadata: seen.append(("exit", metadata.get()["name"]))),
    ]
    for chain, hook in hooks:
        chain.add(hook)
    try:
        x, out = normal(16), zeros(16)
        twice[(1,)](x, out, 16, BLOCK=16)
    finally:
        for chain, hook in hooks:
            chain.remove(hook)
    assert seen == [("enter", "twice"), ("exit", "twice")]
    assert np.array_equal(out.get(), 2 * x.like)


def test_a_hook_before_each_run():
    seen = []

    @triton.jit
    def negate(x, n: tl.constexpr):
        at = tl.arange(0, n)
        tl.store(x + at, -tl.load(x + at))

    negate.add_pre_run_hook(lambda *arguments, **options: seen.append(options["n"]))
    x = normal(16)
    negate[(1,)](x, n=16)
    assert seen == [16] and np.array_equal(x.get(), -x.like)


def test_streams():
    stream = ctypes.c_void_p()
    succeed(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    x, out = normal(16), zeros(16)
    kernel = twice.warmup(x, out, 16, BLOCK=16, grid=(1,))
    kernel[(1, 1, 1)](x, out, 16, 16, stream=stream.value)
    succeed(cuda.cuStreamSynchronize(stream))
    assert np.array_equal(out.get(), 2 * x.like)


@triton.jit
def multiply(a_map, b_map, c_map, K, B: tl.constexpr):
    m, n = tl.program_id(0) * B, tl.program_id(1) * B
    total = tl.zeros((B, B), dtype=tl.float32)
    for k in tl.range(0, K, B):
        total = tl.dot(a_map.load([m, k]), b_map.load([k, n]), total)
    c_map.store([m, n], total.to(tl.float16))


@pytest.mark.parametrize("blocks", [1, 2])
def test_tensor_maps_of_the_host(blocks):
    a, b, c = normal(128, 192, dtype="float16"), normal(192, 128, dtype="float16"), zeros(128, 128, dtype="float16")
    maps = [TensorDescriptor(x, list(x.shape), [x.stride(0), 1], [64, 64]) for x in (a, b, c)]
    multiply[(2, 2)](*maps, 192, B=64, num_warps=4, num_ctas=blocks)
    np.testing.assert_allclose(c.get().astype(np.float32), a.like.astype(np.float32) @ b.like.astype(np.float32), atol=2e-2, rtol=2e-3)


@triton.jit
def dot(a, b, c, T: tl.constexpr, PRECISION: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at).to(T), tl.load(b + at).to(T), input_precision=PRECISION).to(tl.float32))


@pytest.mark.parametrize(
    ("type", "precision", "error"),
    [(tl.float32, "tf32", 1e-1), (tl.float32, "ieee", 1e-4), (tl.float32, "tf32x3", 1e-3), (tl.bfloat16, None, 3e-1),
     (tl.float8e5, None, 6), (tl.float8e4nv, None, 3), (tl.int8, None, 0)],
)  # fmt: skip
def test_types_of_products(type, precision, error):
    a, b = (DeviceArray(np.rint(2 * normal(64, 64).like) if type is tl.int8 else normal(64, 64).like) for _ in range(2))
    c = zeros(64, 64)
    dot[(1,)](a, b, c, T=type, PRECISION=precision)
    np.testing.assert_allclose(c.get(), a.like @ b.like, atol=error)


@triton.jit
def collective(x, sums, rest, n: tl.constexpr):
    at = tl.arange(0, n)
    values = tl.load(x + at)
    tl.store(sums + at, tl.cumsum(values))
    tl.store(rest, tl.max(values))
    tl.store(rest + 1, tl.argmax(values, 0).to(tl.float32))
    tl.atomic_add(rest + 2 + at % 4, 1.0)
    tl.store(x + at, tl.sort(values))


def test_scans_reductions_sorts_and_atomics():
    x, sums, rest = normal(1024), zeros(1024), zeros(6)
    collective[(1,)](x, sums, rest, n=1024)
    np.testing.assert_allclose(sums.get(), np.cumsum(x.like.astype(np.float64)), atol=1e-3)
    assert rest.get().tolist() == [x.like.max(), x.like.argmax(), *[256] * 4]
    assert np.array_equal(x.get(), np.sort(x.like))


@triton.jit
def printing(x):
    tl.device_print("x", tl.load(x + tl.arange(0, 2)))


def test_prints(capfd):
    printing[(1,)](DeviceArray(np.array([5, 6], np.int32)), num_warps=1)
    succeed(cuda.cuCtxSynchronize())
    found = capfd.readouterr().out
    assert "x: 5" in found and "x: 6" in found
