"""What each warp's access costs, by the rules of the hierarchy: sectors of global and local memory, passes of shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.track import RecordedAccess
from warplab.interpreter.rules.banks import atomic_passes, shared_passes
from warplab.interpreter.rules.coalesce import global_transactions
from warplab.interpreter.rules.local import local_sectors
from warplab.isa.profiles import DeviceProfile, profile
from warplab.isa.types import TYPES

from ..recording import Recording
from ..recording.memory import Reached

WARP = 32
MOST_ACCESSES = 20_000  # whose cost is computed
WIDTHS = (1, 2, 4, 8, 16)  # bytes of a lane that the rules know


def access_costs(rec: Recording) -> dict[str, Any]:
    """For each access by its number, the units of each warp among its lanes, in the order of the warps."""
    device = profile(rec.track.device)
    counts: dict[str, list[int]] = {}
    known: dict[int, NDArray[np.int64]] = {}  # warps by the number of their lanes
    for n, a in enumerate(rec.track.accesses[:MOST_ACCESSES]):
        if a.kind in ("call", "late") or TYPES[a.type].bytes * a.count not in WIDTHS:
            continue
        if a.lanes not in known:
            known[a.lanes] = np.unique(_warps(rec, rec.track.lanes[a.lanes].numbers))
        warps = known[a.lanes]
        total = np.zeros(warps.size, np.int64)
        for r in rec.bytes.reached(a):
            total += _units(device, a, r, warps, rec)
        counts[str(n)] = total.tolist()
    return {"device": device.name, "counts": counts}


def _warps(rec: Recording, lanes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The warp of each lane: numbered through the launch."""
    block, thread = np.divmod(lanes, rec.threads)
    out: NDArray[np.int64] = block * -(-rec.threads // WARP) + (thread >> 5)
    return out


def _units(device: DeviceProfile, a: RecordedAccess, r: Reached, warps: NDArray[np.int64], rec: Recording) -> NDArray[np.int64]:
    """The units of each warp in one space."""
    where = np.zeros((warps.size, WARP), np.int64)
    active = np.zeros((warps.size, WARP), np.bool_)
    row, lane = np.searchsorted(warps, _warps(rec, r.lane)), r.lane % rec.threads & 31
    where[row, lane], active[row, lane] = r.address, True
    width = TYPES[a.type].bytes * a.count
    if r.space == "shared":
        if a.kind in ("atom", "red"):
            return atomic_passes(where, active, width)[0]
        return shared_passes(device, where, active, width, store=a.kind == "st")[0]
    if r.space == "local":
        return local_sectors(where, active, width)[1]
    return global_transactions(device, where, active, width)[1].per_warp(warps.size)
