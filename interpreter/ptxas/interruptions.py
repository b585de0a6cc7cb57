"""Where ptxas begins a new block within a block of PTX, what it removes if nobody reads it, and what it never unrolls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warplab.assembler.ir import Immediate, Instruction
from warplab.assembler.shapes import Shape

from ..plan.roles import works_on
from ..plan.shapes import Known

ROUNDED = frozenset({"rn", "rz", "rm", "rp", "rna", "rs"})
LOOKING_ANEW = frozenset({"volatile", "relaxed", "acquire", "mmio"})  # loads that are not removed
QUOTIENTS = frozenset({"div", "rem"})


class Nature(NamedTuple):
    """What is true of all instructions of a shape."""

    interrupts: bool  # ptxas begins a new block: a routine that it calls, a fence, anything guarded that is not arithmetic
    pure: bool  # computes its results from its operands alone
    removable: bool  # is removed if its results are not read


_natures: tuple[dict[Shape, Nature], dict[Shape, Nature]] = ({}, {})  # without a guard, and with one


def nature(i: Instruction) -> Nature:
    """What an instruction's shape says of it."""
    kept = _natures[i.guard is not None]
    found = kept.get(i.shape)
    if found is None:
        pure, interrupts = _is_pure(i), _interrupts(i)
        asked = LOOKING_ANEW.isdisjoint(i.modifiers) if i.opcode == "ld" else pure and not interrupts
        found = kept[i.shape] = Nature(interrupts, pure, asked)
    return found


def _interrupts(i: Instruction) -> bool:
    words = i.modifiers
    match i.opcode:
        case "div" | "rem" if words[-1][0] in "us":
            return words[-1] != "u32"
        case "rcp" | "sqrt" if isinstance(i.operands[1], Immediate):
            return False
        case "div" | "rcp" | "sqrt":
            return not {"approx", "full"} & set(words) and (words[-1] == "f64" or not ROUNDED.isdisjoint(words))
        case "rsqrt":
            return words[-1] == "f64" and "ftz" not in words
        case "membar" | "brkpt" | "pmevent" | "call":
            return True
        case "fence":
            return words[0] in ("acq_rel", "sc")
        case "bra":  # within a chain it leads to the next block either way
            return False
        case _:
            return i.guard is not None and not _is_pure(i)


def keeps_a_loop(i: Instruction) -> bool:
    """Does ptxas leave a loop as it is that contains this instruction?"""
    return i.guard is None and nature(i).interrupts and not (i.opcode in QUOTIENTS and i.modifiers[-1][0] in "us")


def _is_pure(i: Instruction) -> bool:
    form = i.form
    return form is not None and not form.effect and not form.carry and form.meaning is not None and works_on(form) not in ("lanes", "warps")


def dead(instructions: Sequence[Instruction], known: Mapping[int, Known], live: int) -> set[int]:
    """The numbers of instructions whose results are never read: ptxas removes them before anything is contracted, unless they are routines.

    `live`: the registers that are read later.
    """
    found: set[int] = set()
    for n in range(len(instructions) - 1, -1, -1):
        i = instructions[n]
        k = known[id(i)]
        for index in k.written:
            if live >> index & 1:
                break
        else:
            if k.written and i.opcode != "ld" and nature(i).removable:
                found.add(n)
                continue
        if k.facts.kills:
            for index in k.written:
                live &= ~(1 << index)
        for index in k.read:
            live |= 1 << index
    return found
