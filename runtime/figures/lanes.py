"""Numbers of the 32 lanes of a warp, from an expression over `lane`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplab.isa.profiles import DeviceProfile, profile

from ..errors import UsageError
from ..run.expect import Evaluator

WARP = 32
LARGEST = 1 << 40  # of an index, so that addresses fit


def of_lanes(text: str, option: str) -> NDArray[np.int64]:
    """An expression such as `lane * 2` or `lane < 12`, for each lane."""
    lanes = {"lane": np.arange(WARP)}
    try:
        found = np.broadcast_to(np.asarray(Evaluator(lanes, lanes).value(text, option)), (WARP,))
    except ValueError:
        raise UsageError(f"{option} {text!r} must give a number for each of the {WARP} lanes") from None
    if found.dtype.kind not in "biu":
        raise UsageError(f"{option} {text!r} gives {found.dtype}, not integers; use // to divide")
    numbers = found.astype(np.int64)
    if np.abs(numbers).max() > LARGEST:
        raise UsageError(f"{option} {text!r} gives numbers beyond {LARGEST:,}")
    return numbers


def model(device: str | DeviceProfile) -> DeviceProfile:
    """A device by its name."""
    if isinstance(device, DeviceProfile):
        return device
    try:
        return profile(device)
    except ValueError as e:
        raise UsageError(f"--device: {e}") from None
