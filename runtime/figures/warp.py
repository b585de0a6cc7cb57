"""One access of a warp: its lanes against the banks of shared memory, or against the sectors and transactions of global memory."""

from __future__ import annotations

import numpy as np

from warplab.interpreter.profiler import Sample
from warplab.interpreter.rules.banks import shared_passes
from warplab.isa.profiles import DeviceProfile

from ..errors import UsageError
from ..reports.drawn import svg
from ..reports.drawn.pictures import transactions
from ..reports.tables import counted
from .figure import Figure
from .lanes import WARP, model, of_lanes

WIDTHS = (1, 2, 4, 8, 16)
START = 1 << 20  # an address far from 0, so that negative strides have room


def banks(stride: int = 1, *, index: str | None = None, width: int = 4, offset: int = 0, device: str | DeviceProfile = "sm_90") -> Figure:
    """Lane k accesses element k * stride, or the element that `index` says, of an array in shared memory that begins `offset` bytes behind bank 0."""
    d = model(device)
    addresses = _addresses(stride, index, width, offset)
    low = int(addresses.min()) // _row(d) * _row(d)
    addresses = addresses - low if low < 0 else addresses
    passes, _ = shared_passes(d, addresses[None, :], np.ones((1, WARP), np.bool_), width)
    says = f"{_how(stride, index, width, offset)}, {d.name}: {counted(int(passes[0]), 'pass')}"
    picture = svg.shared(d, Sample(tuple(addresses.tolist()), width, int(passes[0])), alone=True, title=says)
    return Figure(picture, says)


def coalescing(
    stride: int = 1,
    *,
    index: str | None = None,
    width: int = 4,
    offset: int = 0,
    device: str | DeviceProfile = "sm_90",
    cached: bool = True,
) -> Figure:
    """Lane k reads element k * stride, or the element that `index` says, of an array in global memory that begins `offset` bytes behind an aligned address.

    `cached`: on 2.x and 3.x the device's L1 is used.
    """
    d = model(device)
    addresses = _addresses(stride, index, width, offset) + START
    sample = Sample(tuple(addresses.tolist()), width, 0)
    way = cached if d.global_rule == "lines" else None
    found = transactions(d, sample, cached=way)
    moved, asked = sum(t.size * t.count for t in found), width * WARP
    unit = "sector" if d.global_rule == "sectors" else "transaction"
    through = "" if way is None else " through L1" if way else " past L1"
    says = (
        f"{_how(stride, index, width, offset)}, {d.name}{through}: {counted(sum(t.count for t in found), unit)}, "
        f"{moved} bytes moved for {asked} requested"
    )
    return Figure(svg.memory(d, sample, cached=way, alone=True, title=says), says)


def _row(d: DeviceProfile) -> int:
    return d.shared_banks * d.shared_bank_bytes


def _addresses(stride: int, index: str | None, width: int, offset: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if width not in WIDTHS:
        raise UsageError(f"--width {width}: an access has {', '.join(map(str, WIDTHS[:-1]))} or {WIDTHS[-1]} bytes a lane")
    if offset % width:
        raise UsageError(f"--offset {offset}: an access of {width} bytes begins at a multiple of {width}")
    elements = of_lanes(f"lane * {stride}" if index is None else index, "--index")
    return elements * width + offset


def _how(stride: int, index: str | None, width: int, offset: int) -> str:
    element = f"{width}-byte element"
    if index is not None:
        what = f"{element} {index}"
    elif not stride:
        what = f"one {element} for all lanes"
    else:
        each = f"neighbouring {element}s" if abs(stride) == 1 else f"every {_th(abs(stride))} {element}"
        what = f"{each}, backwards" if stride < 0 else each
    return f"{what}, {offset} bytes from alignment" if offset else what


def _th(n: int) -> str:
    return f"{n}{'th' if n % 100 in (11, 12, 13) else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
