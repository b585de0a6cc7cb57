"""The shadow of memory: for each byte of global, shared and local memory a byte of undefined bits, and for each word where they come from.

A shadow is laid out as the memory is, so that an access to it is the same access.  Global memory counts as defined until somebody says
that it is not, shared and local memory as undefined until it is written.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE
from warplab.isa.types import TYPES, ScalarType

from ...lanes import Geometry
from ...memory.access import WaveMemory
from ...memory.address_space import address_space
from ...memory.arena import Arena
from ...memory.objects import nearest
from ...memory.spaces import ArenaSpace, LocalSpace, SharedSpace
from ...observe import ObservedWave
from ...plan.plan import Site
from ...values import LocalPlace, Shifted, Value, plain
from ...vector.group import Group
from .masks import DEFINED, ZERO, Array, Mask
from .origins import COMPUTED, Origins

U64 = np.uint64
RECORD = 16  # bytes: the largest alignment of what C++ builds records of, and so the most that padding keeps from what is set
STORED_COMPUTED = np.uint64(1 << 31)  # COMPUTED, where an origin is stored in a word


class ArenaShadow:
    """The shadow of an arena: bytes of masks or of origins at the same places, zeros at first."""

    def __init__(self, arena: Arena) -> None:
        room = -(-arena.reserved // 16) * 16
        self.bytes: NDArray[np.uint8] = np.frombuffer(address_space(room), np.uint8)
        if self.bytes.size < room:  # earlier runs may still wait for the garbage collector
            gc.collect()
            self.bytes = np.frombuffer(address_space(room), np.uint8)
        if self.bytes.size < room:
            raise MemoryError(f"no address space for the shadow of {arena.reserved} bytes")
        self._views: dict[str, Array] = {}

    def view(self, dtype: np.dtype[Any]) -> Array:
        """All of it as elements of a dtype."""
        found = self._views.get(dtype.char)
        if found is None:
            found = self._views[dtype.char] = self.bytes.view(dtype)
        return found


class ArenaShadows:
    """The shadows of all arenas that a checker has met, across launches."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Arena, ArenaShadow]] = {}  # by where the arena's bytes lie, which it keeps while it is here

    def of(self, arena: Arena) -> ArenaShadow:
        """The shadow of one."""
        found = self._of.get(arena.host_address)
        if found is None:
            found = self._of[arena.host_address] = (arena, ArenaShadow(arena))
        return found[1]


class ShadowSpace(ArenaSpace):
    """Device memory whose accesses go to its shadow."""

    def __init__(self, name: str, arena: Arena, shadow: ArenaShadow) -> None:
        super().__init__(name, arena)
        self.view = shadow.view  # type: ignore[method-assign]


class LocalShadow(LocalSpace):
    """The shadow of local memory, as deep as that is."""

    def __init__(self, of: LocalSpace, first: int) -> None:
        super().__init__(of.lanes, of.limit)
        of.followers.append(self)
        self.of = of
        self.first = first  # what a word holds at first

    def copy(self, geometry: Geometry, source: int, target: int, size: int) -> None:
        self.follow()
        super().copy(geometry, source, target, size)

    def follow(self) -> None:
        """Grows as local memory has grown."""
        if self.top < self.of.top:
            rows = self.words.shape[0]
            self.grow(self.of.top)
            self.words[rows:] = self.first

    def fill(self, lanes: Array, start: int, size: int | None = None, value: int | None = None) -> None:
        """What some lanes have from `start` on is as it was at first, or another value."""
        self.follow()
        end = None if size is None else start + size + 3 >> 2
        self.words[start >> 2 : end, lanes.ravel()] = self.first if value is None else value


def _shadow(wave: ObservedWave, shadows: ArenaShadows, first: int) -> WaveMemory:
    launch = wave.launch
    slips: list[str] | None = None if launch.slips is None else []
    shared = SharedSpace(wave.count, launch.shared_bytes, wave.shared.gaps, wave.shared.objects, slips=slips)
    shared.bytes[:] = first & 0xFF
    if first:
        by_block = shared.bytes[: wave.count * shared.stride].reshape(wave.count, shared.stride)
        by_block[:, : launch.kernel.reserved_shared] = 0
    out = WaveMemory(launch.arena, launch.other_arenas, shared, LocalShadow(wave.local, first), launch.cluster_size)
    out.device = ShadowSpace("global", launch.arena, shadows.of(launch.arena))
    out.others = [
        ShadowSpace("host", a, shadows.of(a)) if a.begins.size else ArenaSpace("host", a)  # addresses behind which nothing lies
        for a in launch.other_arenas
    ]
    out.by_name |= {"global": out.device, "const": out.device}
    return out


