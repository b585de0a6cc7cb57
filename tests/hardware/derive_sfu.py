"""Derives isa/sfu/coefficients.json from dense sweeps of the approximate instructions on an H200.

    python3 derive_sfu.py FOLDER [OUTPUT]    FOLDER holds sfu_sweep.py and its <sweep>.npz files

Each result of a sweep bounds the unit's sum before truncation: result <= c0 + c1*x + c2*square(x) < result + 1 ulp.
Per segment, least squares gives c2, which proves to be a whole number of steps of its grid; with c2 fixed it gives c1,
likewise; what is left is an interval for c0 that satisfies every bound. An empty interval would refute the model.
"""

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

I64 = NDArray[np.int64]
UNIT = 40  # sums are counted in 2**-40
LOW = 17  # bits of x below a segment's index


def fold(x: I64) -> I64:
    """The unit's square of a 17-bit x: the folded partial products of weight 2**19 and above, divided by 2**19."""
    total = np.zeros_like(x)
    for i in range(LOW):
        for j in range(i + 1):
            weight = i + j + (i != j)
            if weight >= 19:
                total += ((x >> i) & (x >> j) & 1) << (weight - 19)
    return total


class Bounds(NamedTuple):
    """Where the sum lies, element by element: lo <= sum < hi; elements of a segment, and their low bits."""

    segment: I64
    x: I64
    lo: I64
    hi: I64


def positive(bits: NDArray[np.uint32], segment: I64, x: I64, scale: int = 0) -> Bounds:
    """Bounds from results that are the truncated sum times 2**-scale."""
    f = (bits & np.uint32(0x7FFFFFFF)).view(np.float32).astype(np.float64) * 2.0 ** (UNIT + scale)
    ulp = np.spacing((bits & np.uint32(0x7FFFFFFF)).view(np.float32)).astype(np.float64) * 2.0 ** (UNIT + scale)
    lo = f.astype(np.int64)
    return Bounds(segment, x, lo, lo + np.maximum(ulp, 1).astype(np.int64))


def mantissa(x: NDArray[np.float32]) -> I64:
    """The 23 stored bits."""
    return (x.view(np.uint32) & np.uint32(0x7FFFFF)).astype(np.int64)


