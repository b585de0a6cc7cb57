"""Products of warpgroups, fences and clusters: what warps wait for, and how long."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.interpreter.harness import Machine
from tests.interpreter.timing.launches import SETS
from tests.interpreter.timing.test_bulk_copies import PIPELINES, RECORDINGS
from warplab.interpreter.profiler.launch_time import LaunchTime
from warplab.interpreter.timing import TimedCounters
from warplab.interpreter.timing.launch import Timing
from warplab.isa.profiles import profile

FENCES = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry fences(.param .u64 out)
{
    .reg .b64 %out;
    .reg .b32 %k;
    .reg .pred %p;
    ld.param.u64 %out, [out];
    mov.u32 %k, 0;
again:
    st.global.u32 [%out], %k;
    FENCE;
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, 16;
    @%p bra again;
    ret;
}
"""


def timed(text: str, grid: int, block: int, *arguments: int, name: str = "", given: int = 0, **options: Any) -> LaunchTime:
    machine = Machine(text, bytes=32 << 20)
    buffers = [machine.upload(np.ones(given, np.float32))] if given else []
    counters = TimedCounters(profile("sm_90"))
    machine.launch(grid, block, [*buffers, machine.upload(np.zeros(1 << 16, np.float32)), *arguments], [counters], name=name, **options)
    assert counters.tracer.trace is not None
    return Timing(counters.tracer.trace, SETS["pipelines"]).time


def most(t: LaunchTime) -> str:
    return max(t.stalls, key=t.stalls.__getitem__)


def test_products_of_a_warpgroup_wait_for_their_group() -> None:
    """Four of 64 columns take 128 cycles of the tensor cores, and a wait for them what was recorded, within a quarter."""
    short, long = (timed(PIPELINES, 1, 128, steps, name="wgmma_alone") for steps in (4, 20))
    recorded = next(r for r in RECORDINGS if r["entry"] == "wgmma_alone")
    assert most(long) == max((r for r in recorded["stall"] if r != "selected"), key=recorded["stall"].__getitem__) == "barrier"
    assert abs((long.cycles - short.cycles) / 16 / (recorded["active"] / 100) - 1) < 0.25


def test_a_fence_of_the_device_costs_much_more_than_one_of_the_block() -> None:
    block, device = (timed(FENCES.replace("FENCE", f"fence.acq_rel.{scope}"), 1, 32) for scope in ("cta", "gpu"))
    assert most(device) == "membar" != most(block)
    assert 400 < (device.cycles - block.cycles) / 16 < 900


def test_shared_memory_of_another_block_is_far() -> None:
    t = timed(PIPELINES, 4, 256, 8, name="cluster_sum", given=4096, cluster=(4, 1, 1))
    assert {"membar", "long_scoreboard"} <= t.stalls.keys()
    assert t.stalls["long_scoreboard"] > t.stalls["short_scoreboard"]
