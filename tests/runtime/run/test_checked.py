"""`warplab run` repeats small runs under the checkers; larger ones say that they are not checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from warplab.runtime.cli import main

from ..ptx import HEAD

START = ".reg .b32 %t, %v, %i; .reg .b64 %d, %a; .reg .pred %p; ld.param.u64 %d, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %d, %d, %a;"
KERNELS = {
    "racecheck": ".shared .b32 s[65]; cvt.u32.u64 %i, %a; add.u32 %i, %i, 4; mov.u32 %v, s; add.u32 %i, %i, %v; st.shared.u32 [%i], %t; "
    "ld.shared.u32 %v, [%i+-4]; st.global.u32 [%d], %t;",
    "initcheck": "add.u32 %v, %i, %t; st.global.u32 [%d], %v;",
    "synccheck": "setp.lt.u32 %p, %t, 16; @%p bar.warp.sync 0xff00; st.global.u32 [%d], %t;",
    "": "st.global.u32 [%d], %t;",
}
LONG = "mov.u32 %i, 0; L: add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 5000; @%p bra L; st.global.u32 [%d], %t;"
LAUNCH = "//@ run --block 64 --arg out:p=u32[64] --expect p==arange(64)\n"


def run(folder: Path, body: str, *options: str, launch: str = LAUNCH) -> Result:
    """What `warplab run` says of a kernel."""
    path = folder / "k.ptx"
    path.write_text(f"{launch}{HEAD}.visible .entry k(.param .u64 p) {{ {START} {body} ret; }}")
    return CliRunner().invoke(main, ["run", str(path), *options])


@pytest.mark.parametrize("tool", KERNELS)
def test_a_small_run_is_checked(tmp_path: Path, tool: str) -> None:
    done = run(tmp_path, KERNELS[tool])
    if not tool:
        assert (done.exit_code, done.output) == (0, "ok     k<<<1, 64>>>: 1 check passed\n")
        return
    assert done.exit_code == 1 and done.stdout == "", done.output
    assert f"({tool})" in done.stderr and "FAILED k<<<1, 64>>>: 1 check passed, but the checkers found 1 error\n" in done.stderr
    assert "--sanitize none" in done.stderr
    free = run(tmp_path, KERNELS[tool], "--sanitize", "none")
    assert (free.exit_code, free.stdout) == (0, "ok     k<<<1, 64>>>: 1 check passed\n"), free.output
    (report,) = json.loads(run(tmp_path, KERNELS[tool], "--json").stdout)
    assert report["code"] == 1 and [f["tool"] for f in report["findings"]] == [tool]
    assert report["checkers"] == ["initcheck", "racecheck", "synccheck"]
    (report,) = json.loads(run(tmp_path, KERNELS[tool], "--json", "--sanitize", "none").stdout)
    assert (report["code"], report["findings"], report["checkers"]) == (0, [], [])


def test_a_larger_run_says_once_that_it_is_not_checked(tmp_path: Path) -> None:
    done = run(tmp_path, LONG, launch=2 * LAUNCH)
    first, second = done.stdout.splitlines()
    assert done.exit_code == 0 and second == "ok     k<<<1, 64>>>: 1 check passed"
    assert first == f"{second}; not checked for races: warplab sanitize {tmp_path / 'k.ptx'}"
    assert "races" not in run(tmp_path, LONG, "--sanitize", "none").output
    (report,) = json.loads(run(tmp_path, LONG, "--json").stdout)
    assert (report["code"], report["checkers"]) == (0, [])
    huge = "--block 64 --arg out:p=u32[64] --arg in:big=u8[100000000]".split()
    text = f"{HEAD}.visible .entry k(.param .u64 p, .param .u64 big) {{ {START} {KERNELS['']} ret; }}"
    (tmp_path / "huge.ptx").write_text(text)
    assert "not checked for races" in CliRunner().invoke(main, ["run", str(tmp_path / "huge.ptx"), *huge]).stdout, (
        "its memory is filled twice"
    )


def test_results_and_output_are_those_of_the_run_itself(tmp_path: Path) -> None:
    call = (
        ".param .b64 f; .param .b64 v; .param .b32 r; .reg .b64 %f; mov.u64 %f, text; cvta.global.u64 %f, %f; "
        "st.param.b64 [f], %f; st.param.b64 [v], 0; call (r), vprintf, (f, v);"
    )
    head = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .align 1 .b8 text[4] = {104, 105, 10, 0};\n"
    body = f"setp.eq.u32 %p, %t, 0; @!%p bra E; {{ {call} }} E: add.u32 %v, %i, %t; st.global.u32 [%d], %v;"
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEAD}{head}.visible .entry k(.param .u64 p) {{ {START} {body} ret; }}")
    done = CliRunner().invoke(main, ["run", str(path), "--block", "32", "--arg", "out:p=u32[32]", "--print", "p[:2]"])
    assert done.exit_code == 1 and "(initcheck)" in done.stderr
    assert done.stdout == "hi\np[:2] = [0, 1]\n", "nothing is printed twice, and a register that nobody has set holds no garbage"


def test_what_ends_early_and_litmus_tests_are_not_checked(tmp_path: Path) -> None:
    fault = run(tmp_path, KERNELS["racecheck"], "--block", "128")
    assert fault.exit_code == 4 and "racecheck" not in fault.stderr
    racy = f"{LAUNCH}//@ allows p[0]=0\n"
    assert run(tmp_path, KERNELS["racecheck"], launch=racy).exit_code == 0
