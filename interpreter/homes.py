"""In which dtype a register is kept, and which registers hold addresses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from warplab.assembler.ir import Address, Instruction, Operand, Register

from .roles import carries_pointer, is_sign_free, operand_type, places, registers_of


def _vote(ballots: dict[int, dict[str, int]], op: Operand, dtype: np.dtype[Any], size: int) -> None:
    for r in registers_of(op):
        if r.type.bytes == size and dtype.itemsize == size:
            tally = ballots.setdefault(r.index, {})
            tally[dtype.str] = tally.get(dtype.str, 0) + 1


def choose_dtypes(instructions: Iterable[Instruction], pointers: set[int]) -> dict[int, np.dtype[Any]]:
    """For each register the dtype that most of its uses want, so that few need a view."""
    ballots: dict[int, dict[str, int]] = {}
    seen: dict[int, Register] = {}
    for i in instructions:
        for op in i.operands:
            for r in registers_of(op):
                seen[r.index] = r
        if i.guard:
            seen[i.guard.index] = i.guard
        if i.form is None or i.opcode == "call":
            continue
        free = is_sign_free(i)
        for op, place in zip(i.operands, places(i.form, i.operands), strict=False):
            t = operand_type(i, place) if not place.address else None
            if t is not None and t.elements == 1 and not (free and t.is_integer):
                _vote(ballots, op, t.dtype, t.bytes)
    out: dict[int, np.dtype[Any]] = {}
    for index, r in seen.items():
        size = r.type.bytes
        if r.type.name == "pred":
            out[index] = np.dtype(bool)
        elif size > 8:
            out[index] = np.dtype(np.uint64)
        elif index in pointers:
            out[index] = np.dtype(f"u{size}")
        elif tally := ballots.get(index):
            out[index] = np.dtype(max(sorted(tally), key=lambda n: tally[n]))
        else:
            out[index] = r.type.dtype if r.type.elements == 1 and r.type.dtype.itemsize == size else np.dtype(f"u{size}")
    return out


def pointer_registers(instructions: list[Instruction]) -> set[int]:
    """Registers used as addresses, and those that only feed them through add, mov and cvta: they may hold a Shifted."""
    found: set[int] = set()
    feeds: dict[int, list[int]] = {}  # register -> those that it may have its address from
    for i in instructions:
        for op in i.operands:
            if isinstance(op, Address) and isinstance(op.base, Register) and op.base.type.bytes >= 4:
                found.add(op.base.index)
        if i.guard is None and carries_pointer(i):
            d = i.operands[0]
            assert isinstance(d, Register)
            feeds.setdefault(d.index, []).extend(
                op.index for op in i.operands[1:] if isinstance(op, Register) and op.type.bytes == d.type.bytes
            )
    left = list(found)
    while left:
        for source in feeds.get(left.pop(), ()):
            if source not in found:
                found.add(source)
                left.append(source)
    return found
