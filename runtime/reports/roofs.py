"""The roofs of a launch in words: a table of what limits it, and how its arithmetic relates to the bytes of each memory."""

from __future__ import annotations

import math

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.timing.roofs import attainable, lowest, peak, roofs

from .tables import number, percent, scaled, table

UNITS = {"arithmetic": "FLOP", "memory": "B", "results": "results"}
USEFUL = 0.9995  # of the arithmetic, above which nothing needs to be said


HEAD = ["roof", "at most", "this launch", "FLOP/B", "ridge", "us"]


def roofs_table(p: KernelProfile) -> str:
    """What the device can do, what the launch asks of it, and how long that takes at the least."""
    head, *rows = roof_rows(p)
    return table(head, rows)


def roof_rows(p: KernelProfile) -> list[list[str]]:
    """The cells of that table, its head first."""
    ridge = peak(p)
    rows = [
        [
            r.name, scaled(r.rate, f"{UNITS[r.kind]}/s"), scaled(r.work, UNITS[r.kind]), number(r.intensity) if r.intensity else "",
            number(r.ridge(ridge)) if r.kind == "memory" and p.flops else "", f"{1e6 * r.seconds:.3g}",
        ]
        for r in roofs(p)
    ]  # fmt: skip
    return [HEAD, *rows]


def bound(p: KernelProfile) -> str:
    """The lowest roof, in a sentence; nothing for a launch without work."""
    roof = lowest(p)
    if roof is None:
        return ""
    flops = f"at most {scaled(attainable(p), 'FLOP/s')}" if p.flops else f"at least {1e6 * roof.seconds:.3g} us"
    return f"lowest roof: {roof.name}, {flops}"


def intensities(p: KernelProfile) -> str:
    """Operations for each byte: as the program's text has it, and as the caches make it."""
    made = ", ".join(f"{number(r.intensity)} of {r.name}" for r in roofs(p) if r.intensity and r.name != "shared memory")
    text = (
        f"intensity, FLOP per byte: {number(p.intensity)} of what the threads load, {number(p.text_intensity)} of what they load and store"
    )
    return f"{text}; as the caches make it, {made}" if made else text


def quantization(p: KernelProfile) -> str:
    """What tiles and waves that are not full leave unused; nothing if they are full."""
    said = []
    if p.useful_arithmetic is not None and p.useful_arithmetic < USEFUL:
        said.append(f"{percent(p.useful_arithmetic)} of the arithmetic is useful: the rest computes what is not stored")
    last = p.waves - math.floor(p.waves)
    if p.waves > 1 and last:
        said.append(f"the last wave leaves {percent(1 - last)} of its block slots idle")
    return "; ".join(said)
