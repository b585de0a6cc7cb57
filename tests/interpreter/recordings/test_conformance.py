"""The engine leaves the bits that an H200 left: cases of every group of the recordings, chosen by tests/hardware/select_conformance.py."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.observe import Observer

from ..harness import Array
from .recorded import Carried, results

CARRIED = Carried("conformance")
CASES = CARRIED.records()


def arrays(case: dict[str, Any]) -> tuple[list[Array], list[Array]]:
    """A case's inputs and what came out."""
    return [CARRIED.array(x) for x in case["inputs"]], [CARRIED.array(x["array"]) for x in case["outputs"]]


def compare(case: dict[str, Any], **options: Any) -> None:
    """Runs a case and compares every element bit for bit."""
    ins, want = arrays(case)
    for n, (g, w) in enumerate(zip(results(case, ins, want, **options), want, strict=True)):
        wrong = np.flatnonzero(g != w)
        if wrong.size:
            i = int(wrong[0])
            raise AssertionError(f"output {n}: {wrong.size} of {w.size} differ; element {i} is {int(g[i]):#x}, recorded {int(w[i]):#x}")


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['group']}-{c['name']}")
def test_recorded_bits(case: dict[str, Any]) -> None:
    compare(case)


@pytest.mark.parametrize("case", CASES[::4], ids=lambda c: f"{c['group']}-{c['name']}")
def test_recorded_bits_when_somebody_listens(case: dict[str, Any]) -> None:
    compare(case, observers=(Observer(),))


@pytest.mark.parametrize("case", CASES[1::4], ids=lambda c: f"{c['group']}-{c['name']}")
def test_recorded_bits_in_small_waves_and_another_order(case: dict[str, Any]) -> None:
    compare(case, wave_lanes=64, schedule=5)


def test_every_family_is_there() -> None:
    groups = Counter(c["group"] for c in CASES)
    assert len(groups) == 38 and min(groups.values()) >= 4 and len(CASES) >= 280
