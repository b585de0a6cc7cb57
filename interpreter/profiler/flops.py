"""The floating-point operations of an instruction, by its words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
_LANES = {"wgmma": 128}  # a warpgroup works on one


def flops_of(opcode: str, modifiers: Sequence[str]) -> tuple[str, float] | None:
    """(type, operations a thread), None where an instruction computes with no floating-point numbers."""
    if opcode in _MATRIX:
        shape = next((m for w in modifiers if (m := _SHAPE.match(w))), None)
        if shape is None or not {"mma", "mma_async", "sync"} & {opcode, *modifiers} or {"load", "store"} & set(modifiers):
            return None
        rows, columns, depth = (int(x) for x in shape.groups())
        return "tensor", 2 * rows * columns * depth / _LANES.get(opcode, 32)
    each = 2 if opcode in _TWO else 1 if opcode in _ONE else 0
    kind = next((_TYPES[w] for w in reversed(modifiers) if w in _TYPES), None) if each else None
    return (kind[0], each * kind[1]) if kind else None
