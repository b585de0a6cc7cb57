"""Loads and stores that together update a place, as `x = x + 1` does: an atomic operation would do in one step what they do in two."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from warplab.assembler.flow import accesses
from warplab.assembler.ir import Function, Instruction, Register
from warplab.assembler.listing import listing

from .dataflow import definitions, origins

BITWISE = ("and", "or", "xor")


class Update(NamedTuple):
    """A store of what was computed from a load of the same place."""

    load: Instruction
    store: Instruction
    operation: str  # the atomic one that does this; "" where none does it alone.  CUDA C++ calls it atomicAdd and so on.

    def advice(self, space: str) -> str:
        """What to write instead."""
        if not self.operation:
            return "update it with atom.cas (atomicCAS) in a loop, or let one thread do it"
        type = next((w for w in reversed(self.store.modifiers) if w[0] in "usbf" and w[1:].isdigit()), "b32")
        type = f"b{type[1:]}" if self.operation in BITWISE else type.replace("b", "u")
        name = f"atomic{self.operation.capitalize()}"
        return f"make it one atomic operation: red.{space}.{self.operation}.{type} ({name}), or atom if the old value is needed"


class Updates:
    """Those of all functions that are asked for."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Function, dict[int, Update]]] = {}

    def with_both(self, function: Function, one: Instruction, other: Instruction) -> Update | None:
        """The update of which an instruction is a part, where another one is a part of an update, too."""
        found = self._of.get(id(function))
        if found is None:
            parts = {id(i): u for u in _updates(function) for i in (u.load, u.store)}
            found = self._of[id(function)] = function, parts
        return found[1].get(id(one)) if id(other) in found[1] else None


def _updates(function: Function) -> list[Update]:
    defined, out = definitions(function), []
    for store in listing(function).instructions:
        if store.form is None or store.form.facts.access != "store" or len(store.operands) != 2:
            continue
        place, value = store.operands
        if isinstance(value, Register):
            before = (
                i for i in origins([value.index], defined) if i.span.start < store.span.start
            )  # what comes behind gives the register another use
            loads = (i for i in before if len(i.operands) > 1 and i.operands[1] is place)
            out += [Update(load, store, _operation(load, store, defined[value.index])) for load in itertools.islice(loads, 1)]
    return out


def _operation(load: Instruction, store: Instruction, writers: Sequence[Instruction]) -> str:
    """The atomic operation that does what one instruction between a load and a store does."""
    results = {r.index for r in accesses(load)[1]}
    made = [i for i in writers if load.span.start < i.span.start < store.span.start]
    if not made:
        return ""
    sources = [isinstance(o, Register) and o.index in results for o in made[-1].operands[1:]]
    form = made[-1].form
    operation = "" if form is None else form.facts.updates_as
    differs = made[-1].opcode != operation  # a difference is a sum only where the old value stands first
    return "" if sum(sources) != 1 or (differs and not sources[0]) else operation
