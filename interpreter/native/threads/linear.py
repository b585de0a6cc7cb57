"""Sums of symbols with constant factors, what is known of their values, and what the value of a sum tells about its symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import NamedTuple

USEFUL = 6  # facts that are looked at for the range of a sum, the longest ones
Range = tuple[int, int]  # the least and the greatest value


class Unknown(NamedTuple):
    """A number that is not known, in a range; each thread has its own."""

    name: str
    least: int
    most: int
    is_place: bool = False  # says nothing but where the thread is in the grid


@dataclass(frozen=True, slots=True)
class Linear:
    """A constant and terms in the order of their symbols' names, none of which has the factor 0."""

    terms: tuple[tuple[Unknown, int], ...] = ()
    constant: int = 0

    @classmethod
    def of(cls, symbol: Unknown) -> Linear:
        """A symbol alone; one that can have a single value is that value."""
        return cls((), symbol.least) if symbol.least == symbol.most else cls(((symbol, 1),))

    def __str__(self) -> str:
        return " + ".join(
            [*(s.name if f == 1 else f"{f} {s.name}" for s, f in self.terms), *([str(self.constant)] if self.constant else [])]
        )

    def __add__(self, other: Linear) -> Linear:
        factors = dict(self.terms)
        for symbol, factor in other.terms:
            factors[symbol] = factors.get(symbol, 0) + factor
        return Linear(tuple(sorted((s, f) for s, f in factors.items() if f)), self.constant + other.constant)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.times(-1)

    def times(self, factor: int) -> Linear:
        """The sum with all factors multiplied."""
        return Linear(tuple((s, f * factor) for s, f in self.terms), self.constant * factor) if factor else Linear()

    @property
    def terms_only(self) -> Linear:
        """Without its constant."""
        return Linear(self.terms)

    def mentions(self, name: str) -> bool:
        """Is this one of its symbols?"""
        return any(s.name == name for s, _ in self.terms)

    def without(self, name: str) -> Linear:
        """The sum where a symbol is 0."""
        return Linear(tuple((s, f) for s, f in self.terms if s.name != name), self.constant)

    def factor(self, name: str) -> int:
        """What a symbol is multiplied by."""
        return next((f for s, f in self.terms if s.name == name), 0)

    @property
    def range(self) -> Range:
        """Between which values it lies, by the ranges of its symbols alone."""
        ends = [sorted((s.least * f, s.most * f)) for s, f in self.terms]
        return self.constant + sum(low for low, _ in ends), self.constant + sum(high for _, high in ends)


# Sums and between which values they lie: without constants, the first factor positive, and no number divides all factors.
Facts = Mapping[Linear, Range]


IMPOSSIBLE: Facts = {Linear.of(Unknown("never", 0, 1)): (1, 0)}


def are_possible(facts: Facts) -> bool:
    """Can they all hold?"""
    return all(low <= high for low, high in facts.values())


def fact(sum_: Linear, low: int, high: int) -> Facts:
    """That a sum lies in a range."""
    if not sum_.terms:
        return {} if low <= sum_.constant <= high else IMPOSSIBLE
    low, high, terms = low - sum_.constant, high - sum_.constant, sum_.terms_only
    if terms.terms[0][1] < 0:
        low, high, terms = -high, -low, terms.times(-1)
    step = gcd(*(f for _, f in terms.terms))
    terms = Linear(tuple((s, f // step) for s, f in terms.terms))
    least, most = terms.range
    return {terms: (max(-(-low // step), least), min(high // step, most))}


def narrowed(facts: Facts, more: Facts) -> dict[Linear, Range]:
    """All that both say; a range is empty where they cannot both hold."""
    out = dict(facts)
    for sum_, (low, high) in more.items():
        least, most = out.get(sum_, sum_.range)
        out[sum_] = max(low, least), min(high, most)
    return out


def within(sum_: Linear, facts: Facts) -> Range:
    """Between which values a sum lies, given some facts."""
    low, high = sum_.range
    factors = {s.name: f for s, f in sum_.terms}
    useful = [(known, f) for known in facts if (f := _ratio(factors, known))]
    if len(useful) > USEFUL:
        useful = sorted(useful, key=lambda u: -len(u[0].terms))[:USEFUL]
    for n, (known, f) in enumerate(useful):
        rest = {k: facts[k] for k, _ in useful[n + 1 :]}
        ends = sorted(f * end for end in facts[known])
        below, above = within(sum_ - known.times(f), rest)
        low, high = max(low, below + ends[0]), min(high, above + ends[1])
    return low, high


def whole_steps(sum_: Linear, range_: Range) -> Range:
    """The least and the greatest value in a range that a sum can have: its constant plus a multiple of what all its factors are multiples of."""
    step = reduce(gcd, [f for _, f in sum_.terms], 0)
    if not step:
        return range_
    return range_[0] + (sum_.constant - range_[0]) % step, range_[1] - (range_[1] - sum_.constant) % step


def _ratio(factors: Mapping[str, int], known: Linear) -> int:
    """How often one sum is part of another one with these factors, by its first symbol; 0: it is not."""
    symbol, own = known.terms[0]
    factor = factors.get(symbol.name, 0)
    return 0 if factor % own else factor // own


class Digit(NamedTuple):
    """A part of a sum: by what it is multiplied, how far its values lie apart at most, and the sum that it is, of symbols."""

    factor: int
    span: int
    inside: Linear


def determined(sum_: Linear, facts: Facts, size: int = 1, step: int = 0, steps: int = 0) -> set[str]:
    """The symbols whose values are equal in two threads in which the sum has values less than `size` apart, where each may add up to `steps`
    times `step` to it.

    As with the digits of a number: the greatest digit is equal in both if what all others add up to is less than its factor.  So is what some of
    the greatest add up to, if what the others add up to is less than the factor that these have in common.
    """
    found: set[str] = set()
    for known in (sorted(facts, key=lambda k: -len(k.terms)), sorted(facts, key=lambda k: len(k.terms))):
        digits = [*_digits(sum_.terms_only, {k: facts[k] for k in known}), *([Digit(step, steps, Linear())] if steps else [])]
        below = size - 1 + sum(d.factor * d.span for d in digits)
        group: list[Digit] = []
        for d in sorted(digits, key=lambda d: -d.factor):
            group.append(d)
            below -= d.factor * d.span
            if gcd(*(d.factor for d in group)) <= below:
                continue
            if len(group) == 1:
                symbols = d.inside.terms
                rest = {k: v for k, v in facts.items() if k != d.inside}
                found |= {s.name for s, _ in symbols} if len(symbols) < 2 else determined(d.inside, rest)
            group = []
    return found


def _digits(rest: Linear, facts: Facts) -> list[Digit]:
    """A sum divided into sums whose range a fact narrows, the first facts first, and single symbols."""
    out = []
    for known in facts:
        low, high = facts[known]
        least, most = known.range
        factor = _ratio({s.name: f for s, f in rest.terms}, known)
        whole = factor and all(rest.factor(s.name) == f * factor for s, f in known.terms)
        if whole and high - low < most - least:
            out.append(Digit(abs(factor), max(high - low, 0), known))
            rest -= known.times(factor)
    return [*out, *(Digit(abs(f), s.most - s.least, Linear.of(s)) for s, f in rest.terms)]


def common_step(constants: Iterable[int]) -> tuple[int, int]:
    """The greatest step by which the least of some numbers leads to all others, and how many steps lead to the greatest."""
    least, *others = sorted(set(constants))
    step = reduce(gcd, [c - least for c in others], 0)
    return step, (others[-1] - least) // step if others else 0
