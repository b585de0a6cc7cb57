"""A test that fails names the command that opens its launch at the store of the first wrong element, or at its end."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y, .param .u32 mask)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r3, [mask];
    and.b32 %r2, %r1, %r3;
    ld.param.u64 %rd1, [y];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
RIGHT = "//@ run --block 32 --arg out:y=u32[32] --arg mask=31 --expect 'y == arange(32)'\n"


def warplab(*words: str) -> str:
    return CliRunner().invoke(main, list(words)).output


@pytest.mark.parametrize(
    ("directives", "wrong", "step_text"),
    [
        ("//@ run --block 32 --arg out:y=u32[32] --arg mask=7 --expect 'y == arange(32)'\n", "y[8]", "thread (8,0,0)"),
        ("//@ run --block 32 --arg out:y=u32[4,8] --arg mask=15 --expect 'y.ravel() == arange(32)'\n", "", ""),
        (f"//@ run --block 32 --arg out:y=u32[32] --arg mask=3\n//@ golden y = [{', '.join(map(str, range(32)))}]\n", "y[4]", "thread (4,0,0)"),
        (f"//@ run --block 32 --arg out:y=u32[4,8] --arg mask=7\n//@ golden y = [{', '.join(map(str, range(32)))}]\n", "y[1][0]", "thread (8,0,0)"),
        ("//@ run --block 64 --arg out:y=u32[32] --arg mask=7\n", "fault", "thread (32,0,0)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("before", [0, 1])
def test_the_command_goes_to_the_store(directives: str, wrong: str, step_text: str, before: int, tmp_path: Path) -> None:
    path = tmp_path / "a test.ptx"
    path.write_text(RIGHT * before + directives + KERNEL)
    said = warplab("test", str(path))
    assert "1 failed" in said
    found = re.search(r"debug it: warplab (.*)", said)
    if not wrong:
        assert found is None, "no single element is wrong"
        return
    assert found is not None
    words = shlex.split(found[1])
    commands = ["-ex", "catch fault", "-ex", "run"] if wrong == "fault" else ["-ex", f"goto {wrong}"]
    assert words == ["debug", str(path), "--run", str(1 + before), *commands]
    opened = warplab(*words, "--batch")
    assert step_text in opened and ("st.global.u32 [%rd1], %r2;" in opened)


def test_goto_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(RIGHT + KERNEL)
    assert "there is no array or variable z" in warplab("debug", str(path), "-ex", "goto z[1]", "--batch")
    assert "the file describes 1 run" in warplab("debug", str(path), "--run", "2", "--batch")
