"""A lane's result does not depend on who else is there: a few elements of a recorded case give what they gave among all the others."""

import re
from typing import Any

import numpy as np
import pytest

from warplab.isa.floats.binary64 import fma64

from .recorded import Carried, results

FILES = {name: Carried(name) for name in ("conformance", "sweep")}
ALONE = 6  # times that some elements of a case are run
TOGETHER = re.compile(
    r"\b(activemask|atom|bar|barrier|call|cp|elect|match|mbarrier|mma|movmatrix|peer|red|redux|shared|shfl|vote|wmma)\b|%(clock|laneid|smid)"
)


def by_element(case: dict[str, Any]) -> bool:
    sizes = {x[1] for x in case["inputs"]} | {x["array"][1] for x in case["outputs"]}
    return bool(case["inputs"]) and sizes == {case["n"]} and case["group"] != "nvcc" and not TOGETHER.search(case["ptx"])


CASES = [(name, case) for name, file in FILES.items() for case in file.records() if by_element(case)]


def differences(file: Carried, case: dict[str, Any], rng: np.random.Generator) -> str:
    ins, want = [file.array(x) for x in case["inputs"]], [file.array(x["array"]) for x in case["outputs"]]
    for _ in range(ALONE):
        some = rng.integers(0, case["n"], int(rng.choice([1, 2, 3, 5, 8])))
        few = {**case, "n": np.uint32(some.size), "grid": (1, 1, 1), "block": (32, 1, 1)}
        for g, w in zip(results(few, [x[some] for x in ins], [w[some] for w in want]), [w[some] for w in want], strict=True):
            if (g != w).any():
                i = int(np.flatnonzero(g != w)[0])
                return f"{case['name']}: elements {some.tolist()}: {int(g[i]):#x} at {i}, recorded {int(w[i]):#x}"
    return ""


@pytest.mark.parametrize("group", sorted({case["group"] for _, case in CASES}))
def test_a_few_lanes_give_what_they_gave_among_others(group: str) -> None:
    rng = np.random.default_rng(3)
    assert not [d for name, case in CASES if case["group"] == group if (d := differences(FILES[name], case, rng))]


def test_infinities_beside_nans() -> None:
    """Neither hides the other from the way that is only right for ordinary numbers."""
    a, b = np.full((1, 3), 1.5), np.full((1, 3), 2.0)
    c = np.array([[np.inf, np.nan, 1.0]])
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        with np.errstate(all="ignore"):
            got = fma64(a, b, c[:, order], "rn")
        assert np.array_equal(got, np.array([[np.inf, np.nan, 4.0]])[:, order], equal_nan=True)