class Sweeps:
    """The recorded sweeps of a folder."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder))
        import sfu_sweep  # type: ignore[import-not-found]

        self.module: ModuleType = sfu_sweep
        self.folder = folder

    def inputs(self, name: str) -> NDArray[np.float32]:
        """The inputs of a sweep."""
        x: NDArray[np.float32] = self.module.inputs(name)
        return x

    def results(self, name: str) -> NDArray[np.uint32]:
        """The results of the plain form."""
        with np.load(self.folder / f"{name}.npz") as data:
            r: NDArray[np.uint32] = self.module.restore(name, dict(data))
        return r


def rcp(s: Sweeps) -> Bounds:
    """128 segments of [1, 2)."""
    m = mantissa(s.inputs("rcp"))
    return positive(s.results("rcp"), m >> 16, (m & 0xFFFF) << 1)


def rsqrt(s: Sweeps) -> Bounds:
    """64 segments of [1, 2), 64 of [2, 4)."""
    m = np.arange(1, 1 << 24, dtype=np.int64)  # rsqrt(1) = 1 is a special case: the sum stays below it
    return positive(s.results("rsqrt")[1:], m >> LOW, m & 0x1FFFF)


def sqrt(s: Sweeps) -> Bounds:
    """64 segments of [1, 2), 64 of [2, 4)."""
    m = np.arange(1 << 24, dtype=np.int64)
    return positive(s.results("sqrt"), m >> LOW, m & 0x1FFFF)


def ex2(s: Sweeps) -> Bounds:
    """64 segments of the fraction."""
    m = np.arange(1 << 23, dtype=np.int64)
    return positive(s.results("ex2"), m >> LOW, m & 0x1FFFF)


def lg2(s: Sweeps) -> Bounds:
    """64 segments of [1, 2); from below 1 comes the same sum minus one, its magnitude cut at 2**-36."""
    m = np.arange(1 << 23, dtype=np.int64)
    above = positive(s.results("lg2"), m >> LOW, m & 0x1FFFF)
    below = positive(s.results("lg2_below1"), m >> LOW, m & 0x1FFFF)
    one, cut = 1 << UNIT, 1 << (UNIT - 36)
    lo = np.maximum(above.lo, one + 1 - np.maximum(below.hi, below.lo + cut))
    hi = np.minimum(np.maximum(above.hi, above.lo + cut), one + 1 - below.lo)
    return Bounds(*(a[1:] for a in (above.segment, above.x, lo, hi)))  # lg2(1) = 0 is a special case


def turns(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """x / 2 pi as the instruction stream computes it: times 0x3e22f983, toward zero."""
    product = x.astype(np.float64) * float(np.uint32(0x3E22F983).view(np.float32))
    y = product.astype(np.float32)
    return np.where(np.abs(y.astype(np.float64)) > np.abs(product), np.nextafter(y, np.float32(0)), y)


def sin(s: Sweeps) -> Bounds:
    """64 segments of the quadrant; sin and cos of every quadrant look up the same phases."""
    found = np.full(1 << 23, -1, np.int64)
    for name in ("", "_range", "_wide"):
        for op, quarter in (("sin", 0), ("cos", 1)):
            x = s.inputs(op + name)
            r = s.results(op + name)
            y = np.abs(turns(x).astype(np.float64))
            ok = np.isfinite(y) & (y < 2.0**25)
            phase = np.floor(y[ok] * 2.0**25).astype(np.int64) + (quarter << 23)
            p = np.where((phase >> 23) & 1, ~phase, phase) & 0x7FFFFF
            value = (r[ok] & np.uint32(0x7FFFFFFF)).astype(np.int64)
            assert not np.any((found[p] >= 0) & (found[p] != value)), "a phase has two sines"
            found[p] = value
    p = np.flatnonzero(found >= 0)
    return positive(found[p].astype(np.uint32), p >> LOW, p & 0x1FFFF)


# How many leading bits of the mantissa choose the segment, for arguments of [2**-8, 2**-7), ..., [4, 8).
TANH_BITS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)


def tanh(s: Sweeps) -> Bounds:
    """51 segments, finest around 1."""
    parts = []
    bits = np.array(TANH_BITS)
    base = np.cumsum(1 << bits) - (1 << bits)
    for name in ("tanh", "tanh_dense", "tanh_wide"):
        x, r = s.inputs(name), s.results(name)
        ok = (np.abs(x) >= 2.0**-8) & (np.abs(x) < 8)
        e = ((x[ok].view(np.uint32) >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int64) - 119
        m = mantissa(x[ok])
        parts.append(positive(r[ok], base[e] + (m >> (23 - bits[e])), (m >> (6 - bits[e])) & 0x1FFFF))
    return Bounds(*(np.concatenate(a) for a in zip(*parts, strict=True)))


class Solution(NamedTuple):
    """Coefficients; the sum is (c0 << shift0) + bias + (c1 << shift1) * x + (c2 << shift2) * square."""

    shift0: int
    bias: int
    shift1: int
    shift2: int
    c0: list[int]
    c1: list[int]
    c2: list[int]


def solve(b: Bounds, shift1: int, shift2: int) -> Solution:
    """Finds the coefficients of every segment and checks that they satisfy every bound."""
    square = fold(np.arange(1 << LOW, dtype=np.int64))
    order = np.argsort(b.segment, kind="stable")
    edges = np.searchsorted(b.segment[order], np.arange(int(b.segment.max()) + 2))
    c1, c2, first, last = [], [], [], []
    for k in range(len(edges) - 1):
        i = order[edges[k] : edges[k + 1]]
        x, lo, hi = b.x[i], b.lo[i], b.hi[i]
        weight = 1 / (hi - lo)
        middle = (lo + hi) / 2
        ones = np.ones(len(i))
        a = np.stack([ones, x / 2.0**LOW, square[x] / 2.0**15], 1) * weight[:, None]
        k2 = round(np.linalg.lstsq(a, middle * weight, rcond=None)[0][2] / 2 ** (15 + shift2))
        rest = middle - (k2 << shift2) * square[x]
        k1 = round(np.linalg.lstsq(a[:, :2], rest * weight, rcond=None)[0][1] / 2 ** (LOW + shift1))
        tail = (k1 << shift1) * x + (k2 << shift2) * square[x]
        c1.append(k1)
        c2.append(k2)
        first.append(int((lo - tail).max()))
        last.append(int((hi - tail).min()) - 1)
        assert first[-1] <= last[-1], f"segment {k}: no c0 gives every result ({first[-1]}..{last[-1]})"
    shift0, bias = grid(first, last)
    return Solution(shift0, bias, shift1, shift2, [(v - bias) >> shift0 for v in last], c1, c2)


def grid(first: list[int], last: list[int]) -> tuple[int, int]:
    """The coarsest grid, and its offset, that meets every interval."""
    for shift in range(20, -1, -1):
        step = 1 << shift
        lo = np.array(first)
        hi = np.array(last)
        # offsets t in [0, step) with some k: lo <= k*step + t <= hi
        good = np.ones(step, bool)
        t = np.arange(step)
        for a, z in zip(lo, hi, strict=True):
            good &= (t - a) % step <= z - a
            if not good.any():
                break
        else:
            return shift, int(np.flatnonzero(good)[0])
    raise AssertionError("unreachable: step 1 meets every interval")


FUNCTIONS: dict[str, tuple[Callable[[Sweeps], Bounds], int, int]] = {
    "rcp": (rcp, 0, 1),
    "rsqrt": (rsqrt, 0, 2),
    "sqrt": (sqrt, 0, 1),
    "ex2": (ex2, 0, 2),
    "lg2": (lg2, 2, 3),
    "sin": (sin, 2, 3),
    "tanh": (tanh, 0, 2),
}


def wrapped(name: str, values: list[int]) -> str:
    """One list of numbers in the table's text."""
    lines = textwrap.wrap(", ".join(map(str, values)), 128, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return f'    "{name}": [\n' + "\n".join(lines) + "\n    ]"


def main() -> None:
    """Solves every function and writes the table."""
    sweeps = Sweeps(Path(sys.argv[1]))
    functions = []
    for name, (bounds, shift1, shift2) in FUNCTIONS.items():
        s = solve(bounds(sweeps), shift1, shift2)
        widths = [max(max(c), -min(c)).bit_length() for c in (s.c0, s.c1, s.c2)]
        print(f"{name}: {len(s.c0)} segments, coefficients of {widths} bits, c0 in steps of 2**{s.shift0 - UNIT}, bias {s.bias}")
        head = f'    "shift0": {s.shift0}, "bias": {s.bias}, "shift1": {s.shift1}, "shift2": {s.shift2}'
        rows = [head, *(wrapped(c, v) for c, v in (("c0", s.c0), ("c1", s.c1), ("c2", s.c2)))]
        functions.append(f'  "{name}": {{\n' + ",\n".join(rows) + "\n  }")
    default = Path(__file__).parents[2] / "isa" / "sfu" / "coefficients.json"
    (Path(sys.argv[2]) if len(sys.argv) > 2 else default).write_text("{\n" + ",\n".join(functions) + "\n}\n")


if __name__ == "__main__":
    main()
