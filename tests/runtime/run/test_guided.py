"""Guided seeds: lanes are stopped at the lines whose accesses conflict, so an error of the order is found by fewer seeds."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.runtime.run.planted import PLANTED, Planted
from warplab.interpreter.conflicts import ConflictWatch
from warplab.interpreter.seeds import GuidedSeed, seed_of
from warplab.runtime.cli import main
from warplab.runtime.device.launches.engines import usual_options
from warplab.runtime.device.output import quiet
from warplab.runtime.errors import UsageError
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives

ANY = "data[0] < 9"
SEEDS = 40  # every other one is guided


def test_a_seed_is_read_as_it_is_written() -> None:
    for text in ("7", "7@12", "7@12,15"):
        assert str(seed_of(text)) == f"{seed_of(text)}" == text
        assert pickle.loads(pickle.dumps(seed_of(text))) == seed_of(text)
    assert seed_of("7@12") != seed_of("7") == 7 and seed_of("7@15,12") == GuidedSeed(7, (12, 15))
    for text in ("", "7@", "@12", "7@a", "seven", "7@12,"):
        with pytest.raises(ValueError):
            seed_of(text)


def lines(program: Planted) -> list[str]:
    text = program.text()
    watch = ConflictWatch()
    runner = Runner([text.encode()], ["k.ptx"], directives(text)[0], None, (watch,))
    with quiet():
        runner.run()
    runner.close()
    return [text.splitlines()[n - 1].strip() for n in sorted(watch.lines())]


def test_a_process_has_a_seed_with_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLAB_SCHEDULE", "4@15,19")
    assert usual_options().schedule == GuidedSeed(4, (15, 19))
    monkeypatch.setenv("WARPLAB_SCHEDULE", "4@")
    with pytest.raises(UsageError, match="such as 7@12,15"):
        usual_options()


@pytest.mark.parametrize("by_warps", [False, True])
def test_the_lines_that_conflict(by_warps: bool) -> None:
    both = "ld.global.u32 %r3, [head]; mul.wide.u32 %d, %r0, 4; add.u64 %d, %d, %o; st.global.u32 [%d], 1;"
    program = Planted(("st.global.u32 [data], 1; " + both, "ld.global.u32 %r2, [data]; " + both), ANY, by_warps)
    shared = ["st.global.u32 [data], 1;", "ld.global.u32 %r2, [data];"]
    assert sorted(lines(program)) == sorted(shared + ["st.global.u32 [%d], 1;"] * (2 * by_warps))


def test_a_barrier_ends_a_conflict() -> None:
    store, load = "setp.ne.u32 %p, %r1, 0; @!%p st.global.u32 [data], 1;", "setp.ne.u32 %p, %r1, 32; @!%p ld.global.u32 %r2, [data];"
    assert not lines(Planted((store + "bar.sync 0;", "bar.sync 0;" + load), ANY, True))
    assert len(lines(Planted((store, load), ANY, True))) == 2


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_found_and_its_seed_repeats_it(name: str, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(PLANTED[name].text())
    words = ["run", str(path), "--sanitize", "none"]
    assert CliRunner().invoke(main, words).exit_code == 0, "the default order hides it"
    result = CliRunner().invoke(main, [*words, "--schedules", str(SEEDS), "--json"])
    (found,) = (run["orders"]["difference"] for run in json.loads(result.stdout))
    assert result.exit_code != 0 and found["is_fault"]
    again = CliRunner().invoke(main, [*words, "--schedule", str(found["schedule"])])
    assert again.exit_code != 0
