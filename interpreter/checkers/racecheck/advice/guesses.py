"""Loads whose values are guesses: a compare-and-swap starts from each, and finds out whether memory still holds it."""

from __future__ import annotations

from warplab.assembler.ir import Function, Instruction, Register
from warplab.assembler.listing import listing

from .dataflow import definitions, origins


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
    compared = [o.index for i in listing(function).instructions if is_compare_and_swap(i) and isinstance(o := i.operands[2], Register)]
    return frozenset(id(i) for i in origins(compared, definitions(function), _moves))


def _moves(i: Instruction) -> bool:
    return i.form is not None and i.form.facts.moves_bits
