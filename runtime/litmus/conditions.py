"""What a litmus test says of its outcomes: `//@ forbids r0=1 r1=0` and `//@ allows r0=1 r1=1`.

A name is a variable or a buffer of one element, or an element of it: `out[3]`.  Between terms stands a space, a comma, `&&` or herd's `/\\`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import UsageError

WORDS = ("allows", "forbids")
_TERM = re.compile(r"\[?([A-Za-z_$%][\w$]*)\]?((?:\[\d+\])?)\s*==?\s*(-?\w+)")
_BETWEEN = re.compile(r"(?:\s|,|/\\|&&)*")


@dataclass(frozen=True, slots=True)
class OutcomeCondition:
    """An outcome, named by some of its values, that some execution has, or that none has."""

    allows: bool
    terms: tuple[tuple[str, int], ...]  # names and what they hold
    line: int

    def __str__(self) -> str:
        return f"{'allows' if self.allows else 'forbids'} {' '.join(f'{name}={value}' for name, value in self.terms)}"

    def holds(self, names: Sequence[str], values: Sequence[object]) -> bool:
        """Is this the outcome?"""
        found = dict(zip(names, values, strict=True))
        return all(found[name] == value for name, value in self.terms)


def condition(word: str, rest: str, line: int) -> OutcomeCondition:
    """One directive."""
    text = rest.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    terms = []
    at = _end(_BETWEEN, text, 0)
    while at < len(text):
        m = _TERM.match(text, at)
        try:
            value = int(m[3], 0) if m else None
        except ValueError:
            value = None
        if m is None or value is None:
            raise UsageError(f"line {line}: //@ {word} {rest}: {text[at:]!r} is not a term; write NAME=NUMBER, as in //@ {word} r0=1 r1=0")
        terms.append((m[1] + m[2], value))
        at = _end(_BETWEEN, text, m.end())
    if not terms:
        raise UsageError(f"line {line}: //@ {word} names no outcome: write //@ {word} r0=1 r1=0")
    return OutcomeCondition(word == "allows", tuple(terms), line)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    m = pattern.match(text, at)
    return at if m is None else m.end()
