"""Tensor memory (PTX ISA 9.7.18): which threads and CTAs take part in its instructions; allocation and order.

tcgen05_moves.py loads, stores and copies, tcgen05_mma.py multiplies.

What is asynchronous on the device is complete when it is issued here, which the memory model allows: waits and fences have nothing to
wait for.  None of this has been recorded.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import fragments
from ..facts import Constant, facts, when
from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Mask, NotYet, Warps
from ..spaces import cluster_address
from ..tensor_columns import COLUMNS, UNIT, TensorMemory
from .mbarrier import arrive_on

F = TypeVar("F", bound=Callable[..., Any])

GROUP = "cta_group::1 cta_group::2"
NEED: dict[str, Any] = {"ptx": 8.6, "sm": 100, "arch": "f"}

facts(
    "tcgen05",
    unit="tensor",
    leading="alloc dealloc relinquish_alloc_permit ld st cp shift mma commit",
    fragments={"": fragments.WORDS},
    tensor_memory="mma ld st cp shift",
    memory_only=when("mma"),
    result_from_elsewhere=True,
    constants=(Constant("n", (32, 64, 128, 256, 512), when("alloc dealloc")),),
)

ILLEGAL, OUTSIDE = "illegal-instruction", "out-of-bounds"


# ---------------------------------------------------------------- who executes, and on which CTAs


def whole_warps(warps: Warps) -> None:
    """All lanes that a warp has execute together."""
    threads = int(np.prod([warps.special(f"%ntid.{axis}").max() for axis in "xyz"]))
    first = np.broadcast_to(warps.special("%warpid"), warps.members.shape).max(axis=1, keepdims=True) * 32
    missing = ~warps.members & (first + np.arange(32) < threads)
    if missing.any():
        text = "all lanes of a warp must execute this instruction together: some have ended, or a guard excludes them"
        warps.refuse(ILLEGAL, text, warps.members & missing.any(axis=1, keepdims=True))


def same(warps: Warps, value: Array, what: str) -> list[int]:
    """The value that the lanes of each warp agree on."""
    values = np.broadcast_to(value, warps.members.shape)
    firsts = values[np.arange(len(values)), warps.members.argmax(axis=1)]
    different = warps.members & (values != firsts[:, None])
    if different.any():
        warps.refuse(ILLEGAL, f"the lanes of a warp give different {what}", different)
    return [int(v) for v in firsts]


def own_ctas(warps: Warps) -> list[int]:
    """The CTA of each warp."""
    return [int(c) for c in np.broadcast_to(warps.ctas(), warps.members.shape).max(axis=1)]


def issuers(lanes: Lanes, group: str) -> list[tuple[int, Mask, tuple[int, ...]]]:
    """The threads that issue an instruction: with each its place, its mask, and the CTAs that take part, in the order of their ranks."""
    ctas, warp = lanes.ctas(), lanes.special("%warpid")
    active = np.broadcast_to(True if lanes.active is None else lanes.active, ctas.shape)
    places = np.flatnonzero(active)
    keys = (ctas.astype(np.int64) * 64 + warp).ravel()[places]
    if np.unique(keys).size < keys.size:
        lanes.refuse(ILLEGAL, "one thread issues this instruction; here several lanes of a warp do: choose one with elect.sync", active)
    found = []
    for place in places:
        mask = np.zeros(ctas.shape, np.bool_)
        mask.ravel()[place] = True
        found.append((int(place), mask, members(lanes, int(ctas.ravel()[place]), group, mask)))
    return found


def members(lanes: Lanes, cta: int, group: str, mask: Mask) -> tuple[int, ...]:
    """The CTAs of a CTA's group, which all instructions of a kernel name alike."""
    size, cores = int(group[-1]), lanes.tensor_cores
    memory = cores.memory(cta)
    if memory.group not in (0, size):
        text = f"all tcgen05 instructions of a kernel name the same .cta_group; before this .{group} there was .cta_group::{memory.group}"
        lanes.refuse(ILLEGAL, text, mask)
    memory.group = size
    if size == 1:
        return (cta,)
    peer = cores.peer(cta)
    if peer is None:
        lanes.refuse(ILLEGAL, ".cta_group::2 needs a pair of CTAs: launch clusters of an even number of them", mask)
    return (min(cta, peer), max(cta, peer))


