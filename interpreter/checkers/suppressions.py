"""Findings that are known and not to be reported: a TOML file with a table for each, whose patterns all have to match.

[[suppression]]
tool = "racecheck"
kind = "read-write"
kernel = "histogram*"
instruction = "ld.global.u32 %v, [%x];"
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from warplab.assembler.demangle import short_name

from .findings import Finding

PATTERNS = ("tool", "kind", "space", "kernel", "source", "instruction", "other_source", "other_instruction")
_OTHER = {"source": "other_source", "instruction": "other_instruction"}


class BadSuppression(Exception):
    """A file that can't be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """Patterns, by the field of a finding; in each, * stands for any text and ? for a character."""

    patterns: Mapping[str, str]

    def matches(self, f: Finding) -> bool:
        """Is this finding meant?  Of two accesses either may be the first."""
        fields = _fields(f)
        turned = {**fields, **{a: fields.get(b, "") for a, b in _OTHER.items()}, **{b: fields.get(a, "") for a, b in _OTHER.items()}}
        return any(all(self._fits(name, found.get(name, "")) for name in self.patterns) for found in (fields, turned))

    def _fits(self, name: str, text: str) -> bool:
        pattern = self.patterns[name]
        if name == "kernel" and fnmatchcase(short_name(text), pattern):
            return True
        # What stands in brackets is no set of characters: instructions have their addresses there.
        return fnmatchcase(text, pattern.replace("[", "[[]"))


def _fields(f: Finding) -> dict[str, str]:
    return {name: value for name in PATTERNS if (value := getattr(f, name))}


def read_suppressions(text: str, name: str) -> list[Suppression]:
    """The suppressions of a file."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise BadSuppression(f"{name}: {e}") from None
    return list(_suppressions(tables, name))


def _suppressions(tables: Mapping[str, Any], name: str) -> Iterator[Suppression]:
    given = tables.get("suppression", [])
    if set(tables) - {"suppression"} or not isinstance(given, list) or not all(isinstance(t, dict) for t in given):
        raise BadSuppression(f"{name}: write a [[suppression]] table for each finding, and nothing else")
    for n, table in enumerate(given, 1):
        if unknown := [key for key in table if key not in PATTERNS]:
            raise BadSuppression(f"{name}: suppression {n}: {unknown[0]} is no pattern; there are {', '.join(PATTERNS)}")
        if not table or not all(isinstance(pattern, str) for pattern in table.values()):
            raise BadSuppression(f'{name}: suppression {n}: give at least one pattern, as a text: kind = "leak"')
        yield Suppression(table)


def as_suppressions(findings: Iterable[Finding]) -> str:
    """A file that suppresses just these findings, wherever their lines are by then."""
    tables = []
    for f in findings:
        fields = {**_fields(f), "kernel": short_name(f.kernel)} if f.kernel else _fields(f)
        # A text of JSON is one of TOML, too.
        lines = [f"{name} = {json.dumps(text, ensure_ascii=False)}" for name, text in fields.items()]
        tables.append("\n".join([f"# {_one_line(f.message)}", "[[suppression]]", *lines]))
    return "\n\n".join(tables) + "\n" if tables else "# nothing was found\n"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
