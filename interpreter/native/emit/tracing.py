"""Which operations can be compiled: found by trying their meanings on symbols."""

from __future__ import annotations

from ...plan import plan as P
from ..frame import Frame
from ..trace.code import LLVMModule, Untraceable
from ..trace.symbol import SymbolicArray
from ..variance import LANE
from .accesses import compiled
from .emitter import Emitter
from .memory import Helpers


class Tracing:
    """Tries the operations of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.helpers = Helpers(LLVMModule(), frame.width)
        self.known: dict[int, bool] = {}  # by id of the operation
        self._updates: dict[int, bool] = {}
        self._touches: dict[int, bool] = {}
        self._stores: dict[int, bool] = {}

    def compiles(self, op: P.Op) -> bool:
        """Can it be a part of a pass?"""
        found = self.known.get(id(op))
        if found is None:
            found = self.known[id(op)] = self._tried(op)
        return found

    def _tried(self, op: P.Op) -> bool:
        if op.how in ("load", "store"):
            return compiled(op)
        if op.how not in ("pure", "carry", "warps", "lanes", "move", "pointer", "factors", "parameter", "pack", "unpack"):
            return False
        e = Trial(self.frame, self.helpers)
        try:
            e.operation(op)
        except (Untraceable, AttributeError, TypeError):  # it asks for what arrays have and symbols have not
            return False
        self._updates[id(op)] = e.loops > 0
        self._touches[id(op)] = bool(e.touched)
        self._stores[id(op)] = any(" store " in line for line in (*e.once.lines, *e.code.lines))
        return True

    def updates(self, op: P.Op) -> bool:
        """Does it change memory in a way that must not be done twice?"""
        return self._updates.get(id(op), False)

    def touches(self, op: P.Op) -> bool:
        """Does its own meaning load or store?"""
        return self._touches.get(id(op), False)

    def quiet(self, op: P.Op) -> bool:
        """Is it compiled to something that neither changes memory or the scheduler's words nor reads other lanes' registers?"""
        if not self.compiles(op) or op.how in ("store", "warps"):
            return False
        return not (self.updates(op) or self.touches(op) or self._stores.get(id(op), False))


class Trial(Emitter):
    """An emitter whose registers are all there, and whose code is thrown away."""

    def __init__(self, frame: Frame, helpers: Helpers) -> None:
        super().__init__(frame, {}, helpers, "trial")

    def _loaded(self, slot: int) -> tuple[int, SymbolicArray]:
        constant = self.frame.constants.get(slot)
        if constant is not None:
            return super()._loaded(slot)
        return LANE, SymbolicArray(self.code, "poison", self.frame.dtypes[slot])
