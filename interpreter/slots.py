"""Registers to slots: two registers share a slot when their lives don't overlap, so that the working set stays small."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Register

from .plan import Home
from .roles import Used


def order_of(flow: Flow) -> list[int]:
    """Blocks in reverse postorder, unreachable ones left out."""
    return list(flow.rpo)


def assign(
    flow: Flow, dtypes: dict[int, np.dtype[Any]], pointers: set[int], first_slot: int, used: dict[int, Used]
) -> tuple[dict[int, Home], int]:
    """Linear scan over the blocks in reverse postorder; gives each register's home and the first slot that is free behind them."""
    start: dict[int, int] = {}
    end: dict[int, int] = {}
    seen: dict[int, Register] = {}
    at = 0

    def touch(index: int, where: int) -> None:
        start[index] = min(start.get(index, where), where)
        end[index] = max(end.get(index, where), where)

    for b in order_of(flow):
        block = flow.blocks[b]
        begin = at
        for i in block.instructions:
            at += 1
            read, written, _ = used[id(i)]
            for r in read + written:
                seen[r.index] = r
                touch(r.index, at)
        at += 1
        for mask, where in ((flow.live_in[b], begin), (flow.live_out[b], at)):
            while mask:
                low = mask & -mask
                touch(low.bit_length() - 1, where)
                mask ^= low
    homes: dict[int, Home] = {}
    free: dict[int, list[int]] = {}
    active: list[tuple[int, int, int]] = []  # (end, slot, width)
    top = first_slot
    for index in sorted(start, key=lambda x: (start[x], x)):
        if index not in seen:
            continue
        r = seen[index]
        width = r.vector * (2 if r.type.bits == 128 else 1)
        while active and active[0][0] < start[index]:
            _, freed, freed_width = heappop(active)
            free.setdefault(freed_width, []).append(freed)
        room = free.get(width)
        if room:
            slot = room.pop()
        else:
            slot, top = top, top + width
        heappush(active, (end[index], slot, width))
        homes[index] = Home(slot, width, dtypes[index], index in pointers)
    return homes, top


def mask_of(registers: int, homes: dict[int, Home]) -> int:
    """A mask of registers as a mask of slots."""
    out = 0
    while registers:
        low = registers & -registers
        home = homes.get(low.bit_length() - 1)
        if home is not None:
            out |= ((1 << home.width) - 1) << home.slot
        registers ^= low
    return out
