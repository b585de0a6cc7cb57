"""cuFFT's transforms, by numpy: none is scaled."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ....device.memory.allocations import SPACE
from ...handlers.special import HandledCall
from ..calls import StandInError, work_in
from .plans import C2C, C2R, CUFFT, D2Z, INVALID_PLAN, INVALID_TYPE, KINDS, R2C, Z2D, Z2Z, FftLayout, FftPlan, elements, plan_of

FORWARD, INVERSE = -1, 1
NAMES = {"C2C": C2C, "Z2Z": Z2Z, "R2C": R2C, "C2R": C2R, "D2Z": D2Z, "Z2D": Z2D}


def sides(plan: FftPlan, in_place: bool) -> tuple[FftLayout, FftLayout]:
    """The layouts of both sides; real numbers that become others in their place stand in padded rows."""
    source, target = plan.source or plan.dense(True), plan.target or plan.dense(False)
    if in_place and plan.source is None and plan.kind not in (C2C, Z2Z):
        real, complex_ = (source, target) if plan.kind in (R2C, D2Z) else (target, source)
        storage = (*real.storage[:-1], 2 * complex_.storage[-1])
        padded = FftLayout(storage, 1, prod(storage))
        return (padded, target) if plan.kind in (R2C, D2Z) else (source, padded)
    return source, target


def view(plan: FftPlan, layout: FftLayout, dtype: str, address: int, writes: bool) -> np.ndarray[Any, Any]:
    """The numbers of one side."""
    halved = plan.kind in ((R2C, D2Z) if writes else (C2R, Z2D))
    size = (*plan.size[:-1], plan.size[-1] // 2 + 1) if halved else plan.size
    last = (plan.batch - 1) * layout.distance
    step = layout.stride
    for n, storage in zip(reversed(size), (*layout.storage[:0:-1], 1), strict=True):
        last += (n - 1) * step
        step *= storage
    raw = SPACE.device_bytes(address, (last + 1) * np.dtype(dtype).itemsize, writes)
    return elements(raw, plan, layout, dtype, size)


def transformed(plan: FftPlan, x: np.ndarray[Any, Any], direction: int) -> np.ndarray[Any, Any]:
    """The transforms of all batches."""
    axes = tuple(range(1, x.ndim))
    if plan.kind in (R2C, D2Z):
        return np.fft.rfftn(x, axes=axes)
    if plan.kind in (C2R, Z2D):
        return np.fft.irfftn(x, plan.size, axes=axes, norm="forward")
    return np.fft.fftn(x, axes=axes) if direction == FORWARD else np.fft.ifftn(x, axes=axes, norm="forward")


def _execute(c: HandledCall, kind: int | None) -> None:
    plan, g = plan_of(c), c.given
    if not plan.size:
        raise StandInError(INVALID_PLAN)
    if kind is not None and kind != plan.kind:
        raise StandInError(INVALID_TYPE)
    direction = g.get("direction", FORWARD)
    CUFFT.check(direction in (FORWARD, INVERSE) and g["idata"] != 0 and g["odata"] != 0)
    source, target = sides(plan, g["idata"] == g["odata"])
    types = KINDS[plan.kind]

    def work() -> None:
        found = transformed(plan, view(plan, source, types[0], g["idata"], False), direction)
        view(plan, target, types[1], g["odata"], True)[...] = found.astype(types[1])

    work_in(plan.stream, work)


def _answer(name: str, kind: int | None) -> None:
    CUFFT.answers(name)(lambda c: _execute(c, kind))


for _name, _kind in NAMES.items():
    _answer(f"cufftExec{_name}", _kind)
_answer("cufftXtExec", None)
