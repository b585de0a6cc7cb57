"""The short ways of the approximate functions: the same bits as their definitions, in at most 25 array passes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.isa.sfu import ordinary, single

F32 = NDArray[np.float32]
ONE_OPERAND = ["rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "cos"]
MOST = 25


def arguments() -> F32:
    """Random patterns, and every exponent with mantissas around the ends of segments."""
    rng = np.random.default_rng(7)
    edges = (np.arange(0, 1 << 23, 1 << 16)[:, None] + np.arange(-2, 3)).ravel().astype(np.uint32) & np.uint32(0x7FFFFF)
    exponents = np.array([*range(0, 256, 9), 1, 2, 119, 120, 121, 126, 127, 128, 129, 130, 131, 253, 254, 255], np.uint32) << np.uint32(23)
    grid = (exponents[:, None] | edges).ravel()
    random = rng.integers(0, 1 << 32, 1 << 15, dtype=np.uint32)
    return np.concatenate([grid, grid | np.uint32(1 << 31), random]).view(np.float32).reshape(1, -1)


def forms() -> list[tuple[str, tuple[bool, ...]]]:
    return [(n, (ftz,)) for n in (*ONE_OPERAND, "div_approx", "div_full") for ftz in (False, True)] + [("tanh", ())]


def operands(name: str, x: F32) -> list[F32]:
    return [np.random.default_rng(3).permutation(x.ravel()).reshape(x.shape), x] if name.startswith("div") else [x]


@pytest.mark.parametrize(("name", "flags"), forms())
def test_same_bits_as_the_definition(name: str, flags: tuple[bool, ...]) -> None:
    xs = operands(name, arguments())
    with np.errstate(all="ignore"):
        got, want = (getattr(m, name)(*xs, *flags).view(np.uint32) for m in (ordinary, single))
    np.testing.assert_array_equal(got, want)


class Counted(np.ndarray[Any, Any]):
    """An array that counts the passes over arrays of its size."""

    passes = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (), **kw: Any) -> Any:
        Counted.passes += 1
        plain = [np.asarray(x) for x in inputs]
        if out:
            kw["out"] = tuple(np.asarray(o) for o in out)
        result = getattr(ufunc, method)(*plain, **kw)
        return out[0] if out else np.asarray(result).view(Counted)

    def astype(self, *args: Any, **kw: Any) -> Any:
        Counted.passes += 1
        return np.asarray(self).astype(*args, **kw).view(Counted)


def counted_take(a: NDArray[Any], indices: NDArray[Any], **kw: Any) -> Any:
    """np.take as one more pass."""
    Counted.passes += 1
    return np.asarray(a)[np.clip(np.asarray(indices), 0, len(a) - 1)].view(Counted)


@pytest.mark.parametrize(("name", "flags"), forms())
def test_passes(name: str, flags: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(1).uniform(0.6, 1.9, (1, 4096)).astype(np.float32)
    getattr(ordinary, name)(*operands(name, x), *flags)  # makes the tables
    monkeypatch.setattr(np, "take", counted_take)
    Counted.passes = 0
    getattr(ordinary, name)(*[a.view(Counted) for a in operands(name, x)], *flags)
    assert 15 <= Counted.passes <= MOST
