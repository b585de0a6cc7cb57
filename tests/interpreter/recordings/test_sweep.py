"""Every family of instructions and random programs of them leave what they left on the H200: tests/hardware/record_sweep.py records it."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from .recorded import Carried, results

CARRIED = Carried("sweep")
CASES = CARRIED.records()
GROUPS = sorted({c["group"] for c in CASES})


def differences(case: dict[str, Any]) -> str:
    """The first element of a case that is not as recorded, or nothing."""
    want = [CARRIED.array(x["array"]) for x in case["outputs"]]
    for n, (g, w) in enumerate(zip(results(case, [CARRIED.array(x) for x in case["inputs"]], want), want, strict=True)):
        wrong = np.flatnonzero(g != w)
        if wrong.size:
            i = int(wrong[0])
            return f"{case['name']}: output {n}: {wrong.size} of {w.size} differ; element {i} is {int(g[i]):#x}, recorded {int(w[i]):#x}"
    return ""


@pytest.mark.parametrize("group", GROUPS)
def test_recorded_bits(group: str) -> None:
    assert not [d for c in CASES if c["group"] == group if (d := differences(c))]


def test_every_family_is_there() -> None:
    groups = Counter(c["group"] for c in CASES)
    assert len(groups) > 80 and len(CASES) > 700
    assert {"mma", "wgmma", "wmma", "atom", "peer", "cp.async", "mbarrier", "init", "programs"} <= set(groups)
