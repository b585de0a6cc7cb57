"""`warplab litmus`: outcomes that the model allows, outcomes that were seen, conditions, and what the model does not cover."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.litmus.conditions import condition

HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .u32 x, y, r0, r1;
.visible .entry k()
{
    .reg .u32 %me, %a, %b;
    .reg .u64 %l;
    .reg .pred %is, %p;
    mov.u32 %me, %ctaid.x;
    setp.eq.u32 %is, %me, 1;
    @%is bra P1;
"""
SPIN = """    st.global.u32 [x], 42;
    st.release.gpu.global.u32 [y], 1;
    ret;
P1: ld.acquire.gpu.global.u32 %a, [y];
    setp.eq.u32 %p, %a, 0;
    @%p bra P1;
    ld.global.u32 %b, [x];
    st.global.u32 [r0], %b;
    ret;
}
"""


def litmus(folder: Path, body: str, *conditions: str, launch: str = "--grid 2 --block 1", words: tuple[str, ...] = ()) -> tuple[int, str]:
    path = folder / "t.ptx"
    path.write_text(f"//@ run {launch}\n" + "".join(f"//@ {c}\n" for c in conditions) + HEAD + body)
    result = CliRunner().invoke(main, ["litmus", str(path), "--schedules", "12", *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_a_loop_that_waits_for_a_flag(tmp_path: Path) -> None:
    code, text = litmus(tmp_path, SPIN, "forbids r0=0", "allows r0=42")
    assert code == 0 and "r0=42  allowed  seen in 13" in text and "left out" not in text
    code, text = litmus(tmp_path, SPIN.replace("ld.acquire", "ld.relaxed"), "forbids r0=0")
    assert code == 1 and "FAILED forbids r0=0: the model allows it" in text


def test_json(tmp_path: Path) -> None:
    code, text = litmus(tmp_path, SPIN, "forbids r0=0", words=("--json",))
    (found,) = json.loads(text)
    assert (
        code == 0
        and found["passed"]
        and found["orders"] == 13
        and found["conditions"] == [{"condition": "forbids r0=0", "line": 2, "holds": True}]
    )
    assert found["outcomes"] == [{"values": {"r0": 42}, "allowed": True, "orders": 13, "schedule": None}]


def test_without_conditions_all_variables_are_shown(tmp_path: Path) -> None:
    code, text = litmus(tmp_path, SPIN)
    assert code == 0 and "x=42 y=1 r0=42 r1=0  allowed" in text


def test_shared_memory_and_buffers(tmp_path: Path) -> None:
    path = tmp_path / "t.ptx"
    path.write_text("""//@ run --block 2 --arg out:out=s32[2]
//@ forbids out[1]=0
//@ allows out[1]=-7, out[0]=1
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u32 %t, %v;
    .reg .u64 %o;
    .reg .pred %p;
    .shared .s32 tile;
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    setp.eq.u32 %p, %t, 1;
    @%p bra P1;
    st.shared.s32 [tile], -7;
    bar.sync 0;
    st.global.u32 [%o], 1;
    ret;
P1: bar.sync 0;
    ld.shared.u32 %v, [tile];
    st.global.u32 [%o+4], %v;
    ret;
}
""")
    result = CliRunner().invoke(main, ["litmus", str(path), "--schedules", "3"])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("body", "conditions", "launch", "message"),
    [
        (SPIN, ["forbids z=0"], "--grid 2", "no buffer and no .global variable is called z"),
        (SPIN, ["forbids r0[1]=0"], "--grid 2", "r0 has 1 elements"),
        (SPIN, ["forbids r0"], "--grid 2", "is not a term; write NAME=NUMBER"),
        (SPIN, ["forbids"], "--grid 2", "names no outcome"),
        (SPIN, ["forbids r0=0"], "--grid 2 --block 40", "more than 200000 ways through all threads"),
        ("    st.global.u32 [x], 1; ret;\nP1: ret;\n}\n", ["allows x=1"], "--grid 2 --block 8", "more than 7 stores to one location"),
        ("    st.global.u32 [x], 1; ret;\nP1: ret;\n}\n", ["allows x=1"], "--grid 2 --block 80", "more than 64 accesses"),
        (SPIN, ["forbids r0=0"], "--grid 20,1000", "4096 threads at most"),
        ("    st.global.u32 [x], 1; ret;\nP1: st.global.u8 [x], 1; ret;\n}\n", ["allows x=1"], "--grid 2", "overlap"),
        ("    ret;\nP1: trap;\n}\n", ["allows x=1"], "--grid 2", "ends in an error"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_said(tmp_path: Path, body: str, conditions: list[str], launch: str, message: str) -> None:
    code, text = litmus(tmp_path, body, *conditions, launch=launch)
    assert code == 2 and message in text, text


def test_a_file_without_tests(tmp_path: Path) -> None:
    path = tmp_path / "t.ptx"
    path.write_text(HEAD + SPIN)
    result = CliRunner().invoke(main, ["litmus", str(path)])
    assert result.exit_code == 2 and "there is no litmus test" in result.output


def test_conditions_as_herd_writes_them() -> None:
    for text in ("r0=1 r1=0", "(r0=1 /\\ r1=0)", "r0==1 && r1=0x0", "[r0]=1, r1=0"):
        assert condition("allows", text, 1).terms == (("r0", 1), ("r1", 0))
    assert str(condition("forbids", "out[3]=-1", 1)) == "forbids out[3]=-1"
    with pytest.raises(UsageError, match="line 7"):
        condition("allows", "r0=one", 7)
