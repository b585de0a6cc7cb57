"""Lanes that leave a loop which spins on memory go ahead, as an H200's do: each party on its own, up to a barrier."""

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.interpreter.profiler.test_recorded_kernels import BYTES, counted, text_of

from ..harness import Machine, kernel, run

RECORDED = json.loads((Path(__file__).parents[2] / "data/warp/spins.json").read_text())["kernels"]
# Lanes leave after one to eight turns; each stores how many lanes are there.
LEAVE = """.reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<2>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2; and.b32 %r2, %r1, 7;
TURN: atom.global.add.u32 %r3, [%d1], 1; setp.lt.u32 %p1, %r3, %r2; @%p1 bra TURN;
    {behind} activemask.b32 %r4; popc.b32 %r4, %r4; st.global.u32 [%d1], %r4; ret;"""
LOOP = "mov.u32 %r5, 0; AGAIN: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra AGAIN;"


@pytest.mark.parametrize("k", RECORDED, ids=lambda k: k["name"])
def test_counters_and_results_are_the_hardwares(k: dict[str, Any]) -> None:
    assert counted(k) == k["counters"]
    machine = Machine(text_of(k))
    buffers = -(-machine.arena.allocate(4 * BYTES, "buffers").start // BYTES) * BYTES
    machine.launch(k["grid"], k["block"], [buffers + n * BYTES for n in range(3)], shared=k["shared"])
    assert crc32(machine.arena.bytes[buffers + BYTES :][:BYTES].tobytes()) == k["stored"]


@pytest.mark.parametrize(
    ("behind", "together"), [("", 4), ("bar.sync 0;", 32), ("bar.warp.sync -1;", 32), ("shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;", 32)]
)
@pytest.mark.parametrize("schedule", [None, 1, 2, 3])
def test_lanes_meet_again_where_the_warp_is_asked_for(behind: str, together: int, schedule: int | None) -> None:
    text = kernel("p out", LEAVE.replace("{behind}", behind))
    assert run(text, 1, 96, 96, schedule=schedule).tolist() == [together] * 96


def test_lanes_that_turn_behind_the_loop_meet_before() -> None:
    """Whoever goes ahead would turn alone: here those wait for the others."""
    assert run(kernel("p out", LEAVE.replace("{behind}", LOOP)), 1, 96, 96).tolist() == [32] * 96


def test_in_lockstep_nobody_goes_ahead() -> None:
    text = kernel("p out", LEAVE.replace("{behind}", ""), target="sm_35").replace("activemask.b32 %r4", "vote.ballot.b32 %r4, 1")
    assert run(text, 1, 96, 96, target="sm_35", lockstep=True).tolist() == [32] * 96
