"""cuRAND's host API: generators on the device and on the host, their seeds and places, and the numbers that they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....cudart.api import context
from ....device.memory.allocations import SPACE
from ....device.memory.host import host
from ...handlers.special import HandledCall
from ..calls import StandIn, StandInError, work_in
from .lanes import Array
from .sequences import MrgSequence, PhiloxSequence, Sequence, XorwowSequence, poisson
from .sobol import DIMENSIONS, SobolSequence, directions

CURAND = StandIn(
    "cuRAND", not_initialized=101, invalid_value=104, failed=201, not_supported=103,
    promise="the same numbers, but for the last bits of normal ones",
)  # fmt: skip
TYPE_ERROR, OUT_OF_RANGE, LENGTH_NOT_MULTIPLE = 103, 104, 105
VERSION = (10, 4, 0)
SEQUENCES: dict[int, Callable[[int], Sequence]] = {100: XorwowSequence, 101: XorwowSequence, 121: MrgSequence, 161: PhiloxSequence}
SOBOL = {200: 32, 201: 32, 203: 64}  # kinds of quasirandom generators: the bits of their numbers
OTHERS = {141: "MTGP32", 142: "MT19937", **dict.fromkeys((202, 204), "scrambled Sobol sequences")}
ORDERINGS, QUASI_DEFAULT = {100, 101, 103}, 201  # best, default and legacy: one and the same; and that of quasirandom numbers
DIRECTIONS = {101: 32, 103: 64}  # sets of direction vectors: the bits of each
Make = Callable[[Sequence, int, int], Array]


@dataclass
class Generator:
    """A generator."""

    kind: int
    on_host: bool
    sequence: Sequence
    place: int = 0
    stream: int = 0

    @property
    def is_quasi(self) -> bool:
        """Does it give points of several dimensions?"""
        return self.kind in SOBOL


def generator_of(c: HandledCall) -> Generator:
    """The generator of a call."""
    return CURAND.object(c.given["generator"], Generator)


def _create(c: HandledCall, on_host: bool) -> None:
    kind = c.given["rng_type"]
    if kind in OTHERS:
        raise CURAND.refuse(f"generator for {OTHERS[kind]}")
    if kind not in SEQUENCES and kind not in SOBOL:
        raise StandInError(TYPE_ERROR)
    if not on_host:
        context()
    sequence = SEQUENCES[kind](0) if kind in SEQUENCES else SobolSequence(SOBOL[kind])
    c.out("generator", "ptr", CURAND.made(Generator(kind, on_host, sequence)))


CURAND.answers("curandCreateGenerator")(lambda c: _create(c, False))
CURAND.answers("curandCreateGeneratorHost")(lambda c: _create(c, True))


@CURAND.answers("curandDestroyGenerator")
def destroy(c: HandledCall) -> None:
    """The end of a generator."""
    generator_of(c)
    del CURAND.objects[c.given["generator"]]


@CURAND.answers("curandGetVersion")
def version(c: HandledCall) -> None:
    """The release that the stand-in passes for."""
    c.out("version", "i32", VERSION[0] * 1000 + VERSION[1] * 100 + VERSION[2])


@CURAND.answers("curandGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    CURAND.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


@CURAND.answers("curandSetStream")
def set_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    generator_of(c).stream = c.given["stream"]


@CURAND.answers("curandSetPseudoRandomGeneratorSeed")
def seed(c: HandledCall) -> None:
    """Begins anew with a seed."""
    g = generator_of(c)
    if g.is_quasi:
        raise StandInError(TYPE_ERROR)
    g.sequence, g.place = SEQUENCES[g.kind](c.given["seed"]), 0


@CURAND.answers("curandSetQuasiRandomGeneratorDimensions")
def dimensions(c: HandledCall) -> None:
    """Begins anew, with points of so many dimensions."""
    g, n = generator_of(c), c.given["num_dimensions"]
    if not g.is_quasi:
        raise StandInError(TYPE_ERROR)
    if not 1 <= n <= DIMENSIONS:
        raise StandInError(OUT_OF_RANGE)
    g.sequence, g.place = SobolSequence(SOBOL[g.kind], n), 0


_directions_at: dict[int, int] = {}  # by their bits: where the program has them


def _directions(c: HandledCall, bits: int) -> None:
    which = c.given["set"]
    if which not in (101, 102, 103, 104) or (which > 102) is not (bits == 64):
        raise StandInError(OUT_OF_RANGE)
    if which not in DIRECTIONS:
        raise CURAND.refuse("direction vectors of scrambled Sobol sequences")
    if bits not in _directions_at:
        _directions_at[bits] = host().keep(directions(bits).tobytes())
    c.out("vectors", "ptr", _directions_at[bits])


CURAND.answers("curandGetDirectionVectors32")(lambda c: _directions(c, 32))
CURAND.answers("curandGetDirectionVectors64")(lambda c: _directions(c, 64))


@CURAND.answers("curandSetGeneratorOffset")
def offset(c: HandledCall) -> None:
    """The place of the next number."""
    generator_of(c).place = c.given["offset"]


@CURAND.answers("curandSetGeneratorOrdering")
def ordering(c: HandledCall) -> None:
    """The order of numbers in memory."""
    order, quasi = c.given["order"], generator_of(c).is_quasi
    if quasi is not (order == QUASI_DEFAULT):
        raise StandInError(OUT_OF_RANGE)
    if not quasi and order not in ORDERINGS:
        raise CURAND.refuse(f"ordering {order}")


@CURAND.answers("curandGenerateSeeds")
def seeds(c: HandledCall) -> None:
    """Prepares states, which the first numbers do here."""
    generator_of(c)


# ---------------------------------------------------------------- numbers


def _give(c: HandledCall, dtype: str, make: Make, each: int = 0) -> None:
    """Gives numbers from the generator's place on; `each`: so many for each step of it, if not as many as of other kinds."""
    g, n, at = generator_of(c), c.given["n"], c.given["outputPtr"]
    each = each or g.sequence.each
    if n % each:
        raise StandInError(LENGTH_NOT_MULTIPLE)
    sequence, first = g.sequence, g.place
    g.place += n // each
    size = np.dtype(dtype).itemsize * n

    def numbers() -> Array:
        return np.ascontiguousarray(make(sequence, first, n), dtype)

    def work() -> None:
        SPACE.device_bytes(at, size)[:] = numbers().view(np.uint8)

    if n and g.on_host:
        host().write(at, numbers().view(np.uint8))
    elif n:
        work_in(g.stream, work)


