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

CURAND = StandIn(
    "cuRAND", not_initialized=101, invalid_value=104, failed=201, not_supported=103,
    promise="the same numbers, but for the last bits of normal ones",
)  # fmt: skip
TYPE_ERROR, LENGTH_NOT_MULTIPLE = 103, 105
VERSION = (10, 4, 0)
SEQUENCES: dict[int, Callable[[int], Sequence]] = {100: XorwowSequence, 101: XorwowSequence, 121: MrgSequence, 161: PhiloxSequence}
OTHERS = {141: "MTGP32", 142: "MT19937", **dict.fromkeys((200, 201, 202, 203, 204), "Sobol's sequences")}
ORDERINGS = {100, 101, 103}  # best, default and legacy: one and the same
Make = Callable[[Sequence, int, int], Array]


@dataclass
class Generator:
    """A generator."""

    kind: int
    on_host: bool
    sequence: Sequence
    place: int = 0
    stream: int = 0


def generator_of(c: HandledCall) -> Generator:
    """The generator of a call."""
    return CURAND.object(c.given["generator"], Generator)


def _create(c: HandledCall, on_host: bool) -> None:
    kind = c.given["rng_type"]
    if kind in OTHERS:
        raise CURAND.refuse(f"generator for {OTHERS[kind]}")
    if kind not in SEQUENCES:
        raise StandInError(TYPE_ERROR)
    if not on_host:
        context()
    c.out("generator", "ptr", CURAND.made(Generator(kind, on_host, SEQUENCES[kind](0))))


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
    g.sequence, g.place = SEQUENCES[g.kind](c.given["seed"]), 0


@CURAND.answers("curandSetGeneratorOffset")
def offset(c: HandledCall) -> None:
    """The place of the next number."""
    generator_of(c).place = c.given["offset"]


@CURAND.answers("curandSetGeneratorOrdering")
def ordering(c: HandledCall) -> None:
    """The order of numbers in memory."""
    generator_of(c)
    if c.given["order"] not in ORDERINGS:
        raise CURAND.refuse(f"ordering {c.given['order']}")


@CURAND.answers("curandGenerateSeeds")
def seeds(c: HandledCall) -> None:
    """Prepares states, which the first numbers do here."""
    generator_of(c)


# ---------------------------------------------------------------- numbers


def _give(c: HandledCall, dtype: str, make: Make, each: int = 1) -> None:
    """Gives numbers from the generator's place on; `each`: so many for each step of it."""
    g, n, at = generator_of(c), c.given["n"], c.given["outputPtr"]
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

    if c.given["n"] % 2:
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
    _give(c, "u4", lambda s, first, n: s.bits(first, n))


@CURAND.answers("curandGenerateLongLong")
def long_bits(c: HandledCall) -> None:
    """Whole numbers of 64 bits, which only Sobol's sequences for 64 bits give."""
    generator_of(c)
    raise StandInError(TYPE_ERROR)


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
