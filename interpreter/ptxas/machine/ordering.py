"""The order in which ptxas leaves the instructions of a block: loads from global memory and what they need first, then by the longest chain.

Nothing passes a barrier, a branch, a fence or an atomic operation; loads pass loads, and stores keep their place among the accesses of their space.  But
for loads and for what they need, an instruction is moved up by few places.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from .instruction import MachineInstruction
from .kinds import kind_of

WINDOW = 20  # instructions by which one may be moved up, but for loads
FAR = 200  # cycles for which a load from global memory counts in a chain
FIXED = frozenset({"bar", "exit", "branch", "fence", "atom"})


def ordered(block: Sequence[MachineInstruction]) -> list[MachineInstruction]:
    """A block's instructions as ptxas orders them."""
    after = _followers(block)
    n = len(block)
    missing, height = [0] * n, [0] * n
    early, later = (
        [False] * n,
        [True] * n,
    )  # early: loads, shuffles and what they need; later: all but loads from global memory and what they need
    for k in reversed(range(n)):
        o = block[k]
        far = o.what == "ld" and o.space == "global"
        height[k] = (FAR if far else kind_of(o.opcode).latency) + max((height[a] for a in after[k]), default=0)
        early[k] = o.what == "ld" or o.opcode == "SHFL" or (not o.what and any(early[a] for a in after[k]))
        later[k] = not far and (bool(o.what) or o.opcode == "SHFL" or all(later[a] for a in after[k]))
        for a in after[k]:
            missing[a] += 1
    ready = [(later[k], -height[k], k) for k in range(n) if not missing[k]]
    heapq.heapify(ready)
    out: list[MachineInstruction] = []
    done, first = [False] * n, 0
    while ready:
        aside = []
        while len(ready) > 1 and not early[ready[0][2]] and ready[0][2] > first + WINDOW:
            aside.append(heapq.heappop(ready))
        k = heapq.heappop(ready)[2]
        for x in aside:
            heapq.heappush(ready, x)
        out.append(block[k])
        done[k] = True
        while first < n and done[first]:
            first += 1
        for a in after[k]:
            missing[a] -= 1
            if not missing[a]:
                heapq.heappush(ready, (later[a], -height[a], a))
    return out


def _followers(block: Sequence[MachineInstruction]) -> list[set[int]]:
    """What has to stay behind each instruction."""
    after: list[set[int]] = [set() for _ in block]
    last: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    memory: dict[tuple[str, bool], list[int]] = {}
    fence = -1
    for k, o in enumerate(block):
        before = [last[r] for r in (*o.reads, *o.writes) if r in last] + [x for w in o.writes for x in readers.pop(w, ())]
        for r in o.reads:
            readers.setdefault(r, []).append(k)
        last.update(dict.fromkeys(o.writes, k))
        if o.what in FIXED:
            before += range(max(fence, 0), k)
            fence = k
        elif o.what in ("ld", "st", "red"):
            stores = o.what != "ld"
            before += memory.get((o.space, True), []) + (memory.get((o.space, False), []) if stores else [])
            memory.setdefault((o.space, stores), []).append(k)
        for x in (*before, fence):
            if 0 <= x < k:
                after[x].add(k)
    return after
