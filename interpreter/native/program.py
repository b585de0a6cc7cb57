"""A compiled function: the stages of its compilation, its machine code, and the memories in which launches run it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan import plan as P
from ..program import LoadedKernel
from ..vector.function import VectorFunction
from ..vector.steps import build
from .callout import Callout
from .calls import returns
from .jit import CompiledLibrary, NativeSource
from .pipeline import stages
from .rows import RowTable
from .schedule.compiled import scheduler, scheduler_source


class NativeProgram:
    """A function compiled."""

    def __init__(self, kernel: LoadedKernel, plan: P.PlanFunction, apart: bool = False, proving: bool = False) -> None:
        self.kernel = kernel
        self.apart = apart
        made = stages(kernel, plan, apart, proving)
        self.plan = made.plan
        self.cut, self.frame, self.module, self.side_by_side = made.cut, made.frame, made.module, made.side_by_side
        self.watch = made.watch
        self.own_specials = self.module.own_specials
        self.source = NativeSource(self.module.text, tuple(self.module.functions))
        self._library: CompiledLibrary | None = None
        functions = [VectorFunction(self.plan, partial(build.segment, self.plan, observed=o)) for o in (False, True)]
        self.function, self.observed = functions  # for what numpy runs of it
        self.memories: list[Any] = []  # of earlier launches
        self.seconds = 0.0  # CPU time of a block that ran on one thread, as an earlier launch tells
        self._callouts: dict[int, Callout] = {}
        self._returns: dict[int, bool] = {}

    def sources(self) -> list[NativeSource]:
        """What has to be compiled, as far as it is not on disk."""
        return [source for source in (scheduler_source(), self.source) if not source.is_kept]

    def load(self, compiling: bool = True) -> bool:
        """Gets the machine code, from the disk or else, if that is wanted, from the compiler; True if it is there."""
        if self._library is None:
            self._library = self.source.compiled() if compiling else self.source.kept()
        if self._library is None:
            return False
        scheduler()  # now, for no launch's time counts yet
        return True

    def callout(self, number: int) -> Callout:
        """A row that numpy runs."""
        found = self._callouts.get(number)
        if found is None:
            found = self._callouts[number] = Callout(self.cut, self.frame, self.cut.rows[number])
        return found

    def returns(self, address: int) -> bool:
        """Can numpy execute the function at an address while compiled code has the wave?  That there is none is for numpy to tell."""
        found = self._returns.get(address)
        if found is None:
            f = self.kernel.program.function_at(address)
            found = self._returns[address] = f is None or returns(self.kernel, f)
        return found

    def words(self, at: int) -> NDArray[np.int64]:
        """The rows as the scheduler reads them, where they begin at a word."""
        assert self._library is not None
        return RowTable(self.cut, self.frame).write(self._library.addresses, at)
