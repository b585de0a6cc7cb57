"""Steps of a launch whose order a seed chooses: stores may be held, and what lets them out says so first (memory/store_buffer.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...order import MemoryOrder, lets_out, order_of
from ...plan.plan import Segment, Site
from ..function import Step, Terminator
from ..group import Group


def in_any_order(segment: Segment, steps: Sequence[Step], end: Terminator) -> tuple[list[Step], Terminator]:
    """The steps and the end of a segment, with what they do to stores that are held."""
    out = [_ordered(step, op.site) for step, op in zip(steps, segment.ops, strict=True)]
    site = segment.site
    fence = None if site is None else lets_out(site.instruction)
    if fence is None:
        return out, end

    def with_fence(g: Group) -> int | None:
        _let_out(g, fence)
        return end(g)

    return out, with_fence


def _ordered(step: Step, site: Site) -> Step:
    i = site.instruction
    fence = lets_out(i)
    if i.form is None or i.form.facts.access != "store" or {"async", "bulk"} & frozenset(i.modifiers):
        return step if fence is None else _behind(step, fence)
    order = order_of(i)

    def store(R: list[Any]) -> None:
        late = R[0].wave.late
        late.order, late.line = order, i.span.line
        try:
            step(R)
        finally:
            late.order = None

    return store if fence is None else _behind(store, fence)


def _behind(step: Step, fence: MemoryOrder) -> Step:
    def with_fence(R: list[Any]) -> None:
        _let_out(R[0], fence)
        step(R)

    return with_fence


def _let_out(g: Group, fence: MemoryOrder) -> None:
    late = g.wave.late
    if late is not None:
        late.fence(np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel(), fence)
