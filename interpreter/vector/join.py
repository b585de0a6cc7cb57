"""Where the lanes of a suspended group reconverge: at the end of a branch, or when a called function returns."""

from __future__ import annotations

import numpy as np

from ..lanes import Selection, union
from ..values import Array, Value, plain
from .group import Group


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
