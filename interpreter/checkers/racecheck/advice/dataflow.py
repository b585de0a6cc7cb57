"""Where the values of registers come from in one function, whichever way leads there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from warplab.assembler.flow import accesses
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing

Definitions = Mapping[int, Sequence[Instruction]]  # register -> the instructions that write it


def definitions(function: Function) -> Definitions:
    """Which instructions write each register."""
    found: dict[int, list[Instruction]] = defaultdict(list)
    for i in listing(function).instructions:
        for r in accesses(i)[1]:
            found[r.index].append(i)
    return found


def is_load(i: Instruction) -> bool:
    """Does its result come from memory?"""
    return i.form is not None and i.form.facts.access == "load"


def origins(
    registers: Iterable[int], defined: Definitions, through: Callable[[Instruction], bool] = lambda i: True
) -> Iterator[Instruction]:
    """The loads that values in registers are computed from, by instructions of one kind."""
    open_ = list(registers)
    seen = set(open_)
    while open_:
        for i in defined.get(open_.pop(), ()):
            if is_load(i):
                yield i
            elif through(i):
                more = {r.index for r in accesses(i)[0]} - seen
                seen |= more
                open_ += more
