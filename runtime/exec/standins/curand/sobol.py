"""Sobol's sequences, with the direction numbers of Joe and Kuo (new-joe-kuo-6): those that cannot be computed are in sobol.npz."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from .lanes import Array
from .sequences import single

DIMENSIONS = 20000
SPLIT = 0.425  # from the middle: how far the first of the three approximations reaches


@cache
def directions(bits: int) -> Array:
    """The direction vectors of all dimensions, (DIMENSIONS, bits), as whole numbers of so many bits.

    A dimension has a primitive polynomial over GF(2); of degree d, so it gives the later numbers from the d before them, the first of which are chosen.
    """
    with np.load(Path(__file__).with_name("sobol.npz")) as file:
        polynomials, chosen = file["polynomials"].astype(np.uint64), np.unpackbits(file["chosen"]).astype(np.uint64)
    out = np.ones((DIMENSIONS, bits), np.uint64)
    degrees, at = np.array([int(p).bit_length() - 1 for p in polynomials]), 0
    for degree in np.unique(degrees[1:]).tolist():
        rows = np.flatnonzero(degrees == degree)
        numbers, of = np.ones((len(rows), bits), np.uint64), polynomials[rows]
        for n in range(1, degree):  # number n has n bits above its last, which is set
            digits = chosen[at : at + n * len(rows)].reshape(len(rows), n)
            at += digits.size
            numbers[:, n] |= (digits << np.arange(n, 0, -1, dtype=np.uint64)).sum(1, dtype=np.uint64)
        for n in range(degree, bits):
            found = numbers[:, n - degree].copy()
            for back in range(1, degree + 1):
                found ^= (of >> np.uint64(degree - back) & np.uint64(1)) * (numbers[:, n - back] << np.uint64(back))
            numbers[:, n] = found
        out[rows] = numbers
    out <<= np.arange(bits - 1, -1, -1, dtype=np.uint64)
    return out.astype(f"u{bits // 8}")


class SobolSequence:
    """Of so many dimensions: a call gives the same number of points in each of them, one dimension after another."""

    def __init__(self, bits: int, dimensions: int = 1) -> None:
        self.width = bits
        self.each = self.normals_each = dimensions

    def bits(self, first: int, n: int) -> Array:
        """Whole numbers, of as many bits as the sequence has."""
        count = n // self.each
        places = np.arange(first, first + count, dtype=np.uint64)
        gray = places ^ places >> np.uint64(1)
        vectors = directions(self.width)[: self.each]
        out: Array = np.zeros((self.each, count), vectors.dtype)
        for bit in range(int(gray.max(initial=0)).bit_length()):
            out ^= vectors[:, bit : bit + 1] * (gray >> np.uint64(bit) & np.uint64(1)).astype(vectors.dtype)
        return out.ravel()

    def uniform(self, first: int, n: int) -> Array:
        """Numbers above 0, up to 1, in single precision."""
        return single(self.bits(first, n) >> np.uint8(self.width - 32))

    def uniform_double(self, first: int, n: int) -> Array:
        """The same in double precision."""
        found = self.bits(first, n)
        out: Array = found * 2.0**-32 + 2.0**-32 if self.width == 32 else (found >> np.uint64(11)) * 2.0**-53 + 2.0**-54
        return out

    def normal(self, first: int, n: int) -> Array:
        """Normal numbers: where the distribution reaches the uniform ones."""
        return normal_quantile(self.uniform(first, n).astype(np.float64)).astype(np.float32)

    def normal_double(self, first: int, n: int) -> Array:
        """The same in double precision."""
        return normal_quantile(self.bits(first, n) * 2.0**-32 + 2.0**-33 if self.width == 32 else self.uniform_double(first, n))


# Wichura's approximations (AS 241): numerators and denominators, the highest power first.
MIDDLE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
     133.14166789178437745, 3.387132872796366608),
    (5226.495278852545925, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077, 687.1870074920579083,
     42.313330701600911252, 1.0),
)  # fmt: skip
NEAR = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504, 5.7694972214606914055,
     4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455, 1.6763848301838038494,
     2.05319162663775882187, 1.0),
)  # fmt: skip
FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123, 1.7848265399172913358,
     5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525,
     0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _ratio(parts: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    over, under = (np.polyval(np.array(p), x) for p in parts)
    out: Array = over / under
    return out


def normal_quantile(p: Array) -> Array:
    """Where the normal distribution reaches some probabilities."""
    middle = p - 0.5
    tail = np.sqrt(-np.log(np.maximum(np.minimum(p, 1 - p), 1e-300)))
    outer = np.where(tail <= 5, _ratio(NEAR, tail - 1.6), _ratio(FAR, tail - 5))
    inner = middle * _ratio(MIDDLE, SPLIT * SPLIT - middle * middle)
    return np.where(abs(middle) <= SPLIT, inner, np.copysign(outer, middle))
