"""Groups of lanes that run together, and the tree in which they part and meet again.

A Group holds its registers R (slot -> value; None: not fetched from the parent yet) and a place pc.  When its lanes disagree it becomes
a node: it keeps its registers as they were, its children run the ways, and every child that reaches `join` hands in what it wrote.
When no lane is left below, the node goes on at the join.  A child fetches a register from its parent when it first reads it, and only
what was written and is still alive comes back, so short detours cost little.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.isa.ports import Shortcut
from warplab.isa.types import TYPES

from ..faults import Fault
from ..special import lies_in, special, window_of
from .lanes import Geometry, Selection
from .values import Array, LocalPlace, ParameterPlace, Value, plain
from .warps import WarpView

if TYPE_CHECKING:
    from ..plan.plan import Home, PlanFunction, Segment
    from .wave import Wave

EXIT = -1  # the pc behind a function's last instruction


class Activation:
    """One call of a function on the stack of a group: where its memory starts and where its results go."""

    __slots__ = ("base", "caller", "copies", "function", "returns", "top")

    def __init__(
        self, function: PlanFunction, base: int, caller: Activation | None, returns: tuple[tuple[int, Home], ...] = (),
        copies: tuple[tuple[int, int, int], ...] = (),
    ) -> None:  # fmt: skip
        self.function = function
        self.base = base  # of its frame in local memory
        self.top = base + function.frame_size
        self.caller = caller
        self.returns = returns  # (callee's slot, caller's register)
        self.copies = copies  # (from, to, bytes) in local memory, of results passed there


class Group:
    """Lanes with one place and one set of registers, or a node whose lanes are below."""

    __slots__ = (
        "R", "absorbed", "act", "active", "alive", "alive_count", "blocked", "cc", "dirty", "expected", "geometry", "handed_in", "join",
        "node_return", "parent", "pc", "pending", "selection", "share", "spins", "tired", "wave",
    )  # fmt: skip

    def __init__(self, wave: Wave, geometry: Geometry, act: Activation, registers: list[Any], pc: int) -> None:
        self.wave: Wave = wave
        self.geometry: Geometry = geometry
        self.act = act
        self.R = registers
        self.R[0] = self
        self.pc = pc
        self.parent: Group | None = None
        self.selection: Selection | None = None  # of the parent's lanes
        self.dirty = 0  # slots written since the group parted from its parent
        self.alive: Array | None = None  # lanes that have not left yet, where they are dropped lazily
        self.alive_count = geometry.n
        self.blocked: object | None = None  # what it waits for
        self.share: Any = None  # of what it exchanged with others while it waited
        self.spins = 0
        self.tired = False  # a node that has turned so often that it rests before it goes on
        self.active: Array | None = None  # a guard in force for the instruction that runs
        self.cc: Array | None = None  # the condition code register
        # as a node
        self.join: int | None = None
        self.node_return = False  # the children run a called function, the join is its return
        self.expected = 0  # lanes below that may still arrive
        self.pending: dict[int, Array] = {}
        self.handed_in: list[Selection] = []
        self.absorbed = 0

    # ------------------------------------------------------------ what meanings ask (isa.ports.Lanes)

    @contextmanager
    def only(self, lanes: Array) -> Iterator[None]:
        """See ports.Lanes."""
        before = self.active
        self.active = lanes if before is None else lanes & before
        try:
            yield
        finally:
            self.active = before

    def load(self, space: str, address: Value | ParameterPlace | LocalPlace, type: str, count: int = 1) -> tuple[Array, ...]:
        """See ports.Lanes."""
        t = TYPES[type]
        if isinstance(address, ParameterPlace):
            return tuple(self.wave.launch.parameter(address.at + i * t.dtype.itemsize, t.dtype) for i in range(count * t.elements))
        return self.wave.access.load(self, space, address, t, count)

    def store(self, space: str, address: Value | LocalPlace, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        self.wave.access.store(self, space, address, TYPES[type], values)

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        return self.wave.access.update(self, space, address, TYPES[type], change, operands, shortcut, returns)

    def special(self, name: str) -> Array:
        """See ports.Lanes."""
        return special(self, name)

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """See ports.Lanes."""
        base = window_of(space)
        if not base:
            return address
        kind = address.dtype.type
        out: Array = address + kind(base) if to_generic else address - kind(base)
        return out

    def space_of(self, address: Value, space: str) -> Array:
        """See ports.Lanes."""
        return lies_in(self, plain(address).astype(np.uint64), space)

    def pause(self) -> None:
        """See ports.Lanes: the loop's own turn count lets others run; waiting counts as many turns at once."""
        self.spins += 8

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

    def blame(self, fault: Fault, lanes: Array | None) -> Fault:
        """Names the first of some lanes in a fault."""
        g = self.geometry
        shape = g.shape
        mask = np.ones(shape, bool) if lanes is None else np.broadcast_to(lanes, shape)
        where = np.flatnonzero(mask)
        lane = int(np.broadcast_to(g.lane, shape).ravel()[where[0] if where.size else 0])
        fault.lanes = max(int(where.size), 1)
        self.wave.launch.name_fault(self.wave, fault, lane)
        return fault

    # ------------------------------------------------------------ registers

    def fetch(self, slot: int) -> Value:
        """A register's value, from the parent if this group has not read it yet."""
        v = self.R[slot]
        if v is None:
            assert self.parent is not None and self.selection is not None, f"slot {slot} of {self.act.function.name} was never written"
            v = self.R[slot] = self.selection.take(self.parent.fetch(slot))
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

    def fetch_for(self, segment: Segment) -> None:
        """Makes present what a segment reads."""
        if self.selection is not None:
            for s in segment.reads:
                if self.R[s] is None:
                    self.fetch(s)

    def stop(self) -> int | None:
        """The place at which this group meets its siblings."""
        p = self.parent
        return None if p is None or p.node_return else p.join

    def end(self) -> None:
        """The group is over: it and its arrays go at once, not when the garbage collector finds them."""
        self.R[0] = None

    # ------------------------------------------------------------ parting

    def child(self, selection: Selection, pc: int) -> Group:
        """A part of this node's lanes, at pc."""
        g = Group(self.wave, self.geometry.select(selection), self.act, self.act.function.fresh_registers(), pc)
        g.parent = self
        g.selection = selection
        return g

    def split(self, ways: list[tuple[Selection, int]], join: int) -> list[Group]:
        """Parts the lanes; gives the groups that have somewhere to go before the join."""
        if self.parent is not None and not self.parent.node_return and self.parent.join == join:
            return self._split_beside(ways, join)
        self.join = join
        self.node_return = False
        self.expected = sum(s.count for s, _ in ways)
        self.pending = {}
        self.handed_in = []
        self.absorbed = 0
        out = []
        for selection, pc in ways:
            if pc == join:
                self.absorb(selection, None, 0)
            else:
                out.append(self.child(selection, pc))
        return out

    def _split_beside(self, ways: list[tuple[Selection, int]], join: int) -> list[Group]:
        """As split, but the parts become siblings of this group, which is no more: they meet where it would have met them."""
        parent, own = self.parent, self.selection
        assert parent is not None and own is not None
        out = []
        for selection, pc in ways:
            if pc == join:
                parent.absorb(own.then(selection), self, self.dirty & self.act.function.live_in[join], selection)
                continue
            place = own.then(selection)
            g = parent.child(place, pc)
            g.dirty = self.dirty
            keep = self.dirty & self.act.function.live_in[pc]
            while keep:
                low = keep & -keep
                s = low.bit_length() - 1
                g.R[s] = place.conform(selection.take(self.R[s]), selection.shape_out)
                keep ^= low
            out.append(g)
        self.end()
        return out

    # ------------------------------------------------------------ meeting

    def absorb(self, selection: Selection, source: Group | None, slots: int, part: Selection | None = None) -> None:
        """Lanes of this node have reached the join; `slots` are the live registers that `source` (or its `part`) wrote."""
        while slots:
            low = slots & -slots
            s = low.bit_length() - 1
            value = source.R[s]  # type: ignore[union-attr]
            assert value is not None
            self.hand_in(s, selection, selection.conform(part.take(value), part.shape_out) if part is not None else value)
            slots ^= low
        self.handed_in.append(selection)
        self.absorbed += selection.count

    def hand_in(self, slot: int, selection: Selection, value: Value) -> None:
        whole = self.pending.get(slot)
        if whole is None:
            v = plain(value)
            shape = self.geometry.shape
            have = self.R[slot] if self.parent is None or self.R[slot] is not None else self.fetch_or_none(slot)
            whole = np.empty(shape, v.dtype)
            if have is None or (old := plain(have)).dtype.itemsize != v.dtype.itemsize:
                whole[...] = 0
            else:
                whole[...] = old if old.dtype == v.dtype else old.view(v.dtype)
            self.pending[slot] = whole
        selection.put(whole, value)

    def fetch_or_none(self, slot: int) -> Value | None:
        """A register's value, or None where no lane ever wrote it."""
        g: Group | None = self
        while g is not None:
            if g.R[slot] is not None:
                return self.fetch(slot)
            if g.parent is not None and g.parent.node_return:
                return None
            g = g.parent
        return None

    @property
    def complete(self) -> bool:
        """Has every lane below arrived, or gone for good?"""
        return self.absorbed >= self.expected

    def resume(self) -> Group | None:
        """The node as a running group again: itself, a smaller one if some lanes have gone, None if all have."""
        assert self.join is not None
        pc, self.join = self.join, None
        pending, handed_in = self.pending, self.handed_in
        self.pending, self.handed_in = {}, []
        for s, whole in pending.items():
            self.R[s] = whole
            self.dirty |= 1 << s
        if self.absorbed == self.geometry.n:
            self.pc = pc
            return self
        if self.absorbed == 0:
            return None
        g = self.part(union(handed_in, self.geometry.shape), pc)
        return g

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
            g.geometry = self.parent.geometry.select(g.selection)
            g.dirty = self.dirty
            self.keep(g, selection, g.selection, live if self.parent.node_return else self.dirty & live)
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


def union(selections: list[Selection], shape: tuple[int, int]) -> Selection:
    """Several disjoint selections as one, keeping rows or columns where all agree."""
    if len(selections) == 1:
        return selections[0]
    kind = selections[0].kind
    if kind != "flat" and all(s.kind == kind for s in selections):
        return Selection(shape, kind, np.sort(np.concatenate([s.flat for s in selections])))
    return Selection.of_lanes(shape, np.concatenate([s.grid().ravel() for s in selections]))
