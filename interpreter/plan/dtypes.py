"""In which dtype a register is kept, and which registers hold addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from warplab.assembler.ir import Register

from .shapes import Known

_BOOL, _WIDE = np.dtype(bool), np.dtype(np.uint64)
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}
_NAMED = {d.str: d for d in map(np.dtype, ("?", *(f"{kind}{size}" for kind in "iu" for size in _UNSIGNED), "f2", "f4", "f8"))}


def choose_dtypes(instructions: Iterable[Known], seen: Mapping[int, Register], pointers: set[int]) -> dict[int, np.dtype[Any]]:
    """For each register the dtype that most of its uses want, so that few need a view."""
    ballots: dict[int, list[str]] = {}
    for known in instructions:
        registers = known.registers
        for n, wanted in known.facts.votes:
            index = registers[n].index
            if index in ballots:
                ballots[index].append(wanted)
            else:
                ballots[index] = [wanted]
    out: dict[int, np.dtype[Any]] = {}
    for index, r in seen.items():
        t = r.type
        size = t.bytes
        if t.name == "pred":
            out[index] = _BOOL
        elif size > 8:
            out[index] = _WIDE
        elif index in pointers:
            out[index] = _UNSIGNED[size]
        elif index in ballots:
            votes = ballots[index]
            out[index] = _NAMED[max(sorted(set(votes)), key=votes.count) if len(votes) > 1 else votes[0]]
        else:
            out[index] = t.dtype if t.elements == 1 and t.dtype.itemsize == size else _UNSIGNED[size]
    return out


def pointer_registers(instructions: Iterable[Known]) -> set[int]:
    """Registers used as addresses, and those that only feed them through add, mov and cvta: they may hold a Shifted."""
    found: set[int] = set()
    feeds: dict[int, list[int]] = {}  # register -> those that it may have its address from
    for known in instructions:
        facts, registers = known.facts, known.registers
        for n in facts.addresses:
            found.add(registers[n].index)
        if facts.hands_on is not None:
            d, sources = facts.hands_on
            feeds.setdefault(registers[d].index, []).extend([registers[n].index for n in sources])
    left = list(found)
    while left:
        for source in feeds.get(left.pop(), ()):
            if source not in found:
                found.add(source)
                left.append(source)
    return found
