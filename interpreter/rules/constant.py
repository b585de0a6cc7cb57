"""Constant memory: one pass for each different address that a warp (a half-warp on 1.x) asks for."""

from __future__ import annotations

import numpy as np

from warplab.isa.profiles import DeviceProfile

from .warps import WARP, Addresses, Counts, Mask, access, distinct, parts, split


def constant_passes(profile: DeviceProfile, addresses: Addresses, active: Mask) -> Counts:
    """Passes of each warp's constant load: a request splits into as many as it has different addresses (guide 5.3.2.5)."""
    where, active = access(addresses, active)
    lanes = WARP // 2 if profile.capability < (2, 0) else WARP
    passes = distinct(parts(where, lanes), split(active, lanes))
    return np.asarray(passes.reshape(where.shape[0], -1).sum(axis=-1), dtype=np.int64)


def uniform_load(addresses: Addresses, active: Mask) -> Mask:
    """Which warps read one address only, so that 2.x may use LDU and later devices the uniform path."""
    where, active = access(addresses, active)
    count = distinct(where, active)
    return np.asarray(count == 1, dtype=np.bool_)
