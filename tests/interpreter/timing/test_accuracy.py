"""How good the predictions are, and what the figures of a device must come to."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from warplab.interpreter.profiler.launch_time import LaunchTime
from warplab.interpreter.timing import TimedCounters
from warplab.isa.profiles import profile

PAGE = Path(__file__).parents[3] / "docs" / "timing-errors.md"  # which a test of pages makes again


@pytest.mark.parametrize(
    ("name", "within", "median"), [("h200", 95, 5.0), ("blind", 85, 8.0), ("ladder", 90, 8.0), ("pipelines", 80, 15.0)]
)
def test_errors_stay_small(name: str, within: int, median: float) -> None:
    """Of the sets of recorded launches: how many are within 20 %, and the median error."""
    row = re.search(rf"^\| `{name}` .*$", PAGE.read_text(), re.MULTILINE)
    assert row
    cells = [c.strip(" %") for c in row[0].split("|")]
    assert float(cells[6]) >= within and float(cells[7]) <= median


LINKS = 96  # of a turn


def chains(body: str, warps: int, turns: int, device: str = "sm_90") -> LaunchTime:
    """A block of warps, each of which executes so many turns of LINKS links one after the other."""
    text = f"""
    .version 8.0
    .target sm_50
    .address_size 64
    .visible .entry k(.param .u64 out)
    {{
        .reg .b32 %r<8>;
        .reg .b64 %d<4>;
        .reg .pred %p;
        .reg .f32 %f<8>;
        mov.u32 %r1, %tid.x;
        cvt.rn.f32.u32 %f1, %r1;
        mov.f32 %f2, %f1;
        mov.u32 %r2, 0;
        mov.u32 %r3, %r1;
        not.b32 %r4, %r1;
        .pragma "nounroll";
    turn:
        {body * LINKS}
        add.u32 %r2, %r2, 1;
        setp.lt.u32 %p, %r2, {turns};
        @%p bra turn;
        ld.param.u64 %d1, [out];
        mad.wide.u32 %d1, %r1, 4, %d1;
        add.f32 %f1, %f1, %f2;
        add.u32 %r3, %r3, %r4;
        cvt.rn.f32.u32 %f3, %r3;
        add.f32 %f1, %f1, %f3;
        st.global.f32 [%d1], %f1;
        ret;
    }}"""
    machine = Machine(text)
    out = machine.upload(np.zeros(2048, np.float32))
    counters = TimedCounters(profile(device))
    machine.launch(1, 32 * warps, [out], observers=(counters,), engine="auto")
    found = counters.finish()
    assert found is not None and found.time is not None
    return found.time


def links_per_cycle(body: str, warps: int, device: str = "sm_90") -> float:
    """The rate of a multiprocessor in steady state: of more links less those of fewer."""
    few, many = (chains(body, warps, n, device).active for n in (1, 4))
    return warps * 3 * LINKS * body.count(";") / (many - few)


FMA = "fma.rn.f32 %f1, %f1, %f1, %f1;"
TWO = "fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f2, %f2, %f2, %f2;"


@pytest.mark.parametrize(
    ("body", "warps", "device", "rate"),
    [
        (FMA, 1, "sm_90", 1 / 4),  # its latency
        (FMA, 8, "sm_90", 2.0),
        (FMA, 32, "sm_90", 4.0),  # its rate
        (TWO, 1, "sm_90", 2 / 4),  # instruction-level parallelism
        ("rsqrt.approx.ftz.f32 %f1, %f1;", 32, "sm_90", 0.5),  # four special functions a cycle and scheduler
        (FMA, 8, "sm_20", 8 / 22),  # the guide's 22 cycles: 22 warps hide them
        (FMA, 22, "sm_20", 1.0),
        (FMA, 32, "sm_52", 4.0),
        (FMA, 32, "sm_60", 2.0),
    ],
)
def test_chains_run_at_the_rates_of_the_device(body: str, warps: int, device: str, rate: float) -> None:
    """One warp shows the latency, many warps the throughput."""
    assert links_per_cycle(body, warps, device) == pytest.approx(rate, rel=0.06)


# Class of the throughput table -> two chains of it, which ptxas can't make shorter.
INTEGERS = {
    "multiply": "mul.lo.u32 %r3, %r3, %r1; mul.lo.u32 %r4, %r4, %r1;",
    "shift": "shl.b32 %r3, %r3, %r1; shl.b32 %r4, %r4, %r1;",
    "compare": "min.s32 %r3, %r3, %r4; max.s32 %r4, %r3, %r1;",
    "population": "popc.b32 %r3, %r3; popc.b32 %r4, %r4;",
}


@pytest.mark.parametrize(
    ("device", "kinds"),
    [
        ("sm_13", "multiply shift compare"),
        ("sm_21", "multiply shift compare population"),
        ("sm_35", "multiply shift population"),
        ("sm_60", "shift compare population"),
        ("sm_75", "multiply shift compare population"),
    ],
)
def test_integers_run_at_the_published_rates(device: str, kinds: str) -> None:
    """Each class of instructions at its own rate, whichever port of the H200 it was recorded on."""
    for kind in kinds.split():
        assert 32 * links_per_cycle(INTEGERS[kind], 32, device) == pytest.approx(profile(device).throughput(kind), rel=0.06), kind


@pytest.mark.parametrize("device", ["sm_52", "sm_60"])
def test_a_product_without_an_instruction_is_made_of_three(device: str) -> None:
    """Devices that multiply 16 bits execute XMAD three times, each at the rate of a multiply-add."""
    wanted = profile(device).throughput("f32") / 3
    assert 32 * links_per_cycle(INTEGERS["multiply"], 32, device) == pytest.approx(wanted, rel=0.06)
