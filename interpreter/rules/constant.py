"""Constant memory: one pass for each different address that a warp (a half-warp on 1.x) asks for."""

from __future__ import annotations

import numpy as np

from warplab.isa.profiles import DeviceProfile

from .warps import WARP, Addresses, Counts, Mask, access, distinct


def constant_passes(profile: DeviceProfile, addresses: Addresses, active: Mask) -> Counts:
    """Passes of each warp's constant load: a request splits into as many as it has different addresses (guide 5.3.2.5)."""
    where, active = access(addresses, active)
    lanes = WARP // 2 if profile.capability < (2, 0) else WARP
    passes = distinct(where.reshape(-1, lanes), active.reshape(-1, lanes))
    return np.asarray(passes.reshape(where.shape[0], -1).sum(axis=-1), dtype=np.int64)
