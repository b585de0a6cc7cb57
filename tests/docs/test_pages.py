"""The generated pages are what their generators print; what they are made of is as it should be."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import pytest

import warplab.assembler
import warplab.runtime
import warplab.runtime.texture
from tests.interpreter.profiler import test_mixed_kernels
from tools import conformance, diagnostics, evidence, model, python_api
from tools.pages import DOCS, GENERATORS
from tools.rows import rows
from warplab.isa.notation import Form

NVCC = pytest.mark.skipif(shutil.which("nvcc") is None, reason="the guide's kernels need nvcc")


@pytest.fixture(autouse=True)
def _each_recording_has_a_test_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which need not run a second time here."""

    def count(source: evidence.Source, name: str, needed: Iterable[Form], run: object) -> None:
        source.count(name, needed, True)

    monkeypatch.setattr(evidence.Source, "case", count)
    monkeypatch.setattr(conformance, "mixtures", lambda: [True] * len(test_mixed_kernels.KERNELS))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[NVCC] * (name == "guide")) for name in GENERATORS])
def test_page_is_what_its_generator_prints(name: str) -> None:
    for place, text in GENERATORS[name]().items():
        assert (DOCS / place).read_text() == text, f"docs/{place} is stale: python -m tools.pages {name}"


def test_no_generated_page_is_left_over() -> None:
    made = {place for name in ("instructions", "memory", "lanes") for place in GENERATORS[name]()}
    there = {p.relative_to(DOCS).as_posix() for folder in ("instructions", "figures") for p in (DOCS / folder).iterdir()}
    assert there <= made


def test_every_set_of_recordings_holds_rows() -> None:
    assert all(s.cases and s.rows for s in evidence.h200())


def test_most_rows_that_run_are_held_by_something() -> None:
    assert len(evidence.recorded()) > 400 and len(evidence.modelled()) > 150
    assert set(evidence.recorded()) <= set(rows())


def test_every_diagnostic_has_an_example() -> None:
    assert set(diagnostics.examples()) == set(diagnostics.EXPLANATIONS)


def test_every_public_name_is_in_the_python_reference() -> None:
    assert {m: sorted(names) for m, names in python_api.grouped().items()} == {
        "warplab.runtime": sorted(warplab.runtime.__all__),
        "warplab.runtime.texture": sorted(warplab.runtime.texture.__all__),
        "warplab.assembler": sorted(warplab.assembler.__all__),
    }


@pytest.mark.long
def test_the_trace_of_the_models_is_fresh() -> None:
    assert model.traced() == model.stored()
