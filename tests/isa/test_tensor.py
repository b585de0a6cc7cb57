"""Fragments and the tensor cores' arithmetic: layouts; whole numbers against plain products, floats against fractions."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa import fragments
from warplab.isa.floats import tensor
from warplab.isa.fragments import Layout
from warplab.isa.notation import resolve
from warplab.isa.ops.matrix import transpose
from warplab.isa.ops.wgmma import pieces
from warplab.isa.ops.wmma import fragment

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)

LAYOUTS = [
    fragments.layout_a(m, k, bits) for m, k, bits in ((8, 16, 8), (16, 8, 16), (16, 16, 16), (16, 8, 32), (16, 16, 64), (16, 256, 1))
]
LAYOUTS += [fragments.layout_b(k, 8, bits) for k, bits in ((4, 64), (16, 16), (64, 4), (128, 1), (32, 8))]
LAYOUTS += [fragments.layout_c(m, n, bits) for m, n, bits in ((8, 8, 32), (16, 8, 16), (16, 8, 64), (32, 8, 32), (16, 256, 32))]
LAYOUTS += [fragments.quad_a(True), fragments.quad_a(False), fragments.quad_b(True), fragments.quad_b(False), fragments.quad_c(16)]
LAYOUTS += [fragments.quad_c(32), fragment("b", "m8n32k16", "s8"), fragment("c", "m8n32k16", "f32"), fragment("b", "m16n16k16", "bf16")]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_fragment_holds_every_element_once_and_survives_the_way_through_a_matrix(layout: Layout) -> None:
    assert np.array_equal(np.sort(layout.keys()), np.arange(layout.tiles * layout.rows * layout.columns))
    rng = np.random.default_rng(1)
    if layout.bits == 64:
        registers = tuple(rng.random((3, 32)) for _ in range(layout.registers))
    else:
        registers = tuple(rng.integers(0, 2**32, (3, 32), np.uint32) for _ in range(layout.registers))
    matrix = fragments.collect(registers, layout)
    assert matrix.shape == (layout.rows, layout.columns, 3 * layout.tiles)
    if layout.bits in (8, 16, 32, 64):
        back = fragments.spread(matrix, layout)
        assert all(np.array_equal(x, y) for x, y in zip(registers, back, strict=True))


def test_uniform_registers_stand_for_all_lanes() -> None:
    layout = fragments.layout_a(16, 16, 16)
    narrow = fragments.collect([np.full((1, 1), 7, np.uint32)] * 3 + [np.full((2, 32), 7, np.uint32)], layout)
    assert np.array_equal(narrow, fragments.collect([np.full((2, 32), 7, np.uint32)] * 4, layout))


@pytest.mark.parametrize(("role", "shape", "count"), [("a", "m16n16k16", 2), ("b", "m32n8k16", 4), ("a", "m8n32k16", 4)])
def test_half_operands_of_wmma_repeat_themselves(role: str, shape: str, count: int) -> None:
    layout = fragment(role, shape, "f16")
    assert layout.registers == 8
    assert (np.unique(layout.keys(), return_counts=True)[1] == count).all()


def test_transposing_twice_gives_the_same_matrix() -> None:
    word = np.random.default_rng(2).integers(0, 2**32, (5, 32), np.uint32)
    layout = fragments.layout_c(8, 8, 16)
    once = transpose(word)
    assert np.array_equal(fragments.collect([once], layout), fragments.collect([word], layout).swapaxes(0, 1))
    assert np.array_equal(transpose(once), word)


# ---------------------------------------------------------------- floats


def cut(x: Fraction, unit: Fraction) -> Fraction:
    """x truncated toward zero to a multiple of unit."""
    return int(x / unit) * unit


def nominal(bits: int, fraction: int, bias: int) -> int:
    return max(bits >> fraction & (2 * bias + 1), 1) - bias


def reference(a: list[int], b: list[int], c: np.float32, width: int) -> Fraction:
    """The sum of f16 products and an f32 as the hardware forms it, before it is rounded."""
    terms = []
    for x, y in zip(a, b, strict=True):
        product = Fraction(float(np.uint16(x).view(np.float16))) * Fraction(float(np.uint16(y).view(np.float16)))
        if product:
            terms.append((product, nominal(x, 10, 15) + nominal(y, 10, 15)))
    if c:
        terms.append((Fraction(float(c)), nominal(int(c.view(np.uint32)), 23, 127)))
    top = max((e for _, e in terms), default=0)
    return sum((cut(t, Fraction(2) ** (top - width)) for t, _ in terms), Fraction(0))


@settings(max_examples=25)
@given(seeds, st.sampled_from([25, 13]))
def test_products_are_added_as_the_rule_says(rng: np.random.Generator, width: int) -> None:
    scale = np.exp2(rng.integers(-14, 6, (2, 8, 3)))
    a, b = (rng.standard_normal((2, 8, 3)) * scale).astype(np.float16).view(np.uint16)
    a[rng.random(a.shape) < 0.1] = 0
    c = np.where(rng.random((3, 3)) < 0.3, 0, rng.standard_normal((3, 3)) * np.exp2(rng.integers(-30, 10, (3, 3)))).astype(np.float32)
    x, y = tensor.terms(a[:, :, None], "f16"), tensor.terms(b[:, :, None], "f16")
    total = tensor.add_products(x, y, tensor.terms(c.view(np.uint32)[..., None], "f32"), width)[..., 0]
    for m in range(3):
        for n in range(3):
            assert Fraction(float(total[m, n])) == reference(list(map(int, a[:, m])), list(map(int, b[:, n])), c[m, n], width)


@given(st.floats(width=64, allow_nan=False))
def test_sums_are_truncated_to_float32(x: float) -> None:
    with np.errstate(all="ignore"):
        r = tensor.to_f32(np.array([x]))[0]
    if abs(x) >= 2.0**128:
        assert np.isinf(r) and (r > 0) == (x > 0)
    else:
        assert abs(Fraction(float(r))) <= abs(Fraction(x)) < abs(
            Fraction(float(np.nextafter(r, np.copysign(np.float32(np.inf), x), dtype=np.float32)))
        ) or (abs(x) > np.finfo(np.float32).max and abs(r) == np.finfo(np.float32).max)


def test_a_small_negative_sum_rounds_to_plus_zero_in_float16() -> None:
    assert tensor.to_f16(np.array([-1e-12]))[0].view(np.uint16) == 0


@pytest.mark.parametrize(
    ("a", "b", "c", "bits"),
    [
        (np.inf, 1, 0, 0x7F800000), (np.inf, 0, 0, 0x7FFFFFFF), (np.inf, 1, -np.inf, 0x7FFFFFFF), (1, 1, np.nan, 0x7FFFFFFF),
        (0, 0, -0.0, 0), (1, 1, -np.inf, 0xFF800000),
    ],
)  # fmt: skip
def test_infinities_and_nan(a: float, b: float, c: float, bits: int) -> None:
    x, y = (tensor.terms(np.full((1, 1, 1), v, np.float16).view(np.uint16), "f16") for v in (a, b))
    with np.errstate(all="ignore"):
        r = tensor.to_f32(tensor.add_products(x, y, tensor.terms(np.full((1, 1, 1), c, np.float32).view(np.uint32), "f32")))
    assert r.view(np.uint32).item() == bits


# ---------------------------------------------------------------- integers, float64, bits


def run(spelling: str, *operands: object) -> tuple[NDArray[np.generic], ...]:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, spelling
    with np.errstate(all="ignore"):
        result: tuple[NDArray[np.generic], ...] = found[0].bind(found[1])(None, *operands)
    return result


@settings(max_examples=20)
@given(seeds, st.sampled_from(["s8", "u8"]), st.sampled_from(["s8", "u8"]), st.booleans())
def test_integer_products(rng: np.random.Generator, kind_a: str, kind_b: str, saturate: bool) -> None:
    a, b, c = (rng.integers(0, 2**32, (n, 2, 32), np.uint32) for n in (4, 2, 4))
    word = ".satfinite" if saturate else ""
    d = run(f"mma.sync.aligned.m16n8k32.row.col{word}.s32.{kind_a}.{kind_b}.s32", tuple(a), tuple(b), tuple(c.view(np.int32)))
    layouts = fragments.layout_a(16, 32, 8), fragments.layout_b(32, 8, 8), fragments.layout_c(16, 8, 32)
    x, y, z, r = (fragments.collect(v, at) for v, at in zip((tuple(a), tuple(b), tuple(c), d), (*layouts, layouts[2]), strict=True))
    types = {"s8": np.int8, "u8": np.uint8}
    exact = np.einsum("mkw,knw->mnw", x.view(types[kind_a]).astype(np.int64), y.view(types[kind_b]).astype(np.int64)) + z.view(np.int32)
    expected = np.clip(exact, -(2**31), 2**31 - 1) if saturate else exact
    assert np.array_equal(r.view(np.int32), expected.astype(np.int32))


@settings(max_examples=10)
@given(seeds, st.sampled_from([("and", np.bitwise_and), ("xor", np.bitwise_xor)]))
def test_bit_products(rng: np.random.Generator, op: tuple[str, Callable[..., NDArray[np.uint8]]]) -> None:
    a, b = (rng.integers(0, 2**32, (n, 1, 32), np.uint32) for n in (2, 1))
    zero = np.zeros((2, 1, 32), np.int32)
    d = run(f"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{op[0]}.popc", tuple(a), tuple(b), (*zero, *zero))
    x, y = fragments.collect(tuple(a), fragments.layout_a(16, 128, 1)), fragments.collect(tuple(b), fragments.layout_b(128, 8, 1))
    expected = op[1](x[:, :, None], y[None]).sum(axis=1)
    assert np.array_equal(fragments.collect(d, fragments.layout_c(16, 8, 32)), expected)


@settings(max_examples=10)
@given(seeds)
def test_float64_products_of_whole_numbers(rng: np.random.Generator) -> None:
    a, b, c = (rng.integers(-(2**20), 2**20, (n, 2, 32)).astype(np.float64) for n in (8, 4, 4))
    d = run("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", tuple(a), tuple(b), tuple(c))
    layout = fragments.layout_c(16, 8, 64)
    x, y = fragments.collect(tuple(a), fragments.layout_a(16, 16, 64)), fragments.collect(tuple(b), fragments.layout_b(16, 8, 64))
    expected = np.einsum("mkw,knw->mnw", x, y) + fragments.collect(tuple(c), layout)
    assert np.array_equal(fragments.collect(d, layout), expected)


@settings(max_examples=10)
@given(seeds, st.sampled_from([0, 1]))
def test_a_sparse_matrix_is_the_dense_one_with_zeros(rng: np.random.Generator, selector: int) -> None:
    a, b, c = (rng.integers(0, 2**32, (n, 1, 32), np.uint32) for n in (2, 2, 4))
    nibbles = rng.choice(np.array([4, 8, 9, 12, 13, 14], np.uint32), (1, 32, 8))
    e = np.bitwise_or.reduce(nibbles << np.arange(0, 32, 4, dtype=np.uint32), axis=-1)
    d = run("mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", tuple(a), tuple(b), tuple(c.view(np.int32)), e, selector)
    stored = fragments.collect(tuple(a), fragments.layout_a(16, 16, 8)).view(np.int8).astype(np.int64)[..., 0]
    full = np.zeros((16, 32), np.int64)
    for row in range(16):
        lane = 4 * (row % 8) + 2 * selector + row // 8  # holds the metadata of this row
        for group in range(8):
            for which in range(2):
                full[row, 4 * group + int(nibbles[0, lane, group] >> 2 * which & 3)] = stored[row, 2 * group + which]
    y = fragments.collect(tuple(b), fragments.layout_b(32, 8, 8)).view(np.int8).astype(np.int64)[..., 0]
    layout = fragments.layout_c(16, 8, 32)
    expected = full @ y + fragments.collect(tuple(c), layout).view(np.int32)[..., 0]
    assert np.array_equal(fragments.collect(d, layout)[..., 0].view(np.int32), expected.astype(np.int32))


# ---------------------------------------------------------------- shared memory and spellings


@pytest.mark.parametrize(("mode", "width"), [(1, 128), (2, 64), (3, 32)])
def test_swizzling_permutes_pieces_within_their_pattern(mode: int, width: int) -> None:
    stride = 8 * width
    descriptor = 0x4000 >> 4 | stride >> 4 << 32 | mode << 62
    places = pieces(descriptor, 64, width // 16, False).astype(np.int64)
    assert np.array_equal(np.sort(places.ravel()), 0x4000 + 16 * np.arange(64 * width // 16))
    rows = np.arange(64)[:, None]
    assert np.array_equal(places // width * width, 0x4000 + rows // 8 * stride + rows % 8 * width + 0 * places)
    turned = pieces(descriptor, width // 16, 64, True).astype(np.int64)
    assert np.array_equal(np.sort(turned.ravel()), np.sort(places.ravel()))


LEGAL = """
    mma.sync.aligned.row.col.m16n8k8.f32.f16.f16.f32 mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32.satfinite
    mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16
    wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16
    wmma.load.a.sync.aligned.m8n8k32.row.s4 wgmma.mma_async.sync.aligned.m64n40k8.f32.tf32.tf32
    mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3
    tcgen05.ld.sync.aligned.16x256b.x8.b32
