"""The compiler of the native engine, as values that follow each other: each is finished before the next is made from it, and can be printed.

inlined plan -> uniformity -> cut -> frame -> module
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ..plan import plan as P
from ..program import LoadedKernel
from .calls import returns
from .constants import with_constants
from .cut import Cut, cut
from .emit.tracing import Tracing
from .emit.watch import ProofWatch
from .frame import Frame
from .module import NativeModule, module
from .proving.watched import watch_of
from .side_by_side import side_by_side
from .trace.code import Untraceable
from .uniformity import Uniformity, uniformity

_GROWING = ("alloca", "stacksave", "stackrestore")


@dataclass(frozen=True, slots=True, eq=False)
class NativeStages:
    """What the compiler makes of a function, in order."""

    plan: P.PlanFunction  # calls are inlined, and constants known where lanes exchange values
    apart: bool  # lanes may pass each other by
    uniformity: Uniformity  # which registers hold one value for the wave
    cut: Cut  # what runs vector by vector, and what happens between
    frame: Frame  # where registers lie between
    side_by_side: bool  # may blocks run at the same time?
    module: NativeModule  # LLVM IR
    watch: ProofWatch | None  # what the code looks at, where it is to prove something


def stages(kernel: LoadedKernel, plan: P.PlanFunction, apart: bool = False, proving: bool = False) -> NativeStages:
    """Compiles a kernel whose calls are inlined; `apart`: lanes may pass each other by; `proving`: to code that proves something of its launches."""
    if any(op.meaning.form.effect in _GROWING for segment in plan.segments for op in segment.ops):
        raise Untraceable("a stack that grows while the function runs")
    plan = with_constants(plan)
    empty = Frame.of(kernel, plan)
    tracing = Tracing(empty)
    uniform = uniformity(plan, tracing.compiles, apart)
    watch = watch_of(plan, tracing) if proving else None
    rows = cut(uniform, tracing, empty, partial(returns, kernel), together=not proving)
    frame = rows.place(empty)
    independent = side_by_side(plan, tracing, rows.live)
    return NativeStages(plan, apart, uniform, rows, frame, independent, module(rows, frame, independent, watch), watch)
