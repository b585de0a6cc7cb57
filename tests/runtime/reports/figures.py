"""The programming guide's figures of memory accesses, drawn from the rules of each compute capability.

F-1 is one warp reading 4-byte words near address 128; F-2 and F-3 are shared memory: strides, a permutation, broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warplab.interpreter.profiler import Sample
from warplab.interpreter.rules.banks import shared_passes
from warplab.isa.profiles import DeviceProfile, profile
from warplab.runtime.reports.drawn import svg

LANES = range(32)
GLOBAL_DEVICES = ("1.0", "1.2", "2.0", "9.0")  # 1.1 as 1.0; 1.3 as 1.2; 3.x as 2.x; from 5.x on as 9.0
SHARED_DEVICES = ("1.0", "2.0", "3.0")  # from 5.x on as 2.0

GLOBAL: dict[str, tuple[int, ...]] = {
    "aligned and sequential": tuple(128 + 4 * k for k in LANES),
    "aligned, two lanes of each half exchanged": tuple(128 + 4 * (k ^ 3 if k % 16 in (1, 2) else k) for k in LANES),
    "misaligned by a word": tuple(132 + 4 * k for k in LANES),
}
SHARED: dict[str, tuple[int, ...]] = {
    "stride of one word": tuple(4 * k for k in LANES),
    "stride of two words": tuple(8 * k for k in LANES),
    "stride of three words": tuple(12 * k for k in LANES),
    "a permutation": tuple(4 * (k * 7 % 32) for k in LANES),
    "lanes 3, 4, 6, 7 and 9 on one word of bank 5": tuple(4 * (5 if k in (3, 4, 6, 7, 9) else k) for k in LANES),
    "two words, each read by many lanes": tuple(4 * (12 if k % 2 else 20) for k in LANES),
}


def sample(addresses: Sequence[int], count: int = 0) -> Sample:
    """A warp of 4-byte accesses."""
    return Sample(tuple(addresses), 4, count)


def global_figure(device: DeviceProfile, name: str, *, cached: bool | None = None) -> str:
    """One case of F-1 on one device, as a file of its own."""
    how = "" if device.global_rule != "lines" else " through L1" if cached else " past L1"
    return svg.memory(device, sample(GLOBAL[name]), cached=cached, alone=True, title=f"{name}, {device.name}{how}")


def shared_figure(device: DeviceProfile, name: str) -> str:
    """One case of F-2 or F-3 on one device, as a file of its own."""
    passes, _ = shared_passes(device, np.array([SHARED[name]], np.int64), np.ones((1, 32), np.bool_), 4)
    count = int(passes[0])
    title = f"{name}, {device.name}: {count} pass{'es' if count > 1 else ''}"
    return svg.shared(device, sample(SHARED[name], count), alone=True, title=title)


def figures() -> dict[str, str]:
    """Every figure for every rule, by file name."""
    out: dict[str, str] = {}
    for target in GLOBAL_DEVICES:
        device = profile(target)
        for n, name in enumerate(GLOBAL, 1):
            for cached in (True, False) if device.global_rule == "lines" else (None,):
                tail = {True: "_cached", False: "_uncached", None: ""}[cached]
                out[f"global_{n}_{device.name}{tail}.svg"] = global_figure(device, name, cached=cached)
    for target in SHARED_DEVICES:
        device = profile(target)
        for n, name in enumerate(SHARED, 1):
            out[f"shared_{n}_{device.name}.svg"] = shared_figure(device, name)
    return out
