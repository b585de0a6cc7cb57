"""The memories that addresses can mean, as one wave sees them: where an element lies, and what is legal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import ScalarType

from ..faults import Fault
from ..lanes import Geometry
from ..poison import Poison
from ..values import AddressFacts
from .arena import MOST_SLIPS, Arena
from .objects import Gap, Placed, nearest

Array = NDArray[Any]
U64 = np.uint64
SHARED_GRANULE = 128  # bytes to which a GPU rounds a block's shared memory up
LOWEST = 1 << 12  # addresses below are null, or integers used as addresses by mistake


class AccessingLanes(Protocol):
    """The lanes that access memory together."""

    geometry: Geometry
    active: Array | None  # those that take part; None: all

    def generic_parameter(self, address: Array) -> Array:
        """The generic address of an address in .param, of which 32 bits hold the lower half only."""

    def gaps(self, low: int, end: int) -> Sequence[Gap]:
        """The bytes of the lanes' stacks, between low and end, that belong to no variable, where such are left."""

    def blame(self, fault: Fault, lanes: Array | None) -> Fault:
        """Names the first of some lanes in a fault."""


def window_at(address: int) -> str:
    """The space whose window among the generic addresses holds an address, or none."""
    windows = (("shared", SHARED_BASE), ("local", LOCAL_BASE))
    return next((name for name, base in windows if base <= address < base + WINDOW_SIZE), "")


class MemorySpace:
    """One memory that addresses can mean, seen by one wave: where an element lies, and what is legal."""

    name = ""

    def index(self, g: AccessingLanes, facts: AddressFacts, shift: int) -> Array:
        """The place of each lane's element, before the constant part of the address."""
        raise NotImplementedError

    def view(self, dtype: np.dtype[Any]) -> Array:
        """All of the memory as elements of a dtype."""
        raise NotImplementedError

    def legal(self, low: int, end: int, write: bool) -> bool:
        """Does the memory hold all of [low, end)?"""
        raise NotImplementedError

    def legal_each(self, low: Array, size: int, write: bool) -> Array:
        """As legal, for accesses of one size at many addresses."""
        return np.array([self.legal(x, x + size, write) for x in low.tolist()], np.bool_)

    def complain(self, address: int, size: int, write: bool) -> Fault:
        """Why an access of size bytes at address is not legal."""
        raise NotImplementedError

    def near(self, address: int, size: int = 0) -> str:
        """What lies near an address, in words.  `size`: bytes of the accessed element."""
        return ""


class ArenaSpace(MemorySpace):
    """Device memory, or host memory that the device sees."""

    def __init__(self, name: str, arena: Arena) -> None:
        self.name = name
        self.arena = arena
        self.legal = arena.holds  # type: ignore[method-assign]
        self.legal_each = arena.holds_each  # type: ignore[method-assign]
        self.view = arena.view  # type: ignore[method-assign]

    def index(self, g: AccessingLanes, facts: AddressFacts, shift: int) -> Array:
        return facts.index(shift, self.arena.base)

    def complain(self, address: int, size: int, write: bool) -> Fault:
        a = self.arena.find(address)
        nearest = self.arena.nearest(address, size)
        verb = "write" if write else "read"
        if other := window_at(address):
            text = f"wrong space: {size}-byte {verb} of global memory at {address:#x}, a generic address of {other} memory"
            return Fault("wrong-space", text, "global", address, size, "name no space, or convert it with cvta.to")
        if address < LOWEST and a is None:
            text = f"null pointer: {size}-byte {verb} at address {address:#x}"
            return Fault("null", text, "global", address, size, self.near(address) if address else "")
        if a is not None and a.freed:
            return Fault("freed", f"use after free: {size}-byte {verb} at {address:#x}", "global", address, size, nearest)
        if a is not None and write and not a.writable:
            return Fault("read-only", f"{size}-byte write to read-only memory at {address:#x}", "global", address, size, nearest)
        return Fault("out-of-bounds", f"out of bounds: {size}-byte {verb} at {address:#x}", "global", address, size, nearest)

    def near(self, address: int, size: int = 0) -> str:
        if address < LOWEST:
            return "no memory has so low an address: a number may have been given where a pointer is expected"
        return self.arena.nearest(address, size)


