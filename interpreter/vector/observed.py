"""What an engine does for observers: memory that announces its accesses, steps that announce what they execute."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.ports import Shortcut
from warplab.isa.types import ScalarType

from ..memory.access import WaveMemory
from ..memory.store_buffer import LateMemory
from ..observe import Access
from ..plan.plan import Guard, Jump, Segment, Site
from ..plan.roles import only_computes
from ..values import Array, LocalPlace, Shifted, Value, plain
from .function import Step, Terminator
from .group import Group


class ObservedMemory(WaveMemory):
    """Memory whose accesses are announced to the observers before they happen."""

    def announce(self, g: Any, kind: str, space: str, address: Value | LocalPlace, type: ScalarType, count: int,
                 values: Sequence[Array] = ()) -> None:  # fmt: skip
        """Announces one access to the observers."""
        if isinstance(address, LocalPlace):
            space, address = "local", np.array([[address.at]], np.uint64)
        access = Access(g.wave.current, g, kind, space, address, g.active, type, count, values, g.wave.copying)
        for o in g.wave.observers:
            o.access(access)

    def load(self, g: Any, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        address = _shared(address, g.active)
        self.announce(g, "ld", space, address, type, count)
        return super().load(g, space, address, type, count)

    def store(self, g: Any, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        address = _shared(address, g.active)
        self.announce(g, "st", space, address, type, len(values) // type.elements, values)
        super().store(g, space, address, type, values)

    def update(
        self, g: Any, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        for o in g.wave.observers:
            o.update(g.wave.current, g, operands)
        self.announce(g, "atom" if returns else "red", space, address, type, 1)
        return super().update(g, space, address, type, change, operands, shortcut, returns)


class ObservedLateMemory(ObservedMemory, LateMemory):
    """The same beside a room for late stores, which are announced when they are issued."""


def _shared(address: Value | LocalPlace, active: Array | None) -> Value | LocalPlace:
    """An address whose analysis the observers and the access share; under a mask, which the analysis does not cover, a plain array."""
    if isinstance(address, LocalPlace):
        return address
    if active is not None:
        return plain(address)
    return address if isinstance(address, Shifted) else Shifted(address)


def announced(segment: Segment, steps: Sequence[Step], end: Terminator) -> tuple[list[Step], Terminator]:
    """Steps and end of a segment that announce what they execute; pure instructions are announced together with the next other one."""
    run: list[Site] = []
    out: list[Step] = []
    for step, op in zip(steps, segment.ops, strict=True):
        if op.guard is None and only_computes(op.site.instruction.form):
            run.append(op.site)
            out.append(step)
        else:
            out.append(_announced(step, op.site, run, op.guard))
            run = []
    return out, _announced_end(segment, run, end)


def _announced_end(segment: Segment, run: list[Site], end: Terminator) -> Terminator:
    site = segment.site
    if site is None and not run:
        return end
    form = None if site is None else site.instruction.form
    if site is None or (form is not None and not form.effect):  # lanes wait for their warp here; the instruction itself is announced next
        first: Step = functools.partial(_announce, tuple(run), site)
    else:
        first = _announced(_nothing, site, run, None if isinstance(segment.end, Jump) else segment.end.guard)

    def terminate(g: Group) -> int | None:
        first(g.R)
        return end(g)

    return terminate


def _announced(step: Step, site: Site, run: list[Site], guard: Guard | None) -> Step:
    """A step that first announces its instruction, and the pure ones before it."""
    if guard is None:
        sites = (*run, site)

        def with_run(R: list[Any]) -> None:
            g = R[0]
            wave = g.wave
            wave.current = site
            for o in wave.observers:
                o.stretch(sites, g)
            step(R)

        return with_run
    before, (slot, negated) = tuple(run), guard

    def with_guard(R: list[Any]) -> None:
        g = R[0]
        _announce(before, site, R)
        mask = ~R[slot] if negated else R[slot]
        if g.alive is not None:
            mask = mask & g.alive
        for o in g.wave.observers:
            o.instruction(site, g, mask)
        step(R)

    return with_guard


def _announce(sites: tuple[Site, ...], current: Site | None, R: list[Any]) -> None:
    """Announces pure instructions, and records the current one."""
    g = R[0]
    if current is not None:
        g.wave.current = current
    if sites:
        for o in g.wave.observers:
            o.stretch(sites, g)


def _nothing(R: list[Any]) -> None:
    pass
