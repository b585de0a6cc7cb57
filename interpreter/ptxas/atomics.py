"""What ptxas makes of an atomic operation: a reduction where the result is unused, one lane for its warp, or a loop around a swap."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function, Instruction, Operand, Register, Vector

HALF_WORDS = frozenset({"f16", "bf16", "b16"})
FLOATS = frozenset({"f32", "f64", "f16x2", "bf16x2"})
DOUBLE_WORDS = frozenset({"u64", "s64", "b64"})
VECTORS = {"v2": 2, "v4": 4, "v8": 8}
# An atom with one of these words stays one when its result is not used.
RETURNING = frozenset({"cas", "exch", "acquire", "acq_rel"})
_HALVES = frozenset({"f16", "bf16"})  # so does one of a single half: it is a loop


class AtomicLoop(Enum):
    """What the assembler makes of an atomic operation."""

    SPIN = "read shared memory, then swap; a lane that shares its bank with another lane reads again"
    HALF_WORD = "read the 32-bit word around 16 bits, then compare and swap the word until it has not changed in between"


def loop_of(modifiers: Iterable[str], space: str) -> AtomicLoop | None:
    """The loop that an atomic operation becomes; at a generic address ("generic") that means shared memory 64-bit integers add without.

    >>> loop_of(["add", "u64"], "shared"), loop_of(["add", "u64"], "generic"), loop_of(["exch", "b64"], "shared")
    (<AtomicLoop.SPIN: 'read shared memory, then swap; a lane that shares its bank with another lane reads again'>, None, None)
    """
    words = set(modifiers)
    if words & HALF_WORDS:
        return None if words & VECTORS.keys() else AtomicLoop.HALF_WORD
    if space == "global" or words & {"exch", "cas"}:
        return None
    return AtomicLoop.SPIN if words & FLOATS or (words & DOUBLE_WORDS and not (space == "generic" and "add" in words)) else None


@lru_cache(maxsize=512)
def unused_results(function: Function) -> frozenset[int]:
    """ids of the atom instructions whose result is never read: ptxas makes them reductions, unless a fence of the kernel waits for them."""
    graph = flow(function)
    if any(_is_fence(i) for b in graph.reachable for i in graph.blocks[b].instructions):
        return frozenset()
    return frozenset(
        id(i)
        for b in graph.reachable
        for i, live in graph.live_after(b)
        if i.opcode == "atom" and not _returns(set(i.modifiers)) and not any(live >> r.index & 1 for r in _registers(i.operands[0]))
    )


def _is_fence(i: Instruction) -> bool:
    return i.opcode == "membar" or (i.opcode == "fence" and i.modifiers[0] in ("acq_rel", "sc"))


def _returns(words: set[str]) -> bool:
    return bool(words & RETURNING or (words & _HALVES and not words & VECTORS.keys()))


def _registers(o: Operand) -> list[Register]:
    return [r for e in (o.elements if isinstance(o, Vector) else (o,)) for r in ((e,) if isinstance(e, Register) else ())]


def is_gathered(i: Instruction, kind: str, *, uniform: bool, whole: bool) -> bool:
    """Does one lane act for its warp?  ptxas generates this where all lanes have one address when the kernel is assembled.

    `uniform`: all lanes have the same operand, too; `whole`: all 32 lanes are active.
    """
    words = set(i.modifiers)
    if "add" in words and uniform and words & {"u32", "s32", "u64"}:
        return True
    if not words & {"u32", "s32", "b32"}:
        return False
    return bool(words & {"add", "min", "max", "and", "or", "xor"}) if kind == "red" else "add" in words and whole
