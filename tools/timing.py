"""The page of the errors that the model of time makes, from the recorded launches that the tests carry."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from tests.interpreter.timing.launches import TimedLaunch, predicted

from .markdown import table

SETS = (
    ("h200", 4e5, "H200", "17 kernels at several sizes and block shapes; rules and constants were chosen on launches of these kernels"),
    (
        "blind",
        1e6,
        "H100",
        "35 kernels that no constant was chosen by; one rule was found by looking at them: shared memory does not wait behind atomic operations",
    ),
    (
        "pipelines",
        3.3e5,
        "H100",
        "copies beside arithmetic: `cp.async` with `mma`, bulk copies, `wgmma`; the wait for a group of `wgmma` was chosen by one of them, nothing else",
    ),
    ("ladder", 3e6, "H100", "the samples in `matmul`, `reduction`, `transpose` and `histogram`; not chosen by either"),
)
LADDERS = ("matmul", "reduction", "transpose", "histogram")


def pages() -> dict[str, str]:
    """The page by its name."""
    rows = [[f"`{name}`", device, what, *figures(predicted(name, most))] for name, most, device, what in SETS]
    errors = table(
        [
            "set",
            "recorded on",
            "launches of",
            "launches",
            "within 10 %",
            "within 20 %",
            "median error",
            "90th percentile",
            "same top reason",
        ],
        rows,
    )
    worst = [
        [f"`{x.recorded['entry']}`", _shape(x), f"{x.recorded['cycles']:,}", f"{x.time.cycles:,.0f}", f"{x.error:+.0%}"]
        for x in sorted(predicted("blind", 1e6), key=lambda x: -abs(x.error))[:8]
    ]
    rungs = [
        [
            f"`{x.recorded['ptx']}`",
            f"`{x.recorded['entry']}`",
            _shape(x),
            f"{x.recorded['cycles']:,}",
            f"{x.time.cycles:,.0f}",
            f"{x.error:+.0%}",
        ]
        for x in predicted("ladder", 3e6)
    ]
    text = f"""# Errors of the model of time

A generated page (`python -m tools.pages timing`): [the model of time](timing.md) predicts the cycles of launches that were recorded, from their PTX alone. Launches of
at most {_millions(SETS)} machine instructions are made again.

{errors}

"Same top reason": warps wait most for the reason for which they waited most on the device. The figures of an H100 differ from those of an H200 in
three places, recorded apart: the launch itself, the latency of device memory, and its bandwidth.

## The worst of the blind test

{table(["kernel", "launch", "recorded", "predicted", "error"], worst)}

## Ladders

{table(["sample", "kernel", "launch", "recorded", "predicted", "error"], rungs)}
"""
    return {"timing-errors.md": text}


def figures(launches: Sequence[TimedLaunch]) -> list[str]:
    """What a set of launches says."""
    errors = sorted(abs(x.error) for x in launches)
    within = [f"{sum(e <= most for e in errors) / len(errors):.0%}" for most in (0.1, 0.2)]
    agree = f"{sum(x.agrees for x in launches)} of {len(launches)}"
    return [str(len(launches)), *within, f"{statistics.median(errors):.1%}", f"{errors[int(0.9 * len(errors))]:.0%}", agree]


def _shape(x: TimedLaunch) -> str:
    grid, block = ("x".join(str(n) for n in x.recorded[what] if n > 1) or "1" for what in ("grid", "block"))
    return f"{grid} blocks of {block}"


def _millions(sets: Sequence[tuple[str, float, str, str]]) -> str:
    return ", ".join(f"{most / 1e6:g} million (`{name}`)" for name, most, _, _ in sets)
