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
