"""The events of a launch, and the observers that receive them.  A launch without observers does not use this file.

To write a checker or a counter, derive from Observer, define the methods for the events that you need, and pass an instance as an observer of
the launch.  Events arrive in the order of execution.  Each belongs to a group: lanes that execute together.  `group.geometry` has the block, the
thread and the warp of each lane (`.block`, `.thread`, `.warps`).  Arrays have the shape of the group, or a shape that broadcasts to it: a mask or an
address that is equal in all lanes is one element.  `group.alive` is the mask of the lanes that have not left the current loop (None: all lanes);
the masks of events exclude the other lanes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warplab.assembler.ir import Function
from warplab.isa.ports import Shortcut
from warplab.isa.types import ScalarType

from .faults import ExecutionError
from .launch import Launch
from .memory.access import WaveMemory
from .memory.late import LateMemory
from .plan.plan import Guard, Jump, Manner, Segment, Site
from .plan.roles import only_computes
from .program import LoadedKernel
from .values import Array, LocalPlace, Shifted, Value, plain
from .vector.access.accessing import Accessing
from .vector.access.copying import Copying
from .vector.access.handles import TexelAccess
from .vector.function import VectorFunction
from .vector.group import Group
from .vector.ports import WavePort

Step = Callable[[list[Any]], None]
Terminator = Callable[["Group"], "int | None"]


@dataclass(frozen=True, slots=True)
class Access:
    """A load ("ld"), store ("st"), reduction ("red") or atomic operation ("atom"), before it happens."""

    site: Site
    group: (
        Accessing  # a group, or the LaneRows of those of its lanes whose asynchronous copy is done: without registers, `alive` and a warp
    )
    kind: str
    space: str  # as PTX names it; "generic" if the address determines the space
    address: Value
    mask: Array | None  # the active lanes; None: all lanes of the group
    type: ScalarType
    count: int  # elements per lane
    values: Sequence[Array] = ()  # the values of a store
    copy: Copying | None = None  # the asynchronous copy that the access belongs to


class Observer:
    """Receives the events of a launch, and ignores them.  Derive from it, and define the methods for the events of interest."""

    def begin(self, launch: Launch) -> None:
        """A launch starts."""

    def wave(self, wave: WavePort) -> None:
        """Some blocks start."""

    def code(self, kernel: LoadedKernel, f: Function, manner: Manner) -> VectorFunction | None:
        """A function with additional computations, to be executed instead of the function; at most one observer of a launch may have one."""
        return None

    def around(self, function: VectorFunction) -> VectorFunction:
        """A function as it is executed for an observer that adds to its steps; asked each time the function is called."""
        return function

    def stretch(self, sites: Sequence[Site], group: Group) -> None:
        """Instructions without guards, executed by the lanes `group.alive`.  All but the last are pure, and cause no other event.

        By default, each of them is passed to `instruction`.
        """
        for site in sites:
            self.instruction(site, group, group.alive)

    def instruction(self, site: Site, group: Group, mask: Array | None) -> None:
        """An instruction with a guard, such as a branch.  `mask`: the lanes whose guard is true (None: all lanes of the group)."""

    def access(self, access: Access) -> None:
        """Lanes access memory."""

    def texels(self, access: TexelAccess) -> None:
        """Lanes have fetched texels from a texture, or are about to access those of a surface."""

    def update(self, site: Site, group: Group, operands: Sequence[Array]) -> None:
        """An atomic operation with these operands.  Its access is the next event; memory changes after that."""

    def allocated(self, site: Site, group: Group, addresses: Array, sizes: Array) -> None:
        """Lanes have called malloc; an address is 0 if the heap is full."""

    def freed(self, site: Site, group: Group, addresses: Array) -> None:
        """Lanes call free with these addresses; the memory is freed after the event."""

    def arrival(self, site: Site, group: Group, number: int, count: int | None, waits: bool) -> None:
        """Lanes arrive at a barrier of their block.  If all threads of a wave arrive together, the event is `met` instead."""

    def completion(self, wave: WavePort, number: int, blocks: Array) -> None:
        """A barrier with `arrival` events is complete in these blocks, given by their positions in the wave."""

    def met(self, site: Site, group: Group, number: int) -> None:
        """All threads of a wave arrive together at a barrier of their blocks, and continue."""

    def issued(self, copy: Copying, lanes: Accessing) -> None:
        """The active lanes issue an asynchronous copy.  Its accesses follow now or later, and name it."""

    def closed(self, lanes: Accessing, group: str) -> None:
        """The active lanes close a group of copies."""

    def waited(self, lanes: Accessing, group: str, most: int, read: bool) -> None:
        """The active lanes have waited for their groups of copies; see isa.ports.CopyingLanes.wait_groups."""

    def members(self, site: Site, group: Group, membermask: Array) -> None:
        """Lanes of a group reach an instruction that waits for the lanes of its membermask."""

    def mbarrier(self, site: Site, group: Group, what: str, space: str, address: Array, amounts: Sequence[Array]) -> None:
        """The active lanes of a group use mbarrier objects, which change after the event.  `what`, `amounts`: see isa.ports.Lanes.mbarrier."""

    def cluster(self, site: Site, group: Group, arrives: bool) -> None:
        """The active lanes of a group arrive at the barrier of their cluster, or start to wait there."""

    def branch(self, site: Site, group: Group, condition: Array, targets: tuple[int, int]) -> None:
        """The lanes of a group diverge at a branch.  `condition`: the lanes that take it."""

    def wait(self, site: Site | None, group: Group, why: str) -> None:
        """A group starts to wait: "barrier", "lanes" or "cluster"."""

    def end(self, launch: Launch) -> None:
        """A launch is over."""

    def aborted(self, launch: Launch, error: ExecutionError) -> None:
        """A launch ended early."""


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
