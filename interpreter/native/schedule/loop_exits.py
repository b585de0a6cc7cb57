"""Lanes that leave loops in which others wait for them: they leave the joins there, for one behind the loops."""

from __future__ import annotations

from . import layout as s
from .convergence import withdraw
from .layout import ExitRecord, GroupNode, RowRecord, WaveRecord
from .nodes import forget, mark, new, unmark


def exit_of(wave: WaveRecord, row: RowRecord, to: int) -> ExitRecord:
    """The way out of loops that leads to a place, if there is one."""
    for way in row.exits[: row.exit_count]:
        if way.to == to:
            return way
    return ExitRecord(wave, 0)


def inside(wave: WaveRecord, way: ExitRecord, join: GroupNode) -> bool:
    """Is there a join, in the loops that a way leaves?"""
    if join:
        for pc in way.inside[: way.count]:
            if pc == join.pc:
                return True
    return False


def depart(wave: WaveRecord, group: GroupNode, way: ExitRecord) -> None:
    """A group leaves the joins in the loops that it leaves, for one behind these."""
    first = group.parent
    if not inside(wave, way, first):
        return
    top = first
    outer = first.parent
    while inside(wave, way, outer):
        top = outer
        outer = outer.parent
    if outer and outer.pc == way.join:
        outer.children += 1
    else:
        outer = above(wave, top, way.join)
    mark(wave, wave.gone, group)
    join = first
    while join != outer:
        forget(wave, join)
        join = join.parent
    unmark(wave, wave.gone, group)
    group.parent = outer
    group.turns = 0
    withdraw(wave, first)


def above(wave: WaveRecord, top: GroupNode, pc: int) -> GroupNode:
    """A join in the place of another one, which comes to stand below it, as does a group that leaves that one."""
    entries = wave.free
    wave.free += top.count
    for i in range(top.count):
        entries[i] = top.entries[i]
    join = new(wave, s.IS_JOIN, pc, entries, top.count, top.lanes, top.parent)
    join.children = 2
    top.parent = join
    return join
