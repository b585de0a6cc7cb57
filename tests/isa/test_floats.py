"""What the float meanings promise beyond their values: shapes, untouched operands, large arrays, and which spellings there are."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.floats import binary32 as floats
from warplab.isa.notation import resolve

SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((1, 1), (1, 1), (1, 1)), ((3, 1), (1, 64), (3, 64)), ((1, 1), (3, 64), (1, 64)), ((1, 64), (3, 1), (1, 1)),
    ((3, 5000), (3, 1), (1, 5000)),
]  # fmt: skip
SPELLINGS = [
    "add.f32", "add.rz.f32", "mul.rm.ftz.f32", "fma.rn.f32", "fma.rn.ftz.f32", "fma.rp.f32", "min.f32", "div.rn.f32", "add.rm.f64",
    "fma.rn.f64", "fma.rz.f64", "div.rp.f64", "add.f16", "fma.rn.f16", "max.f16", "fma.rn.bf16", "mul.bf16",
]  # fmt: skip
DTYPES = {"f32": np.uint32, "f64": np.uint64, "f16": np.uint16, "bf16": np.uint16}


def meaning(spelling: str) -> Callable[..., NDArray[np.generic]]:
    opcode, *words = spelling.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None
    return found[0].bind(found[1])


def operands(spelling: str, shapes: tuple[tuple[int, ...], ...], seed: int) -> list[NDArray[np.generic]]:
    """Random bits, a third of them one value, so that ties, zeros, subnormals and NaNs all occur."""
    rng = np.random.default_rng(seed)
    kind = spelling.rsplit(".", 1)[1]
    dtype = np.dtype(DTYPES[kind])
    count = 3 if spelling.startswith("fma") else 2
    arrays = []
    for shape in shapes[:count]:
        bits = (
            rng.integers(0, 1 << 8 * dtype.itemsize, shape, np.uint64, endpoint=False)
            if dtype.itemsize < 8
            else rng.integers(0, 2**63, shape)
        )
        one = {"f32": 0x3FC00000, "f64": 0x3FF8 << 48, "f16": 0x3E00, "bf16": 0x3FC0}[kind]
        bits = np.where(rng.random(shape) < 0.3, np.uint64(one), bits.astype(np.uint64)).astype(dtype)
        arrays.append(bits if kind == "bf16" else bits.view(f"f{dtype.itemsize}"))
    return arrays


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_broadcast_operands_give_what_full_ones_give_and_stay_as_they_were(spelling: str) -> None:
    f = meaning(spelling)
    for seed, shapes in enumerate(SHAPES):
        given = operands(spelling, shapes, seed)
        before = [x.tobytes() for x in given]
        with np.errstate(all="ignore"):
            result = f(*given)
            shape = np.broadcast(*given).shape
            single = [f(*(np.broadcast_to(x, shape)[row : row + 1, :64].copy() for x in given)) for row in range(shape[0])]
        assert result.shape == shape
        assert np.array_equal(result[:, :64].view(f"u{result.itemsize}"), np.concatenate(single).view(f"u{result.itemsize}"))
        assert [x.tobytes() for x in given] == before


def test_a_tie_whose_remainder_float64_cannot_hold_is_found_in_a_large_array() -> None:
    a, b, c = (np.full((1, 20000), v, np.float32) for v in (1.1, 0.7, 0.3))
    a[0, 17000], b[0, 17000], c[0, 17000] = 1 + 2**-23, 1 - 2**-23, 2.0**24 + 2
    expected = (a.astype(np.float64) * b + c).astype(np.float32)
    expected[0, 17000] = 2.0**24 + 2  # the product is 2**-46 short of half a unit
    assert np.array_equal(floats.fma32(a, b, c), expected)


def test_flush_keeps_signs_and_everything_that_is_not_subnormal() -> None:
    x = np.array([0x80000001, 0x007FFFFF, 0x00800000, 0x80000000, 0x7FC00001, 0xFF800000], np.uint32).view(np.float32)
    assert floats.flush(x).view(np.uint32).tolist() == [0x80000000, 0, 0x00800000, 0x80000000, 0x7FC00001, 0xFF800000]


ROUND = ("", "rn", "rz", "rm", "rp")
LEGAL: dict[tuple[str, str], Callable[[str, bool, bool], bool]] = {
    **{(op, "f32"): lambda r, ftz, sat: True for op in ("add", "sub", "mul")},
    **{(op, "f64"): lambda r, ftz, sat: not ftz and not sat for op in ("add", "sub", "mul")},
    **{(op, kind): lambda r, ftz, sat: r in ("", "rn") for op in ("add", "sub", "mul") for kind in ("f16", "f16x2")},
    **{
        (op, kind): lambda r, ftz, sat: r in ("", "rn") and not ftz and not sat
        for op in ("add", "sub", "mul")
        for kind in ("bf16", "bf16x2")
    },
    **{(op, "f32x2"): lambda r, ftz, sat: not sat for op in ("add", "sub", "mul")},
    ("fma", "f32"): lambda r, ftz, sat: r != "",
    ("mad", "f32"): lambda r, ftz, sat: True,  # without a rounding before PTX 4.0
    ("fma", "f64"): lambda r, ftz, sat: r != "" and not ftz and not sat,
    ("mad", "f64"): lambda r, ftz, sat: not ftz and not sat,  # without a rounding before PTX 1.4, as those below
    ("fma", "f16"): lambda r, ftz, sat: r == "rn",
    ("mad", "f16"): lambda r, ftz, sat: False,
    ("mad", "bf16"): lambda r, ftz, sat: False,
    ("fma", "f32x2"): lambda r, ftz, sat: r != "" and not sat,
    **{(op, "f32"): lambda r, ftz, sat: not sat and (r != "" or not ftz) for op in ("div", "rcp", "sqrt")},
    **{(op, "f64"): lambda r, ftz, sat: not sat and not ftz for op in ("div", "sqrt")},
    ("rcp", "f64"): lambda r, ftz, sat: r != "" and not sat,
    ("div", "f16"): lambda r, ftz, sat: False,
}


@pytest.mark.parametrize(("op", "kind"), LEGAL)
def test_modifiers_are_taken_and_refused_as_ptxas_does(op: str, kind: str) -> None:
    for rounding, ftz, sat in itertools.product(ROUND, (False, True), (False, True)):
        words = [w for w in (rounding, "ftz" * ftz, "sat" * sat, kind) if w]
        assert (resolve(op, tuple(words)) is not None) == LEGAL[op, kind](rounding, ftz, sat), ".".join([op, *words])


@pytest.mark.parametrize(
    "spelling",
    ["cvt.f32.f64", "cvt.rn.f64.f32", "cvt.rni.f32.f64", "cvt.rn.u32.f32", "cvt.rzi.f32.u32", "cvt.sat.u32.u16", "cvt.rn.sat.bf16.f32",
     "cvt.rn.ftz.f16.f64", "cvt.sat.f32.bf16", "cvt.rn.e4m3x2.f32", "cvt.rn.satfinite.e2m3x2.f16x2", "cvt.rz.satfinite.e4m3x2.f32",
     "cvt.rn.ftz.f16x2.f32", "cvt.rna.f32.f32", "cvt.rn.bf16x2.e4m3x2", "cvt.rn.relu.sat.f16.f32", "cvt.pack.u16.s32"],
)  # fmt: skip
def test_no_such_conversion(spelling: str) -> None:
    assert resolve("cvt", tuple(spelling.split(".")[1:])) is None
