"""Accesses to memory as the profiler counts them: which unit serves one.

Each access is worked out for all warps of its group at once.  Bulk copies never see the load-store unit: bulk.py counts them.  Matrix
descriptors and parameters of calls are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from warplab.assembler.ir import Instruction
from warplab.isa.facts import facts_of
from warplab.isa.profiles import DeviceProfile
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..flags import any_in_rows
from ..ptxas.atomics import FLOATS, VECTORS, unused_results
from ..ptxas.joined import Joined, joined_accesses
from ..rules.constant import constant_passes
from ..rules.local import local_sectors
from ..rules.policies import empties_l1
from ..values import Array, Shifted, Value, plain
from .bulk import BulkCopies
from .global_memory import GlobalMemory
from .lanes import WARP, few_lanes, lanes_of
from .listener import AccessListener
from .patterns import patterns
from .shared import SharedMemory
from .tally import Operation, SiteTally

if TYPE_CHECKING:
    from ..launch import Launch
    from ..observe import Access, ObservedLanes


class Accesses:
    """The accesses of one launch."""

    def __init__(
        self, launch: Launch, device: DeviceProfile, multiprocessors: int, resident: int, listener: AccessListener | None = None
    ) -> None:
        self.listener = listener
        self.launch = launch
        self.device = device
        self.global_memory = GlobalMemory(launch, device, multiprocessors, resident, listener)
        self.shared = SharedMemory(device, launch.cluster_size, launch.options.engine, listener)
        self.bulk = BulkCopies(self.global_memory.stream, listener)
        self._functions = launch.kernel.program.functions
        self._first: Array | None = None  # of a fragment's two joined accesses
        self._elements = 0  # of a vector that are still to be announced
        self.operands: Sequence[Array] = ()  # of the atomic operation that comes next

    def begin(self, i: Instruction, group: ObservedLanes) -> None:
        """A copy, a matrix instruction, or one that may empty L1."""
        self.global_memory.begin()
        self.shared.begin()
        self.bulk.begin()
        alone = i.form is not None and i.form.effect == "cluster_wait" and self.launch.cluster_size == 1  # then it is the block's barrier
        if empties_l1(i.opcode, i.modifiers) and not alone:
            self.global_memory.empty(group)

    def count(self, tally: SiteTally, a: Access) -> None:
        """Counts one access."""
        i, kind, width = tally.site.instruction, a.kind, a.type.bytes * a.count
        facts = facts_of(i.opcode)
        if tally.plain:
            self._place(Operation(tally, a.group, kind, width, ()), a.space, a.address, a.mask)
            return
        if facts.access in ("atomic", "reduction"):
            if self._elements:  # of a vector, which is one access
                self._elements -= 1
                return
            parts = max((n for v, n in VECTORS.items() if v in i.modifiers), default=1)
            self._elements, width = parts - 1, width * parts
            if kind == "atom" and self._is_unused(tally):
                kind = "red"
            elif kind == "red" and facts.access == "atomic" and parts > 1 and not self._is_unused(tally):
                kind = "atom"
        if "bulk" in i.modifiers and a.space == "global":
            op = Operation(tally, a.group, kind, width, ())
            self.bulk.count(op, a.address, a.mask, self.global_memory.multiprocessors_of(a.group))
        if facts.unit or "bulk" in i.modifiers or ("async" in i.modifiers and not facts.copies):
            return
        if a.space == "local" and str((i.settled or {}).get("ss", "")).startswith("param"):
            return  # of a call: registers carry these
        op = Operation(tally, a.group, kind, width, self.operands)
        if facts.matrix_lanes:
            for address, size in self._fragment(i, plain(a.address), width):
                self._place(replace(op, width=size), a.space, address, a.mask)
        else:
            self._place(op, a.space, a.address, a.mask)

    def _is_unused(self, tally: SiteTally) -> bool:
        """Is the result of an atom never read?"""
        return id(tally.site.instruction) in unused_results(self._functions[tally.site.function])

    def _joined(self, tally: SiteTally) -> Joined | None:
        """What ptxas makes of an access to shared memory where it joins it with others."""
        if self.device.shared_rule != "modern":
            return None
        return joined_accesses(self.launch.kernel, self._functions[tally.site.function]).get(id(tally.site.instruction))

    def _fragment(self, i: Instruction, address: Array, width: int) -> tuple[tuple[Array, int], ...]:
        """The accesses of a fragment's next one or two elements: ptxas joins neighbours, and the halves of words of a transposed matrix."""
        words = set(i.modifiers)
        if not (width == 2 or (width >= 4 and words & {"c", "d"} and "f16" not in words)):
            return ((address, width),)
        if self._first is None:
            self._first = address
            return ()
        first, self._first = self._first, None
        if width > 2:
            return ((first, 2 * width),) if (address - first == width).all() else ((first, width), (address, width))
        both = np.sort(np.concatenate([first, address], axis=-1).reshape(*first.shape[:-1], -1, 2 * WARP), axis=-1)
        return ((np.ascontiguousarray(both[..., ::2].reshape(first.shape)), 4),)

    # ------------------------------------------------------------ spaces

    def _place(self, op: Operation, space: str, address: Value, mask: Array | None) -> None:
        if space.startswith("shared"):
            self._shared(op, address, mask, space)
        elif space == "const":
            self._constant(op, plain(address), mask)
        elif space == "local":
            self._local(op, plain(address), mask)
        elif space == "generic":
            self._generic(op if op.kind != "red" else replace(op, kind="atom"), address, mask)
        else:
            self._global(op, address, mask)

    def _generic(self, op: Operation, place: Value, mask: Array | None) -> None:
        """Generic addresses, of which some may mean shared or local memory."""
        highest = place.facts.high + place.delta if isinstance(place, Shifted) else int(place.max())
        if highest < min(SHARED_BASE, LOCAL_BASE):
            self._global(op, place, mask)
            return
        address = plain(place)
        rest = np.ones((1, 1), np.bool_) if mask is None else mask
        shared = rest & _within(address, SHARED_BASE)
        if shared.any():
            rest = rest & ~shared
            where = np.where(shared, address - np.uint64(SHARED_BASE), np.uint64(0))
            self._shared(op, where, None if shared.all() else shared, "generic", others=bool(rest.any()))
        local = rest & _within(address, LOCAL_BASE)
        rest = rest & ~local
        if rest.any():
            self._global(op, address, rest)
        if local.any():
            where = np.where(local, address - np.uint64(LOCAL_BASE), np.uint64(0))
            own = None if local.all() else local
            if op.kind != "atom":
                self._local(op, where, own)
            elif op.width > 4 or FLOATS & set(op.tally.site.instruction.modifiers):  # a load and a store
                self._local(replace(op, kind="ld"), where, own)
                self._local(replace(op, kind="st"), where, own)
            else:
                self._local_atomic(op, where, local, rest)

    def _local_atomic(self, op: Operation, address: Array, local: Array, rest: Array) -> None:
        """One instruction does these together with those on global memory, and counts as they do."""
        g = op.group.geometry
        lanes = lanes_of(g, address, local)
        sectors = int(local_sectors(lanes.full, lanes.mask, op.width)[1].sum())
        also = any_in_rows(lanes_of(g, address, rest).mask)
        asked = int(np.count_nonzero(any_in_rows(lanes.mask) & ~also))
        op.tally.count("global", "atom", op.width, lanes=lanes.count, requests=asked, units=sectors, ideal=sectors, moved=32 * sectors)

    def _shared(self, op: Operation, address: Value, mask: Array | None, space: str, *, others: bool = False) -> None:
        if facts_of(op.tally.site.instruction.opcode).copies:
            self.global_memory.copy(op, lanes_of(op.group.geometry, plain(address), mask))
            return
        if (joined := self._joined(op.tally)) is not None:
            if not joined.width:
                return
            address = address.moved(joined.delta) if isinstance(address, Shifted) else Shifted(address, joined.delta)
            op = replace(op, width=joined.width)
        self.shared.access(op, address, mask, space, others=others)

    def _constant(self, op: Operation, address: Array, mask: Array | None) -> None:
        lanes, times = few_lanes(op.group.geometry, address, mask)
        rows = patterns(lanes, 1 << 40)
        each = constant_passes(self.device, rows.where, rows.mask)
        if self.listener is not None:
            self.listener.near(op, "const", rows.spread(each))
        passes = int(each @ rows.count) * times
        asked = lanes.requests * times
        op.tally.count("const", op.kind, op.width, lanes=lanes.count * times, requests=asked, units=passes, ideal=asked)

    def _local(self, op: Operation, address: Array, mask: Array | None) -> None:
        lanes, times = few_lanes(op.group.geometry, address, mask)
        requests, sectors = local_sectors(lanes.full, lanes.mask, op.width)
        if self.listener is not None:
            self.listener.near(op, "local", requests)
        asked, total = int(requests.sum()) * times, int(sectors.sum()) * times
        op.tally.count(
            "local", op.kind, op.width, lanes=lanes.count * times, requests=asked, units=total, ideal=4 * asked, moved=32 * total
        )

    def _global(self, op: Operation, address: Value, mask: Array | None) -> None:
        if op.kind == "ld" and self.launch.parameters_stand and self.global_memory.places.are_parameters(address):
            self._constant(op, plain(address), mask)
        else:
            self.global_memory.access(op, address, mask)


def _within(address: Array, base: int) -> Array:
    return np.asarray((address >= np.uint64(base)) & (address < np.uint64(base + WINDOW_SIZE)))
