"""Which code a device runs: none that is for a newer device, unless only the device's rules are asked for."""

from __future__ import annotations

import os

from warplab.assembler.ir import Module
from warplab.isa.profiles import runs_on

from ...errors import ApiError, UsageError

VARIABLE = "WARPLAB_DEVICE_RULES_ONLY"


def rules_only() -> bool:
    """Does the environment ask for a device's limits and memory rules alone, so that it runs newer code too?"""
    word = os.environ.get(VARIABLE, "")
    if word not in ("", "0", "1"):
        raise UsageError(f"{VARIABLE} is {word!r}: write 1, or 0")
    return word == "1"


def refused(what: str, target: str, device: str, name: str = "CUDA_ERROR_INVALID_PTX") -> ApiError:
    """The error for code that a device does not run, under the driver's name."""
    return ApiError(
        name,
        f"{what} is for {target}, which a device of {device} does not run: choose --device {target}, "
        f"or --device-rules-only ({VARIABLE}=1) to run it under the limits and memory rules of {device}",
    )


def check_targets(module: Module, device: str) -> None:
    """Refuses a module that a device does not run, as an H200's driver refuses PTX."""
    for t in module.targets:
        if t.startswith(("sm_", "compute_")) and not runs_on(t, device):
            raise refused(module.name, t.replace("compute_", "sm_"), device)
