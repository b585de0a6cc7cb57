"""`warplab run` on small programs that say themselves what must come out."""

import _thread
import io
import json
import re
import shlex
import sys
import threading
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from warplab.interpreter.faults import LaunchInterrupted
from warplab.runtime.cli import errors, main
from warplab.runtime.device.modules.kernels import KernelHandle
from warplab.runtime.run.progress import ERASE, Progress
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import LaunchSpec, from_options, from_toml

from ..ptx import ASSERTS, CALLS_TWICE, HEAD, kernel

PROGRAMS = sorted((Path(__file__).parents[2] / "data" / "run").glob("*.ptx"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs_hold_what_they_say(program: Path) -> None:
    done = CliRunner().invoke(main, ["run", str(program)])
    assert done.exit_code == 0, done.output


# ---------------------------------------------------------------- what `run` says

TEXT = kernel("vadd")


@pytest.mark.parametrize(("parameters", "said"), [("", "k takes no parameters"), (".param .u32 n", "--arg n=32")])
def test_a_kernel_that_says_nothing_of_its_launch_gets_a_command_to_start_from(tmp_path: Path, parameters: str, said: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEAD}.visible .entry k({parameters}) {{ ret; }}")
    proposed = CliRunner().invoke(main, ["run", str(path)]).output
    assert said in proposed
    command = shlex.split(proposed.splitlines()[-1])
    assert CliRunner().invoke(main, command[1:]).exit_code == 0


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


def test_colons_stand_for_brackets(tmp_path: Path) -> None:
    plain = "--grid 4 --block 256 --arg a=f32:10x100:arange --arg b=f32:1000:fill:2 --arg out:c=f32:1000 --arg n=900"
    done = run(tmp_path, f"{plain} --expect 'c[:900] == a.ravel()[:900] + 2' --print b[:2]")
    assert done.exit_code == 0, done.output
    assert "b[:2] = [2., 2.]" in done.output


def test_an_option_changes_one_thing_of_the_files_run(tmp_path: Path) -> None:
    text = f"//@ run {ARGUMENTS} --expect 'c[:900] == a[:900] + 1'\n{TEXT}"
    done = run(tmp_path, "--grid 8", text)
    assert (done.exit_code, "<<<8, 256>>>: 1 check passed" in done.output) == (0, True), done.output
    done = run(tmp_path, "--expect 'c[0] == 1'", text)
    assert "<<<4, 256>>>: 2 checks passed" in done.output
    assert "no kernel is called nope" in run(tmp_path, "--kernel nope", text).output


def test_arrays_lie_in_this_folder_or_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, words = tmp_path / "here", ARGUMENTS.replace("a=f32[1000]:arange", "a=@a.npy")
    here.mkdir()
    monkeypatch.chdir(here)
    np.save(tmp_path / "a.npy", np.full(1000, 3, np.float32))
    assert "a[0] = 3." in run(tmp_path, f"{words} --print a[0]").output
    np.save(here / "a.npy", np.full(1000, 4, np.float32))
    assert "a[0] = 4." in run(tmp_path, f"{words} --print a[0]").output


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
        runner = Runner([LONG.encode()], ["long.ptx"], from_options({"grid": "3", "engine": "numpy"}), None)
        with Progress(out, wait=0.0, step=0.01) as progress:
            runner.context.observe = progress.watch
            runner.run()
        assert ("long: 0 of 3 blocks have ended, at line " in out.getvalue()) == seen
        assert out.getvalue().endswith(ERASE) == seen


def test_a_launch_in_which_no_block_ends_is_told_once(tmp_path: Path) -> None:
    out = io.StringIO()
    runner = Runner([LONG.encode()], ["long.ptx"], from_options({"grid": "3", "engine": "numpy"}), None)
    with Progress(out, step=0.005, patience=0.01) as progress:
        runner.context.observe = progress.watch
        runner.run()
    assert out.getvalue().count("note: long: 0 of 3 blocks have ended, at line ") == 1
    assert "Ctrl-C" in out.getvalue()


def test_ctrl_c_says_where_the_launch_was(tmp_path: Path) -> None:
    class Impatient(Runner):
        def kernel(self, name: str) -> KernelHandle:
            threading.Timer(0.2, _thread.interrupt_main).start()
            return super().kernel(name)

    runner = Impatient([SPIN.encode()], ["spin.ptx"], from_options({"grid": "3", "engine": "numpy"}), None)
    with pytest.raises(LaunchInterrupted, match=r"interrupted in kernel spin: 0 of 3 blocks have ended, at line 7, .* steps"):
        runner.run()
    report = CliRunner().invoke(click.Command("x", callback=lambda: sys.exit(errors.report(LaunchInterrupted("interrupted here")))))
    assert (report.exit_code, report.stderr) == (130, "interrupted here\n")
    early = CliRunner().invoke(click.Command("x", callback=lambda: sys.exit(errors.report(KeyboardInterrupt()))))
    assert (early.exit_code, early.stderr) == (130, "interrupted\n"), "before there is a launch"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--print d", "--print 'd': nothing is called 'd'"),
        ("--expect d==1", "--expect 'd==1': nothing is called 'd'"),
        ("--expect before(d)==b", "nothing is called 'd'"),
        ("--expect b", "--expect 'b': that compares nothing; write b == VALUE"),
        ("--expect sum(b)", "--expect 'sum(b)': that compares nothing, it yields float32"),
        ("--dump d=x.npy", "--dump 'd=x.npy': write NAME=FILE.npy"),
        ("--max-steps -1", "--max-steps -1: write 1 or more"),
        ("--timeout -1", "--timeout -1: write a number"),
        ("--arg m=5", "has no parameter m; its parameters are"),
        ("--grid 0", "--grid '0': write one to three numbers from 1 up"),
        ("--arg x=f32[4]:range(0,4,0)", "the step of a range is not 0"),
        ("--arg x=f32[4]:arrange", "no initial content is called 'arrange'"),
        ("--arg x=f32[4]:rand(nan)", "has an argument that is not finite"),
        ("--arg x=f32[4]:range(0,inf,1)", "has an argument that is not finite"),
        ("--arg x=f32[4]:rand(-1)", "a seed is not negative"),
        ("--arg x=@nowhere.npy", "@nowhere.npy: there is no such file in "),
        ("--dump c=/nowhere/x.npy", "there is no folder /nowhere"),
        ("--device sm_90:0M", "'0M' is not a size"),
        ("--device sm_91", "'sm_91' is not a target; is sm_90 meant?"),
        ("--device sm_1000", "'sm_1000' is not a target; is sm_100 meant?"),
        ("--arg x=@/", "--arg x=@/: @/ is a folder"),
        ("--arg n=1 --arg n=2", "--arg n=... is given twice"),
        ("--arg 1 --arg 2", "arguments are given"),
        ("--schedules 99999999999999999999", "write 1000000 or less"),
        (f"--expect c{'[0]' * 500}==1", "the expression is nested deeper than 100 levels"),
        (f"--print c{'[0]' * 500}", "the expression is nested deeper than 100 levels"),
    ],
)
def test_wrong_options_say_what_to_write(tmp_path: Path, options: str, message: str) -> None:
    done = run(tmp_path, f"{ARGUMENTS} {options}")
    assert done.exit_code == 2 and message in done.stderr, done.stderr


