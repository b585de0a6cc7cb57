"""What is known of registers at one place of a plan, and what two such states have in common where ways meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .linear import Facts, Linear, Unknown, within
from .values import SymbolicPredicate, SymbolicSum, union

Value = SymbolicSum | SymbolicPredicate


@dataclass(slots=True)
class WalkState:
    """What is known at a place."""

    registers: dict[int, Value] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)

    def copy(self) -> WalkState:
        """One that may change without this one."""
        return WalkState(dict(self.registers), self.facts)

    def symbols(self) -> set[Unknown]:
        """All that its sums are made of."""
        sums = [*self.facts]
        for v in self.registers.values():
            sums += [*v.true, *v.false] if isinstance(v, SymbolicPredicate) else [] if v.sum is None else [v.sum]
        return {s for sum_ in sums for s, _ in sum_.terms}

    def says(self) -> tuple[Any, ...]:
        """All that it says, to compare it with another one."""
        return {slot: v.says() for slot, v in self.registers.items()}, self.facts

    def forget(self, name: str) -> None:
        """A symbol takes another value."""
        self.facts = {k: r for k, r in self.facts.items() if not k.mentions(name)}
        for slot, v in list(self.registers.items()):
            if isinstance(v, SymbolicPredicate):
                if any(k.mentions(name) for facts in (v.true, v.false) for k in facts):
                    del self.registers[slot]
            elif v.sum is not None and v.sum.mentions(name):
                self.registers[slot] = replace(v, sum=None, range=None)

    def turned(self, name: str) -> None:
        """A loop begins its next turn: what was said of the turns so far is said with one more."""
        for slot, v in list(self.registers.items()):
            if isinstance(v, SymbolicPredicate):
                if any(k.mentions(name) for facts in (v.true, v.false) for k in facts):
                    del self.registers[slot]
            elif v.sum is not None and (factor := v.sum.factor(name)):
                self.registers[slot] = replace(v, sum=v.sum - Linear((), factor))
        facts = {}
        for k, (low, high) in self.facts.items():
            by = k.factor(name)
            facts[k] = low + by, high + by
        self.facts = facts


def joined(states: list[WalkState]) -> WalkState:
    """What all of some states say."""
    out, *others = states
    for other in others:
        out = _both(out, other)
    return out


def _both(one: WalkState, other: WalkState) -> WalkState:
    """What two states say.  A symbol that one of them does not mention may be anything there, such as 0."""
    a, b = one.symbols(), other.symbols()
    zero = [s for s in a ^ b if s.least <= 0 <= s.most and not s.is_place]
    in_a, in_b = ({**state.facts, **{Linear.of(s): (0, 0) for s in zero if s not in own}} for state, own in ((one, a), (other, b)))
    registers: dict[int, Value] = {}
    for slot, x in one.registers.items():
        y = other.registers.get(slot)
        if isinstance(x, SymbolicPredicate) and isinstance(y, SymbolicPredicate) and x.says() == y.says():
            registers[slot] = x
        elif isinstance(x, SymbolicSum) and isinstance(y, SymbolicSum) and x.dtype == y.dtype:
            registers[slot] = replace(
                x, sum=_united(x.sum, y.sum, zero), range=x.range if x.range == y.range else None, origins=union((x.origins, y.origins))
            )
    facts = {}
    for sum_ in dict.fromkeys((*in_a, *in_b)):
        (low, high), (least, most) = within(sum_, in_a), within(sum_, in_b)
        found = min(low, least), max(high, most)
        if found != sum_.range:
            facts[sum_] = found
    return WalkState(registers, facts)


def _united(x: Linear | None, y: Linear | None, zero: Sequence[Unknown]) -> Linear | None:
    """The sum that two sums are, each with the symbols that are 0 where the other one holds."""
    if x is None or y is None:
        return None
    same_x, same_y = x, y
    for s in zero:
        same_x, same_y = same_x.without(s.name), same_y.without(s.name)
    return x + (y - same_y) if same_x == same_y else None
