"""The LLVM IR of a function's passes and regions, and what it asks of each launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..plan import plan as P
from .cut import Cut, Row
from .emit.emitter import Emitter
from .emit.memory import Helpers
from .emit.region import RegionEmitter
from .emit.strip import StripEmitter
from .emit.tables import SpecialTable
from .emit.together.emitter import TogetherEmitter
from .emit.watch import ProofWatch
from .frame import Frame
from .schedule import layout as s
from .trace.code import LLVMModule

_OWN = ("%gridid", "%envreg")


@dataclass(frozen=True, slots=True)
class NativeModule:
    """A function as LLVM IR."""

    head: tuple[str, ...]  # declarations and tables
    helpers: str  # the functions that the others call
    functions: Mapping[str, str]  # of passes and regions
    specials: Mapping[str, SpecialTable]
    sites: Sequence[int]  # of each access that remembers an allocation: which rights it asks of it
    has_parameter_address: bool
    combines: bool  # updates of global memory, if other threads run blocks at the same time

    @property
    def own_specials(self) -> list[str]:
        """The special registers that differ in launches of one shape."""
        return [name for name in self.specials if name.startswith(_OWN)]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join([*self.head, self.helpers, *self.functions.values()])


def module(cut: Cut, frame: Frame, side_by_side: bool, watch: ProofWatch | None = None) -> NativeModule:
    """The code of a function that is cut; `side_by_side`: its blocks may run at the same time; `watch`: it is to prove something."""
    helpers = Helpers(LLVMModule(), frame.width, bool(frame.shared_gaps), side_by_side, watch)
    functions = {row.name: _function(cut, frame, helpers, row) for row in cut.rows if row.kind in (s.RUN, s.REGION)}
    text, tables = helpers.text(), helpers.tables
    return NativeModule(
        tuple(helpers.module.head()), text, functions, tables.specials, tables.sites, tables.has_parameter_address, helpers.combines
    )


def _function(cut: Cut, frame: Frame, helpers: Helpers, row: Row) -> str:
    if row.region is not None:
        return RegionEmitter(frame, cut.plan, row.region, helpers, row.name, small=row.is_small).text()
    end = cut.plan.segments[row.segment].end
    ops, side = cut.operations(row)
    if row.is_stretch:
        return TogetherEmitter(frame, row.kinds, helpers, row.name).together(ops, cut.needed(row), side)
    parts = end if isinstance(end, P.Table | P.Call) and cut.rows[row.number + 1].kind == s.BRANCH_MANY else None
    if row.in_strips and parts is None:
        return StripEmitter(frame, row.kinds, helpers, row.name).strips(ops, cut.needed(row))
    return Emitter(frame, row.kinds, helpers, row.name).text(ops, cut.needed(row), parts, twice=row.is_small)
