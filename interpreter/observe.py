"""What a launch tells those who listen.  A launch without observers uses plans and accesses that know nothing of this file.

Events come in the order of execution, from groups of lanes at once.  Arrays have the group's shape, or one that broadcasts to it;
`group.geometry` says which lanes they are (`.block`, `.thread`, `.warps`), `mask` which of them a guard leaves active (None: all).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from warplab.isa.ports import Shortcut
from warplab.isa.types import ScalarType

from .memory.access import Access
from .plan.plan import Guard, Jump, Segment, Site
from .plan.roles import works_on
from .vector.values import Array, LocalPlace, Shifted, Value, plain

if TYPE_CHECKING:
    from .launch import Launch
    from .vector.group import Group
    from .vector.wave import Wave

Step = Callable[[list[Any]], None]
Terminator = Callable[["Group"], "int | None"]


class Observer(Protocol):
    """Any subset of these may do something."""

    knows_riders: bool  # that of a group with `alive` only those lanes take part: the others have left the loop and ride along
    keeps_much: bool  # until the launch ends, and none of it in circles

    def begin(self, launch: Launch) -> None:
        """A launch starts."""

    def wave(self, wave: Wave) -> None:
        """Some blocks start."""

    def stretch(self, sites: Sequence[Site], group: Group) -> None:
        """A group executes some instructions without guards; of all but the last nothing else is told."""

    def instruction(self, site: Site, group: Group, mask: Array | None) -> None:
        """A group executes an instruction with a guard, branches included."""

    def access(
        self, site: Site, group: Group, kind: str, space: str, address: Value, mask: Array | None, type: ScalarType, count: int
    ) -> None:
        """A load ("ld"), store ("st"), reduction ("red") or atomic operation ("atom") of `count` elements of a type a lane."""

    def update(self, site: Site, group: Group, operands: Sequence[Array]) -> None:
        """What an atomic operation changes memory by; its access follows, and only then memory changes."""

    def branch(self, site: Site, group: Group, condition: Array, targets: tuple[int, int]) -> None:
        """The lanes of a group disagree on a branch."""

    def wait(self, site: Site | None, group: Group, why: str) -> None:
        """A group starts to wait: "barrier", "lanes" or "cluster"."""

    def end(self, launch: Launch) -> None:
        """A launch is over."""


class Silent:
    """An observer that hears everything and does nothing: a base for those that want only some events."""

    knows_riders = False
    keeps_much = False

    def begin(self, launch: Launch) -> None:
        """See Observer."""

    def wave(self, wave: Wave) -> None:
        """See Observer."""

    def stretch(self, sites: Sequence[Site], group: Group) -> None:
        """Hands on one instruction after the other."""
        for site in sites:
            self.instruction(site, group, None)

    def instruction(self, site: Site, group: Group, mask: Array | None) -> None:
        """See Observer; here of all instructions."""

    def access(
        self, site: Site, group: Group, kind: str, space: str, address: Value, mask: Array | None, type: ScalarType, count: int
    ) -> None:
        """See Observer."""

    def update(self, site: Site, group: Group, operands: Sequence[Array]) -> None:
        """See Observer."""

    def branch(self, site: Site, group: Group, condition: Array, targets: tuple[int, int]) -> None:
        """See Observer."""

    def wait(self, site: Site | None, group: Group, why: str) -> None:
        """See Observer."""

    def end(self, launch: Launch) -> None:
        """See Observer."""


class ObservedAccess(Access):
    """Memory accesses that are announced before they happen."""

    def announce(self, g: Group, kind: str, space: str, address: Value, type: ScalarType, count: int) -> None:
        """Tells the observers of one access."""
        wave = g.wave
        for o in wave.launch.observers:
            o.access(wave.current, g, kind, space, address, g.active, type, count)

    def load(self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        if isinstance(address, LocalPlace):
            self.announce(g, "ld", "local", np.array([[address.at]], np.uint64), type, count)
        else:
            address = _shared(address, g.active)
            self.announce(g, "ld", space, address, type, count)
        return super().load(g, space, address, type, count)

    def store(self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        count = len(values) // type.elements
        if isinstance(address, LocalPlace):
            self.announce(g, "st", "local", np.array([[address.at]], np.uint64), type, count)
        else:
            address = _shared(address, g.active)
            self.announce(g, "st", space, address, type, count)
        super().store(g, space, address, type, values)

    def update(
        self, g: Group, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        for o in g.wave.launch.observers:
            o.update(g.wave.current, g, operands)
        self.announce(g, "atom" if returns else "red", space, address, type, 1)
        return super().update(g, space, address, type, change, operands, shortcut, returns)


def _shared(address: Value, active: Array | None) -> Value:
    """An address whose facts the observers and the access find once; where they can't be used, a plain array."""
    if active is not None:
        return plain(address)
    return address if isinstance(address, Shifted) else Shifted(address)


def announced(segment: Segment, steps: Sequence[Step], end: Terminator) -> tuple[list[Step], Terminator]:
    """Steps and end of a segment that tell of what they execute: of runs of instructions at once, where nothing else is told of them."""
    run: list[Site] = []
    out: list[Step] = []
    for step, op in zip(steps, segment.ops, strict=True):
        if op.guard is None and _only_computes(op.site):
            run.append(op.site)
            out.append(step)
        else:
            out.append(_told(step, op.site, run, op.guard))
            run = []
    return out, _told_end(segment, run, end)


def _told_end(segment: Segment, run: list[Site], end: Terminator) -> Terminator:
    site = segment.site
    if site is None and not run:
        return end
    form = None if site is None else site.instruction.form
    if site is None or (form is not None and not form.effect):  # lanes wait for their warp here; the instruction itself comes next
        tell: Step = functools.partial(_tell, tuple(run), site)
    else:
        tell = _told(_nothing, site, run, None if isinstance(segment.end, Jump) else segment.end.guard)

    def terminate(g: Group) -> int | None:
        tell(g.R)
        return end(g)

    return terminate


def _only_computes(site: Site) -> bool:
    form = site.instruction.form
    return form is not None and form.meaning is not None and not form.effect and works_on(form) not in ("lanes", "warps")


def _told(step: Step, site: Site, run: list[Site], guard: Guard | None) -> Step:
    """A step that first tells of its instruction and of those before it."""
    if guard is None:
        sites = (*run, site)

        def told(R: list[Any]) -> None:
            g = R[0]
            wave = g.wave
            wave.current = site
            for o in wave.launch.observers:
                o.stretch(sites, g)
            step(R)

        return told
    before, (slot, negated) = tuple(run), guard

    def told_with_guard(R: list[Any]) -> None:
        g = R[0]
        _tell(before, site, R)
        mask = ~R[slot] if negated else R[slot]
        for o in g.wave.launch.observers:
            o.instruction(site, g, mask)
        step(R)

    return told_with_guard


def _tell(sites: tuple[Site, ...], current: Site | None, R: list[Any]) -> None:
    """Tells of instructions that only compute, and keeps the one that comes now."""
    g = R[0]
    if current is not None:
        g.wave.current = current
    if sites:
        for o in g.wave.launch.observers:
            o.stretch(sites, g)


def _nothing(R: list[Any]) -> None:
    pass
