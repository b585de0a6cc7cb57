"""Groups of lanes that run together.

A Group holds its registers R (slot -> value; None: not fetched from the parent yet) and a place pc.  When its lanes disagree it is suspended below
a Join, and groups of a part of its lanes each run their way; when they have reconverged at the join it goes on.  A part fetches
a register from its parent when it first reads it, and only what was written and is still alive comes back, so short detours cost little.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..lanes import Geometry, Selection, union
from ..memory.objects import Gap
from ..plan.plan import Home
from ..values import Array, Value, plain
from .access.accessing import Accessing
from .function import VectorFunction, VectorSegment
from .ports import WavePort
from .warps import WarpView

PAUSE_TURNS = 8  # of a loop, that waiting counts as


class Wait(Protocol):
    """What a blocked group waits for."""

    def why(self, g: Group) -> tuple[str, str]:
        """(what the group wants, which lanes are missing)."""


class Activation:
    """One call of a function on the stack of a group: where its memory starts and where its results go."""

    __slots__ = ("base", "caller", "copies", "function", "returns", "top")

    def __init__(
        self, function: VectorFunction, base: int, caller: Activation | None, returns: tuple[tuple[int, Home], ...] = (),
        copies: tuple[tuple[int, int, int], ...] = (),
    ) -> None:  # fmt: skip
        self.function = function
        self.base = base  # of its frame in local memory
        self.top = base + function.frame_size
        self.caller = caller
        self.returns = returns  # (callee's slot, caller's register)
        self.copies = copies  # (from, to, bytes) in local memory, of results passed there


class Group(Accessing):
    """Lanes with one place and one set of registers."""

    __slots__ = (
        "R", "act", "alive", "alive_count", "blocked", "cc", "dirty", "exchanged", "parent", "pc", "selection", "turns",
    )  # fmt: skip

    def __init__(self, wave: WavePort, geometry: Geometry, act: Activation, registers: list[Any], pc: int) -> None:
        super().__init__(wave, geometry)  # active: a guard in force for the instruction that runs
        self.act = act
        self.R = registers
        self.R[0] = self
        self.pc = pc
        self.parent: Join | None = None  # where it meets its siblings
        self.selection: Selection | None = None  # of the lanes of the parent's group
        self.dirty = 0  # slots written since the group parted from its parent
        self.alive: Array | None = None  # lanes that have not left yet, where they are dropped lazily
        self.alive_count = geometry.n
        self.blocked: Wait | None = None  # what it waits for
        self.exchanged: Any = None  # what it got from other groups while it waited
        self.turns = 0  # of the loop it is in, also those of its parts
        self.cc: Array | None = None  # the condition code register

    # ------------------------------------------------------------ what meanings and steps ask

    def pause(self) -> None:
        """See ports.Lanes: the loop's own turn count lets others run; waiting counts as many turns at once."""
        self.turns += PAUSE_TURNS

    def gaps(self, low: int, end: int) -> list[Gap]:
        """See AccessingLanes: of this call and of those that it returns to."""
        found: list[Gap] = []
        act: Activation | None = self.act
        while act is not None:
            if act.base < end:
                found += [gap.moved(act.base) for gap in act.function.plan.gaps]
            act = act.caller if act.base > low else None
        return found

    def carry(self) -> Array:
        """The condition code register."""
        return np.zeros((1, 1), bool) if self.cc is None else self.cc

    def warp_view(self) -> WarpView:
        """These lanes laid out by warps."""
        return WarpView(self)

    def allocate_stack(self, size: Array, align: int, dtype: np.dtype[Any]) -> Array:
        """alloca: room on the stack until the function returns."""
        act = self.act
        start = -(-act.top // max(align, 16)) * max(align, 16)
        self.wave.local.grow(start + int(size.max()))
        act.top = start + int(size.max())
        return np.array([[start]], dtype)

    def restore_stack(self, top: Array) -> None:
        """stackrestore."""
        self.act.top = int(top.max())

    # ------------------------------------------------------------ registers

    def fetch(self, slot: int) -> Value:
        """A register's value, from the parent if this group has not read it yet."""
        v = self.R[slot]
        if v is None:
            assert self.parent is not None and self.selection is not None, f"slot {slot} of {self.act.function.name} was never written"
            v = self.R[slot] = self.selection.take(self.parent.group.fetch(slot))
        return v  # type: ignore[no-any-return]

    def fetch_all(self, slots: int) -> None:
        """Makes a set of registers present."""
        R = self.R
        while slots:
            low = slots & -slots
            s = low.bit_length() - 1
            if R[s] is None:
                self.fetch(s)
            slots ^= low

    def fetch_for(self, segment: VectorSegment) -> None:
        """Makes present what a segment reads."""
        if self.selection is not None:
            for s in segment.reads:
                if self.R[s] is None:
                    self.fetch(s)

    def stop(self) -> int | None:
        """The place at which this group meets its siblings."""
        p = self.parent
        return None if p is None or p.is_call else p.pc

    def end(self) -> None:
        """The group is over: it and its arrays go at once, not when the garbage collector finds them."""
        self.R[0] = None

    def fetch_or_none(self, slot: int) -> Value | None:
        """A register's value, or None where no lane ever wrote it."""
        g: Group | None = self
        while g is not None:
            if g.R[slot] is not None:
                return self.fetch(slot)
            if g.parent is None or g.parent.is_call:
                return None
            g = g.parent.group
        return None

    # ------------------------------------------------------------ parting

    def part(self, selection: Selection, pc: int) -> Group:
        """A group of some of this group's lanes that takes its place below the parent, with all that is alive at pc."""
        g = Group(self.wave, self.geometry.select(selection), self.act, self.act.function.fresh_registers(), pc)
        live = self.act.function.live_in[pc]
        g.parent = self.parent
        if self.parent is None:
            self.keep(g, selection, selection, live)
        else:
            assert self.selection is not None
            g.selection = self.selection.then(selection)
            g.geometry = self.parent.group.geometry.select(g.selection)
            g.dirty = self.dirty
            self.keep(g, selection, g.selection, live if self.parent.is_call else self.dirty & live)
        return g

    def keep(self, g: Group, selection: Selection, place: Selection, slots: int) -> None:
        """Copies the selected lanes' values of some registers into g, in the shape that its place calls for."""
        while slots:
            low = slots & -slots
            s = low.bit_length() - 1
            value = self.fetch_or_none(s)
            if value is not None:
                g.R[s] = place.conform(selection.take(value), selection.shape_out)
            slots ^= low


class Join:
    """A suspended group whose lanes are in other groups, all of which have this as their parent, and the place where it goes on.

    Nothing but those groups refers to a join.
    """

    __slots__ = ("arrivals", "arrived", "expected", "group", "is_call", "node_waits", "pc", "pending")

    def __init__(self, group: Group, pc: int, expected: int, *, is_call: bool = False) -> None:
        self.group = group
        self.pc = pc
        self.is_call = is_call  # the groups below run a called function, and arrive when they return from it
        self.expected = expected  # lanes that have arrived, or may still do so
        self.arrived = 0  # lanes
        self.arrivals: list[Selection] = []  # which
        self.pending: dict[int, Array] = {}  # slot -> what arrived lanes wrote, and what the others had
        self.node_waits = False  # the group has turned so often that it lets others run before it goes on

    @property
    def complete(self) -> bool:
        """Has every lane below arrived, or gone for good?"""
        return self.arrived >= self.expected

    def absorb(self, selection: Selection, source: Group | None, slots: int, part: Selection | None = None) -> None:
        """Lanes have arrived; `slots` are the live registers that `source` (or its `part`) wrote."""
        while slots:
            low = slots & -slots
            s = low.bit_length() - 1
            value = source.R[s]  # type: ignore[union-attr]
            assert value is not None
            self.hand_in(s, selection, selection.conform(part.take(value), part.shape_out) if part is not None else value)
            slots ^= low
        self.arrive(selection)

    def absorb_all(self, source: Group, slots: int) -> None:
        """All lanes have arrived at once."""
        group = self.group
        group.dirty |= slots
        while slots:
            low = slots & -slots
            s = low.bit_length() - 1
            group.R[s] = source.R[s]
            slots ^= low
        self.arrived = group.geometry.n

    def arrive(self, selection: Selection) -> None:
        """Lanes have arrived whose registers were handed in."""
        self.arrivals.append(selection)
        self.arrived += selection.count

    def hand_in(self, slot: int, selection: Selection, value: Value) -> None:
        """What arriving lanes have in a slot."""
        whole = self.pending.get(slot)
        if whole is None:
            group, v = self.group, plain(value)
            have = group.R[slot] if group.parent is None or group.R[slot] is not None else group.fetch_or_none(slot)
            whole = np.empty(group.geometry.shape, v.dtype)
            if have is None or (old := plain(have)).dtype.itemsize != v.dtype.itemsize:
                whole[...] = 0
            else:
                whole[...] = old if old.dtype == v.dtype else old.view(v.dtype)
            self.pending[slot] = whole
        selection.put(whole, value)

    def resume(self) -> Group | None:
        """The group, running again: itself, a smaller one if some lanes have gone, None if all have."""
        group, arrived, arrivals = self.group, self.arrived, self.arrivals
        for s, whole in self.pending.items():
            group.R[s] = whole
            group.dirty |= 1 << s
        self.pending, self.arrivals, self.arrived = {}, [], 0
        if arrived == group.geometry.n:
            group.pc = self.pc
            return group
        return group.part(union(arrivals, group.geometry.shape), self.pc) if arrived else None

    def release(self, selection: Selection) -> Group:
        """Some of the lanes that have arrived as a group that goes on without the others."""
        group, shape = self.group, self.group.geometry.shape
        before, dirty = {s: group.R[s] for s in self.pending}, group.dirty
        for s, whole in self.pending.items():
            group.R[s] = whole
            group.dirty |= 1 << s
        released = group.part(selection, self.pc)
        for s, value in before.items():
            group.R[s] = value
        group.dirty = dirty
        self.expected -= selection.count
        self.arrived -= selection.count
        if self.arrived:
            left = np.zeros(shape, bool)
            union(self.arrivals, shape).put(left, np.ones((1, 1), bool))
            selection.put(left, np.zeros((1, 1), bool))
            self.arrivals = [Selection.of(left, shape)]
        else:
            self.pending, self.arrivals = {}, []
        return released