def shared_stride(size: int) -> int:
    """The bytes from one block's shared memory to the next one's: an H100 faults from there on."""
    return -(-max(size, 1) // SHARED_GRANULE) * SHARED_GRANULE


class SharedSpace(MemorySpace):
    """The shared memory of the wave's blocks, one stretch of `stride` bytes each."""

    name = "shared"

    def __init__(
        self, blocks: int, size: int, gaps: Sequence[Gap] = (), objects: Sequence[Placed] = (), memory: Array | None = None,
        slips: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.size = size
        self.slips = slips  # accesses that pass behind the last byte, as on a GPU, whose memory ends at the stride; None: none passes
        self.gaps = gaps
        self.objects = objects  # by their place in a block's memory
        self.stride = shared_stride(size)
        self.bytes = np.zeros(blocks * self.stride + 16, np.uint8) if memory is None else memory
        self._views: dict[str, Array] = {}

    def poison_with(self, poison: Poison, reserved: int) -> None:
        """What nobody has written holds poison; the system's own bytes at the start of each block don't."""
        if not self.size:
            return
        blocks = self.bytes[: self.bytes.size - 16].reshape(-1, self.stride)
        poison.fill(blocks)
        blocks[:, :reserved] = 0

    def view(self, dtype: np.dtype[Any]) -> Array:
        found = self._views.get(dtype.char)
        if found is None:
            found = self._views[dtype.char] = self.bytes[: self.bytes.size & ~15].view(dtype)
        return found

    def index(self, g: AccessingLanes, facts: AddressFacts, shift: int) -> Array:
        key = (shift, id(g.geometry))
        found = facts.indices.get(key)
        if found is None:
            found = facts.indices[key] = (facts.base.astype(np.intp) + g.geometry.block * self.stride) >> shift
        return found

    def legal(self, low: int, end: int, write: bool) -> bool:
        return low >= 0 and end <= self.size and not any(g.holds(low, end) for g in self.gaps)

    def legal_each(self, low: Array, size: int, write: bool) -> Array:
        out = super().legal_each(low, size, write)
        if self.slips is not None and self.size and not out.all():
            behind = ~out & (low < U64(self.stride)) & (low + U64(size) > U64(self.size)) & (low + U64(size) <= U64(self.stride))
            if behind.any() and len(self.slips) < MOST_SLIPS:
                fault = self.complain(int(low[behind.argmax()]), size, write)
                self.slips.append(f"{'writes' if write else 'reads'} {size} bytes of shared memory at {fault.address:#x}, {fault.nearest}")
            out |= behind
        return out

    def complain(self, address: int, size: int, write: bool) -> Fault:
        verb = "write" if write else "read"
        if window_at(address):
            text = f"wrong space: {size}-byte {verb} of shared memory at {address:#x}, a generic address"
            return Fault("out-of-bounds", text, "shared", address, size, "convert it with cvta.to.shared, or name no space")
        if address >> 31 == 1 and self.objects:  # an index below zero makes such an address of 32 bits
            text = f"out of bounds: {size}-byte {verb} of shared memory at {address:#x}"
            return Fault("out-of-bounds", text, "shared", address, size, nearest(self.objects, address - (1 << 32), size))
        gap = next((g for g in self.gaps if g.holds(address, address + size)), None)
        if gap is not None:
            beyond = gap.object.seen_as(size).at(address - gap.origin)
        elif not self.size:
            beyond = "the block has none"
        elif address >= self.size:
            beyond = f"{address - self.size} bytes after the block's {self.size} bytes of shared memory"
        else:
            beyond = f"{address + size - self.size} of them lie after the block's {self.size} bytes of shared memory"
        if gap is None and (place := nearest(self.objects, address, size)):
            beyond += f"; {place}"
        return Fault(
            "out-of-bounds",
            f"out of bounds: {size}-byte {verb} of shared memory at {address:#x}",
            "shared",
            address,
            size,
            beyond,
        )


class LocalSpace(MemorySpace):
    """Each lane's own stack, laid out word by word across the lanes of the wave, as on hardware."""

    name = "local"

    def __init__(self, lanes: int, limit: int) -> None:
        self.lanes = lanes
        self.limit = limit
        self.words: NDArray[np.uint32] = np.zeros((0, lanes), np.uint32)
        self.top = 0
        self.poison: Poison | None = None
        self.guarded = False  # are gaps left between variables?
        self.followers: list[LocalSpace] = []  # laid out as this one, whose copies they make, too

    def grow(self, top: int) -> None:
        """Makes room for a frame that ends at `top`."""
        if top > self.limit:
            raise Fault(
                "stack-overflow",
                f"stack overflow: a call needs {top} bytes of local memory, the limit is {self.limit}",
                "local",
                top,
            )
        if top > self.words.shape[0] * 4:
            rows = max(-(-top // 4), self.words.shape[0] * 2)
            bigger = np.zeros((rows, self.lanes), np.uint32)
            if self.poison is not None:
                self.poison.fill(bigger[self.words.shape[0] :])
            bigger[: self.words.shape[0]] = self.words
            self.words = bigger
        self.top = max(self.top, top)

    def legal(self, low: int, end: int, write: bool) -> bool:
        return low >= 0 and end <= self.top

    def complain(self, address: int, size: int, write: bool) -> Fault:
        verb = "write" if write else "read"
        return Fault("out-of-bounds", f"out of bounds: {size}-byte {verb} of local memory at {address:#x}", "local", address, size,
                     f"the thread's stack ends at {self.top:#x}")  # fmt: skip

    def load(self, g: AccessingLanes, address: Array, type: ScalarType, count: int) -> tuple[Array, ...]:
        """Elements at each lane's own address (legal and aligned)."""
        lane, size, out = g.geometry.lane, type.bytes, []
        for i in range(count):
            at = address + i * size
            row = at >> 2
            if size >= 4:
                parts = [self._row(row + j, lane) for j in range(size // 4)]
                v = parts[0] if size == 4 else parts[0].astype(U64) | parts[1].astype(U64) << U64(32)
            else:
                v = (self._row(row, lane) >> ((at & 3) << 3).astype(np.uint32)).astype(f"u{size}")
            out.append(v.view(type.dtype) if type.dtype != v.dtype else v)
        return tuple(out)

    def copy(self, geometry: Geometry, source: int, target: int, size: int) -> None:
        """Copies bytes (whole words) between two places of the same lanes' stacks."""
        a, b, n = source >> 2, target >> 2, -(-size // 4)
        if geometry.n == self.lanes:
            self.words[b : b + n] = self.words[a : a + n]
        else:
            lane = geometry.lane.ravel()
            for j in range(n):
                self.words[b + j, lane] = self.words[a + j, lane]
        for other in self.followers:
            other.copy(geometry, source, target, size)

    def _row(self, row: Array, lane: Array) -> Array:
        if row.size == 1 and lane.size == self.lanes:
            whole: Array = self.words[int(row[0, 0])].reshape(lane.shape).copy()
            return whole
        return self.words[row, lane]

    def store(self, g: AccessingLanes, address: Array, type: ScalarType, values: Sequence[Array], mask: Array | None) -> None:
        """Stores elements at each lane's own address (legal and aligned)."""
        lane, size = g.geometry.lane, type.bytes
        shape = g.geometry.shape
        for i, value in enumerate(values):
            at = address + i * size
            row = at >> 2
            v = value.view(f"u{size}") if value.dtype != np.dtype(f"u{size}") else value
            parts: list[Array]
            if size == 8:
                parts = [v.astype(np.uint32), (v >> U64(32)).astype(np.uint32)]
            elif size == 4:
                parts = [v]
            else:
                shift = ((at & 3) << 3).astype(np.uint32)
                old = self._row(row, lane)
                keep = ~(np.uint32((1 << 8 * size) - 1) << shift)
                parts = [(old & keep) | (v.astype(np.uint32) << shift)]
            for j, part in enumerate(parts):
                self._put(row + j, lane, part, shape, mask)

    def _put(self, row: Array, lane: Array, v: Array, shape: tuple[int, int], mask: Array | None) -> None:
        if mask is not None:
            some = np.broadcast_to(mask, shape).ravel()
            row, lane, v = (np.broadcast_to(x, shape).ravel().compress(some) for x in (row, lane, v))
            self.words[row, lane] = v
        elif row.size == 1 and lane.size == self.lanes:
            self.words[int(row[0, 0])].reshape(shape)[...] = v
        else:
            self.words[row, lane] = v
