"""One warp's access as a picture in text: its lanes against the sectors or transactions of memory, or against the banks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from warplab.interpreter.profiler import KernelProfile, Sample
from warplab.interpreter.rules.coalesce import global_transactions
from warplab.isa.profiles import DeviceProfile

from ..tables import counted, lane_ranges

WARP = 32
WORD = 4  # of a bank; 3.x has 64-bit banks, which its default mode hides
SHOWN = 40  # rows of a picture


@dataclass(frozen=True, slots=True)
class Piece:
    """Equal transactions of one warp, and the lanes that they serve."""

    base: int
    size: int
    count: int
    lanes: tuple[int, ...]

    @property
    def label(self) -> str:
        """`128 B`, or `7 x 32 B`."""
        return f"{self.size} B" if self.count == 1 else f"{self.count} x {self.size} B"


def transactions(device: DeviceProfile, sample: Sample, *, cached: bool | None = None) -> list[Piece]:
    """The transactions of one warp, in the order of their addresses."""
    where = np.array([[0 if a is None else a for a in sample.addresses]], np.int64)
    active = np.array([[a is not None for a in sample.addresses]])
    _, found = global_transactions(device, where, active, sample.width, cached=cached)
    each = Counter(found.of_warp(0))
    out = []
    for (size, base), count in sorted(each.items(), key=lambda g: (g[0][1], g[0][0])):
        inside = (lane for lane, a in enumerate(sample.addresses) if a is not None and a < base + size and a + sample.width > base)
        out.append(Piece(base, size, count, tuple(inside)))
    return out


def banks(device: DeviceProfile, sample: Sample) -> dict[int, dict[int, tuple[int, ...]]]:
    """bank -> word -> the lanes that want it."""
    out: dict[int, dict[int, list[int]]] = {}
    for lane, a in enumerate(sample.addresses):
        if a is None:
            continue
        for word in range(a // WORD, (a + sample.width - 1) // WORD + 1):
            out.setdefault(word % device.shared_banks, {}).setdefault(word, []).append(lane)
    return {b: {w: tuple(lanes) for w, lanes in sorted(words.items())} for b, words in sorted(out.items())}


def words_together(device: DeviceProfile, words: Iterable[int]) -> set[int]:
    """Words of one bank, those that it gives at once as one: the banks of 3.x have 64 bits, words i and i + 32 of an aligned run of 64."""
    return {w * WORD // (device.shared_banks * device.shared_bank_bytes) for w in words}


def _strip(lanes: Sequence[int]) -> str:
    return "".join("#" if lane in lanes else "." for lane in range(WARP))


def memory_picture(device: DeviceProfile, sample: Sample, *, cached: bool | None = None) -> str:
    """A row for each transaction, with the lanes that it serves."""
    rows = transactions(device, sample, cached=cached)
    total = sum(r.count for r in rows)
    lines = [f"{total} transactions for one warp, {sample.width} bytes per lane", f"{'':30}lane 0{'31':>26}"]
    for r in rows[:SHOWN]:
        lines.append(f"{r.label:>11} at {r.base:<#12x}    {_strip(r.lanes)}  {lane_ranges(r.lanes)}")
    if len(rows) > SHOWN:
        lines.append(f"... {len(rows) - SHOWN} more")
    return "\n".join(lines)


def bank_picture(device: DeviceProfile, sample: Sample) -> str:
    """A row for each bank that is used: its words and the lanes that want them."""
    used = banks(device, sample)
    lines = [f"{counted(sample.count, 'pass')} for one warp, {sample.width} bytes per lane, {device.shared_banks} banks of {WORD} bytes"]
    for bank, words in used.items():
        said = "; ".join(f"word {w}: {lane_ranges(lanes)}" for w, lanes in list(words.items())[:6])
        more = f"; {len(words) - 6} more" if len(words) > 6 else ""
        lines.append(f"bank {bank:2}  {'#' * len(words):<8} {said}{more}")
    return "\n".join(lines)


def picture(p: KernelProfile, line: int) -> str:
    """All accesses of a line."""
    parts = []
    for s in p.sites:
        if s.line != line:
            continue
        for a in s.accesses:
            if a.sample is None:
                continue
            draw = bank_picture(p.device, a.sample) if a.space == "shared" else memory_picture(p.device, a.sample)
            parts.append(f"line {line}: {s.text}   ({a.space} {a.kind}; the worst warp)\n{draw}")
    return "\n\n".join(parts) if parts else f"line {line} reaches no global or shared memory"