CPP = f"""{HEAD}.visible .entry _ZN2ns3addIfEEvPfi(.param .u64 _ZN2ns3addIfEEvPfi_param_0, .param .u32 _ZN2ns3addIfEEvPfi_param_1)
{{
    .reg .b64 %a;
    .reg .b32 %i;
    ld.param.u64 %a, [_ZN2ns3addIfEEvPfi_param_0];
    ld.param.u32 %i, [_ZN2ns3addIfEEvPfi_param_1];
    mad.wide.u32 %a, %i, 4, %a;
    st.global.b32 [%a], %i;
    ret;
}}
.visible .entry _Z3addPi(.param .u64 _Z3addPi_param_0) {{ ret; }}
"""


def test_a_cpp_kernel_has_its_cpp_name(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(CPP)

    def words(*args: str) -> Result:
        return CliRunner().invoke(main, ["run", str(path), *args])

    proposed = words().stdout
    assert "ns::add<float>(float*, int) takes\n  param_0 " in proposed
    for command in re.findall("try\n(.*)", proposed):
        assert "--arg f32:32" in command or "--arg s32:32" in command
        assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code in (0, 4)
    for name in ("ns::add", "ns::add<float>", "ns::add<float>(float *, int)", "_ZN2ns3addIfEEvPfi"):
        done = words("--kernel", name, "--arg", "f32:4", "--arg", "4")
        assert done.exit_code == 4 and done.stderr.startswith("FAULT  ns::add<float><<<1, 1>>>\n")
        assert "`param_0[4]`, 0 bytes after the 16 bytes of param_0" in done.stderr and "param_0 has 4 elements of f32" in done.stderr
    assert words("--kernel", "add", "--arg", "s32:1").exit_code == 0, "the whole name of the other"
    assert "is ns::add meant?" in words("--kernel", "ns::ad").stderr
    shown = CliRunner().invoke(main, ["info", str(path)]).stdout
    assert "C++ name    ns::add<float>(float*, int)" in shown


SPIN = f"""{HEAD}.visible .entry spin()
{{
    .reg .b32 %r;
    L: add.u32 %r, %r, 1; bra L; }}
"""
LONG = kernel("long")


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


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(TEXT)
    done = CliRunner().invoke(main, ["run", str(tmp_path / "a.ptx"), str(tmp_path / "a.ptx"), "--grid", "1"])
    assert done.exit_code == 3 and "is defined a second time: the same text is given twice" in done.stderr


def test_a_file_whose_functions_another_file_has_is_right() -> None:
    path = Path(__file__).parents[3] / "samples" / "link" / "main.ptx"
    done = CliRunner().invoke(main, ["run", str(path)])
    assert done.exit_code == 0 and "error" not in done.stderr, done.stderr


def test_a_launch_file_may_hold_numbers(tmp_path: Path) -> None:
    path = tmp_path / "k.toml"
    path.write_text('[[launch]]\nkernel = "k"\nargs = ["x", 3000, 0.5]\n')
    (run,) = from_toml(path)
    (launch,) = run.launches
    assert isinstance(launch, LaunchSpec) and launch.args == ("x", "3000", "0.5")
