"""Lanes that load, store and update memory together, whatever they execute: what meanings ask of them (isa.ports.Lanes)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

from warplab.isa.ports import CopyingLanes, Rows, Shortcut
from warplab.isa.spaces import window_of
from warplab.isa.textures.footprints import TexelFootprint
from warplab.isa.textures.resources import Image
from warplab.isa.textures.surfaces import BytePlace
from warplab.isa.types import TYPES

from ...faults import Fault
from ...lanes import Geometry
from ...memory.multicast import copies
from ...memory.objects import Gap
from ...memory.tensor import TensorSpace
from ...observe import Copying
from ...values import Array, LocalPlace, ParameterOffset, Value, plain
from ..ports import WavePort
from ..special import lies_in, special
from .handles import Resource, announce, announce_surface, is_variable, resources


class Accessing:
    """Lanes of a wave, and which of them take part."""

    __slots__ = ("active", "geometry", "wave")
    alive: Array | None = None  # of a group some may have left the loop that it executes

    def __init__(self, wave: WavePort, geometry: Geometry, active: Array | None = None) -> None:
        self.wave: WavePort = wave
        self.geometry: Geometry = geometry
        self.active: Array | None = active  # None: all

    @contextmanager
    def only(self, lanes: Array) -> Iterator[None]:
        """See ports.Lanes."""
        before = self.active
        self.active = lanes if before is None else lanes & before
        try:
            yield
        finally:
            self.active = before

    def load(self, space: str, address: Value | ParameterOffset | LocalPlace, type: str, count: int = 1) -> tuple[Array, ...]:
        """See ports.Lanes."""
        t = TYPES[type]
        if isinstance(address, ParameterOffset):
            return tuple(self.wave.launch.parameter(address.at + i * t.dtype.itemsize, t.dtype) for i in range(count * t.elements))
        return self.wave.access.load(self, space, address, t, count)

    def store(self, space: str, address: Value | LocalPlace, type: str, values: Sequence[Array]) -> None:
        """See ports.Lanes."""
        self.wave.access.store(self, space, address, TYPES[type], values)

    def update(
        self, space: str, address: Value, type: str, change: Callable[..., Array], operands: Sequence[Array], *,
        shortcut: Shortcut | None = None, returns: bool = True,
    ) -> Array:  # fmt: skip
        """See ports.Lanes."""
        return self.wave.access.update(self, space, address, TYPES[type], change, operands, shortcut, returns)

    def special(self, name: str) -> Array:
        """See ports.Lanes."""
        return special(self, name)

    def convert(self, address: Array, space: str, to_generic: bool) -> Array:
        """See ports.Lanes."""
        if to_generic and space in ("param", "param::entry") and address.dtype.itemsize == 8:
            return self.generic_parameter(address)
        base = window_of(space)
        if not base:
            return address
        kind = address.dtype.type
        out: Array = address + kind(base) if to_generic else address - kind(base)
        return out

    def space_of(self, address: Value, space: str) -> Array:
        """See ports.Lanes."""
        return lies_in(self, plain(address).astype(np.uint64), space)

    def replicas(self, address: Value, size: int) -> list[tuple[Array, Array]]:
        """See ports.Lanes."""
        return copies(self, self.wave.access.multicasts, plain(address), size)

    def take_clusters(self) -> tuple[Array, ...]:
        """See ports.Lanes."""
        shape = self.geometry.shape
        found = np.zeros((4, *shape), np.uint32)
        for lane in np.flatnonzero(np.broadcast_to(self.active is None or self.active, shape)):
            ctaid = self.wave.launch.take_cluster()
            if ctaid is not None:
                found.reshape(4, -1)[:, lane] = (*ctaid, 1)
        return tuple(found)

    @property
    def tensor_cores(self) -> TensorSpace:
        """See ports.Lanes."""
        if self.wave.late is not None:
            self.wave.late.finish()
        return self.wave.tensor

    def ctas(self) -> Array:
        """See ports.Lanes."""
        return np.broadcast_to(self.geometry.block, self.geometry.shape)

    def resources(self, handle: Value) -> list[tuple[Resource, Array | None]]:
        """See ports.Lanes."""
        return resources(self, handle)

    def texels_read(self, image: Image, texels: Sequence[TexelFootprint], shape: tuple[int, ...], lanes: Array | None) -> None:
        """See ports.Lanes."""
        if self.wave.observers and texels:
            announce(self, image, texels, shape, lanes)

    def surface_accessed(self, image: Image, kind: str, where: BytePlace, size: int, numbers: Array) -> None:
        """See ports.Lanes."""
        if self.wave.observers:
            announce_surface(self, image, kind, where, size, numbers)

    def is_variable(self, handle: Value, kind: str) -> Array:
        """See ports.Lanes."""
        return is_variable(self, handle, kind)

    def mbarrier(self, what: str, space: str, address: Value, *amounts: Array) -> None:
        """See ports.Lanes."""
        for o in self.wave.observers:
            o.mbarrier(self.wave.current, self, what, space, plain(address), amounts)

    def generic_parameter(self, address: Array) -> Array:
        """See AccessingLanes."""
        return self.wave.launch.generic_parameter(address)

    def gaps(self, low: int, end: int) -> list[Gap]:
        """See AccessingLanes: what is copied later has no stack."""
        return []

    def refuse(self, kind: str, text: str, lanes: Array, space: str = "tensor") -> NoReturn:
        """See ports.Lanes."""
        raise self.blame(Fault(kind, text, space if kind == "out-of-bounds" else ""), lanes)

    def blame(self, fault: Fault, lanes: Array | None) -> Fault:
        """Names the first of some lanes in a fault."""
        g = self.geometry
        shape = g.shape
        mask = np.ones(shape, bool) if lanes is None else np.broadcast_to(lanes, shape)
        where = np.flatnonzero(mask)
        lane = int(np.broadcast_to(g.lane, shape).ravel()[where[0] if where.size else 0])
        fault.lanes = max(int(where.size), 1)
        self.wave.launch.name_fault(self.wave.first, self.wave.count, fault, lane)
        return fault

    # ------------------------------------------------------------ asynchronous copies (isa.ports.CopyingLanes)

    def pause(self) -> None:
        """See ports.Lanes: only a group that runs can let others run."""

    def rows(self) -> Rows:
        """See ports.CopyingLanes."""
        g, shape = self.geometry, self.geometry.shape
        some = None if self.active is None else np.flatnonzero(np.broadcast_to(self.active, shape))
        block, thread = (_column(np.broadcast_to(x, shape), some) for x in (g.block, g.thread))
        return LaneRows(self.wave, RowGeometry(block, thread, g.threads, 1), shape, some)

    def later(
        self,
        work: Callable[[CopyingLanes], Callable[[], None] | None],
        *,
        group: str = "",
        barrier: tuple[str, Array] | None = None,
        after: str = "",
    ) -> None:
        """See ports.CopyingLanes."""
        if self.wave.late is not None:
            self.wave.late.finish()
        if self.wave.observers:
            copy = Copying(self.wave.current, group, after)
            for o in self.wave.observers:
                o.issued(copy, self)
            work = copy.named(self.wave, work)
        pending = self.wave.pending
        if pending is None or not pending.takes(self, work, group, barrier, after):
            write = work(self)
            if write is not None:
                write()

    def close_group(self, group: str) -> None:
        """See ports.CopyingLanes."""
        for o in self.wave.observers:
            o.closed(self, group)
        if self.wave.pending is not None:
            self.wave.pending.close_group(self, group)

    def wait_groups(self, group: str, most: int, *, read: bool = False) -> None:
        """See ports.CopyingLanes."""
        if self.wave.pending is not None:
            self.wave.pending.wait_groups(self, group, most, read)
        for o in self.wave.observers:
            o.waited(self, group, most, read)

    def settle(self, space: str, address: Array) -> None:
        """See ports.CopyingLanes."""
        if self.wave.pending is not None:
            self.wave.pending.settle(self, space, address)


def _column(values: Array, some: Array | None) -> Array:
    flat = values.reshape(-1, 1)
    return flat if some is None else flat[some]


class RowGeometry(Geometry):
    """One lane a row, with so many columns."""

    def __init__(self, block: Array, thread: Array, threads: int, columns: int) -> None:
        super().__init__(block, thread, threads)
        self.shape = (len(block), columns)
        self.n = len(block) * columns


class LaneRows(Accessing):
    """Lanes one below the other (isa.ports.Rows)."""

    def __init__(self, wave: WavePort, geometry: RowGeometry, whole: tuple[int, int], some: Array | None) -> None:
        super().__init__(wave, geometry)
        self.count = geometry.shape[0]
        self._whole = whole  # the shape of the arrays that the meaning was given
        self._some = some  # the places of these lanes in them; None: all

    def take(self, value: Value) -> Array:
        """See ports.Rows."""
        v = plain(value)
        return v if v.size == 1 and self.count == 1 else _column(np.broadcast_to(v, self._whole), self._some)

    def among(self, chosen: Array | None, columns: int) -> Rows:
        """See ports.Rows."""
        g, some = self.geometry, self._some
        if chosen is None:
            return LaneRows(self.wave, RowGeometry(g.block, g.thread, g.threads, columns), self._whole, some)
        where = np.flatnonzero(chosen)
        places = where if some is None else some[where]
        return LaneRows(self.wave, RowGeometry(g.block[where], g.thread[where], g.threads, columns), self._whole, places)

    def holds(self, space: str, address: Array, size: int) -> Array:
        """See ports.Rows."""
        out = np.zeros(self.geometry.shape, np.bool_)
        for part in self.wave.access.parts(self, space, address):
            assert part.memory is not None
            part.put(out, part.memory.legal_each(part.address, size, True))
        return out

    @contextmanager
    def about(self, what: str) -> Iterator[None]:
        """See ports.Rows."""
        try:
            yield
        except Fault as e:
            e.nearest = f"{e.nearest}\n  {what}" if e.nearest else what
            raise

    def blame(self, fault: Fault, lanes: Array | None) -> Fault:
        """Names the first of some lanes, and counts lanes, not their columns."""
        some = np.broadcast_to(True if lanes is None else lanes, self.geometry.shape).any(axis=1)
        lane = self.geometry.lane[some, 0]
        fault.lanes = lane.size
        self.wave.launch.name_fault(self.wave.first, self.wave.count, fault, int(lane[0]))
        return fault

    def fault(self, kind: str, message: str, rows: Array | None = None) -> NoReturn:
        """See ports.Rows."""
        raise self.blame(Fault(kind, message), None if rows is None else rows.reshape(-1, 1))
