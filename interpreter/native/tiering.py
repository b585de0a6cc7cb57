"""Which engine runs the next wave of a launch: compiled code where it can, and, where the choice is left open, where it is worth its compilation."""

from __future__ import annotations

import functools
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from warplab.assembler.demangle import short_name
from warplab.assembler.ir import Function

from ..launch import Launch
from ..plan.inline import DEEPEST, inlined
from ..plan.plan import Barrier, Branch, PlanFunction
from ..plan.roles import observes_changes
from ..plan.spinning import PATIENT
from ..plan.uses import read, written

FIRST = 0.1  # CPU seconds that it takes to load the compiler
BASE = 0.02  # and to begin with a kernel
OLDEST = (0, 45)  # llvmlite, whose LLVM 20 reads what the engine writes
WRITE, COMPILE = 0.0003, 0.004  # for each operation: to write the code down, and to compile it


@functools.cache
def missing() -> str:
    """What has to be installed before anything can be compiled; "" if nothing."""
    from importlib.metadata import PackageNotFoundError, version  # few launches ask, and each start would pay

    try:
        found = version("llvmlite")
    except PackageNotFoundError:
        return "llvmlite"
    wanted = ".".join(map(str, OLDEST))
    return "" if tuple(map(int, re.findall(r"\d+", found)[:2])) >= OLDEST else f"llvmlite {wanted} or newer (llvmlite {found} is installed)"


@dataclass(slots=True)
class EngineChoice:
    """What is known about one kernel."""

    seconds: float = 0.0  # that numpy has run it
    plan: PlanFunction | None = None  # what is compiled
    operations: int = 0  # of the plan
    program: Any = None  # a NativeProgram, once it has been written
    refused: bool = False  # it can't be compiled
    apart: bool = False  # lanes of one way go on apart from each other

    def ready(self, launch: Launch) -> bool:
        """Is there machine code to run?  Numpy runs a kernel until it has taken as long as the compiler would: so no launch takes twice as long as it must."""
        if self.refused:
            return False
        try:
            return self._ready(launch)
        except Exception as e:  # of llvmlite, of LLVM, or of what writes their input: numpy runs whatever is not compiled
            self.refused = True
            launch.used.failures.append(f"{short_name(launch.name)} runs on numpy, for it could not be compiled: {_first_line(e)}")
            return False

    def _ready(self, launch: Launch) -> bool:
        wanted = launch.options.engine == "native"
        if self.plan is None:
            self.plan = plan_of(launch)
            self.operations = sum(len(s.ops) for s in self.plan.segments)
        plan, operations = self.plan, self.operations
        if self.program is None:
            if not wanted and self.seconds < BASE + WRITE * operations + (0 if "llvmlite" in sys.modules else FIRST):
                return False
            self._write(launch, plan)
            if self.refused:
                return False
        worth = wanted or self.seconds > BASE + COMPILE * operations
        return bool(self.program.load(worth))

    def begun(self, launch: Launch, wave: Callable[..., Any]) -> Any:
        """The compiled run of what is left of a launch; None where numpy runs the next wave.  `wave` makes the waves that numpy needs."""
        begun = time.monotonic()
        ready = self.ready(launch)
        launch.prolong(time.monotonic() - begun)
        if not ready:
            return None
        from .run import NativeLaunch

        return NativeLaunch(launch, self.program, wave)

    def part(self) -> None:
        """Lanes have to go on apart: the kernel is compiled anew."""
        self.apart, self.program = True, None

    def _write(self, launch: Launch, plan: Any) -> None:
        if missing():
            self.refused = True
            return
        from .program import NativeProgram  # here, since it loads llvmlite
        from .trace.code import Untraceable

        try:
            self.apart |= parts_lanes(plan)
            self.program = NativeProgram(launch.kernel, plan, apart=self.apart)
        except Untraceable:
            self.refused = True


def _first_line(e: Exception) -> str:
    """An exception in one line."""
    text = str(e).strip().partition("\n")[0].strip()
    return f"{type(e).__name__}: {text[:120]}" if text else type(e).__name__


def parts_lanes(plan: PlanFunction) -> bool:
    """Is it likely that lanes pass others by: at a barrier for some threads, or in a loop that turns until memory answers?"""
    segments = plan.segments
    if any(isinstance(x.end, Barrier) and (x.end.count is not None or not x.end.waits) for x in segments):
        return True
    ops = [op for x in segments for op in x.ops]
    answers = {slot for op in ops if observes_changes(op.site.instruction) or op.meaning.form.facts.pauses for slot in written(op)}
    before = -1
    while len(answers) > before:
        before = len(answers)
        answers.update(slot for op in ops if answers & set(read(op)) for slot in written(op))
    asking = {n for n, x in enumerate(segments) if isinstance(x.end, Branch) and x.end.guard.slot in answers}
    loops = [(to, n) for n, x in enumerate(segments) for to, limit in getattr(x.end, "turns", {}).items() if limit < PATIENT]
    return any(first <= n <= last for first, last in loops for n in asking)


def plan_of(launch: Launch) -> PlanFunction:
    """What is compiled of a launch's kernel: with its calls inlined."""
    kernel, lowering = launch.kernel, launch.lowering
    plan = kernel.plan(kernel.function, lowering)
    if not _inlines(launch):
        return plan

    def callee(f: Function) -> PlanFunction | None:
        defined = kernel.resolve(f)
        return None if defined.body is None else kernel.plan(defined, lowering)

    return inlined(plan, callee)


def _inlines(launch: Launch) -> bool:
    """Poisoned, each call finds other poison in its registers; and a frame that holds those of all calls must not overflow the stack."""
    return launch.options.poison is None and launch.stack_limit > DEEPEST


def choice_of(launch: Launch, observed: bool) -> EngineChoice | None:
    """What is known about the kernel of a launch; None if numpy has to run it."""
    o = launch.options
    if o.engine == "numpy" or observed or o.schedule is not None or o.lockstep or launch.kernel.shared_gaps:
        return None
    key = "native", launch.lowering, _inlines(launch)
    found: EngineChoice | None = launch.kernel.codes.get(key)
    if found is None:
        found = launch.kernel.codes[key] = EngineChoice()
    return None if found.refused else found