class WaveShadow:
    """The shadows of the memories of one wave."""

    def __init__(self, wave: ObservedWave, masks: ArenaShadows, sources: ArenaShadows, origins: Origins) -> None:
        self.wave = wave
        self.masks = _shadow(wave, masks, 0xFFFFFFFF)
        self._source_shadows = sources
        self._sources: WaveMemory | None = None  # origins of what was stored undefined
        self.origins = origins

    @property
    def local(self) -> LocalShadow:
        """That of local memory."""
        local = self.masks.local
        assert isinstance(local, LocalShadow)
        return local

    def load(self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Mask, ...]:
        """The masks of what a load brings."""
        self.local.follow()
        found = self.masks.load(g, space, address, unsigned(type), count)
        return tuple([f.astype(U64, copy=False) if f.any() else DEFINED for f in found])

    def store(
        self, g: Group, space: str, address: Value | LocalPlace, type: ScalarType, masks: Sequence[Mask], sources: Sequence[Array] = ()
    ) -> None:
        """Stores elements' masks, and where their bits come from."""
        self.local.follow()
        bits = unsigned(type)
        self.masks.store(g, space, address, bits, [m.astype(bits.dtype) for m in masks])
        for n, (m, source) in enumerate(zip(masks, sources, strict=bool(sources))):
            if m is not DEFINED:
                self._store_source(g, space, address, n * bits.dtype.itemsize, bits.dtype.itemsize, m, source)

    def _store_source(self, g: Group, space: str, address: Value | LocalPlace, offset: int, size: int, mask: Mask, source: Array) -> None:
        if self._sources is None:
            self._sources = _shadow(self.wave, self._source_shadows, 0)
        space = "local" if isinstance(address, LocalPlace) else space
        word = (source & ~COMPUTED | np.where(source & COMPUTED != ZERO, STORED_COMPUTED, ZERO)).astype(np.uint32)
        self._sources.local.follow()  # type: ignore[attr-defined]
        with g.only(np.broadcast_to(mask != ZERO, g.geometry.shape)):
            for at in _words(address, offset, size):
                self._sources.store(g, space, at, TYPES["b32"], (word,))

    def source(self, g: Group, site: Site, space: str, address: Value | LocalPlace, type: ScalarType, n: int, mask: Mask) -> Array:
        """Where the undefined bits of element n of a load come from: its own origin, or what was stored with them."""
        size = unsigned(type).dtype.itemsize
        own = self._own(g, site, space, address, n * size, size, mask)
        if self._sources is None:
            return own
        space = "local" if isinstance(address, LocalPlace) else space
        self._sources.local.follow()  # type: ignore[attr-defined]
        out: Array = DEFINED
        with g.only(np.broadcast_to(mask != ZERO, g.geometry.shape)):
            for at in _words(address, n * size, size):
                (word,) = self._sources.load(g, space, at, TYPES["b32"], 1)
                wide = word.astype(U64)
                out = np.maximum(out, np.where(wide & STORED_COMPUTED != ZERO, wide & ~STORED_COMPUTED | COMPUTED, wide))
        return np.where(out != ZERO, out, own)

    def _own(self, g: Group, site: Site, space: str, address: Value | LocalPlace, offset: int, size: int, mask: Mask) -> Array:
        bare = self._bare(g, space, address, offset, size, mask)
        where = np.array([[address.at]], U64) if isinstance(address, LocalPlace) else plain(address).astype(U64)
        if isinstance(address, LocalPlace):
            space = "local"
        if space == "generic" or space.startswith("param"):
            shared, local = ((where >= U64(b)) & (where < U64(b + WINDOW_SIZE)) for b in (SHARED_BASE, LOCAL_BASE))
            kinds = {"shared": shared, "local": local, "global": ~shared & ~local}
        else:
            kinds = {space.split("::")[0]: np.ones((1, 1), bool)}
        out: Array = DEFINED
        for name, there in kinds.items():
            some = there & (mask != ZERO)
            if some.any():
                number = self.origins.of_load(site, name)
                origin = self.origins.all[number]
                assert origin is not None
                if origin.address is None:
                    origin.address = int(np.broadcast_to(where, some.shape)[some][0]) + offset
                    origin.size = size
                    origin.nearby = _nearby(g.wave, name, origin.address, size)
                out = np.where(some, np.where(bare, U64(number) | COMPUTED, U64(number)), out)
        return out

    def _bare(self, g: Group, space: str, address: Value | LocalPlace, offset: int, size: int, mask: Mask) -> Array:
        """Which lanes load an element of shared memory where nobody has written anything, nor beside it: that is no padding of a record."""
        out = np.zeros(g.geometry.shape, bool)
        whole = np.broadcast_to(mask == U64((1 << 8 * size) - 1), out.shape)
        if isinstance(address, LocalPlace) or not (space == "generic" or space.startswith("shared")) or not whole.any():
            return out
        unset, around = self.masks.shared.bytes, np.arange(RECORD) - RECORD
        with g.only(whole):
            for part, places in self.masks.shared_places(g, space, plain(address) + U64(offset), size):
                last = np.minimum((places | RECORD - 1) + 1, unset.size)
                part.put(out, (unset[last[:, None] + around] == 0xFF).all(axis=1))
        out &= whole
        return out


def _nearby(wave: ObservedWave, space: str, address: int, size: int) -> str:
    """Where unset bytes lie, in words, as memory is while they are loaded."""
    if space == "shared":
        return nearest(wave.shared.objects, address - SHARED_BASE if address >= SHARED_BASE else address, size)
    return wave.launch.arena.nearest(address, size) if space == "global" else ""


def _words(address: Value | LocalPlace, offset: int, size: int) -> list[Array]:
    """The words that hold an element."""
    where = np.array([[address.at]], U64) if isinstance(address, LocalPlace) else plain(address).astype(U64)
    return [where + U64(offset + at) & ~U64(3) for at in range(0, size, 4)]


def unsigned(type: ScalarType) -> ScalarType:
    """The type of the bits of one of another type."""
    return type if type.elements > 1 and type.name == "b128" else TYPES[f"b{type.bytes * 8}"]


def shared_facts(address: Any, active: Array | None) -> Any:
    """An address whose facts the access and that of its shadow share; under a mask, which facts do not cover, a plain array."""
    if isinstance(address, LocalPlace):
        return address
    if active is not None:
        return plain(address)
    return address if isinstance(address, Shifted) else Shifted(address)
