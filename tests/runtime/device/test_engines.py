"""Which engine runs launches, and that samples give the same on the native one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.device.launches import engines
from warplab.runtime.device.launches.engines import engine_of, threads_of
from warplab.runtime.errors import UsageError
from warplab.runtime.golden import Case, collect, run_case

SAMPLES = Path(__file__).parents[3] / "samples"
NAMES = (
    "softmax",
    "histogram",
    "scan",
    "bitonic_sort",
    "flash_attention",
    "tensor_core",
    "groups",
    "recursion",
    "cluster",
    "grid_sync",
    "cp_async",
    "malloc",
)
CASES = [c for c in collect([SAMPLES]) if c.path.stem in NAMES]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.path.stem)
def test_samples_pass_natively(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLAB_ENGINE", "native")
    result = run_case(case)
    assert result.passed, result.message


def test_a_word_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine_of() == "auto"
    monkeypatch.setenv("WARPLAB_ENGINE", "native")
    assert (engine_of(), engine_of("numpy")) == ("native", "numpy")


def test_wrong_words_and_a_missing_compiler_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="'fast'; there are auto, numpy and native"):
        engine_of("fast")
    monkeypatch.setattr(engines, "missing", lambda: "llvmlite")
    with pytest.raises(UsageError, match="needs llvmlite: pip install --upgrade 'warplab\\[native\\]'"):
        engine_of("native")


def test_threads_are_given_or_as_many_as_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "cores", lambda: 5)
    assert (threads_of(), threads_of(2)) == (5, 2)
    monkeypatch.setenv("WARPLAB_THREADS", "3")
    assert (threads_of(), threads_of(2)) == (3, 2)
    monkeypatch.setenv("WARPLAB_THREADS", "none")
    with pytest.raises(UsageError, match="WARPLAB_THREADS is 'none': write a number, 1 or more"):
        threads_of()


def test_an_option_says_how_many_threads() -> None:
    assert CliRunner().invoke(main, ["run", str(SAMPLES / "vecadd.ptx"), "--threads", "2"]).exit_code == 0
    result = CliRunner().invoke(main, ["run", str(SAMPLES / "vecadd.ptx"), "--threads", "0"])
    assert result.exit_code == 2 and "--threads 0: write 1 or more" in result.output


def test_a_report_says_what_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLAB_ENGINE", "native")
    result = CliRunner().invoke(main, ["run", str(SAMPLES / "vecadd.ptx"), "--json"])
    assert json.loads(result.output)[0]["engine"] == {
        "native_blocks": 4,
        "numpy_blocks": 0,
        "left_to_numpy": {},
        "threads": 1,
        "failures": [],
    }


def test_a_failure_of_the_compiler_is_one_line_of_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def failing(text: str) -> bytes:
        raise RuntimeError("LLVM IR parsing error\n<string>:7:2: error: expected instruction opcode")

    jit = pytest.importorskip("warplab.interpreter.native.jit")
    monkeypatch.setattr(jit, "compiled", failing)
    monkeypatch.setenv("WARPLAB_CACHE", str(tmp_path))
    done = CliRunner().invoke(main, ["run", str(SAMPLES / "vecadd.ptx"), "--engine", "native"])
    assert done.exit_code == 0 and done.stdout == "ok     vecadd<<<4, 256>>>: 1 check passed\n"
    assert done.stderr == "warning: kernel vecadd runs on numpy, for it could not be compiled: RuntimeError: LLVM IR parsing error\n"
