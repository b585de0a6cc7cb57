"""How a host says which products and sums are rounded together: options of a load and of a link, of the command line, the environment."""

from __future__ import annotations

import ctypes
import importlib
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.device.context import DeviceContext
from warplab.runtime.device.modules.kernels import LaunchShape
from warplab.runtime.errors import UsageError
from warplab.runtime.run.expect import Evaluator, Tolerance

from ..conftest import POINTER, Host
from ..ptx import kernel

# Each product loses its last bit when it is rounded, and each difference is what was lost.
TEXT = kernel("lost")
SINGLE, DOUBLE = 1 + 2.0**-13, 1 + 2.0**-30
LOST = {"none": [0, 0], "f64": [0, 2.0**-60], "all": [2.0**-26, 2.0**-60]}
WORDS = f"--arg out:out=f32[2] --arg {SINGLE} --arg {DOUBLE}"


def left(host: Host, module: Any) -> list[float]:
    """What the kernel of a module leaves."""
    out = host.upload(np.zeros(2, np.float32))
    kinds = (POINTER, ctypes.c_float, ctypes.c_double)
    assert host.launch(host("cuModuleGetFunction", module, b"lost"), 1, 1, (out, SINGLE, DOUBLE), kinds) == "SUCCESS"
    found: list[float] = host.download(out, np.zeros(2, np.float32)).tolist()
    return found


@pytest.mark.parametrize(
    ("options", "want"),
    [({}, "all"), ({"FMA": 0}, "none"), ({"FMA": 1}, "all"), ({"OPTIMIZATION_LEVEL": 0}, "none"), ({"OPTIMIZATION_LEVEL": 3}, "all"),
     ({"OPTIMIZATION_LEVEL": 0, "FMA": 1}, "all")],
)  # fmt: skip
@pytest.mark.parametrize("way", ["load", "library", "link"])
def test_options_of_the_driver(host: Host, way: str, options: dict[str, int], want: str) -> None:
    cu = host.cu
    names, values = [cu.CUjit_option[f"CU_JIT_{n}"] for n in options], list(options.values())
    text = TEXT.encode() + b"\0"
    if way == "load":
        module = host("cuModuleLoadDataEx", text, len(names), names, values)
    elif way == "library":
        module = host("cuLibraryGetModule", host("cuLibraryLoadData", text, names, values, len(names), [], [], 0))
    else:
        state = host("cuLinkCreate", len(names), names, values)
        host("cuLinkAddData", state, cu.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), b"lost", 0, [], [])
        module = host("cuModuleLoadData", host("cuLinkComplete", state)[0])
    assert left(host, module) == LOST[want]


@pytest.mark.parametrize(("fma", "want"), [(None, "all"), (False, "none"), (True, "all")])
def test_options_of_cuda_core(host: Host, fma: bool | None, want: str) -> None:
    core = importlib.import_module("warplab.runtime.python.programs")
    compiled = core.Program(TEXT, "ptx", core.ProgramOptions(fma=fma)).compile("cubin")
    assert left(host, host("cuModuleLoadData", compiled.image)) == LOST[want]
    linked = core.Linker(core.Program(TEXT, "ptx").compile("ptx"), options=core.LinkerOptions(fma=fma)).link("cubin")
    assert left(host, host("cuModuleLoadData", linked.image)) == LOST[want]


def lost(context: DeviceContext, **options: Any) -> list[float]:
    """What the kernel leaves, loaded and launched without a face."""
    out = context.allocate(8)
    raw = out.to_bytes(8, "little") + np.float32(SINGLE).tobytes() + bytes(4) + np.float64(DOUBLE).tobytes()
    context.launch(context.load([TEXT], **options).kernel("lost"), LaunchShape((1, 1, 1), (1, 1, 1)), raw)
    context.synchronize()
    found: list[float] = context.bytes_at(out, 8).view(np.float32).tolist()
    return found


