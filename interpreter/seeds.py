"""The seed of an order, as `--schedule` reads it: a number, and perhaps the lines before which lanes are stopped most: 7@12,15."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TEXT = re.compile(r"(?P<number>\w+)(?:@(?P<lines>\d+(?:,\d+)*))?")


class GuidedSeed(int):
    """A seed whose order stops lanes at some lines of the PTX, and seldom elsewhere."""

    lines: frozenset[int]

    def __new__(cls, number: int, lines: Iterable[int] = ()) -> GuidedSeed:
        made = super().__new__(cls, number)
        made.lines = frozenset(lines)
        return made

    def __str__(self) -> str:
        return f"{int(self)}@{','.join(map(str, sorted(self.lines)))}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GuidedSeed) and int(self) == int(other) and self.lines == other.lines

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((int(self), self.lines))


def seed_of(text: str) -> int:
    """Reads `7`, `0x7` or `7@12,15`; a ValueError where it is none of them."""
    found = _TEXT.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    number = int(found["number"], 0)
    return number if found["lines"] is None else GuidedSeed(number, map(int, found["lines"].split(",")))


def guided_lines(seed: int | None) -> frozenset[int]:
    """The lines of a seed that has some."""
    return seed.lines if isinstance(seed, GuidedSeed) else frozenset()


def told(seed: int | None) -> int | str | None:
    """A seed as JSON has it."""
    return str(seed) if isinstance(seed, GuidedSeed) else seed
