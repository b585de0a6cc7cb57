"""Accesses under masks, to several memories at once, and atomic ones: the lanes that take part, memory by memory.

A guard is looked at once: from then on only the lanes that it leaves are worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.isa.ports import Shortcut
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import TYPES, ScalarType

from ..faults import Fault
from ..values import Value, plain
from .atomics import update
from .spaces import AccessingLanes, ArenaSpace, LocalSpace, MemorySpace, SharedSpace

Array = NDArray[Any]
Index = NDArray[np.intp]
U64 = np.uint64
OFFSET_BITS = 24  # of an address in the shared memory of a cluster; the block's rank, from 1 on, stands above


class Part(NamedTuple):
    """Some lanes of a group, in ascending order, and what they address in one memory."""

    memory: MemorySpace | None  # None: the shared memory of a cluster
    lanes: Index | None  # None: all
    address: Array

    def where(self, memory: MemorySpace | None, flags: Array, less: int = 0) -> Part:
        """Those for which something holds, in another memory; addresses there count from `less` on."""
        some = flags.nonzero()[0]
        address = self.address.take(some)
        return Part(memory, some if self.lanes is None else self.lanes.take(some), address - U64(less) if less else address)

    def of(self, v: Array, shape: tuple[int, ...], rows: int = 1) -> Array:
        """The values of these lanes, of an array that broadcasts to the group's shape; `rows`: so many for each lane."""
        if v.size == 1:
            return v.ravel()
        flat = (v if v.shape == shape else np.broadcast_to(v, shape)).reshape(-1, *((rows,) if rows > 1 else ()))
        return flat if self.lanes is None else flat.take(self.lanes, axis=0)

    def put(self, out: Array, values: Array, rows: int = 1) -> None:
        """Writes the values of these lanes into an array of the group's shape."""
        flat = out.reshape(-1, *((rows,) if rows > 1 else ()))
        if self.lanes is None:
            flat[...] = values
        else:
            flat[self.lanes] = values

    def spread(self, g: AccessingLanes) -> tuple[Array, Array | None]:
        """The addresses in the group's shape, zeros elsewhere; and which lanes these are."""
        shape = g.geometry.shape
        if self.lanes is None:
            return self.address.reshape(shape).astype(np.int64), None
        where, mask = np.zeros(shape, np.int64), np.zeros(shape, np.bool_)
        self.put(where, self.address)
        self.put(mask, np.ones(1, np.bool_))
        return where, mask


