"""Texels as the profiler counts them: the sectors that a warp's fetches and surface accesses touch, and what they find in the caches.

From compute capability 5.0 on textures go through L1, the cache of global memory too; before, through a texture cache of their own, of
which L2 is followed apart from what global memory does to it.  Surfaces always go through L1; reductions are made in L2.  No counters of a
device were at hand: the sectors are those of the layout in isa/textures/layout.py.
"""

from __future__ import annotations

import numpy as np

from warplab.isa.profiles import DeviceProfile
from warplab.isa.textures.layout import TexelLayout
from warplab.isa.textures.resources import Image

from ..observe import TexelAccess
from .global_memory import GlobalMemory
from .lanes import WARP, WarpLanes, lanes_active, lanes_of
from .sectors import LINE, SECTOR
from .sites import TexelSample
from .stream import Account, UseStream, Way
from .tally import SiteTally
from .touch import touch

ARRAYS = 1 << 42  # where arrays lie: behind all memory that has addresses
UNIFIED = (5, 0)
WAYS = {"ld": Way.LOAD, "st": Way.STORE, "red": Way.ATOMIC}


class Texels:
    """The texture fetches and surface accesses of one launch."""

    def __init__(self, memory: GlobalMemory, device: DeviceProfile, multiprocessors: int) -> None:
        self.memory = memory
        self.own = None  # the stream through a texture cache of its own
        if device.capability < UNIFIED:
            self.own = UseStream(multiprocessors, device.texture_cache // LINE, device.l2_cache // LINE, memory.launch.options.engine)
        self._places: dict[int, tuple[Image, TexelLayout, int]] = {}  # by id(Image)
        self._top = ARRAYS

    def count(self, tally: SiteTally, a: TexelAccess) -> None:
        """Counts one fetch or surface access of a group."""
        layout, start = self._place(a.image)
        address = layout.offsets(a.level, a.slice, a.row, a.column) + start
        g, several = a.group.geometry, len(address)
        by_texel = [lanes_of(g, texel, None).full for texel in address]
        wants = [lanes_active(g, there if a.mask is None else there & a.mask) for there in a.there]
        warps = g.warps.count
        active = np.concatenate([np.ones((warps, WARP), np.bool_) if w is None else w for w in wants], axis=1)
        lanes = WarpLanes(np.concatenate(by_texel, axis=1), active, warps)
        used = np.logical_or.reduce(active.reshape(lanes.warps, several, WARP), axis=1)
        requests = int(np.count_nonzero(np.logical_or.reduce(used, axis=1)))
        if not requests:
            return
        t = touch(lanes, min(a.width, a.image.format.bytes))
        total, count = int(t.sectors.sum()), int(np.count_nonzero(used))
        found = tally.count(
            a.space, a.kind, a.width, lanes=count, requests=requests, units=total, ideal=-(-count * a.width // SECTOR), moved=SECTOR * total
        )
        worst = int(t.sectors.argmax())
        if found.texels is None or int(t.sectors[worst]) > found.texels.count:
            found.texels = _sample(a, active[worst].reshape(several, WARP), worst, int(t.sectors[worst]))
        if self.memory.listener is not None:
            self.memory.listener.fetched(
                a, t, np.count_nonzero(np.logical_or.reduce(active.reshape(lanes.warps, several, WARP), axis=1), axis=1)
            )
        cache = self.memory.caches(a.group)
        if self.own is None or a.space == "surface":
            several_places, which = self.memory.places.each(t.line)
            self.memory.stream.add(WAYS[a.kind], Account(found, several_places, which), cache, t, 0, None)
        else:
            self.own.add(Way.LOAD, Account(found, (), None), cache, t, 0, None)

    def settle(self) -> None:
        """The launch is over."""
        if self.own is not None:
            self.own.settle(last=True)

    def _place(self, image: Image) -> tuple[TexelLayout, int]:
        """The layout of an image and its address: that of memory is known, an array is given one."""
        known = self._places.get(id(image))
        if known is None:
            layout, arena = TexelLayout(image), self.memory.launch.arena
            start = self._top
            if image.linear or image.pitched:
                start = image.levels[0].ctypes.data - arena.host_address + arena.base
            else:
                self._top += -(-layout.bytes // LINE) * LINE
            known = self._places[id(image)] = image, layout, start
        return known[1], known[2]


def _sample(a: TexelAccess, active: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], warp: int, sectors: int) -> TexelSample:
    """The texels of one warp in its first level and slice, each with the number of times that it was read."""
    spread = a.group.geometry.warps.spread
    level, slice, row, column = (
        np.stack([spread(np.broadcast_to(x, a.group.geometry.shape))[warp] for x in texels])[active]
        for texels in (a.level, a.slice, a.row, a.column)
    )
    same = (level == level[0]) & (slice == slice[0])
    places, times = np.unique(np.stack([column[same], row[same]]), axis=1, return_counts=True)
    cells = tuple(zip(*places.tolist(), times.tolist(), strict=True))
    height, width = a.image.levels[int(level[0])].shape[1:3]
    return TexelSample(width, height, int(level[0]), int(slice[0]), cells, sectors)
