"""A variable in many lanes at once: conditions are evaluated for all lanes of a group, and lanes of a group are at one instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recording.expressions import PathStep
from ..recording.questions import Recording
from .places import depot_register, operations, register_of
from .sections import DebugSections
from .types import VariableType
from .values import numbers

Array = NDArray[Any]


def inside(type: VariableType, steps: Sequence[PathStep], indices: Sequence[Array]) -> tuple[VariableType, int] | None:
    """The type of a part of a variable, and its offset; None where the path leaves the variable, or differs between lanes."""
    t, offset = type.plain, 0
    for s in steps:
        if s.kind == "member" and t.kind == "struct" and (m := t.member(s.name)) is not None and m.bits is None:
            t, offset = m.type.plain, offset + m.offset
        elif s.kind == "element" and t.kind == "array" and (index := indices[s.index]).size and (index == index[0]).all():
            if not 0 <= int(index[0]) < t.count:
                return None
            t, offset = t.of.plain, offset + int(index[0]) * t.of.bytes
        else:
            return None
    return t, offset


def column(
    rec: Recording, sections: DebugSections, type: VariableType, offset: int, expression: bytes, lanes: NDArray[np.int64], step: int, frame: tuple[str, int]
) -> Array | None:  # fmt: skip
    """The values of a variable that is a number, in a register or at the same place of each lane's stack; None where it is anything else.

    NaN, which equals nothing, where a register holds nothing yet.
    """
    t = type.plain
    if t.kind not in ("base", "enum", "pointer") or t.bytes not in (1, 2, 4, 8):
        return None
    ops = list(operations(expression))
    match ops:
        case [("regx", number, _)] if not offset:
            return _of_register(rec, t, register_of(number), lanes, step, frame)
        case [("addr", address, _), *rest] if all(op == "plus_const" for op, _, _ in rest):
            named = sections.symbol(address + sum(a for _, a, _ in rest))
            if named is None or not named[0].startswith("__local_depot"):
                return None
            base = rec.held(depot_register(rec, frame[0], named[0]), lanes, step, frame)
            if not base.known.all() or (base.value != base.value[0]).any():
                return None
            return numbers(t, rec.bytes.held_by("local", lanes, int(base.value[0]) + named[1] + offset, t.bytes, step))[:, 0]
    return None


def _of_register(rec: Recording, t: VariableType, name: str, lanes: NDArray[np.int64], step: int, frame: tuple[str, int]) -> Array | None:
    if name not in rec.track.registers.get(frame[0], {}):
        return None
    found = rec.held(name, lanes, step, frame)
    raw = np.ascontiguousarray(found.value)
    if raw.ndim != 1 or raw.dtype.itemsize < t.bytes:
        return None
    values = numbers(t, np.ascontiguousarray(raw[:, None].view(np.uint8)[:, : t.bytes]))[:, 0]
    return values if found.known.all() else np.where(found.known, values.astype(np.float64), np.nan)
