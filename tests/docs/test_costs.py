"""The page about the engine names constants with their values, and measurements that the script still makes."""

from __future__ import annotations

import re
from pathlib import Path

from tools import costs

INTERPRETER = Path(__file__).parents[2] / "interpreter"


def test_constants_are_those_of_the_source() -> None:
    source = "\n".join(p.read_text() for p in INTERPRETER.rglob("*.py"))
    named = re.findall(r"`([A-Z_]+)` \(([^)]+)\)", costs.PAGE.read_text())
    assert len(named) >= 8
    for name, value in named:
        found = re.findall(rf"^{name} = ([^#\n]+?)\s*(?:#.*)?$", source, re.M)
        assert found == [value], (name, found)


def test_the_table_has_the_rows_that_the_script_measures() -> None:
    text = costs.PAGE.read_text()
    for name in costs.CASES:
        assert f"| {name} |" in text


def test_the_script_measures() -> None:
    assert costs.seconds(lambda k: "add.u32 %u, %u, %k;", 32) > 0
