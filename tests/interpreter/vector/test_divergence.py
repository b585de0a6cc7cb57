"""Lanes that leave a loop from below its branches: who stays meets again behind each branch, who leaves waits behind the loop, as on an H200."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from ..harness import Argument, Machine, kernel, run

DATA = Path(__file__).parents[2] / "data" / "warp"
LANES = 2048
# What an H200 left of the kernels in breaks.cu: checksums of results, and of how many lanes ran together at each turn and behind the loop.
RECORDED = {
    "break_if": (2973398302, 3557093837),
    "break_two": (2781077358, 2932250690),
    "break_both": (3328952657, 3364024582),
    "break_inner": (2333258978, 235643765),
    "continue_if": (460437324, 458963749),
    "break_switch": (183638258, 1651271244),
    "after_loop": (3019046695, 3354659921),
    "in_branch": (1851491329, 2396919364),
    "return_and_break": (66513833, 4269715732),
    "find_first": (3163780604, 3438167099),
}
# A lane goes on as long as its number says, leaves from below a branch, and tells how many are there.
MEETING = """.reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<4>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2; mov.u32 %r2, 0; and.b32 %r3, %r1, 7;
TURN: add.u32 %r2, %r2, 1; and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra EVEN;
    setp.gt.u32 %p2, %r2, %r3; {leave}
EVEN: setp.lt.u32 %p3, %r2, 9; @%p3 bra TURN;
OUT: {behind} activemask.b32 %r5; popc.b32 %r5, %r5; st.global.u32 [%d1], %r5; ret;"""


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("schedule", [None, 1])
def test_lanes_run_together_as_on_the_device(name: str, schedule: int | None) -> None:
    rng = np.random.default_rng(5)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 24, LANES + 1))]).astype(np.int32)
    table = rng.integers(0, 4000, 1100).astype(np.int32)
    machine = Machine((DATA / "breaks.ptx").read_text())
    out, masks = (machine.upload(np.zeros(LANES, np.int32)) for _ in range(2))
    arguments: list[Argument] = [np.uint32(LANES), machine.upload(start), machine.upload(table), out, masks]
    machine.launch(LANES // 128, 128, arguments, name=name, schedule=schedule)
    results, together = RECORDED[name]
    assert crc32(machine.download(out).tobytes()) == results
    assert schedule is not None or crc32(machine.download(masks).tobytes()) == together  # a seed tears warps


@pytest.mark.parametrize("behind", ["", "bar.sync 0;", "bar.warp.sync -1;"])
@pytest.mark.parametrize("leave", ["@%p2 bra OUT;", "@%p2 bra ASIDE;"])
@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_all_meet_behind_the_loop(behind: str, leave: str, schedule: int | None) -> None:
    body = MEETING.replace("{leave}", leave).replace("{behind}", behind)
    if "ASIDE" in leave:
        body += "\nASIDE: add.u32 %r2, %r2, 100; bra OUT;"
    assert run(kernel("p out", body), 1, 96, 96, schedule=schedule).tolist() == [32] * 96
