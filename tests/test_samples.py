"""Every sample runs and gives what its comments say; every sample is named in samples/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warplab.runtime.golden import Case, collect, run_case

SAMPLES = Path(__file__).parents[1] / "samples"
CASES = collect([SAMPLES])
OTHERS = frozenset({"labs", "host"})  # tests of their own


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id.removeprefix(f"{SAMPLES.as_posix()}/"))
def test_sample(case: Case) -> None:
    result = run_case(case)
    assert result.passed, result.message


def test_every_sample_checks_something() -> None:
    tested = {c.path for c in CASES}
    linked = {path.parent / m for path in SAMPLES.rglob("*.toml") for m in re.findall(r'"([\w.]+\.ptx)"', path.read_text())}
    for path in (*SAMPLES.rglob("*.ptx"), *SAMPLES.glob("guide/*.cu")):
        if path.relative_to(SAMPLES).parts[0] not in OTHERS:
            assert path in tested or path in linked, f"{path} says nothing of how to run it"


def test_every_sample_is_named() -> None:
    text = (SAMPLES / "README.md").read_text()
    for path in SAMPLES.iterdir():
        if path.suffix == ".ptx" or path.is_dir():
            assert f"({path.name})" in text or f"({path.name}/" in text, f"{path.name} is missing in samples/README.md"


def test_samples_read_well() -> None:
    for path in (*SAMPLES.rglob("*.ptx"), *SAMPLES.glob("guide/*.cu"), *SAMPLES.rglob("labs/**/*.cu")):
        text = path.read_text()
        assert "\r" not in text and text.endswith("\n"), path
        assert text.startswith("//"), f"{path} does not begin by saying what it is"
        assert text.isascii(), path
