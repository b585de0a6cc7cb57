"""The commands record, debug, trace, diff and run --origin as a shell calls them; limits; recordings from Python."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from warplab.runtime import Device, LaunchConfig, ObjectCode, device_array, launch
from warplab.runtime.golden.output import call
from warplab.runtime.recording import Recording, recording

SAMPLES = Path(__file__).parents[3] / "samples"
VECADD = str(SAMPLES / "vecadd.ptx")
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
SUMS = """//@ run --grid 64 --block 64 --arg out:y=u32[4096] --arg limit=4096
.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 y, .param .u32 limit)
{
    .reg .b32 %i, %n, %s, %m; .reg .b64 %y, %z; .reg .pred %p;
    mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, 64, %i;
    mov.u32 %s, 0; mov.u32 %n, 0;
turn:
    add.u32 %s, %s, %n;
    add.u32 %n, %n, 1;
    mad.lo.u32 %s, %s, %i, %n;
    setp.lt.u32 %p, %n, 60;
    @%p bra turn;
    ld.param.u64 %y, [y];
    ld.param.u32 %m, [limit];
    rem.u32 %n, %i, %m;
    mad.wide.u32 %z, %n, 4, %y;
    st.global.u32 [%z], %s;
    ret;
}
"""
SET = """.visible .entry set(.param .u64 x)
{
    .reg .b32 %t; .reg .b64 %x;
    mov.u32 %t, %tid.x;
    ld.param.u64 %x, [x];
    mad.wide.u32 %x, %t, 4, %x;
    st.global.u32 [%x], %t;
    ret;
}
"""


def warplab(*words: str) -> tuple[int, str]:
    """The exit code of a command, and all that it prints."""
    code, out, err = call(list(words))
    return code, out + err


def test_a_file_is_recorded_and_debugged(tmp_path: Path) -> None:
    file = str(tmp_path / "run.wlrec")
    code, said = warplab("record", VECADD, "-o", file)
    assert code == 0 and "22 steps" in said
    code, said = warplab("debug", file, "--batch", "-ex", "break done", "-ex", "run", "-ex", "print c[5]")
    assert code == 0 and "$1 = 6.0" in said
    code, said = warplab("debug", file, "--batch", "-ex", "nonsense", "-ex", "echo behind")
    assert code == 1 and "behind" not in said
    script = tmp_path / "commands"
    script.write_text("start\nstepi 3\nquit\necho behind\n")
    code, said = warplab("debug", file, "-x", str(script))
    assert code == 0 and "mad.lo.s32" in said and "behind" not in said
    code, said = warplab("record", file)
    assert code == 2 and "a recording already" in said
    (tmp_path / "bad.wlrec").write_bytes(b"no recording")
    code, said = warplab("debug", str(tmp_path / "bad.wlrec"), "--batch")
    assert code == 2 and "not a recording" in said and "Traceback" not in said


def test_traces() -> None:
    code, said = warplab("trace", VECADD, "--thread", "3:240", "--json")
    rows = json.loads(said)
    assert code == 0 and rows[5]["read"] == {"%r4": 1008, "%r5": 1000} and rows[5]["written"] == {"%p1": True}
    assert rows[6]["events"] == ["lanes diverge"]
    code, said = warplab("trace", VECADD, "--warp", "3:7", "--json")
    rows = json.loads(said)
    assert [len(r["lanes"]) for r in rows if "st.global" in r["instruction"]] == [8]
    code, said = warplab("trace", VECADD, "--thread", "0:0", "--json")
    assert not any("events" in row for row in json.loads(said)), "its warp does not diverge"
    code, said = warplab("trace", VECADD, "--accesses", "--of", "c", "--warp", "1")
    assert code == 0 and "c[63]=" in said and "a[" not in said
    code, said = warplab("trace", VECADD, "--lanes", "--warp", "3:7")
    picture = ET.fromstring(said)
    assert code == 0 and picture.tag.endswith("svg") and "st.global" in said
    for wrong in ("9:0", "0:999", "x", "1,2,3,4"):
        code, said = warplab("trace", VECADD, "--thread", wrong)
        assert code == 2 and "Traceback" not in said


def test_differences(tmp_path: Path) -> None:
    assert warplab("diff", VECADD, "--with", "--schedule 3")[0] == 0
    assert "all stores are alike" in warplab("diff", VECADD, VECADD)[1]
    other = tmp_path / "other.ptx"
    other.write_text(Path(VECADD).read_text().replace("add.f32         %f3, %f1, %f2", "sub.f32         %f3, %f1, %f2"))
    code, said = warplab("diff", VECADD, str(other))
    assert code == 1 and "c[0] = 1.0" in said and "c[0] = -1.0" in said and "add.f32 %f3" in said and "sub.f32 %f3" in said
    fewer = tmp_path / "fewer.ptx"
    fewer.write_text(Path(VECADD).read_text().replace("setp.ge.s32     %p1, %r4, %r5", "setp.gt.s32     %p1, %r4, 7"))
    code, said = warplab("diff", VECADD, str(fewer))
    assert code == 1 and "has no store number 1" in said
    assert warplab("diff", VECADD)[0] == 2
    assert warplab("diff", VECADD, "--with", "--frobnicate 3")[0] == 2


def test_origins(tmp_path: Path) -> None:
    file = tmp_path / "zero.ptx"
    body = """.visible .entry zero(.param .u64 y)
{
    .reg .f32 %f<4>; .reg .b32 %t, %u; .reg .b64 %y;
    mov.u32 %t, %tid.x; cvt.rn.f32.u32 %f1, %t; mov.f32 %f2, 0f00000000; ld.param.u64 %y, [y];
    OP
    mad.wide.u32 %y, %t, 4, %y; add.f32 %f3, %f3, %f1; st.global.f32 [%y], %f3; ret;
}"""
    run = ("run", str(file), "--grid", "1", "--block", "32", "--arg", "out:y=f32[32]")
    file.write_text(HEAD + body.replace("OP", "div.rn.f32 %f3, %f1, %f2;"))
    said = warplab(*run, "--origin", "nan")[1]
    assert "y[0] = nan" in said and "div.rn.f32 %f3" in said and "thread (0,0,0)" in said
    said = warplab(*run, "--origin", "inf")[1]
    assert "y[1] = inf" in said and "thread (1,0,0)" in said
    said = warplab(*run, "--origin", "uninitialised")[1]
    assert "no instruction reads" in said
    file.write_text(HEAD + body.replace("OP", "add.f32 %f3, %f3, %f2;"))
    said = warplab(*run, "--origin", "uninitialised", "--json")[1]
    assert "%f3 is read before" in json.loads(said)[0]["origin"][0]
    file.write_text(HEAD + body.replace("OP", "ld.global.f32 %f3, [%y];"))
    said = warplab(*run[:-2], "--arg", "inout:y=f32[32]:fill(nan)", "--origin", "nan")[1]
    assert "it was in memory before the launch: y[0]" in said


@pytest.fixture
def sums(tmp_path: Path) -> str:
    file = tmp_path / "sums.ptx"
    file.write_text(SUMS)
    return str(file)


def test_a_limit_keeps_fewer_blocks(sums: str, tmp_path: Path) -> None:
    whole, part = str(tmp_path / "whole.wlrec"), str(tmp_path / "part.wlrec")
    warplab("record", sums, "-o", whole)
    code, said = warplab("record", sums, "-o", part, "--record-limit", "400k")
    kept = int(re.search(r"(\d+) of 64 blocks", said)[1])  # type: ignore[index]
    assert code == 0 and 1 <= kept < 64
    all_of, some = Recording.load(whole), Recording.load(part)
    assert some.is_recorded(0) and not some.is_recorded(63)
    lane = some.lane(0, 17)
    assert some.registers(lane, some.step_count) == all_of.registers(lane, all_of.step_count)
    assert [some.at(int(s)).instruction.line for s in some.steps(lane)] == [all_of.at(int(s)).instruction.line for s in all_of.steps(lane)]
    n = 64 * kept
    assert np.array_equal(some.memory("y", some.step_count)[:n], all_of.memory("y", all_of.step_count)[:n])


def test_chosen_blocks(sums: str) -> None:
    code, said = warplab("debug", sums, "--blocks", "17,40-41", "--batch", "-ex", "cuda block 40 thread 3", "-ex", "goto end", "-ex", "print %s",
                         "-ex", "cuda block 2 thread 0")  # fmt: skip
    assert code == 1 and "3 of 64 blocks" in said and "is not in the recording" in said
    i = 40 * 64 + 3
    total = 0
    for n in range(60):
        total = ((total + n) * i + n + 1) % 2**32
    assert f"$1 = {total}" in said


def test_the_block_that_faults_is_recorded(sums: str) -> None:
    """The array is too short for the last blocks; the limit would keep the first ones."""
    words = ("--grid", "64", "--block", "64", "--arg", "out:y=u32[3500]", "--arg", "limit=4096", "--record-limit", "400k")
    code, said = warplab("debug", sums, *words, "--batch", "-ex", "catch fault", "-ex", "run", "-ex", "print %i")
    assert code == 0 and "out of bounds" in said and "block (54,0,0)" in said and "$1 = 3500" in said


def test_seeds_and_poison(sums: str, tmp_path: Path) -> None:
    file = str(tmp_path / "seeded.wlrec")
    assert warplab("record", sums, "-o", file, "--schedule", "5", "--poison", "7")[0] == 0
    rec = Recording.load(file)
    assert rec.track.options["schedule"] == "5" and rec.track.options["poison"] == "7"
    plain = str(tmp_path / "plain.wlrec")
    warplab("record", sums, "-o", plain)
    assert np.array_equal(rec.memory("y", rec.step_count + 1), Recording.load(plain).memory("y", rec.step_count + 1))


def test_findings_are_places(tmp_path: Path) -> None:
    file = tmp_path / "race.ptx"
    file.write_text(HEAD + SET.replace("mad.wide.u32 %x, %t, 4, %x;", ""))
    words = ("--grid", "1", "--block", "64", "--arg", "out:x=u32[1]", "--sanitize", "racecheck")
    code, said = warplab("debug", str(file), *words, "--batch", "-ex", "catch finding", "-ex", "run")
    assert code == 0 and "st.global.u32 [%x], %t;" in said and "Catchpoint 1 (finding)" in said


def test_every_launch_of_python_is_recorded() -> None:
    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(HEAD + SET).get_kernel("set")
    x = device_array(64, np.uint32)
    with recording() as made:
        for block in (32, 64):
            launch(device.default_stream, LaunchConfig(grid=1, block=block), kernel, x)
        device.sync()
    launch(device.default_stream, LaunchConfig(grid=1, block=32), kernel, x)
    device.sync()
    one, two = made.launches
    assert made.launches[0] is one and (one.threads, two.threads) == (32, 64)
    assert one.registers(one.lane(0, 31), one.step_count)["%t"] == 31
    assert two.registers(two.warp_of(63), two.step_count)["%t"].tolist() == list(range(32, 64))
