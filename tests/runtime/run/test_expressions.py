"""The expressions of --expect and --print: numpy's functions, list comprehensions, and what they cannot reach."""

import re
from pathlib import Path

import numpy as np
import pytest

from warplab.runtime.errors import UsageError
from warplab.runtime.run.expect import FUNCTIONS, METHODS, Evaluator, Tolerance, check_names

ARRAYS = {
    "c": np.arange(8, dtype=np.uint32) * 70000,
    "x": np.arange(8, dtype=np.float32),
    "tile": np.ones(2),
    "i": np.array([-1, 2], np.int32),
}
EXACT = Tolerance()


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(x) == 28", "numpy.cumsum(x)[-1] == 28", "sum(x) == np.add.reduce(x)", "c == [k * 70000 for k in range(8)]",
        "x == np.array([len(x) - k for k in range(8, 0, -1)])", "np.tile(tile, 2) == [1, 1, 1, 1]", "np.allclose(x, x + 1e-9)",
        "sum([[a * b for a in range(3)] for b in range(3)]) == 9", "hex(c[1]) == '0x00011170'", "hex(i) == ['0xffffffff', '0x00000002']",
        "np.pi > 3", "max([v if v < 3 else 0 for v in x]) == 2", "x == [a for a, b in zip(x, x)]", "int(x[1]) == 1",
    ],
)  # fmt: skip
def test_it_holds(text: str) -> None:
    check_names(text, "--expect", ARRAYS)
    assert Evaluator(ARRAYS, ARRAYS).check(text, EXACT) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__import__('os') == 1", "nothing is called '__import__'"),
        ("[1 for __import__ in [1]] == __import__('os')", "a variable cannot be called __import__"),
        ("[__import__('os') for k in range(1)] == 1", "nothing is called '__import__'"),
        ("[1 for sum in x] == 1", "a variable cannot be called sum"),
        ("np.__class__ == 1", "np.__class__ is not allowed"), ("np.load('f') == 1", "np.load is not allowed"),
        ("x.__class__ == 1", ".__class__ is not among the methods allowed: T accumulate all"),
        ("[v.tobytes() for v in x] == 1", ".tobytes is not among the methods"), ("np.sumx(x) == 1", "is np.sum meant?"),
        ("qqq(x) == 1", "the functions: abs absolute add"), ("all(v > 0 for v in x)", "GeneratorExp is not allowed"),
        ("{v: 1 for v in x} == 1", "DictComp is not allowed"), ("(lambda: 1)() == 1", "Lambda is not allowed"),
        ("[1 for a in x for b in x for d in x] == 1", "more than 2 loops"), ("[k for k in range(1000000)] == 1", "65536 are the most"),
        ("hex(x) == 1", "x.view(uint32) has the bits"),
    ],
)  # fmt: skip
def test_it_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        check_names(text, "--expect", ARRAYS)
        Evaluator(ARRAYS, ARRAYS).check(text, EXACT)


def test_numbers_of_comprehensions_are_numpys_of_which_no_power_is_large() -> None:
    assert Evaluator(ARRAYS, ARRAYS).value("[k ** k ** k for k in range(10)]")[9].dtype == np.int64


def test_large_unsigned_numbers_are_shown_in_both_bases() -> None:
    wrong = Evaluator(ARRAYS, ARRAYS).check("c == 0", EXACT)
    assert wrong is not None and "got 70000 (0x11170), expected 0" in str(wrong)


def test_the_page_lists_all_functions_and_methods() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
    section = page[page.index("#### Expressions") : page.index("#### Textures and surfaces")]
    for name in (*FUNCTIONS, *METHODS, "before"):
        assert f"`{name}`" in section, name