def test_the_environment_is_asked_last(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lost(DeviceContext()) == LOST["all"]
    monkeypatch.setenv("WARPLAB_FMAD", "f64")
    assert lost(DeviceContext()) == LOST["f64"]
    assert lost(DeviceContext(), fmad="none") == LOST["none"]
    monkeypatch.setenv("WARPLAB_FMAD", "fast")
    with pytest.raises(UsageError, match="none, f64, all"):
        DeviceContext()


@pytest.mark.parametrize(("words", "want"), [("", "all"), ("--fmad none", "none"), ("--fmad f64", "f64"), ("--fmad all", "all")])
def test_options_of_run_and_profile(tmp_path: Path, words: str, want: str) -> None:
    path = tmp_path / "lost.ptx"
    expected = f'--expect "out == {LOST[want]}"'
    path.write_text(TEXT)
    done = CliRunner().invoke(main, ["run", str(path), *shlex.split(f"{WORDS} {words} {expected}")])
    assert done.exit_code == 0, done.output
    path.write_text(f"//@ run {WORDS} {expected}\n{TEXT}")
    assert CliRunner().invoke(main, ["run", str(path), *shlex.split(words)]).exit_code == 0
    assert CliRunner().invoke(main, ["profile", str(path), *shlex.split(words)]).exit_code == 0
    (tmp_path / "lost.toml").write_text(
        f'{"fmad = " + json.dumps(want) if words else ""}\nexpect = ["out == {LOST[want]}"]\n[buffers]\nout = "f32[2]"\n'
        f'[[launch]]\nargs = ["out", "{SINGLE}", "{DOUBLE}"]\n'
    )
    done = CliRunner().invoke(main, ["run", str(path)])
    assert done.exit_code == 0, done.output


FIRST_TURN = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in) {
    .reg .f32 %f<3>; .reg .b32 %r; .reg .b64 %p, %q; .reg .pred %c;
    ld.param.u64 %q, [out]; ld.param.u64 %p, [in];
    ld.global.f32 %f0, [%p]; mul.f32 %f2, %f0, %f0; mov.u32 %r, 0;
L:  ld.global.f32 %f1, [%p+4];
    add.f32 %f2, %f2, %f1;
    add.u32 %r, %r, 1;
    setp.ne.u32 %c, %r, 4;
    @%c bra L;
    st.global.f32 [%q], %f2;
    ret;
}
"""


def test_a_loop_that_is_written_out_is_reported_as_it_is_written(tmp_path: Path) -> None:
    """The first turn alone fuses its sum, so that each turn has a plan of its own: one line of the report and one finding are left."""
    path = tmp_path / "k.ptx"
    path.write_text(FIRST_TURN)
    words = [str(path), "--block", "64", "--arg", "out:out=f32[1]"]
    profiles = [
        CliRunner().invoke(main, ["profile", *words, "--no-time", "--arg", "in=f32[2]:ones", "--fmad", fmad]).output
        for fmad in ("none", "all")
    ]
    assert profiles[0] == profiles[1] and profiles[0].count("add.f32 %f2, %f2, %f1;") == 1
    unset = [*words, "--arg", "in=f32[2]:noinit", "--tool", "initcheck"]
    found = [CliRunner().invoke(main, ["sanitize", *unset, "--fmad", fmad]) for fmad in ("none", "all")]
    assert ["SUMMARY: 1 error" in done.output for done in found] == [True, True]


def test_options_of_test(tmp_path: Path) -> None:
    path = tmp_path / "lost.ptx"
    for own, given, want in (("", [], "all"), ("", ["--fmad", "f64"], "f64"), ("--fmad none", ["--fmad", "all"], "none")):
        path.write_text(f'//@ run {WORDS} {own} --expect "out == {LOST[want]}"\n{TEXT}')
        done = CliRunner().invoke(main, ["test", str(path), *given])
        assert done.exit_code == 0, done.output


def test_what_is_recorded_is_what_the_tests_say(tmp_path: Path) -> None:
    (tmp_path / "lost.ptx").write_text(f"//@ run {WORDS}\n{TEXT}")
    done = CliRunner().invoke(main, ["test", str(tmp_path), "--update", "--fmad", "all"])
    assert done.exit_code == 2 and "//@ run" in done.output


KINDS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("kind", KINDS)
def test_an_expected_fma_rounds_once(kind: str) -> None:
    dtype = KINDS[kind]
    a = dtype(1 + np.finfo(dtype).eps)
    now = {"a": np.array([a, 2, 0], dtype), "c": np.array([-(a * a), np.inf, -0.0], dtype)}
    evaluator = Evaluator(now, {})
    got = evaluator.value("fma(a, a, c)")
    assert got.dtype == dtype and got.tolist() == [float(np.finfo(dtype).eps) ** 2, np.inf, 0]  # what the rounded square loses
    assert evaluator.check("fma(a, a, c) == a * a + c", Tolerance()) is not None
    assert evaluator.check("fma(2, a, 1.0) == 2 * a + 1", Tolerance()) is None
    assert evaluator.value("fma(a[0], a[0], c[0])").shape == ()
    with pytest.raises(UsageError, match="fma computes with float16, float32 and float64; these arguments are int64"):
        evaluator.value("fma(1, 2, 3)")


def test_a_word_that_means_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lost.ptx"
    path.write_text(TEXT)
    done = CliRunner().invoke(main, ["run", str(path), *shlex.split(f"{WORDS} --fmad fast")])
    assert done.exit_code == 2 and "none, f64, all" in done.output
