"""What the text alone says of an instruction: its floating-point operations, and what the assembler makes of an atomic operation."""

from __future__ import annotations

import re
from functools import lru_cache

from warplab.assembler.flow import flow
from warplab.assembler.ir import Function, Instruction, Operand, Register, Vector

_ONE = frozenset({"add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh", "min", "max"})
_TWO = frozenset({"fma", "mad"})
_TYPES = {  # a type's name in the counts, and how many numbers it packs
    "f16": ("f16", 1),
    "f16x2": ("f16", 2),
    "bf16": ("bf16", 1),
    "bf16x2": ("bf16", 2),
    "f32": ("f32", 1),
    "f32x2": ("f32", 2),
    "f64": ("f64", 1),
}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_MATRIX = frozenset({"mma", "wmma", "wgmma"})
# An atom with one of these words stays one when its result is not used.
RETURNING = frozenset({"cas", "exch", "acquire", "acq_rel"})
_HALVES = frozenset({"f16", "bf16"})  # so does one of a single half: it is a loop
_VECTORS = frozenset({"v2", "v4", "v8"})
_LANES = {"wgmma": 128}  # a warpgroup works on one


def flops_of(i: Instruction) -> tuple[str, float] | None:
    """(type, operations a thread), None where an instruction computes with no floating-point numbers."""
    if i.opcode in _MATRIX:
        shape = next((m for w in i.modifiers if (m := _SHAPE.match(w))), None)
        if shape is None or not {"mma", "mma_async", "sync"} & {i.opcode, *i.modifiers} or {"load", "store"} & set(i.modifiers):
            return None
        rows, columns, depth = (int(x) for x in shape.groups())
        return "tensor", 2 * rows * columns * depth / _LANES.get(i.opcode, 32)
    each = 2 if i.opcode in _TWO else 1 if i.opcode in _ONE else 0
    kind = next((_TYPES[w] for w in reversed(i.modifiers) if w in _TYPES), None) if each else None
    return (kind[0], each * kind[1]) if kind else None


@lru_cache(maxsize=512)
def unused_results(function: Function) -> frozenset[int]:
    """ids of the atom instructions whose result nobody reads: they are assembled as reductions, if no fence of the kernel is to wait for them."""
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
    return bool(words & RETURNING or (words & _HALVES and not words & _VECTORS))


def _registers(o: Operand) -> list[Register]:
    return [r for e in (o.elements if isinstance(o, Vector) else (o,)) for r in ((e,) if isinstance(e, Register) else ())]


def is_gathered(i: Instruction, kind: str, *, uniform: bool, whole: bool) -> bool:
    """Does the assembler gather the lanes of a warp in one where it knows that all have one address?

    `uniform`: they also bring the same value; `whole`: all 32 take part.
    """
    words = set(i.modifiers)
    if "add" in words and uniform and words & {"u32", "s32", "u64"}:
        return True
    if not words & {"u32", "s32", "b32"}:
        return False
    return bool(words & {"add", "min", "max", "and", "or", "xor"}) if kind == "red" else "add" in words and whole