class GeneralAccess:
    """All that needs a look at which lanes mean which memory."""

    device: ArenaSpace
    others: list[ArenaSpace]
    shared: SharedSpace
    local: LocalSpace
    cluster_size: int

    def parts(self, g: AccessingLanes, space: str, address: Array) -> list[Part]:
        """The active lanes, by the memory that they mean."""
        shape = g.geometry.shape
        if space.startswith("param"):
            address = g.generic_parameter(address)
        every = Part(
            self.device, None, (address if address.shape == shape else np.broadcast_to(address, shape)).ravel().astype(U64, copy=False)
        )
        if g.active is not None:
            every = every.where(self.device, np.broadcast_to(g.active, shape).ravel())
        if space in ("global", "const"):
            return self._arenas(every)
        if space in ("shared", "shared::cta"):
            return [every._replace(memory=self.shared)]
        if space == "shared::cluster":
            return [every._replace(memory=None)]
        if space == "local":
            return [every._replace(memory=self.local)]
        assert space in ("generic", "param", "param::entry", "param::func"), space
        out: list[Part] = []
        rest = every
        windows: tuple[tuple[MemorySpace | None, int], ...] = ((None, SHARED_BASE), (self.local, LOCAL_BASE))
        for memory, base in windows:
            inside = (rest.address >= U64(base)) & (rest.address < U64(base + WINDOW_SIZE))
            if inside.any():
                out.append(rest.where(memory, inside, base))
                rest = rest.where(self.device, ~inside)
        if rest.address.size or not out:
            out += self._arenas(rest)
        return out

    def _arenas(self, rest: Part) -> list[Part]:
        out: list[Part] = []
        for other in self.others:
            inside = (rest.address >= U64(other.arena.base)) & (rest.address < U64(other.arena.base + other.arena.reserved))
            if inside.any():
                out.append(rest.where(other, inside))
                rest = rest.where(self.device, ~inside)
        if rest.address.size or not out:
            out.append(rest)
        return out

    def _check(self, g: AccessingLanes, memory: MemorySpace, part: Part, size: int, align: int, write: bool) -> None:
        """Faults on the first active lane whose access is not legal."""
        a = part.address
        if not a.size:
            return
        if int(np.bitwise_or.reduce(a)) & (align - 1):
            bad = a & U64(align - 1) != 0
            where = a.item(int(bad.argmax()))
            text = f"misaligned: {size}-byte {'write' if write else 'read'} at {where:#x}, which is not a multiple of {align}"
            raise self._blame(g, Fault("misaligned", text, memory.name, where, size, memory.near(where, size)), part, bad)
        if memory is self.local and self.local.guarded:
            for gap in g.gaps(int(a.min()), int(a.max()) + size):
                bad = (a < U64(gap.end)) & (a + U64(size) > U64(gap.start))
                if bad.any():
                    fault = memory.complain(a.item(int(bad.argmax())), size, write)
                    fault.nearest = gap.object.seen_as(size).at(a.item(int(bad.argmax())) - gap.origin)
                    raise self._blame(g, fault, part, bad)
        if memory.legal(int(a.min()), int(a.max()) + size, write):
            return
        bad = ~memory.legal_each(a, size, write)  # in several allocations, perhaps
        if bad.any():
            raise self._blame(g, memory.complain(a.item(int(bad.argmax())), size, write), part, bad)

    def _blame(self, g: AccessingLanes, fault: Fault, part: Part, bad: Array) -> Fault:
        lanes = np.zeros(g.geometry.shape, np.bool_)
        part.put(lanes, bad)
        return g.blame(fault, lanes)

    def _resolve(self, g: AccessingLanes, part: Part, size: int, align: int, write: bool) -> tuple[MemorySpace, Array]:
        """Checks, and turns addresses into the bytes of a memory."""
        memory, geometry = part.memory, g.geometry
        if memory is None:
            rank = (part.address >> U64(OFFSET_BITS)).astype(np.int64) & 0xFF
            part = part._replace(address=part.address & U64((1 << OFFSET_BITS) - 1))
            self._check(g, self.shared, part, size, align, write)
            block = part.of(geometry.block, geometry.shape)
            if rank.any():
                if (bad := rank > self.cluster_size).any():
                    text = "shared::cluster address of a CTA that the cluster does not have"
                    raise self._blame(g, Fault("out-of-bounds", text, "shared"), part, bad)
                block = np.where(rank > 0, block // self.cluster_size * self.cluster_size + rank - 1, block)
            return self.shared, part.address.astype(np.int64) + block * self.shared.stride
        self._check(g, memory, part, size, align, write)
        place = part.address.astype(np.int64)
        if memory is self.shared:
            place += part.of(geometry.block, geometry.shape) * self.shared.stride
        elif isinstance(memory, ArenaSpace) and memory.arena.base:
            place -= memory.arena.base
        return memory, place

    def shared_places(self, g: AccessingLanes, space: str, address: Array, size: int) -> Iterator[tuple[Part, Array]]:
        """The active lanes that address shared memory of `size` bytes legally, and where that lies in the memory of all blocks."""
        for part in self.parts(g, space, address):
            if part.memory is None or part.memory is self.shared:
                yield part, self._resolve(g, part, size, 1, False)[1]

    def places(self, g: AccessingLanes, space: str, address: Array, size: int, write: bool) -> Iterator[tuple[Part, MemorySpace, Array]]:
        """The active lanes by the memory that they access, legally, and which of its bytes: of shared memory counted over all blocks."""
        for part in self.parts(g, space, address):
            yield part, *self._resolve(g, part, size, 1, write)

    def shared_bytes(self, g: AccessingLanes, space: str, address: Array) -> Array:
        """Which byte of the wave's shared memory each active lane's address means, that of a word of 8 bytes; -1 where none."""
        out = np.full(g.geometry.shape, -1, np.int64)
        for part in self.parts(g, space, address):
            if part.memory is None or part.memory is self.shared:
                part.put(out, self._resolve(g, part, 8, 8, False)[1])
        return out

    def general_load(self, g: AccessingLanes, space: str, address: Array, type: ScalarType, count: int) -> tuple[Array, ...]:
        """Elements at each active lane's address; zeros for the others."""
        dtype, each = type.dtype, type.elements
        size = dtype.itemsize * each * count
        out = [np.zeros(g.geometry.shape, dtype) for _ in range(count * each)]
        for part in self.parts(g, space, address):
            if part.memory is self.local:
                self._check(g, self.local, part, size, size, False)
                where, mask = part.spread(g)
                whole = self.local.load(g, where, type if each == 1 else TYPES["b64"], count * each)
                for o, v in zip(out, whole, strict=True):
                    np.copyto(o, v, where=True if mask is None else mask)
                continue
            memory, place = self._resolve(g, part, size, size, False)
            view, index = memory.view(dtype), place >> (dtype.itemsize.bit_length() - 1)
            for i, o in enumerate(out):
                part.put(o, view[i:].take(index))
        return tuple(out)

    def general_store(self, g: AccessingLanes, space: str, address: Array, type: ScalarType, values: Sequence[Array]) -> None:
        """Stores elements at each active lane's address; the highest lane wins."""
        shape, dtype = g.geometry.shape, type.dtype
        size = dtype.itemsize * len(values)
        for part in self.parts(g, space, address):
            if part.memory is self.local:
                self._check(g, self.local, part, size, size, True)
                where, mask = part.spread(g)
                self.local.store(g, where, type if type.elements == 1 else TYPES["b64"], values, mask)
                continue
            memory, place = self._resolve(g, part, size, size, True)
            view, index = memory.view(dtype), place >> (dtype.itemsize.bit_length() - 1)
            for i, v in enumerate(values):
                view[i:][index] = part.of(v, shape)

    def update(
        self, g: AccessingLanes, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        """Atomic updates, lane after lane; see ports.Lanes.update."""
        shape = g.geometry.shape
        dtype, size, each = type.dtype, type.dtype.itemsize * type.elements, type.elements
        whole = shape if each == 1 else (*shape, each)
        out = np.zeros(whole, dtype)
        for part in self.parts(g, space, plain(address)):
            if part.memory is self.local:  # no two lanes share a place there
                self._update_local(g, part, type, change, operands, out)
                continue
            memory, place = self._resolve(g, part, size, size, True)
            view = memory.view(dtype)
            flat = [np.ascontiguousarray(np.broadcast_to(part.of(o, whole, each), (place.size, each)[: 1 + (each > 1)])) for o in operands]
            if each == 1:
                found = update(view, place >> (dtype.itemsize.bit_length() - 1), change, flat, shortcut, returns)
            elif type.name == "b128":  # its halves change together
                found = update(view[: view.size // each * each].reshape(-1, each), place // size, change, flat, None, returns)
            else:  # each element by itself, as the manual has it
                places = (place // dtype.itemsize)[:, None] + np.arange(each)
                found = update(view, places.ravel(), change, [o.ravel() for o in flat], shortcut, returns)
                found = None if found is None else found.reshape(-1, each)
            if returns and found is not None:
                part.put(out, found, each)
        return out

    def _update_local(
        self, g: AccessingLanes, part: Part, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array], out: Array
    ) -> None:
        size = type.dtype.itemsize * type.elements
        self._check(g, self.local, part, size, size, True)
        where, mask = part.spread(g)
        (old,) = self.local.load(g, where, TYPES[f"b{8 * size}"], 1)
        held = old.view(type.dtype) if type.elements == 1 else old.view(type.dtype).reshape(*old.shape, type.elements)
        new = np.ascontiguousarray(np.broadcast_to(change(held, *operands), held.shape))
        self.local.store(g, where, TYPES[f"b{8 * size}"], [new.view(f"u{size}").reshape(old.shape)], mask)
        if mask is None:
            out[...] = held
        else:
            out[mask] = held[mask]
