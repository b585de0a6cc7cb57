"""Which operations can be checked together: those whose addresses depend on nothing that they load, or on much that they compute.

They may end with the side of a branch that some lanes execute before all go on at one place (`if` without `else`, a *hammock* of the flow graph).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....plan import plan as P
from ....plan.uses import leaves, read, written
from ...uniformity import UNIFORM, VARYING, Kinds, kind_of
from ..accesses import space_of

_COMPUTE = ("pure", "move", "pointer", "factors", "parameter", "pack", "unpack")
MOST = 64  # accesses of a stretch
DEAR = 24  # lines of LLVM IR that are not worth computing twice
Lines = Callable[[P.Op], int | None]  # of LLVM IR that an operation takes; None if it is not compiled


def stretches(ops: Sequence[P.Op], kinds: Sequence[Kinds], lines: Lines, gapped: bool) -> dict[int, int]:
    """Where operations begin that can be checked together, and where they end: no address or guard depends on what they load, or on much that they
    compute.  `lines`: of LLVM IR that an operation takes, None if it is not compiled; `gapped`: in shared memory, there are addresses that are not legal.
    """
    out = dict[int, int]()
    first, so_far = 0, _SoFar()
    for i, op in enumerate(ops):
        own = _lines(op, lines, gapped)
        if own is None or so_far.moves == MOST or so_far.is_dear(_decisive(op)):
            if so_far.moves > 1:
                out[first] = i
            first, so_far = i + (own is None), _SoFar()
        if own is not None:
            so_far.add(op, kinds[i], own)
    if so_far.moves > 1:
        out[first] = len(ops)
    return out


def hammock(ops: Sequence[P.Op], side: Sequence[P.Op], kinds: Sequence[Kinds], guard: int, lines: Lines, gapped: bool) -> int | None:
    """From which operation on those of a segment can be checked together with the side of its branch that some lanes execute; None: the side can't be.
    `guard`: the slot of the branch's predicate; `kinds`: of the registers before each operation, those of the side's in turn.
    """
    computing = [_lines(op, lines, gapped) is not None and not _moves(op, kinds[i]) for i, op in enumerate(ops)]
    last = max((i + 1 for i, computes in enumerate(computing) if not computes), default=0)
    for first in sorted({last, len(ops)}):
        if checkable((ops[first:], side, ()), kinds[first:], guard, lines, gapped):
            return first
    return None


def checkable(pieces: Sequence[Sequence[P.Op]], kinds: Sequence[Kinds], guard: int, lines: Lines, gapped: bool) -> bool:
    """Can the operations before a branch, those of a side and those behind it be checked together?"""
    so_far = _SoFar()
    branch = len(pieces[0])
    for i, op in enumerate(op for piece in pieces for op in piece):
        own = _lines(op, lines, gapped)
        decisive = [*_decisive(op), *([guard] if i == branch else [])]
        if own is None or so_far.moves == MOST or so_far.is_dear(decisive):
            return False
        so_far.add(op, kinds[i], own)
    return so_far.moves > 0


class _SoFar:
    """What a stretch does that has been begun."""

    def __init__(self) -> None:
        self.moves = 0
        self.costs: dict[int, int] = {}  # what it takes to compute each slot's value from those that are there where the stretch begins

    def is_dear(self, slots: Sequence[int]) -> bool:
        """Would it cost much to compute the values of slots twice?"""
        return any(self.costs.get(slot, 0) > DEAR for slot in slots)

    def add(self, op: P.Op, kinds: Kinds, own: int) -> None:
        """An operation, which takes so many lines of LLVM IR."""
        moves = _moves(op, kinds)
        loads = moves and op.how == "load"
        self.moves += moves
        cost = DEAR + 1 if loads or op.meaning.form.facts.divides else own + sum(self.costs.get(slot, 0) for slot in read(op))
        varies = loads or kind_of(P.Tuple(op.sources), kinds) == VARYING
        self.costs.update(dict.fromkeys(written(op), cost if varies else 0))


def _lines(op: P.Op, lines: Lines, gapped: bool) -> int | None:
    """How many lines of LLVM IR an operation of a stretch takes; None if it can't be one."""
    own = lines(op)
    reaches_gaps = gapped and op.how in ("load", "store") and space_of(op) == "shared"
    return own if own is not None and _fits(op) and not reaches_gaps else None


def moves(op: P.Op) -> bool:
    """Does it access memory?"""
    return op.how in ("load", "store") and not isinstance(op.sources[0], P.ParameterPlace)


def _moves(op: P.Op, kinds: Kinds) -> bool:
    """Does each lane load or store?"""
    return op.how == "store" or (op.how == "load" and not _is_one(op, kinds))


def addressed(ops: Sequence[P.Op], side: Sequence[P.Op] = (), behind: Sequence[P.Op] = ()) -> int:
    """How many different addresses of each lane a stretch has, as far as registers tell; those of a side are of other lanes."""
    version, found = dict[int, int](), set[Any]()
    for of_side, piece in ((False, ops), (True, side), (False, behind)):
        for op in piece:
            if op.how in ("load", "store"):
                access = op.meaning.access
                assert access is not None
                found.add((of_side, *((slot, version.get(slot)) for slot in _decisive(op)), access.type.bytes * access.elements))
            for slot in written(op):
                version[slot] = version.get(slot, 0) + 1
    return len(found)


def _fits(op: P.Op) -> bool:
    """Is it an operation that computes, or an access to memory that is one for all lanes?"""
    if op.how in ("load", "store") and not isinstance(op.sources[0], P.ParameterPlace):
        return space_of(op) in ("global", "shared")
    return op.how in (*_COMPUTE, "load")


def _is_one(op: P.Op, kinds: Kinds) -> bool:
    """Does it load from one address for all lanes, before any vector runs, or a parameter?"""
    return isinstance(op.sources[0], P.ParameterPlace) or (
        op.guard is None and space_of(op) == "global" and kind_of(op.sources[0], kinds) == UNIFORM
    )


def _decisive(op: P.Op) -> list[int]:
    """The slots that say where an access goes, and for which lanes."""
    if op.how not in ("load", "store"):
        return []
    slots = [] if op.guard is None else [op.guard.slot]
    return slots + [x for x in leaves(op.sources[0]) if type(x) is int]
