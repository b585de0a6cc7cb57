"""The floating-point operations of an instruction, by its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from warplab.isa.facts import facts_of

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


def flops_of(opcode: str, modifiers: Sequence[str]) -> tuple[str, float] | None:
    """(type, operations a thread), None where an instruction computes with no floating-point numbers."""
    facts = facts_of(opcode)
    if facts.matrix_lanes:
        shape = next((m for w in modifiers if (m := _SHAPE.match(w))), None)
        if shape is None or {"load", "store"} & set(modifiers):
            return None
        rows, columns, depth = (int(x) for x in shape.groups())
        return "tensor", 2 * rows * columns * depth / facts.matrix_lanes
    kind = next((_TYPES[w] for w in reversed(modifiers) if w in _TYPES), None) if facts.flops else None
    return (kind[0], facts.flops * kind[1]) if kind else None