"""
ILLEGAL = """
    mma.sync.m16n8k8.row.col.f32.f16.f16.f32 mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32
    mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32
    mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16
    mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32
    mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32 mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.or.popc
    mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16 ldmatrix.sync.aligned.m8n8.x8.b16 ldmatrix.sync.aligned.m8n8.x1.b8
    ldmatrix.sync.aligned.m8n8.x4.shared::cluster.b16 movmatrix.sync.aligned.m8n8.b16 stmatrix.sync.aligned.m16n8.x1.b8
    wmma.load.a.sync.aligned.col.m8n8k128.b1 wmma.load.d.sync.aligned.row.m16n16k16.f32
    wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32
    wmma.load.a.sync.aligned.row.m16n16k16.local.f16 wmma.load.c.sync.aligned.row.m16n16k8.s32
    wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.u8
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc wgmma.fence.aligned
    tcgen05.mma.cta_group::1.kind::f16.ashift.collector::a::fill
"""


@pytest.mark.parametrize("spelling", LEGAL.split())
def test_legal_spellings(spelling: str) -> None:
    opcode, *words = spelling.split(".")
    assert resolve(opcode, tuple(words)) is not None


@pytest.mark.parametrize("spelling", ILLEGAL.split())
def test_illegal_spellings(spelling: str) -> None:
    opcode, *words = spelling.split(".")
    assert resolve(opcode, tuple(words)) is None
