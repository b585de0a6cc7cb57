"""The roofs of a device, and what a kernel with a given intensity reaches below them."""

from __future__ import annotations

from collections.abc import Sequence

from warplab.interpreter.timing.roofs import units
from warplab.isa.profiles import DeviceProfile

from ..errors import UsageError
from ..reports.drawn.roofline import COLOURS, HOLLOW, Dot, drawn
from ..reports.tables import number, scaled
from .figure import Figure
from .lanes import model

MEMORY = "device memory"


def roofline(intensity: Sequence[float] = (), *, unit: str = "FP32", device: str | DeviceProfile = "sm_90") -> Figure:
    """Kernels with so many FLOP for each byte of device memory, below the roof of a unit: FP32, FP64, FP16 or tensor."""
    d = model(device)
    peaks = {name: rate for name, rate in units(d).items() if rate}
    found = {name.lower(): name for name in peaks}.get(unit.lower())
    if found is None:
        raise UsageError(f"--unit {unit}: {d.name} has {', '.join(peaks)}")
    peak, dots, legend = peaks[found], [], []
    for x in intensity:
        if not x > 0:
            raise UsageError(f"--intensity {x:g}: an intensity is above 0")
        reached = min(peak, x * d.memory_bandwidth)
        bound = f"bound by {found}" if reached == peak else f"bound by {MEMORY}"
        says = f"{number(x)} FLOP per byte: at most {scaled(reached, 'FLOP/s')}, {bound}"
        dots.append(Dot(x, reached, HOLLOW, says))
        legend.append((HOLLOW, says))
    names = [(colour, name) for name, colour in COLOURS.items() if name != "L1" or (d.l1_size and d.l1_caches_global)]
    ridge = peak / d.memory_bandwidth
    says = f"{d.device}: {scaled(peak, 'FLOP/s')} of {found}, {scaled(d.memory_bandwidth, 'B/s')} of {MEMORY}, ridge at {number(ridge)} FLOP per byte"
    return Figure(drawn(d, {found}, dots, [*legend, *names, ("", says)], alone=True), says)
