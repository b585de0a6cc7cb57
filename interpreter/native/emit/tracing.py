"""Which operations can be compiled: found by trying their meanings on symbols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ...plan import plan as P
from ..frame import Frame
from ..trace.code import LLVMModule, Untraceable
from ..trace.symbol import SymbolicArray
from ..uniformity import VARYING
from .accesses import compiled
from .emitter import Emitter
from .memory import CALLED, Helpers

HELPER = 40  # lines of a function that accesses memory


class Tried(NamedTuple):
    """What has been found out about an operation."""

    compiles: bool
    refusal: str = ""  # why it does not
    updates: bool = False  # changes memory in a way that must not be done twice
    touched: frozenset[tuple[str, bool]] = frozenset()  # memory that its own meaning loads (False) or stores (True)
    stores: bool = False  # stores anything at all
    lines: int = 0  # of LLVM IR, with the functions that access memory


class Tracing:
    """Tries the operations of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.helpers = Helpers(LLVMModule(), frame.width, bool(frame.shared_gaps))
        self._known: dict[Any, Tried] = {}

    def compiles(self, op: P.Op) -> bool:
        """Can it be a part of a pass?"""
        return self._find(op).compiles

    def refusal(self, op: P.Op) -> str:
        """Why it cannot."""
        return self._find(op).refusal

    def updates(self, op: P.Op) -> bool:
        """Does it change memory in a way that must not be done twice?"""
        return self._find(op).updates

    def touches(self, op: P.Op) -> frozenset[tuple[str, bool]]:
        """What its own meaning loads (False) or stores (True)."""
        return self._find(op).touched

    def quiet(self, op: P.Op) -> bool:
        """Is it compiled to something that neither changes memory or the scheduler's words nor sees lanes of other warps?"""
        return op.how != "store" and self.harmless(op)

    def harmless(self, op: P.Op) -> bool:
        """Is it compiled to something that leaves memory alone, and the scheduler's words?"""
        found = self._find(op)
        return found.compiles and not (found.updates or found.touched) and (op.how == "warps" or not found.stores)

    def lines(self, ops: Iterable[P.Op]) -> int:
        """How many lines of LLVM IR operations take, if all their code is repeated where it is used."""
        return sum(self._find(op).lines for op in ops)

    def _find(self, op: P.Op) -> Tried:
        found = self._known.get(id(op))
        if found is None:
            alike = self._alike(op)
            found = self._known.get(alike) if alike else None
            found = self._known[id(op)] = found or self._tried(op)
            if alike:
                self._known[alike] = found
        return found

    def _alike(self, op: P.Op) -> tuple[Any, ...] | None:
        """What computations with registers have in common that are compiled alike; None for other operations."""
        if op.how not in ("pure", "move", "pointer") or op.guard is not None or not isinstance(op.target, int):
            return None
        dtypes = self.frame.dtypes
        operands: list[Any] = []
        for x in op.sources:
            if isinstance(x, P.SlotAs):
                operands.append((x.kept, x.wanted))
            elif isinstance(x, int):
                operands.append(self.frame.constants[x].dtype if x in self.frame.constants else dtypes[x])
            elif isinstance(x, P.Pointer):
                operands.append((dtypes[x.slot], x.offset != 0))
            else:
                return None
        return op.how, id(op.meaning), dtypes[op.target], *operands

    def _tried(self, op: P.Op) -> Tried:
        if op.how in ("load", "store"):
            assert op.meaning.access is not None
            return Tried(compiled(op), f"a {op.how} of {op.meaning.access.type.name} in {op.meaning.access.space}", lines=HELPER)
        if op.how not in ("pure", "carry", "warps", "lanes", "move", "pointer", "factors", "parameter", "pack", "unpack"):
            return Tried(False, f"an operation of the kind {op.how}")
        trial = Trial(self.frame, self.helpers)
        try:
            trial.operation(op)
        except Untraceable as e:
            return Tried(False, str(e))
        except (AttributeError, TypeError):
            return Tried(False, "its meaning asks for what arrays have and symbols have not")
        lines = [*trial.once.lines, *trial.code.lines]
        return Tried(
            True,
            "",
            trial.loops > 0,
            trial.touched,
            any(" store " in x for x in lines),
            len(lines) + sum(HELPER for x in lines if f") {CALLED}" in x),
        )


class Trial(Emitter):
    """An emitter whose registers are all there, and whose code is thrown away."""

    def __init__(self, frame: Frame, helpers: Helpers) -> None:
        super().__init__(frame, 0, helpers, "trial")

    def _loaded(self, slot: int) -> tuple[int, SymbolicArray]:
        constant = self.frame.constants.get(slot)
        if constant is not None:
            return super()._loaded(slot)
        return VARYING, SymbolicArray(self.code, "poison", self.frame.dtypes[slot])
