"""Registers to slots: two registers of one dtype share a slot when their lives don't overlap, so that the working set stays small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Register

from .plan import Home
from .shapes import Known


def lives(flow: Flow, known: Mapping[int, Known]) -> tuple[Sequence[int], Sequence[int]]:
    """The registers that are live at the start and at the end of each block, as masks."""
    if any(v.register is not None for v in flow.function.returns):  # live where the function returns, wherever that is
        return flow.live_in, flow.live_out
    order = flow.depth_first[::-1]
    reads, kills, live_in, live_out = ([0] * len(flow.blocks) for _ in range(4))
    for b in order:
        read = killed = 0
        for i in flow.blocks[b].instructions[::-1]:
            k = known[id(i)]
            own = 0
            for index in k.written:
                own |= 1 << index
            if k.facts.kills:
                killed |= own
                read &= ~own
            elif i.guard is None:  # written in part
                read |= own
            for index in k.read:
                read |= 1 << index
        reads[b], kills[b] = read, killed
    again = True
    while again:
        again = False
        met: set[int] = set()
        for b in order:
            out = 0
            following = flow.blocks[b].successors
            for s in following:
                out |= live_in[s]
            live_out[b] = out
            live = reads[b] | out & ~kills[b]
            if live != live_in[b]:
                live_in[b] = live
                again |= b in met or b in following  # a block before has seen less
            met.update(following)
    return live_in, live_out


def assign(
    flow: Flow,
    order: Sequence[int],
    live: tuple[Sequence[int], Sequence[int]],
    seen: Mapping[int, Register],
    dtypes: dict[int, np.dtype[Any]],
    pointers: set[int],
    first_slot: int,
    known: Mapping[int, Known],
) -> tuple[dict[int, Home], int]:
    """Linear scan over the blocks in reverse postorder; gives each register's home and the first slot that is free behind them."""
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    at = 0
    held = since = 0  # what is live where blocks end and begin, and where that was last: few registers come and go between two such places

    def passed(live: int, where: int) -> None:
        nonlocal held, since
        for index in indices(live & ~held):
            start.setdefault(index, where)
        for index in indices(held & ~live):
            end[index] = max(end.get(index, since), since)
        held, since = live, where

    for b in order:
        passed(live[0][b], at)
        for i in flow.blocks[b].instructions:
            at += 1
            for r in known[id(i)].registers:
                index = r.index
                if index not in start:
                    start[index] = at
                end[index] = at
        at += 1
        passed(live[1][b], at)
    passed(0, at)
    homes: dict[int, Home] = {}
    free: dict[tuple[int, str], list[int]] = {}  # by width and dtype
    active: list[tuple[int, int, tuple[int, str]]] = []  # (end, slot, width and dtype)
    top = first_slot
    for begins, index in sorted([(at, index) for index, at in start.items()]):
        register = seen.get(index)
        if register is None:
            continue
        width = register.vector * (2 if register.type.bits == 128 else 1)
        while active and active[0][0] < begins:
            _, freed, form = heappop(active)
            free.setdefault(form, []).append(freed)
        form = width, dtypes[index].char
        room = free.get(form)
        if room:
            slot = room.pop()
        else:
            slot, top = top, top + width
        heappush(active, (end[index], slot, form))
        homes[index] = Home(slot, width, dtypes[index], index in pointers, register.name)
    return homes, top


def indices(registers: int) -> Iterator[int]:
    """The registers of a mask."""
    while registers:
        low = registers & -registers
        yield low.bit_length() - 1
        registers ^= low


def masks_of(registers: Sequence[int], homes: dict[int, Home]) -> list[int]:
    """Masks of registers that live at once as masks of slots; each differs little from the one before it."""
    out: list[int] = []
    before = slots = 0
    for live in registers:
        for index in indices(before & ~live):
            if (home := homes.get(index)) is not None:
                slots &= ~(((1 << home.width) - 1) << home.slot)
        for index in indices(live & ~before):
            if (home := homes.get(index)) is not None:
                slots |= ((1 << home.width) - 1) << home.slot
        before = live
        out.append(slots)
    return out
