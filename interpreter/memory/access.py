"""Loads and stores of a group of lanes: which memory an address means, bounds, alignment, and the array operation that moves the data.

The common case costs three reductions over the addresses, once for each base array however many accesses share it, and one take or put;
lanes that address consecutive elements become slices.  Whatever is not common goes lane set by lane set through `slow`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.ports import Shortcut
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import TYPES, ScalarType

from ..faults import Fault
from ..values import Facts, LocalPlace, Shifted, Value, plain
from .arena import Arena
from .atomics import update
from .spaces import ArenaSpace, LocalSpace, SharedSpace, Space

if TYPE_CHECKING:
    from ..group import Group

Array = NDArray[Any]
U64 = np.uint64


class Access:
    """All memories of one wave, and the accesses of its groups."""

    def __init__(self, arena: Arena, others: Sequence[Arena], shared: SharedSpace, local: LocalSpace) -> None:
        self.device = ArenaSpace("global", arena)
        self.others = [ArenaSpace("host", a) for a in others]
        self.shared = shared
        self.local = local
        self.by_name: dict[str, Space] = {
            "global": self.device, "const": self.device, "shared": shared, "shared::cta": shared,
        }  # fmt: skip

    # ------------------------------------------------------------ the common case

    def load(self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        """Elements at each active lane's address; zeros for the others."""
        if isinstance(address, LocalPlace):
            return self.local.load(g, np.array([[address.at]]), type, count)
        memory = self.by_name.get(space)
        if memory is None and space == "generic":
            memory = self._guess(address)
        if memory is not None and g.active is None:
            a = address if isinstance(address, Shifted) else Shifted(address)
            facts, delta, size = a.facts, a.delta, type.dtype.itemsize * type.elements
            low, end = facts.low + delta, facts.high + delta + size * count
            if (
                memory.legal(low, end, False)
                and not (facts.low_bits | delta) & (size * count - 1)
                and (delta >= 0 or memory is self.shared)
            ):
                return self._take(g, memory, facts, delta, type, count)
        if space == "local" and g.active is None and type.elements == 1:
            a = address if isinstance(address, Shifted) else Shifted(address)
            size = type.bytes * count
            if self.local.legal(a.facts.low + a.delta, a.facts.high + a.delta + size, False) and not (a.facts.low_bits | a.delta) & (
                size - 1
            ):
                return self.local.load(g, a.array().astype(np.int64), type, count)
        return self.slow_load(g, space, plain(address), type, count)

    def _take(self, g: Group, memory: Space, facts: Facts, delta: int, type: ScalarType, count: int) -> tuple[Array, ...]:
        dtype = type.dtype
        if type.elements > 1:  # b128: two halves
            count *= type.elements
        shift = dtype.itemsize.bit_length() - 1
        view = memory.view(dtype)
        start = delta >> shift
        base = facts.base
        if base.size == 1 and memory is self.device:
            at = (facts.low >> shift) + start
            return tuple(view[at + i : at + i + 1].reshape(1, 1).copy() for i in range(count))
        if count == 1 and memory is self.device and facts.high - facts.low == (base.size - 1) << shift and facts.is_run(shift):
            at = (facts.low >> shift) + start
            return (view[at : at + base.size].reshape(base.shape).copy(),)
        index = memory.index(g, facts, shift)
        if start < 0:
            index = index + start
            start = 0
        if count == 1:  # in bounds already: wrap is the fastest mode
            repeat = facts.repeat((shift, id(g.geometry) if memory is self.shared else 0), index)
            if repeat is not None:
                return (repeat.spread(view[start:].take(repeat.index, mode="wrap")),)
            return (view[start:].take(index, mode="wrap"),)
        return tuple(view[start + i :].take(index, mode="wrap") for i in range(count))

    def store(self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        """Stores elements at each active lane's address; the highest lane wins."""
        if isinstance(address, LocalPlace):
            self.local.store(g, np.array([[address.at]]), type, values, g.active)
            return
        memory = self.by_name.get(space)
        if memory is None and space == "generic":
            memory = self._guess(address)
        count = len(values) // type.elements
        if memory is not None and g.active is None:
            a = address if isinstance(address, Shifted) else Shifted(address)
            facts, delta, size = a.facts, a.delta, type.dtype.itemsize * type.elements
            low, end = facts.low + delta, facts.high + delta + size * count
            if memory.legal(low, end, True) and not (facts.low_bits | delta) & (size * count - 1) and (delta >= 0 or memory is self.shared):
                self._put(g, memory, facts, delta, type, values)
                return
        if space == "local" and g.active is None and type.elements == 1:
            a = address if isinstance(address, Shifted) else Shifted(address)
            size = type.bytes * count
            if self.local.legal(a.facts.low + a.delta, a.facts.high + a.delta + size, True) and not (a.facts.low_bits | a.delta) & (
                size - 1
            ):
                self.local.store(g, a.array().astype(np.int64), type, values, None)
                return
        self.slow_store(g, space, plain(address), type, values)

    def _put(self, g: Group, memory: Space, facts: Facts, delta: int, type: ScalarType, values: Sequence[Array]) -> None:
        dtype = type.dtype
        shift = dtype.itemsize.bit_length() - 1
        view = memory.view(dtype)
        start = delta >> shift
        shape = g.geometry.shape
        n = g.geometry.n
        base = facts.base
        if (
            len(values) == 1
            and base.size == n
            and memory is self.device
            and facts.high - facts.low == (n - 1) << shift
            and facts.is_run(shift)
        ):
            at = (facts.low >> shift) + start
            view[at : at + n].reshape(shape)[...] = values[0]
            return
        index = memory.index(g, facts, shift)
        if start < 0:
            index = index + start
            start = 0
        if index.size != n and any(v.size > 1 for v in values):
            index = np.broadcast_to(index, shape)
        for i, v in enumerate(values):
            view[start + i :][index] = v if v.shape == index.shape or v.size == 1 else np.broadcast_to(v, index.shape)

    def _guess(self, address: Value) -> Space | None:
        """The one memory that all of some generic addresses seem to mean; None where they mean several, or shared or local memory."""
        a = address if isinstance(address, Shifted) else Shifted(address)
        low, high = a.facts.low + a.delta, a.facts.high + a.delta
        return self.device if low >= 0 and high < LOCAL_BASE else None

    # ------------------------------------------------------------ the general case

    def parts(self, g: Group, space: str, address: Array) -> list[tuple[Space | str, Array, Array]]:
        """(memory, mask in the group's shape, address within it) for each memory that the active lanes mean."""
        shape = g.geometry.shape
        a = np.broadcast_to(address, shape).astype(U64)
        mask = np.ones(shape, bool) if g.active is None else np.broadcast_to(g.active, shape)
        if space in ("global", "const"):
            return self._arenas(a, mask)
        if space in ("shared", "shared::cta"):
            return [(self.shared, mask, a)]
        if space in ("shared::cluster",):
            return [("cluster", mask, a)]
        if space == "local":
            return [(self.local, mask, a)]
        assert space in ("generic", "param", "param::entry", "param::func"), space
        out: list[tuple[Space | str, Array, Array]] = []
        in_shared = mask & (a >= U64(SHARED_BASE)) & (a < U64(SHARED_BASE + WINDOW_SIZE))
        in_local = mask & (a >= U64(LOCAL_BASE)) & (a < U64(LOCAL_BASE + WINDOW_SIZE))
        if in_shared.any():
            out.append(("cluster", in_shared, a - U64(SHARED_BASE)))
        if in_local.any():
            out.append((self.local, in_local, a - U64(LOCAL_BASE)))
        rest = mask & ~in_shared & ~in_local
        if rest.any() or not out:
            out += self._arenas(a, rest)
        return out

    def _arenas(self, a: Array, mask: Array) -> list[tuple[Space | str, Array, Array]]:
        out: list[tuple[Space | str, Array, Array]] = []
        rest = mask
        for other in self.others:
            arena = other.arena
            inside = rest & (a >= U64(arena.base)) & (a < U64(arena.base + arena.reserved))
            if inside.any():
                out.append((other, inside, a))
                rest = rest & ~inside
        if rest.any() or not out:
            out.append((self.device, rest, a))
        return out

    def _check(self, g: Group, memory: Space, mask: Array, a: Array, size: int, align: int, write: bool) -> None:
        """Faults on the first active lane whose access is not legal."""
        lanes = a[mask]
        if not lanes.size:
            return
        low, high = int(lanes.min()), int(lanes.max())
        if int(np.bitwise_or.reduce(lanes)) & (align - 1):
            bad = (a & U64(align - 1)).astype(bool) & mask
            where = int(a.ravel()[np.flatnonzero(bad)[0]])
            text = f"misaligned: {size}-byte {'write' if write else 'read'} at {where:#x}, which is no multiple of {align}"
            raise g.blame(Fault("misaligned", text, memory.name, where, size, memory.near(where)), bad)
        if memory.legal(low, high + size, write):
            return
        legal = memory.legal_each(lanes, size, write)  # in several allocations, perhaps
        if legal.all():
            return
        bad = np.zeros(mask.shape, bool)
        bad[mask] = ~legal
        where = int(a.ravel()[np.flatnonzero(bad)[0]])
        raise g.blame(memory.complain(where, size, write), bad)

    def _resolve(
        self, g: Group, memory: Space | str, mask: Array, a: Array, size: int, align: int, write: bool
    ) -> tuple[Space, Array, Array]:
        """Checks, and turns addresses into places: (memory, flat byte places of the masked lanes, mask)."""
        if memory == "cluster":
            self._check(g, self.shared, mask, a & U64(0xFFFFFF), size, align, write)
            block = np.broadcast_to(g.geometry.block, a.shape)
            rank = (a >> U64(24)).astype(np.int64) & 0xFF
            if (rank[mask] > 0).any():
                block = g.wave.cluster_block(g, block, rank, mask)
            place = (a & U64(0xFFFFFF)).astype(np.int64) + block * self.shared.stride
            return self.shared, place[mask], mask
        assert isinstance(memory, Space)
        self._check(g, memory, mask, a, size, align, write)
        place = a.astype(np.int64)
        if memory is self.shared:
            place = place + g.geometry.block * self.shared.stride
        elif isinstance(memory, ArenaSpace):
            place = place - memory.arena.base
        return memory, place[mask], mask

    def slow_load(self, g: Group, space: str, address: Array, type: ScalarType, count: int) -> tuple[Array, ...]:
        """As load, for masks, several memories, and whatever else is not common."""
        shape = g.geometry.shape
        dtype = type.dtype
        each = type.elements
        size = dtype.itemsize * each * count
        out = [np.zeros(shape, dtype) for _ in range(count * each)]
        for part, mask, a in self.parts(g, space, address):
            if part is self.local:
                self._check(g, self.local, mask, a, size, size, False)
                whole = self.local.load(g, np.where(mask, a, U64(0)).astype(np.int64), type if each == 1 else TYPES["b64"], count * each)
                for o, v in zip(out, whole, strict=True):
                    np.copyto(o, v, where=mask)
                continue
            memory, place, mask = self._resolve(g, part, mask, a, size, size, False)
            view = memory.view(dtype)
            index = place >> (dtype.itemsize.bit_length() - 1)
            for i, o in enumerate(out):
                o[mask] = view[index + i]
        return tuple(out)

    def slow_store(self, g: Group, space: str, address: Array, type: ScalarType, values: Sequence[Array]) -> None:
        """As store, for masks, several memories, and whatever else is not common."""
        shape = g.geometry.shape
        dtype = type.dtype
        size = dtype.itemsize * len(values)
        for part, mask, a in self.parts(g, space, address):
            if part is self.local:
                self._check(g, self.local, mask, a, size, size, True)
                self.local.store(g, np.where(mask, a, U64(0)).astype(np.int64), type if type.elements == 1 else TYPES["b64"], values, mask)
                continue
            memory, place, mask = self._resolve(g, part, mask, a, size, size, True)
            view = memory.view(dtype)
            index = place >> (dtype.itemsize.bit_length() - 1)
            for i, v in enumerate(values):
                view[index + i] = np.broadcast_to(v, shape)[mask]

    def update(
        self, g: Group, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        """Atomic updates, lane after lane; see ports.Lanes.update."""
        shape = g.geometry.shape
        dtype, size, each = type.dtype, type.dtype.itemsize * type.elements, type.elements
        out = np.zeros(shape if each == 1 else (*shape, each), dtype)
        for part, mask, a in self.parts(g, space, plain(address)):
            if part is self.local:  # no two lanes share a place there
                out[mask] = self._update_local(g, mask, a, type, change, operands)[mask]
                continue
            memory, place, mask = self._resolve(g, part, mask, a, size, size, True)
            whole = mask.all()
            view = memory.view(dtype)
            if each == 1:
                flat = [np.broadcast_to(o, shape)[mask] if not whole else np.broadcast_to(o, shape).ravel() for o in operands]
                found = update(view, place >> (dtype.itemsize.bit_length() - 1), change, flat, shortcut, returns)
            elif type.name == "b128":  # its halves change together
                flat = [np.broadcast_to(o, (*shape, each))[mask] for o in operands]
                found = update(view[: view.size // each * each].reshape(-1, each), place // size, change, flat, None, returns)
            else:  # each element by itself, as the manual has it
                flat = [np.broadcast_to(o, (*shape, each))[mask].ravel() for o in operands]
                places = (place // dtype.itemsize)[:, None] + np.arange(each)
                found = update(view, places.ravel(), change, flat, shortcut, returns)
                found = None if found is None else found.reshape(-1, each)
            if returns and found is not None:
                out[mask] = found
        return out

    def _update_local(
        self, g: Group, mask: Array, a: Array, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array]
    ) -> Array:
        size = type.dtype.itemsize * type.elements
        self._check(g, self.local, mask, a, size, size, True)
        where = np.where(mask, a, U64(0)).astype(np.int64)
        (old,) = self.local.load(g, where, TYPES[f"b{8 * size}"], 1)
        held = old.view(type.dtype) if type.elements == 1 else old.view(type.dtype).reshape(*old.shape, type.elements)
        new = np.ascontiguousarray(np.broadcast_to(change(held, *operands), held.shape))
        self.local.store(g, where, TYPES[f"b{8 * size}"], [new.view(f"u{size}").reshape(old.shape)], mask)
        return held