def _normals(c: HandledCall, dtype: str, make: Make, finish: Callable[[Array], Array]) -> None:
    kind = np.dtype(dtype).type
    mean, deviation = kind(c.given["mean"]), kind(c.given["stddev"])

    def scaled(sequence: Sequence, first: int, n: int) -> Array:
        return finish(make(sequence, first, n) * deviation + mean)

    if c.given["n"] % 2 and not generator_of(c).is_quasi:
        raise StandInError(LENGTH_NOT_MULTIPLE)
    _give(c, dtype, scaled, generator_of(c).sequence.normals_each)


def _same(x: Array) -> Array:
    return x


def _exp(x: Array) -> Array:
    out: Array = np.exp(x)
    return out


@CURAND.answers("curandGenerate")
def bits(c: HandledCall) -> None:
    """Whole numbers of 32 bits."""
    if SOBOL.get(generator_of(c).kind, 32) != 32:
        raise StandInError(TYPE_ERROR)
    _give(c, "u4", lambda s, first, n: s.bits(first, n))


@CURAND.answers("curandGenerateLongLong")
def long_bits(c: HandledCall) -> None:
    """Whole numbers of 64 bits, which only Sobol's sequences for 64 bits give."""
    if SOBOL.get(generator_of(c).kind) != 64:
        raise StandInError(TYPE_ERROR)
    _give(c, "u8", lambda s, first, n: s.bits(first, n))


@CURAND.answers("curandGenerateUniform")
def uniform(c: HandledCall) -> None:
    """Uniform numbers."""
    _give(c, "f4", lambda s, first, n: s.uniform(first, n))


@CURAND.answers("curandGenerateUniformDouble")
def uniform_double(c: HandledCall) -> None:
    """Uniform numbers in double precision."""
    _give(c, "f8", lambda s, first, n: s.uniform_double(first, n))


@CURAND.answers("curandGenerateNormal")
def normal(c: HandledCall) -> None:
    """Normal numbers."""
    _normals(c, "f4", lambda s, first, n: s.normal(first, n), _same)


@CURAND.answers("curandGenerateNormalDouble")
def normal_double(c: HandledCall) -> None:
    """Normal numbers in double precision."""
    _normals(c, "f8", lambda s, first, n: s.normal_double(first, n), _same)


@CURAND.answers("curandGenerateLogNormal")
def lognormal(c: HandledCall) -> None:
    """Numbers whose logarithms are normal."""
    _normals(c, "f4", lambda s, first, n: s.normal(first, n), _exp)


@CURAND.answers("curandGenerateLogNormalDouble")
def lognormal_double(c: HandledCall) -> None:
    """Numbers whose logarithms are normal, in double precision."""
    _normals(c, "f8", lambda s, first, n: s.normal_double(first, n), _exp)


@CURAND.answers("curandGeneratePoisson")
def poisson_numbers(c: HandledCall) -> None:
    """Numbers of a Poisson distribution."""
    mean = c.given["lambda"]
    CURAND.check(0 < mean <= 400000)

    def make(sequence: Sequence, first: int, n: int) -> Any:
        return poisson(sequence.uniform_double(first, n), mean)

    _give(c, "u4", make)