def at(value: Array | int, place: int, shape: tuple[int, ...]) -> int:
    """What one thread gives."""
    return value if isinstance(value, int) else int(np.broadcast_to(value, shape).ravel()[place])


def cell(address: int) -> tuple[int, int]:
    """The lane and the column of an address."""
    return address >> 16 & 0xFFFF, address & 0xFFFF


def check_columns(lanes: Lanes, memory: TensorMemory, first: int, count: int, what: str, mask: Mask) -> None:
    """These columns have been allocated."""
    if not memory.holds(first, count):
        text = f"out of bounds: {what} takes columns {first} to {first + count - 1} of tensor memory; {memory.describe()}"
        lanes.refuse(OUTSIDE, text, mask)


def read_shared(lanes: Lanes, cta: int, places: Array, what: str, mask: Mask) -> Array:
    """The 16 bytes at each of some shared addresses of a CTA."""
    memory = lanes.tensor_cores.shared(cta)
    low, high = int(places.astype(np.int64).min()), int(places.astype(np.int64).max())
    if low < 0 or high + 16 > memory.size:
        text = f"out of bounds: {what} takes shared memory from {low:#x} to {high + 15:#x}; the CTA has {memory.size} bytes"
        lanes.refuse(OUTSIDE, text, mask)
    found: Array = memory[places.astype(np.intp)[..., None] + np.arange(16)]
    return found


# ---------------------------------------------------------------- allocation

ALLOCATE = "9.7.18.7.1"


def _check_count(warps: Warps, counts: list[int]) -> None:
    for w, n in enumerate(counts):
        if n & n - 1 or not UNIT <= n <= COLUMNS:
            warps.refuse(ILLEGAL, f"{n} columns: tensor memory is allocated by 32, 64, 128, 256 or 512 columns", one_warp(warps, w))


def one_warp(warps: Warps, w: int) -> Mask:
    """The executing lanes of one warp."""
    mask = np.zeros_like(warps.members)
    mask[w] = warps.members[w]
    return mask


@instruction("tcgen05.alloc.group.sync.aligned{.shared::cta}.b32  [a], n:u32", group=GROUP, section=ALLOCATE, **NEED)
def alloc(warps: Warps, a: Addresses, n: Array, *, group: str, shared_cta: bool = False) -> None:
    """Writes the address of n newly allocated columns of tensor memory to shared memory at a; waits until so many are free."""
    whole_warps(warps)
    counts, cores = same(warps, n, "numbers of columns"), warps.tensor_cores
    _check_count(warps, counts)
    first, waiting = np.zeros(warps.members.shape, np.uint32), np.zeros_like(warps.members)
    plan: list[tuple[int, tuple[int, ...], int]] = []
    for w, (cta, count) in enumerate(zip(own_ctas(warps), counts, strict=True)):
        group_ctas = members(warps, cta, group, one_warp(warps, w))
        own = cores.memory(cta)
        if own.relinquished:
            warps.refuse(ILLEGAL, "the CTA has given up its right to allocate, with tcgen05.relinquish_alloc_permit", one_warp(warps, w))
        if own.promised and own.promised[0][1] != count:
            text = f"the peer CTA has allocated {own.promised[0][1]} columns for both, this one requests {count}"
            warps.refuse(ILLEGAL, text, one_warp(warps, w))
        if any(plan_w[0] == cta or cta in plan_w[1] for plan_w in plan):
            waiting[w] = warps.members[w]  # one warp after the other
            continue
        if not own.promised and not set.intersection(*(set(cores.memory(c).free(count)) for c in group_ctas)):
            waiting[w] = warps.members[w]
            continue
        plan.append((cta, group_ctas, w))
    if waiting.any():
        raise NotYet(waiting, "free columns of tensor memory")
    for cta, group_ctas, w in plan:
        first[w] = _take(cores.memory(cta), [cores.memory(c) for c in group_ctas if c != cta], counts[w])
    with warps.only(np.arange(32) == warps.members.argmax(axis=1)[:, None]):
        warps.store("shared::cta" if shared_cta else "generic", a, "b32", (first,))


