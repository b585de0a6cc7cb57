"""Which waves run natively."""

from __future__ import annotations

from typing import Any

from ..launch import Launch
from .program import Program
from .run import NativeWave
from .trace.code import Untraceable

WIDTH = 16


def native_wave(wave: Any) -> NativeWave | None:
    """The compiled run of a wave; None where numpy runs it."""
    launch: Launch = wave.launch
    if wave.observers or launch.options.schedule is not None or launch.options.lockstep or wave.shared.gaps:
        return None
    program = _program(launch)
    return None if program is None else NativeWave(wave, program)


def _program(launch: Launch) -> Program | None:
    kernel = launch.kernel
    key = "native", launch.manner
    if key not in kernel.codes:
        try:
            kernel.codes[key] = Program(kernel, kernel.plan(kernel.function, launch.manner), WIDTH)
        except Untraceable:
            kernel.codes[key] = None
    found: Program | None = kernel.codes[key]
    return found
