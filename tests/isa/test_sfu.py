"""The approximate instructions against the H200 recordings of tests/data/sfu, and against the mathematics."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.isa import sfu
from warplab.isa.sfu import unit

F32 = NDArray[np.float32]

RECORDED = np.load(Path(__file__).parents[1] / "data" / "sfu" / "sfu.npz")

SINGLE: dict[str, Callable[..., F32]] = {
    "rcp": sfu.rcp, "sqrt": sfu.sqrt, "rsqrt": sfu.rsqrt, "ex2": sfu.ex2, "lg2": sfu.lg2, "sin": sfu.sin, "cos": sfu.cos,
}  # fmt: skip
HALF = {"tanh.f16": sfu.tanh_f16, "tanh.bf16": sfu.tanh_bf16, "ex2.f16": sfu.ex2_f16, "ex2.bf16": sfu.ex2_bf16}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As the engine sets it around all meanings."""
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("op", SINGLE)
def test_single(op: str, ftz: bool) -> None:
    got = SINGLE[op](RECORDED["in32.1.0"].view(np.float32), ftz)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got.view(np.uint32), RECORDED[f"{op}.approx{'.ftz' if ftz else ''}.f32"])


def test_tanh() -> None:
    got = sfu.tanh(RECORDED["in32.1.0"].view(np.float32))
    np.testing.assert_array_equal(got.view(np.uint32), RECORDED["tanh.approx.f32"])


@pytest.mark.parametrize("ftz", [False, True])
@pytest.mark.parametrize("op", ["approx", "full"])
def test_div(op: str, ftz: bool) -> None:
    function = {"approx": sfu.div_approx, "full": sfu.div_full}[op]
    got = function(RECORDED["in32.2.0"].view(np.float32), RECORDED["in32.2.1"].view(np.float32), ftz)
    np.testing.assert_array_equal(got.view(np.uint32), RECORDED[f"div.{op}{'.ftz' if ftz else ''}.f32"])


@pytest.mark.parametrize("width", ["", "x2"])
@pytest.mark.parametrize("form", HALF)
def test_half(form: str, width: str) -> None:
    op, kind = form.split(".")
    name = f"{op}.approx{'.ftz' if form == 'ex2.bf16' else ''}.{kind}{width}"
    x = RECORDED[f"in{'32x2' if width else '16'}.1.0"]
    np.testing.assert_array_equal(HALF[form](x.view(np.uint16)).view(x.dtype), RECORDED[name])


def test_double() -> None:
    x = RECORDED["in64.1.0"].view(np.float64)
    np.testing.assert_array_equal(sfu.rcp64h(x).view(np.uint64), RECORDED["rcp.approx.ftz.f64"])
    np.testing.assert_array_equal(sfu.rsqrt64h(x, True).view(np.uint64), RECORDED["rsqrt.approx.ftz.f64"])
    np.testing.assert_array_equal(sfu.rsqrt64h(x, False).view(np.uint64), RECORDED["rsqrt.approx.f64"])


@pytest.mark.parametrize(
    ("function", "exact", "low", "high", "relative", "absolute"),
    [  # the errors that the PTX manual allows, over the ranges for which it states them
        (sfu.rcp, lambda x: 1 / x, 1.0, 2.0, 2.0**-23, 0.0),
        (sfu.sqrt, np.sqrt, 1.0, 4.0, 2.0**-23, 0.0),
        (sfu.rsqrt, lambda x: 1 / np.sqrt(x), 1.0, 4.0, 2.0**-22.9, 0.0),
        (sfu.ex2, np.exp2, -20.0, 20.0, 2.0**-22.5, 0.0),
        (sfu.lg2, np.log2, 2.0, 1e6, 2.0**-22, 0.0),
        (sfu.lg2, np.log2, 0.5, 2.0, 0.0, 2.0**-22),
        (sfu.sin, np.sin, -np.pi, np.pi, 0.0, 2.0**-20.5),
        (sfu.cos, np.cos, -np.pi, np.pi, 0.0, 2.0**-20.5),
        (lambda x, ftz: sfu.tanh(x), np.tanh, -9.0, 9.0, 2.0**-11, 0.0),
    ],
)
def test_accuracy(
    function: Callable[[F32, bool], F32],
    exact: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    low: float,
    high: float,
    relative: float,
    absolute: float,
) -> None:
    x = np.linspace(low, high, 20011).astype(np.float32)
    want = exact(x.astype(np.float64))
    error = np.abs(function(x, True) - want)
    assert np.all(error <= relative * np.abs(want) + absolute)


@given(st.integers(0, (1 << 17) - 1))
def test_square_is_the_sum_of_its_upper_partial_products(x: int) -> None:
    bits = [i for i in range(17) if x >> i & 1]
    products = [1 << 2 * i for i in bits] + [1 << (i + j + 1) for i in bits for j in bits if j < i]
    assert sum(products) == x * x
    assert unit.SQUARES[x] == sum(p for p in products if p >= 1 << 19) >> 19


@pytest.mark.parametrize("shape", [(1, 1), (4, 32), (1, 0)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 0.75, np.float32)
    for function in SINGLE.values():
        assert function(x, False).shape == shape and function(x, True).shape == shape
    assert sfu.tanh(x).shape == shape
    assert sfu.rsqrt64h(x.astype(np.float64), False).shape == shape


def test_division_broadcasts() -> None:
    a, b = np.full((1, 1), 3, np.float32), np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    for function in (sfu.div_approx, sfu.div_full):
        for ftz in (False, True):
            np.testing.assert_array_equal(function(a, b, ftz), function(np.full((2, 4), 3, np.float32), b, ftz))
            np.testing.assert_array_equal(function(b, a, ftz), function(b, np.full((2, 4), 3, np.float32), ftz))
    strided = np.broadcast_to(a, (2, 4))
    np.testing.assert_array_equal(sfu.rcp(strided, False), np.broadcast_to(sfu.rcp(a, False), (2, 4)))
