"""Operations on mbarriers in compiled code: what their meanings ask of the lanes that they are executed by."""

from __future__ import annotations

from typing import Any, Protocol

from warplab.isa.ops import mbarrier

from ...trace.symbol import SymbolicArray
from .rules import rule


class Waiter(Protocol):
    """What an emitter offers."""

    def refuse_where(self, holds: SymbolicArray) -> None:
        """Leaves the vector to numpy, as if nothing had been done, where a condition holds for a lane that executes."""

    def pause_where(self, holds: SymbolicArray) -> None:
        """A pause where a condition holds for a lane that executes."""


@rule(mbarrier.refuse_where)
def refuse_where(lanes: Waiter, message: str, bad: SymbolicArray, *values: Any) -> None:
    """Numpy reports it."""
    lanes.refuse_where(bad)


@rule(mbarrier.answer)
def answer(lanes: Waiter, ss: str, a: SymbolicArray, done: SymbolicArray) -> SymbolicArray:
    """Others run if a lane has to ask again."""
    lanes.pause_where(~done)
    return done
