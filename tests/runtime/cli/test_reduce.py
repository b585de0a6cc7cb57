"""`warplab reduce`: what it writes, and when."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

SAMPLE = Path(__file__).parents[3] / "samples" / "vecadd.ptx"


def test_the_file_with_the_property_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a candidate stands behind the command, or in the place of {}; the output lies in the current folder."""
    monkeypatch.chdir(tmp_path)
    for command in ("grep -q add.f32", "test -s {} && grep -q add.f32 {}"):
        done = CliRunner().invoke(main, ["reduce", str(SAMPLE), "--test", command])
        assert done.exit_code == 0, done.output
        small = (tmp_path / "vecadd.reduced.ptx").read_text()
        assert "add.f32" in small and len(small.splitlines()) < 12
        assert f"{len(SAMPLE.read_text().splitlines())} lines became {len(small.splitlines())}" in done.stderr


def test_standard_input_goes_to_standard_output() -> None:
    """As with `fmt`."""
    done = CliRunner().invoke(main, ["reduce", "-", "--test", "grep -q add.f32", "--quiet"], input=SAMPLE.read_text())
    assert done.exit_code == 0 and "add.f32" in done.stdout and len(done.stdout) < 300


def test_a_command_that_fails_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is nothing to reduce: no file is written."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["reduce", str(SAMPLE), "--test", "grep -q nowhere {}"])
    assert done.exit_code == 1 and f"grep -q nowhere {SAMPLE}" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_command_that_takes_too_long_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it started ends, too."""
    monkeypatch.chdir(tmp_path)
    begin = time.monotonic()
    done = CliRunner().invoke(main, ["reduce", str(SAMPLE), "--test", "sleep 60 & wait; true", "--timeout", "0.2"])
    assert done.exit_code == 1 and time.monotonic() - begin < 30
