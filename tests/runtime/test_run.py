"""`warplab run` on small programs that say themselves what must come out."""

import io
import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warplab.runtime.cli import main
from warplab.runtime.run.progress import ERASE, Progress
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import from_options

from .ptx import ASSERTS, CALLS_TWICE, HEAD

PROGRAMS = sorted((Path(__file__).parents[1] / "data" / "run").glob("*.ptx"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs_hold_what_they_say(program: Path) -> None:
    done = CliRunner().invoke(main, ["run", str(program)])
    assert done.exit_code == 0, done.output


# ---------------------------------------------------------------- what `run` says

TEXT = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<9>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra DONE;
    mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4; add.u64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6]; add.f32 %f3, %f1, %f2; st.global.f32 [%rd7], %f3;
DONE:
    ret;
}
"""
ARGUMENTS = "--grid 4 --block 256 --arg a=f32[1000]:arange --arg b=f32[1000]:ones --arg out:c=f32[1000] --arg n=900"


def run(tmp_path: Path, words: str, text: str = TEXT) -> Result:
    path = tmp_path / "vadd.ptx"
    path.write_text(text)
    return CliRunner().invoke(main, ["run", str(path), *shlex.split(words)])


def test_the_report_as_json_holds_what_was_asked_for(tmp_path: Path) -> None:
    done = run(tmp_path, f"{ARGUMENTS} --print c[:3] --expect 'c[:900] == a[:900] + b[:900]' --json")
    (report,) = json.loads(done.stdout)
    assert (done.exit_code, report["checked"], report["printed"]) == (0, 1, {"c[:3]": [1.0, 2.0, 3.0]})
    assert report["buffers"]["c"]["unwritten"] == 100


def test_the_device_may_have_less_memory(tmp_path: Path) -> None:
    assert run(tmp_path, f"{ARGUMENTS} --device sm_90:1M").exit_code == 0
    done = run(tmp_path, f"{ARGUMENTS} --device sm_90:1M --arg d=f32[1000000]".replace("b=f32[1000]:ones", "b=f32[1000000]"))
    assert done.exit_code == 2, "there is no parameter d"
    done = run(tmp_path, f"{ARGUMENTS} --device sm_90:1M".replace("b=f32[1000]:ones", "b=f32[1000000]"))
    assert done.exit_code == 4
    assert "4000000 bytes" in done.stderr
    assert run(tmp_path, f"{ARGUMENTS} --device sm_90:much").exit_code == 2
    assert run(tmp_path, f"{ARGUMENTS} --device nothing").exit_code == 2


def test_each_failed_assert_is_told_once(tmp_path: Path) -> None:
    done = run(tmp_path, "--grid 1 --block 32 --arg step=5", ASSERTS)
    assert done.exit_code == 4
    said = [line for line in done.stderr.splitlines() if "Assertion `x > 3` failed." in line]
    assert [line.split("thread: ")[1].split("]")[0] for line in said] == [f"[{n},0,0" for n in range(0, 32, 5)]


class Terminal(io.StringIO):
    """Somebody looks at it."""

    def isatty(self) -> bool:
        return True


def test_a_long_launch_shows_how_far_it_is(tmp_path: Path) -> None:
    for out, seen in ((Terminal(), True), (io.StringIO(), False)):
        runner = Runner([LONG.encode()], ["long.ptx"], from_options({"grid": "3"}), None)
        with Progress(out, wait=0.0, step=0.01) as progress:
            runner.context.observe = progress.watch
            runner.run()
        assert ("long: block " in out.getvalue()) == seen
        assert out.getvalue().endswith(ERASE) == seen


LONG = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry long()
{
    .reg .pred %p; .reg .b32 %r;
    mov.u32 %r, 0;
again:
    add.u32 %r, %r, 1;
    setp.lt.u32 %p, %r, 20000;
    @%p bra again;
    ret;
}
"""


@pytest.mark.parametrize("text", ["rubbish", ".version 99.0\n.target sm_90\n.address_size 64\n", TEXT.replace("ret;", "bad;")])
def test_what_can_not_be_read_ends_with_three(tmp_path: Path, text: str) -> None:
    done = run(tmp_path, ARGUMENTS, text)
    assert done.exit_code == 3
    assert done.stderr.startswith("error")


def test_files_that_do_not_fit_together_end_with_three(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(CALLS_TWICE)
    (tmp_path / "b.ptx").write_text(HEAD)
    done = CliRunner().invoke(main, ["run", str(tmp_path / "a.ptx"), str(tmp_path / "b.ptx"), "--arg", "p=u32[1]"])
    assert done.exit_code == 3, done.stderr
    assert "twice" in done.stderr
