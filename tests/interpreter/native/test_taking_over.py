"""Compiled code goes on with waves that numpy began, wherever their lanes stand: the same bits as if one engine had run all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine, kernel
from tests.interpreter.test_reference import seeded
from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Findings
from warplab.interpreter.checkers.memcheck import Memcheck
from warplab.interpreter.execute import execute
from warplab.interpreter.launch import Launch
from warplab.interpreter.native.run import NativeLaunch
from warplab.interpreter.native.tiering import EngineChoice
from warplab.interpreter.vector import wave

from .test_waiting import SHAPES, outcome
from .test_waiting import WaitingProgram as Waiting


class Handing:
    """The engine is chosen anew after so many segments, and is native then."""

    def __init__(self, patch: pytest.MonkeyPatch, asks: int, every: int) -> None:
        self.asks, self.left, self.taken = asks, asks, 0
        begun, take_over = EngineChoice.begun, NativeLaunch.take_over
        patch.setattr(wave, "ASK_FIRST", every)
        patch.setattr(wave, "ASK_EVERY", 0)

        def late(choice: EngineChoice, launch: Launch, *more: Any) -> Any:
            self.left -= 1
            if self.left >= 0:
                return None
            with pytest.MonkeyPatch.context() as native:
                native.setattr(launch.options, "engine", "native")
                return begun(choice, launch, *more)

        def counted(native: NativeLaunch, waves: Any) -> bool:
            took = take_over(native, waves)
            self.taken += took
            return took

        patch.setattr(EngineChoice, "begun", late)
        patch.setattr(NativeLaunch, "take_over", counted)

    def again(self) -> None:
        """Before the next launch."""
        self.left = self.asks


@pytest.mark.parametrize("seed", range(40))
def test_diverged_waves_of_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    handing = Handing(monkeypatch, 1 + seed % 7, 1 + seed % 5)
    seeded(seed, {"taken over": {"engine": "auto"}})
    assert handing.left < handing.asks


@pytest.mark.parametrize("seed", range(60))
def test_waves_whose_lanes_wait(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    machine = Machine(Waiting(lambda below: int(rng.integers(below)), block).text())
    words = 16 + grid * block
    want = outcome(machine, grid, block, words, max_steps=50_000, engine="numpy")
    for asks in (1, 2, 5, 12):
        with pytest.MonkeyPatch.context() as patch:
            Handing(patch, asks, 1 + seed % 3)
            got = outcome(machine, grid, block, words, max_steps=50_000, engine="auto")
        if "limit" not in (want[0], got[0]):
            assert got[0] == want[0], f"after {asks} of {grid} x {block}"


TRIANGLE = """.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<3>;
    ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %r1; mov.u32 %r5, 0;
    L: mov.u32 %r3, 0;
    M: mad.lo.u32 %r5, %r5, 5, %r3; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 40; @%p1 bra M;
    add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 64; @%p2 bra L;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5; ret;"""
RELAY = """.reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<3>;
    ld.param.u64 %d1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;
    W: ld.volatile.global.u32 %r2, [%d2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra G; setp.eq.u32 %p2, %r2, 0; @%p2 bra W;
    G: mov.u32 %r3, 0;
    M: mad.lo.u32 %r2, %r2, 5, %r3; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 40; @%p1 bra M;
    or.b32 %r2, %r2, 1; bar.sync 0; st.volatile.global.u32 [%d2+4], %r2; ret;"""


@pytest.mark.parametrize(
    ("body", "grid", "block"), [(TRIANGLE, 1, 64), (RELAY, 6, 32)], ids=["unequal trip counts", "blocks that wait for each other"]
)
def test_launches_that_never_stand_at_one_place_are_taken_over(body: str, grid: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(kernel("p out", body))
    out = machine.upload(np.zeros(128, np.uint32))
    machine.launch(grid, block, [out], engine="numpy", wave_lanes=32)
    want = machine.download(out)
    handing = Handing(monkeypatch, 6, 4)
    out = machine.upload(np.zeros(128, np.uint32))
    launch = machine.launch(grid, block, [out], engine="auto", wave_lanes=32)
    assert (machine.download(out) == want).all() and want.any()
    assert handing.taken and launch.used.native_blocks


def test_a_wave_of_many_blocks_is_taken_over_where_threads_would_share_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    body = TRIANGLE.replace("mul.wide.u32 %d2, %r1, 4;", "mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r3, 64, %r1; mul.wide.u32 %d2, %r1, 4;")
    machine = Machine(kernel("p out", body))
    out = machine.upload(np.zeros(16 * 64, np.uint32))
    machine.launch(16, 64, [out], engine="numpy")
    want = machine.download(out)
    handing = Handing(monkeypatch, 6, 4)
    out = machine.upload(np.zeros(16 * 64, np.uint32))
    launch = machine.launch(16, 64, [out], engine="auto", threads=4)
    assert (machine.download(out) == want).all() and want.all()
    assert handing.taken and launch.used.native_blocks == 16


def test_a_wave_that_is_observed_stays_with_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an observer knows of its lanes would be lost; the blocks after it run natively."""
    machine = Machine(kernel("p out", TRIANGLE))
    out = machine.upload(np.zeros(128, np.uint32))
    machine.launch(2, 64, [out], engine="numpy", wave_lanes=64)
    want = machine.download(out)
    handing = Handing(monkeypatch, 1, 4)
    out = machine.upload(np.zeros(128, np.uint32))
    launch = machine.prepare(2, 64, [out], engine="auto", wave_lanes=64)
    execute(launch, [Memcheck(CheckedRun(Findings()))])
    assert (machine.download(out) == want).all()
    assert (handing.taken, launch.used.numpy_blocks, launch.used.native_blocks) == (0, 1, 1)
