"""The shapes of well-known suites (graph codes, barriers and groups, samples), each without an error, and with each error that it may have.

The kernels are those of data/shapes/shapes.cu, where comments say how they are launched, and which tool names which line.
"""

from __future__ import annotations

import lzma
import re
from functools import cache
from pathlib import Path

import pytest

from warplab.interpreter.checkers.findings import Finding
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import LaunchSpec, RunSpec
from warplab.runtime.run.schedules import look_in_other_orders

FOLDER = Path(__file__).parents[2] / "data/shapes"
LINES = (FOLDER / "shapes.cu").read_text().splitlines()
NODES = 32
FIRST = [2 * n for n in range(NODES + 1)]
LIST = [(5 * n + 3 * (n % 3) + 7 * k + 1) % NODES for n in range(NODES) for k in range(2)]
BUFFERS = (("data", "i32[64]:zeros"), ("out", "i32[64]:zeros"), ("first", f"i32[33]:{FIRST}"), ("list", f"i32[64]:{LIST}"))
ALL = "memcheck racecheck initcheck synccheck"


def _kernels() -> dict[str, tuple[int, int, int, dict[int, set[tuple[str, int]]]]]:
    """Of each kernel its blocks, threads and errors, and for each error the tools and lines that name it."""
    out: dict[str, tuple[int, int, int, dict[int, set[tuple[str, int]]]]] = {}
    for n, line in enumerate(LINES, 1):
        if found := re.match(r"KERNEL (\w+)", line):
            grid, block, errors = map(int, LINES[n - 2].split()[2:])
            name = found[1]
            out[name] = grid, block, errors, {}
        for bug, tool in re.findall(r"//! (\d) (\w+)", line) if out else ():
            out[name][3].setdefault(int(bug), set()).add((tool, n))
    return out


KERNELS = _kernels()
CASES = [(name, bug) for name, (_, _, errors, _) in KERNELS.items() for bug in range(errors + 1)]


@cache
def _texts() -> dict[tuple[str, int], str]:
    """The text of each kernel, with what stands before and behind all of them."""
    text = lzma.decompress((FOLDER / "shapes.ptx.xz").read_bytes()).decode()
    starts = [
        m.start() for m in re.finditer(r"^\t?(?:// \.globl[^\n]*\n)?\.visible \.entry|^\t?\.weak \.entry|^\.weak \.entry", text, re.M)
    ]
    ends = [*starts[1:], text.index("\t.file")]
    out = {}
    for start, end in zip(starts, ends, strict=True):
        body = text[start:end]
        name = re.search(r"_Z\d+([a-z_]+)ILi(\d)E", body)
        assert name is not None
        out[name[1], int(name[2])] = text[: starts[0]] + body + text[ends[-1] :]
    return out


def errors_of(name: str, bug: int) -> list[Finding]:
    grid, block, _, _ = KERNELS[name]
    launch = LaunchSpec("", (grid, 1, 1), (block, 1, 1), ("data", "out", "first", "list", str(NODES)))
    spec = RunSpec((launch,), buffers=BUFFERS, sanitize=ALL, strict=True, timeout=20.0)
    runner = Runner([_texts()[name, bug].encode()], ["shapes.ptx"], spec, None)
    try:
        outcome = runner.run()
        look_in_other_orders(runner, outcome)
        assert bug or not outcome.failure, outcome.failure
        return list(outcome.errors)
    finally:
        runner.close()


@pytest.mark.parametrize(("name", "bug"), CASES)
def test_an_error_is_found_at_its_line_and_none_where_there_is_none(name: str, bug: int) -> None:
    found = {(f.tool, source) for f in errors_of(name, bug) for source in (f.source, f.other_source)}
    wanted = {(tool, f"shapes.cu:{line}") for tool, line in KERNELS[name][3].get(bug, ())}
    assert bool(found) is bool(bug), found
    assert wanted <= found, (wanted, found)


def test_each_error_has_a_line() -> None:
    assert all(set(lines) == set(range(1, errors + 1)) for _, _, errors, lines in KERNELS.values())
    assert set(_texts()) == set(CASES) and len(CASES) > 60
