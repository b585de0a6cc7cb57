"""Special registers of a group of lanes; which state space a generic address lies in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from warplab.isa.spaces import LOCAL_BASE, RESERVED_SHARED, SHARED_BASE, WINDOW_SIZE

from ..lanes import Geometry
from ..launch import CHECK_EVERY
from ..plan.clocks import READ
from ..values import Array
from .ports import WavePort


class GroupView(Protocol):
    """A group."""

    geometry: Geometry
    wave: WavePort


U32, U64 = np.uint32, np.uint64
TIMER = U64(1 << 40)  # nanoseconds when a program begins; the timer grows with the work done, so that runs repeat themselves
CYCLES = U64(1)  # of a nanosecond, as a shift: 1.98 GHz are nearly two


def _tid(g: GroupView, axis: int) -> Array:
    x, y, _ = g.wave.launch.block
    t = g.geometry.thread
    return (t % x if axis == 0 else t // x % y if axis == 1 else t // (x * y)).astype(U32)


def _lane(g: GroupView) -> Array:
    return (g.geometry.thread & 31).astype(U32)


def _mask(kind: str) -> Callable[[GroupView], Array]:
    def value(g: GroupView) -> Array:
        own = U32(1) << _lane(g)
        below = own - U32(1)
        return {"eq": own, "lt": below, "le": own | below, "gt": ~(own | below), "ge": ~below}[kind]

    return value


def _constant(value: Callable[[GroupView], int], dtype: type = U32) -> Callable[[GroupView], Array]:
    return lambda g: np.array([[value(g) & (2**64 - 1 if dtype is U64 else 2**32 - 1)]], dtype)


def clock(g: GroupView, name: str, offset: int, segment: int) -> Array:
    """A count of cycles that grows with every segment that runs, within it, and every time that it is read; see plan/clocks.py."""
    launch = g.wave.launch
    launch.quiet_rounds = 0  # lanes that look at the clock may wait for time to pass
    launch.clock[0] = max((launch.steps + g.wave.segments_run % CHECK_EVERY) * segment + offset, int(launch.clock[0]) + READ)
    found: Array = CLOCKS[name]((launch.clock + U64(launch.epoch)).reshape(1, 1))
    return found


CLOCKS: dict[str, Callable[[Any], Any]] = {  # registers that change with time, by the cycles that have passed
    "%clock": lambda n: n.astype(U32),
    "%clock_lo": lambda n: n.astype(U32),
    "%clock_hi": lambda n: (n >> U64(32)).astype(U32),
    "%clock64": lambda n: n,
    "%globaltimer": lambda n: (n >> CYCLES) + TIMER,
    "%globaltimer_lo": lambda n: ((n >> CYCLES) + TIMER).astype(U32),
    "%globaltimer_hi": lambda n: ((n >> CYCLES) + TIMER >> U64(32)).astype(U32),
}


def _block(name: str) -> Callable[[GroupView], Array]:
    return lambda g: (
        g.wave.block_table(name)[g.geometry.block[:, 0]]
        if g.geometry.block.shape[1] == 1
        else g.wave.block_table(name)[g.geometry.block[0], 0][None]
    )


READERS: dict[str, Callable[[GroupView], Array]] = {
    "%laneid": _lane,
    "%warpid": lambda g: (g.geometry.thread >> 5).astype(U32),
    "%nwarpid": _constant(lambda g: g.wave.launch.max_warps),
    "%nsmid": _constant(lambda g: g.wave.launch.multiprocessors),
    "%gridid": _constant(lambda g: g.wave.launch.number, U64),
    "%dynamic_smem_size": _constant(lambda g: g.wave.launch.dynamic_shared),
    "%total_smem_size": _constant(lambda g: -(-g.wave.launch.total_shared // 128) * 128),
    "%aggr_smem_size": _constant(lambda g: g.wave.launch.total_shared + RESERVED_SHARED),
    "%reserved_smem_offset_end": _constant(lambda g: 288),
    "%reserved_smem_offset_cap": _constant(lambda g: RESERVED_SHARED),
    "%is_explicit_cluster": lambda g: np.array([[g.wave.launch.explicit_cluster]]),
    "%current_graph_exec": _constant(lambda g: g.wave.launch.options.graph, U64),
    "%smid": _block("smid"),
}
READERS |= {f"%lanemask_{k}": _mask(k) for k in ("eq", "lt", "le", "gt", "ge")}
for _axis, _name in enumerate("xyz"):
    READERS[f"%tid.{_name}"] = lambda g, a=_axis: _tid(g, a)  # type: ignore[misc]
    READERS[f"%ntid.{_name}"] = _constant(lambda g, a=_axis: g.wave.launch.block[a])  # type: ignore[misc]
    READERS[f"%nctaid.{_name}"] = _constant(lambda g, a=_axis: g.wave.launch.grid[a])  # type: ignore[misc]
    READERS[f"%cluster_nctaid.{_name}"] = _constant(lambda g, a=_axis: g.wave.launch.cluster[a])  # type: ignore[misc]
    READERS[f"%nclusterid.{_name}"] = _constant(lambda g, a=_axis: g.wave.launch.clusters[a])  # type: ignore[misc]
    for _table in ("ctaid", "clusterid", "cluster_ctaid"):
        READERS[f"%{_table}.{_name}"] = _block(f"{_table}.{_name}")
READERS["%cluster_ctarank"] = _block("cluster_ctarank")
READERS["%cluster_nctarank"] = _constant(lambda g: g.wave.launch.cluster_size)
for _name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"):
    READERS[f"%{_name}.w"] = _constant(lambda g: 0)  # of the extents too, as recorded on the H200


def special(g: GroupView, name: str) -> Array:
    """The value of a special register; the machine-dependent ones that no program can rely on read as zero."""
    reader = READERS.get(name)
    if reader is not None:
        return reader(g)
    if name.startswith("%envreg"):
        return np.array([[g.wave.launch.environment(int(name[7:]))]], U32)
    return np.zeros((1, 1), U64 if name.endswith("64") else U32)


def lies_in(g: GroupView, a: Array, space: str) -> Array:
    """isspacep."""
    shared = (a >= U64(SHARED_BASE)) & (a < U64(SHARED_BASE + WINDOW_SIZE))
    local = (a >= U64(LOCAL_BASE)) & (a < U64(LOCAL_BASE + WINDOW_SIZE))
    if space == "shared::cluster":
        return shared
    if space.startswith("shared"):
        rank = (a - U64(SHARED_BASE)) >> U64(24)
        own = special(g, "%cluster_ctarank").astype(U64) + U64(1)
        mine: Array = shared & ((rank == 0) | (rank == own))
        return mine
    if space == "local":
        return local
    if space == "global":  # kernel parameters count as global on the H200, constants do not
        return ~shared & ~local & ~g.wave.launch.lies_in(a, "const")
    return g.wave.launch.lies_in(a, "const" if space == "const" else "param")
