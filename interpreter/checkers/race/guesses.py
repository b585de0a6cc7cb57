"""Loads whose values are guesses: a compare-and-swap starts from each, and finds out whether memory still holds it."""

from __future__ import annotations

from collections import defaultdict

from warplab.assembler.flow import accesses
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing


class Guesses:
    """Those of all functions that are asked for."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Function, frozenset[int]]] = {}

    def has(self, function: Function, load: Instruction) -> bool:
        """Is what a load of the function gives only a guess?"""
        found = self._of.get(id(function))
        if found is None:
            found = self._of[id(function)] = function, _guesses(function)
        return id(load) in found[1]


def is_compare_and_swap(i: Instruction) -> bool:
    """Does it compare memory with a value, and swap if both are equal?"""
    return "cas" in i.modifiers and len(i.operands) > 2


def _guesses(function: Function) -> frozenset[int]:
    """The loads whose values reach what a compare-and-swap compares with, as they are: a loop hands the value on from turn to turn."""
    written_by: dict[int, list[Instruction]] = defaultdict(list)
    open_: list[int] = []
    for i in listing(function).instructions:
        for r in accesses(i)[1]:
            written_by[r.index].append(i)
        if is_compare_and_swap(i):
            open_ += [r.index for r in accesses(i)[0] if r is i.operands[2]]
    seen, out = set(open_), set()
    while open_:
        for i in written_by[open_.pop()]:
            facts = None if i.form is None else i.form.facts
            if facts is None:
                continue
            if facts.access == "load":
                out.add(id(i))
            elif facts.moves_bits:
                more = {r.index for r in accesses(i)[0]} - seen
                seen |= more
                open_ += more
    return frozenset(out)
