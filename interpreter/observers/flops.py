"""How many floating-point operations one thread's instruction counts for, by type."""

from __future__ import annotations

import re

from warplab.assembler.ir import Instruction

_ONE = frozenset({"add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh", "min", "max"})
_TWO = frozenset({"fma", "mad"})
_TYPES = {"f16": ("f16", 1), "f16x2": ("f16", 2), "bf16": ("bf16", 1), "bf16x2": ("bf16", 2), "f32": ("f32", 1), "f32x2": ("f32", 2), "f64": ("f64", 1)}
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)$")
_MATRIX = frozenset({"mma", "wmma", "wgmma"})
_LANES = {"wgmma": 128}  # a warpgroup works on one


def flops_of(i: Instruction) -> tuple[str, float] | None:
    """(type, operations a thread), None where an instruction computes with no floating-point numbers."""
    if i.opcode in _MATRIX:
        shape = next((m for w in i.modifiers if (m := _SHAPE.match(w))), None)
        if shape is None or not {"mma", "mma_async", "sync"} & {i.opcode, *i.modifiers} or {"load", "store"} & set(i.modifiers):
            return None
        m, n, k = (int(x) for x in shape.groups())
        return "tensor", 2 * m * n * k / _LANES.get(i.opcode, 32)
    each = 2 if i.opcode in _TWO else 1 if i.opcode in _ONE else 0
    kind = next((_TYPES[w] for w in reversed(i.modifiers) if w in _TYPES), None) if each else None
    return (kind[0], each * kind[1]) if kind else None
