"""Warps that wait at mbarrier objects for bulk copies and for arrivals of each other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from tests.interpreter.timing.launches import SETS
from warplab.interpreter.native.tiering import missing
from warplab.interpreter.profiler.launch_time import LaunchTime
from warplab.interpreter.timing import TimedCounters
from warplab.interpreter.timing.launch import Timing
from warplab.isa.profiles import profile

HERE = Path(__file__).parent / "pipelines"
PIPELINES = (HERE / "ptx" / "pipelines.ptx").read_text()
RECORDINGS = json.loads((HERE / "scaled.json").read_text())
RECORDED = {r["entry"]: r["cycles"] for r in RECORDINGS if r["entry"].startswith("bulk_sum") and r["grid"][0] == 132}


def ring(stages: int, blocks: int, steps: int, engine: str = "auto") -> LaunchTime:
    """Blocks that add up what bulk copies bring into a ring of so many buffers."""
    machine = Machine(PIPELINES, bytes=32 << 20)
    data, out = machine.upload(np.ones(blocks * steps * 1024, np.float32)), machine.upload(np.zeros(blocks * 128, np.float32))
    counters = TimedCounters(profile("sm_90"))
    machine.launch(blocks, 128, [data, out, steps], [counters], name=f"bulk_sum_{stages}", engine=engine)
    trace = counters.tracer.trace
    assert trace is not None
    return Timing(trace, SETS["pipelines"], engine).time


def test_deeper_rings_hide_more_of_the_copies() -> None:
    """Each as recorded within 40 %, in the recorded order; warps wait for the copies most."""
    times = {n: ring(n, 132, 24) for n in (1, 2, 4)}
    assert times[1].cycles > times[2].cycles > times[4].cycles
    for n, t in times.items():
        assert abs(t.cycles / RECORDED[f"bulk_sum_{n}"] - 1) < 0.4
        assert max(t.stalls, key=t.stalls.__getitem__) == "long_scoreboard"


@pytest.mark.skipif(bool(missing()), reason="needs llvmlite")
def test_python_and_compiled_code_give_the_same_numbers() -> None:
    assert ring(2, 3, 5, "numpy") == ring(2, 3, 5, "native")


HANDED_OVER = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<8>;
    .reg .b64 %d<4>;
    .reg .pred %p, %q;
    .reg .f32 %f<4>;
    .shared .align 8 .b64 full;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, full;
    cvt.rn.f32.u32 %f1, %r1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra ready;
    mbarrier.init.shared.b64 [%r2], 32;
ready:
    bar.sync 0;
    setp.lt.u32 %q, %r1, 32;
    @!%q bra again;
    {work}
    mbarrier.arrive.shared.b64 %d2, [%r2];
    bra done;
again:
    mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
    @!%p bra again;
done:
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d1, %r1, 4, %d1;
    st.global.f32 [%d1], %f1;
    ret;
}}"""


def handed_over(links: int) -> LaunchTime:
    """A warp works for so many multiplications in a row, and arrives; the other waits for it."""
    machine = Machine(HANDED_OVER.format(work="mul.f32 %f1, %f1, %f1;\n" * links))
    counters = TimedCounters(profile("sm_90"))
    machine.launch(1, 64, [machine.upload(np.zeros(64, np.float32))], [counters])
    trace = counters.tracer.trace
    assert trace is not None
    return Timing(trace, SETS["h200"]).time


def test_a_warp_waits_for_the_arrivals_of_another() -> None:
    """For each link of the other's chain 4 cycles, and 3 for its code to come."""
    short, long = handed_over(100), handed_over(1100)
    waited = [t.stalls["long_scoreboard"] * t.issued for t in (short, long)]
    assert waited[1] - waited[0] == pytest.approx(7 * 1000, rel=0.05)
