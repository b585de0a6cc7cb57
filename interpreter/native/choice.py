"""Which launches run natively."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..launch import Launch
from .program import NativeProgram
from .run import NativeLaunch
from .trace.code import Untraceable

WIDTH = 32


def chosen(launch: Launch, observers: Sequence[Any], wave: Callable[..., Any]) -> NativeLaunch | None:
    """The compiled run of a launch; None where numpy runs it.  `wave` makes the wave that numpy needs."""
    if observers or launch.options.schedule is not None or launch.options.lockstep or launch.kernel.shared_gaps:
        return None
    program = _program(launch)
    return None if program is None else NativeLaunch(launch, program, wave)


def _program(launch: Launch) -> NativeProgram | None:
    kernel = launch.kernel
    key = "native", launch.manner
    if key not in kernel.codes:
        try:
            kernel.codes[key] = NativeProgram(kernel, kernel.plan(kernel.function, launch.manner), WIDTH)
        except Untraceable:
            kernel.codes[key] = None
    found: NativeProgram | None = kernel.codes[key]
    return found
