"""Times predicted from the first blocks of a launch: as good as on all of them, nearly, and the rest of the launch runs as without a model."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from warplab.interpreter.timing import SampledTime
from warplab.isa.profiles import profile

from . import launches

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry numbers(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<3>;
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    ld.param.u64 %d0, [out];
    mad.wide.u32 %d1, %r3, 4, %d0;
    st.global.u32 [%d1], %r3;
    ret;
}"""


class Watching(SampledTime):
    """Counts the blocks that it sees."""

    blocks = 0

    def wave(self, wave: object) -> None:
        self.blocks += wave.count  # type: ignore[attr-defined]
        super().wave(wave)  # type: ignore[arg-type]


@pytest.mark.parametrize(("blocks", "seen"), [(1, 1), (64, 64), (1024, 8), (5000, 24)])
def test_only_the_first_blocks_of_a_larger_launch_are_observed(blocks: int, seen: int) -> None:
    """As many as a multiprocessor executes, at most in three rounds; all blocks do their work."""
    machine, watching = Machine(TEXT), Watching(profile("sm_90"))
    out = machine.upload(np.zeros(blocks * 256, np.uint32))
    machine.launch(blocks, 256, [out], observers=(watching,))
    assert (machine.download(out, np.uint32) == np.arange(blocks * 256)).all()
    found = watching.finish()
    assert watching.blocks == seen
    assert found is not None
    assert found.time is not None
    assert found.time.cycles > 2000


def test_samples_say_nearly_what_the_recordings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches whose last blocks find nothing to do are taken to be longer than they are."""
    monkeypatch.setattr(launches, "TimedCounters", SampledTime)
    errors = [abs(x.error) for x in launches.timed("h200", 300_000)]
    assert len(errors) > 40
    assert sum(e <= 0.2 for e in errors) >= 0.9 * len(errors)
    assert statistics.median(errors) <= 0.07


LOOP = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry loop(.param .u64 out, .param .u32 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<2>;
    .reg .pred %p;
    ld.param.u64 %d0, [out];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, 0;
next:
    ld.global.u32 %r2, [%d0];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%d0], %r2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, %r0;
    @%p bra next;
    ret;
}"""


def test_a_long_launch_is_not_observed_to_its_end() -> None:
    """Compiled code goes on with the wave; what was seen grows as the launch's steps do."""
    pytest.importorskip("llvmlite")
    cycles = []
    for turns in (4000, 40000):
        machine, sampled = Machine(LOOP), SampledTime(profile("sm_90"))
        out = machine.upload(np.zeros(1, np.uint32))
        launch = machine.launch(1, 1, [out, turns], observers=(sampled,), engine="auto")
        assert machine.download(out, np.uint32)[0] == turns
        found = sampled.finish()
        assert found is not None
        assert found.time is not None
        cycles.append(found.time.active)
        assert bool(launch.used.native_blocks) is (turns == 40000)
    assert cycles[1] / cycles[0] == pytest.approx(10, rel=0.05)
