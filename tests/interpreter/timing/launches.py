"""Recorded launches, made again under the model of time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from warplab.interpreter.profiler.launch_time import LaunchTime
from warplab.interpreter.timing import TimedCounters
from warplab.interpreter.timing.launch import Timing
from warplab.interpreter.timing.machine import machine_of
from warplab.isa.profiles import profile
from warplab.runtime import Device, LaunchConfig, Program, launch, to_device
from warplab.runtime.device.launches.observing import observing

HERE = Path(__file__).parent
SAMPLES = Path(__file__).parents[3] / "samples"
WORDS, BYTES = 1 << 24, 1 << 22  # of the buffers
H200 = machine_of(profile("sm_90"))
# recorded/pages.json: launches that do nothing, and loads that depend on each other; the bandwidth is the published one.
H100 = replace(H200, launch=3870, dram_latency=750, dram_bytes=0.72 * 3352e9 / 1.98e9)
SETS = {"h200": H200, "blind": H100, "ladder": H100, "pipelines": H100}


@dataclass(frozen=True, slots=True)
class TimedLaunch:
    """A recorded launch and its prediction."""

    recorded: dict[str, Any]
    time: LaunchTime

    @property
    def error(self) -> float:
        """Predicted over recorded cycles, less 1."""
        return self.time.cycles / float(self.recorded["cycles"]) - 1

    @property
    def agrees(self) -> bool:
        """Do warps wait most for the same reason?"""
        recorded = {r: n for r, n in self.recorded["stall"].items() if r != "selected"}
        return max(recorded, key=lambda r: self.time.stalls.get(r, 0.0)) == max(recorded, key=recorded.__getitem__)


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    """The contents of the buffers, which are those of the recording as far as time depends on them."""
    rng = np.random.default_rng(1)
    f, u = rng.random(WORDS, dtype=np.float32), rng.integers(0, 1 << 20, WORDS, dtype=np.uint32)
    return {"f0": f, "f1": f[::-1].copy(), "o0": f, "o1": f, "u0": u, "h0": f.astype(np.float16), "ptr": np.arange(262145, dtype=np.int32) * 8,
            "b0": rng.integers(0, 256, BYTES, dtype=np.uint8), "bc": np.full(BYTES, 7, np.uint8)}  # fmt: skip


def timed(name: str, most: float) -> Iterator[TimedLaunch]:
    """The launches of a set that have at most so many machine instructions."""
    device, host, rng = Device(), arrays(), np.random.default_rng(2)
    device.set_current()
    stream = device.create_stream()
    buffers: dict[str, Any] = {}
    kernels: dict[tuple[str, str], Any] = {}
    for r in json.loads((HERE / name / "scaled.json").read_text()):
        if r["inst"] > most:
            continue
        for x in r["args"]:
            if isinstance(x, str) and x not in buffers:
                rows = int(x[3:]) if x.startswith("col") else 0
                buffers[x] = to_device(rng.integers(0, rows, rows * 8, dtype=np.int32) if rows else host[x])
        key = r["ptx"], r["entry"]
        if key not in kernels:
            path = next(p for p in (HERE / name / "ptx" / f"{key[0]}.ptx", SAMPLES / f"{key[0]}.ptx") if p.exists())
            kernels[key] = Program(path.read_text(), "ptx").compile("cubin").get_kernel(key[1])
        given = [buffers[x] if isinstance(x, str) else np.float32(x) if isinstance(x, float) else np.uint32(x) for x in r["args"]]
        with observing(TimedCounters) as counters:
            launch(stream, LaunchConfig(grid=tuple(r["grid"]), block=tuple(r["block"])), kernels[key], *given)
            stream.sync()
        trace = counters[-1].tracer.trace
        assert trace is not None
        yield TimedLaunch(r, Timing(trace, SETS[name]).time)


@cache
def predicted(name: str, most: float) -> tuple[TimedLaunch, ...]:
    """The same, once."""
    return tuple(timed(name, most))