def _take(own: TensorMemory, peers: list[TensorMemory], count: int) -> int:
    """Allocates in a CTA and its peer, or finds what the peer has allocated."""
    if own.promised:
        return own.promised.pop(0)[0]
    first = min(set.intersection(*(set(m.free(count)) for m in (own, *peers))))
    for memory in (own, *peers):
        memory.allocate(first, count)
    for memory in peers:
        memory.promised.append((first, count))
    return first


@instruction("tcgen05.dealloc.group.sync.aligned.b32  a:b32, n:u32", group=GROUP, section=ALLOCATE, **NEED)
def dealloc(warps: Warps, a: Array, n: Array, *, group: str) -> None:
    """Frees the n columns of tensor memory at a."""
    whole_warps(warps)
    counts, addresses = same(warps, n, "numbers of columns"), same(warps, a, "addresses")
    _check_count(warps, counts)
    for w, cta in enumerate(own_ctas(warps)):
        group_ctas = members(warps, cta, group, one_warp(warps, w))
        own, first = warps.tensor_cores.memory(cta), addresses[w]
        if own.allocations.get(first) != counts[w] or first in own.released:
            text = f"dealloc of {counts[w]} columns at {first:#x}, which no tcgen05.alloc gave or which were freed before; {own.describe()}"
            warps.refuse(ILLEGAL, text, one_warp(warps, w))
        peers = [warps.tensor_cores.memory(c) for c in group_ctas if c != cta]
        if all(first in peer.released for peer in peers):
            for memory in (own, *peers):
                memory.deallocate(first)
                memory.released = [r for r in memory.released if r != first]
        else:
            own.released.append(first)


@instruction("tcgen05.relinquish_alloc_permit.group.sync.aligned", group=GROUP, section=ALLOCATE, **NEED)
def relinquish_alloc_permit(warps: Warps, *, group: str) -> None:
    """Ends the CTA's permission to allocate tensor memory."""
    whole_warps(warps)
    for w, cta in enumerate(own_ctas(warps)):
        members(warps, cta, group, one_warp(warps, w))
        warps.tensor_cores.memory(cta).relinquished = True


# ---------------------------------------------------------------- order


@instruction("tcgen05.what.sync.aligned", what="wait::ld wait::st", section="9.7.18.8.5", **NEED)
def wait(warps: Warps, *, what: str) -> None:
    """Waits for the thread's earlier tcgen05.ld or tcgen05.st."""
    whole_warps(warps)


@instruction("tcgen05.what", what="fence::before_thread_sync fence::after_thread_sync", section="9.7.18.11.1", **NEED)
def fence(lanes: Lanes, *, what: str) -> None:
    """Orders tcgen05 operations against other threads' across a synchronisation."""


@instruction("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64  [a]", group=GROUP, section="9.7.18.12.1", **NEED)
def commit(lanes: Lanes, a: Addresses, *, group: str, shared_cluster: bool = False) -> None:
    """An arrival at the mbarrier a when the thread's earlier tcgen05 operations are complete, as they are."""
    issuers(lanes, group)
    arrive_on(lanes, "shared::cluster" if shared_cluster else "generic", a, 1)


@instruction("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64  [a], b:u16", group=GROUP,
             section="9.7.18.12.1", **NEED)  # fmt: skip
def commit_multicast(lanes: Lanes, a: Addresses, b: Array, *, group: str, shared_cluster: bool = False) -> None:
    """As without .multicast, at the same place in each CTA of the cluster whose bit is set in b."""
    issuers(lanes, group)
    for rank in range(16):
        chosen = (b >> np.uint16(rank) & np.uint16(1)).astype(np.bool_)
        chosen = chosen if lanes.active is None else chosen & lanes.active
        if chosen.any():
            with lanes.only(chosen):
                arrive_on(
                    lanes, "shared::cluster" if shared_cluster else "generic", cluster_address(a, np.full((1, 1), rank, np.uint32)), 1
                )
