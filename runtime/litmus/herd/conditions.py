"""The condition at the end of a litmus test: `exists`, `~exists` or `forall` over comparisons of registers and locations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

Quantifier = Literal["exists", "~exists", "forall"]
Named = int | str  # a number, or a name: x, P0:r1
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two values, compared."""

    left: Named
    relation: str
    right: Named

    def holds(self, values: Mapping[str, int]) -> bool:
        """Is it so where names have these values?"""
        left, right = (v if isinstance(v, int) else values[v] for v in (self.left, self.right))
        return COMPARISONS[self.relation](left, right)

    def names(self) -> Iterator[str]:
        """The names in it, in order."""
        return (v for v in (self.left, self.right) if isinstance(v, str))

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"


@dataclass(frozen=True, slots=True)
class Combination:
    """Terms that all hold, of which one holds, or of which the only one does not hold."""

    word: Literal["/\\", "\\/", "~"]
    terms: tuple[Term, ...]

    def holds(self, values: Mapping[str, int]) -> bool:
        """Is it so where names have these values?"""
        found = (term.holds(values) for term in self.terms)
        return all(found) if self.word == "/\\" else any(found) if self.word == "\\/" else not any(found)

    def names(self) -> Iterator[str]:
        """The names in it, in order."""
        for term in self.terms:
            yield from term.names()

    def __str__(self) -> str:
        each = [f"({t})" if isinstance(t, Combination) and t.word != "~" else str(t) for t in self.terms]
        return f"~{each[0]}" if self.word == "~" else f" {self.word} ".join(each)


Term = Comparison | Combination


@dataclass(frozen=True, slots=True)
class HerdCondition:
    """What is claimed of the outcomes; only those count that pass the filter."""

    quantifier: Quantifier
    term: Term
    filter: Term | None = None

    @property
    def allows(self) -> bool:
        """Does it want an outcome that meets its term?"""
        return self.quantifier == "exists"

    @property
    def speaks(self) -> str:
        """What is said of an outcome that decides it."""
        return "contradicts the condition" if self.quantifier == "forall" else "meets the condition"

    def counts(self, values: Mapping[str, int]) -> bool:
        """Does the condition speak of this outcome?"""
        return self.filter is None or self.filter.holds(values)

    def decides(self, values: Mapping[str, int]) -> bool:
        """Is this an outcome on which the condition hangs: the one that must exist, or one that must not?"""
        return self.counts(values) and self.term.holds(values) is (self.quantifier != "forall")

    def names(self) -> tuple[str, ...]:
        """The names in it, each once."""
        return tuple(dict.fromkeys([*self.term.names(), *(self.filter.names() if self.filter else ())]))

    def __str__(self) -> str:
        return f"{self.quantifier} ({self.term})"
