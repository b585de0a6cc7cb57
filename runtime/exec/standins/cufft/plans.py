"""cuFFT's plans: what is transformed, and where its numbers stand."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ....cudart.api import context
from ...handlers.abi import read_array
from ...handlers.special import HandledCall
from ..calls import StandIn, StandInError

CUFFT = StandIn("cuFFT", not_initialized=1, invalid_value=4, failed=6, not_supported=16)
INVALID_PLAN, INVALID_TYPE, INVALID_SIZE = 1, 3, 8
VERSION = (12, 0, 0)
R2C, C2R, C2C, D2Z, Z2D, Z2Z = 0x2A, 0x2C, 0x29, 0x6A, 0x6C, 0x69
KINDS = {R2C: ("f4", "c8"), C2R: ("c8", "f4"), C2C: ("c8", "c8"), D2Z: ("f8", "c16"), Z2D: ("c16", "f8"), Z2Z: ("c16", "c16")}
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class FftLayout:
    """Where the elements of one side stand: the sizes of the storage, the distance of neighbours, and of transforms."""

    storage: tuple[int, ...]
    stride: int
    distance: int


@dataclass(frozen=True, slots=True)
class FftPlan:
    """A plan; without a size it is yet to be made."""

    size: tuple[int, ...] = ()
    kind: int = C2C
    batch: int = 1
    source: FftLayout | None = None  # None: dense
    target: FftLayout | None = None
    stream: int = 0

    def dense(self, is_source: bool) -> FftLayout:
        """The layout of a side that names none: the last dimension of what real numbers become is half as long."""
        n = self.size
        halved = (self.kind in (R2C, D2Z) and not is_source) or (self.kind in (C2R, Z2D) and is_source)
        storage = (*n[:-1], n[-1] // 2 + 1) if halved else n
        return FftLayout(storage, 1, prod(storage))


def plan_of(c: HandledCall) -> FftPlan:
    """The plan of a call."""
    return CUFFT.object(c.given["plan"], FftPlan)


def _made(size: tuple[int, ...], kind: int, batch: int, layouts: tuple[FftLayout | None, FftLayout | None]) -> FftPlan:
    """A plan of these sizes."""
    if kind not in KINDS:
        raise CUFFT.refuse(f"type {kind:#x}")
    if batch < 1 or any(n < 1 for n in size):
        raise StandInError(INVALID_SIZE)
    return FftPlan(size, kind, batch, *layouts)


def sizes(c: HandledCall) -> tuple[int, ...]:
    """The sizes that a call names one by one."""
    return tuple(c.given[name] for name in ("nx", "ny", "nz") if name in c.given)


def _many(c: HandledCall, of: str = "i32") -> tuple[tuple[int, ...], tuple[FftLayout | None, FftLayout | None]]:
    """The sizes and layouts of the general form."""
    g, rank = c.given, c.given["rank"]
    CUFFT.check(1 <= rank <= 3)
    size = tuple(read_array(of, g["n"], rank))

    def layout(side: str) -> FftLayout | None:
        storage = read_array(of, g[f"{side}nembed"], rank)
        return FftLayout(tuple(storage), g[f"{side}stride"], g[f"{side}dist"]) if storage else None

    source, target = layout("i"), layout("o")
    return size, (source, target) if source and target else (None, None)


def _put(c: HandledCall, plan: FftPlan) -> None:
    """The plan of a call is made."""
    before = plan_of(c)
    CUFFT.check(not before.size)
    CUFFT.objects[c.given["plan"]] = replace(plan, stream=before.stream)
    c.out("workSize", "u64", 0)


def _new(c: HandledCall, plan: FftPlan) -> None:
    context()
    number = next(_numbers)
    CUFFT.objects[number] = plan
    c.out("plan", "i32", number)


@CUFFT.answers("cufftCreate")
def create(c: HandledCall) -> None:
    """A plan that is made later."""
    _new(c, FftPlan())


@CUFFT.answers("cufftDestroy")
def destroy(c: HandledCall) -> None:
    """The end of a plan."""
    plan_of(c)
    del CUFFT.objects[c.given["plan"]]


@CUFFT.answers("cufftPlan1d", "cufftPlan2d", "cufftPlan3d")
def plan(c: HandledCall) -> None:
    """A dense plan."""
    _new(c, _made(sizes(c), c.given["type"], c.given.get("batch", 1), (None, None)))


@CUFFT.answers("cufftPlanMany")
def plan_many(c: HandledCall) -> None:
    """A plan in the general form."""
    size, layouts = _many(c)
    _new(c, _made(size, c.given["type"], c.given["batch"], layouts))


@CUFFT.answers("cufftMakePlan1d", "cufftMakePlan2d", "cufftMakePlan3d")
def make(c: HandledCall) -> None:
    """Makes a dense plan."""
    _put(c, _made(sizes(c), c.given["type"], c.given.get("batch", 1), (None, None)))


@CUFFT.answers("cufftMakePlanMany")
def make_many(c: HandledCall) -> None:
    """Makes a plan in the general form."""
    size, layouts = _many(c)
    _put(c, _made(size, c.given["type"], c.given["batch"], layouts))


@CUFFT.answers("cufftMakePlanMany64")
def make_many_64(c: HandledCall) -> None:
    """Makes a plan in the general form, with 64 bits."""
    size, layouts = _many(c, "i64")
    _put(c, _made(size, c.given["type"], c.given["batch"], layouts))


CUDA_KINDS = {("f4", "c8"): R2C, ("c8", "f4"): C2R, ("c8", "c8"): C2C, ("f8", "c16"): D2Z, ("c16", "f8"): Z2D, ("c16", "c16"): Z2Z}
CUDA_TYPES = {0: "f4", 1: "f8", 4: "c8", 5: "c16"}


@CUFFT.answers("cufftXtMakePlanMany")
def make_of_types(c: HandledCall) -> None:
    """Makes a plan whose types are those of CUDA."""
    g = c.given
    kind = CUDA_KINDS.get((CUDA_TYPES.get(g["inputtype"], ""), CUDA_TYPES.get(g["outputtype"], "")))
    if kind is None:
        raise CUFFT.refuse(f"transform of cudaDataType {g['inputtype']} into {g['outputtype']}")
    size, layouts = _many(c, "i64")
    _put(c, _made(size, kind, g["batch"], layouts))


@CUFFT.answers(
    *(f"cufft{what}{ending}" for what in ("GetSize", "Estimate") for ending in ("1d", "2d", "3d", "Many")),
    "cufftGetSize", "cufftGetSizeMany64", "cufftXtGetSizeMany",
)  # fmt: skip
def work_size(c: HandledCall) -> None:
    """The memory that a plan works in: none."""
    c.out("workSize", "u64", 0)


@CUFFT.answers("cufftSetStream")
def set_stream(c: HandledCall) -> None:
    """The stream of later calls."""
    CUFFT.objects[c.given["plan"]] = replace(plan_of(c), stream=c.given["stream"])


@CUFFT.answers("cufftSetWorkArea", "cufftSetAutoAllocation")
def nothing(c: HandledCall) -> None:
    """Nothing works in memory of its own."""
    plan_of(c)


@CUFFT.answers("cufftGetVersion")
def version(c: HandledCall) -> None:
    """The release that the stand-in passes for."""
    c.out("version", "i32", VERSION[0] * 1000 + VERSION[1] * 100 + VERSION[2])


@CUFFT.answers("cufftGetProperty")
def release(c: HandledCall) -> None:
    """A part of the release."""
    CUFFT.check(0 <= c.given["type"] < 3)
    c.out("value", "i32", VERSION[c.given["type"]])


def elements(raw: np.ndarray[Any, Any], plan: FftPlan, layout: FftLayout, dtype: str, size: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The numbers of one side, (batch, size...), as a view of bytes."""
    width, steps, step = np.dtype(dtype).itemsize, [], layout.stride
    for n in (*layout.storage[:0:-1], 0):
        steps.append(step * width)
        step *= n
    out: np.ndarray[Any, Any] = np.ndarray((plan.batch, *size), dtype, raw, strides=(layout.distance * width, *reversed(steps)))
    return out
