"""Predicted time at the prompt: profile, trace --cycles, budgets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.interpreter.profiler.launch_time import REASONS
from warplab.runtime.cli import main

SAMPLES = Path(__file__).parents[3] / "samples"
VECADD, NAIVE, PADDED = (str(SAMPLES / f"{name}.ptx") for name in ("vecadd", "transpose/1_naive", "transpose/3_padded"))


def run(*args: str, code: int = 0) -> str:
    """What a command prints."""
    done = CliRunner().invoke(main, list(args))
    assert done.exit_code == code, done.output + done.stderr
    return done.output


def test_the_report_says_how_long_and_why() -> None:
    """Cycles, reasons, the limit and lines; without, nothing of it."""
    text = run("profile", VECADD, "--time")
    assert "time (predicted" in text and "bound by latency" in text and "long_scoreboard" in text and "of warps' time" in text
    assert "predicted" not in run("profile", VECADD, "--no-time")


def test_another_device_says_that_it_is_not_compared() -> None:
    """Its figures are from tables."""
    assert "never compared" in run("profile", VECADD, "--time", "--device", "sm_60")


def test_json_has_all_of_it() -> None:
    """And null, where nothing was predicted."""
    time = json.loads(run("profile", VECADD, "--time", "--json"))[0]["time"]
    assert time["predicted"] and time["cycles"] > 3000 and time["timeline"]["reasons"] == list(REASONS)
    assert {w for row in time["timeline"]["warps"] for w in row} and all(sum(x["warp_cycles"].values()) > 0 for x in time["lines"])
    assert json.loads(run("profile", VECADD, "--no-time", "--json"))[0]["time"] is None


def test_figures_by_name_and_side_by_side() -> None:
    """A figure asks for the prediction; two files are compared."""
    assert "cycles" in run("profile", VECADD, "--metrics", "cycles,stalled_barrier")
    assert run("profile", NAIVE, "--time", "--compare", PADDED).splitlines()[4].startswith("cycles")


def test_the_page_has_pictures(tmp_path: Path) -> None:
    """The timeline, and cycles against occupancy where there is more than one block on a multiprocessor."""
    run("profile", NAIVE, "--time", "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert "Time, predicted" in page and "what the warps of a multiprocessor do" in page


def test_cycles_of_the_schedulers(tmp_path: Path) -> None:
    """Each issues at most one instruction in a cycle; the picture has a square for each."""
    issues = json.loads(run("trace", VECADD, "--cycles", "50", "--json"))
    assert len({(i["cycle"], i["scheduler"]) for i in issues}) == len(issues)
    assert len({i["cycle"] for i in issues}) == 50
    run("trace", VECADD, "--cycles", "50", "-o", str(tmp_path / "x.svg"))
    assert (tmp_path / "x.svg").read_text().count("<title>") == len(issues)
    assert "there is no launch 3" in CliRunner().invoke(main, ["trace", VECADD, "--cycles", "5", "--launch", "3"]).stderr


@pytest.mark.parametrize(("budget", "code"), [("cycles <= 9000", 0), ("cycles <= 1000", 1), ("nanoseconds <= 9000", 0)])
def test_budgets(tmp_path: Path, budget: str, code: int) -> None:
    """Of a golden test."""
    text = Path(VECADD).read_text()
    line = next(x for x in text.splitlines() if x.startswith("//@ run"))
    (tmp_path / "x.ptx").write_text(text.replace(line, f"{line}\n//@ metric {budget}"))
    said = run("test", str(tmp_path / "x.ptx"), code=code)
    assert code == 0 or "cycles is" in said


def test_warps_that_hide_latencies() -> None:
    """The guide's examples, and a kernel's own figures for each device."""
    from warplab.runtime.cli.measuring.latency import warps_needed

    assert [warps_needed(22, 1, 1), warps_needed(22, 1, 2), warps_needed(22, 0.25, 1)] == [22, 11, 6]
    assert [warps_needed(600, 1, 15), warps_needed(600, 0.25, 15)] == [40, 10]
    (found,) = json.loads(run("latency", VECADD, "--json"))
    rows = {r["device"]: r for r in found["devices"]}
    assert found["parallelism"] >= 1 and found["ratio"] > 1
    assert (rows["sm_13"]["one"], rows["sm_20"]["one"], rows["sm_90"]["one"]) == (6, 22, 16)
    assert all(r["own"] <= r["one"] and r["memory_low"] <= r["memory_high"] for r in rows.values())
    assert "sm_20" in run("latency", VECADD)
