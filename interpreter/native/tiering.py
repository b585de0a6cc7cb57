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
from ..plan.plan import ORDINARY, Barrier, Branch, LoweringOptions, PlanFunction
from ..plan.roles import observes_changes
from ..plan.spinning import SPIN_LIMIT
from ..plan.uses import read, written
from ..program import LoadedKernel
from .store import is_empty
from .tiers.foresight import LaunchForesight
from .tiers.notes import KernelNotes, notes_of

LOADING = 0.14  # seconds that it takes to load the compiler
COMPILE_SCHEDULER = 0.2  # and to compile the scheduler, once on a machine
BASE = 0.01  # to write a kernel down for the compiler
WRITE = 0.0002  # and for each of its operations
COMPILE = 0.02  # times the square root of the operations: to compile it
EARLY = 0.05  # of the cost, before which nothing that is foreseen is believed
OLDEST = (0, 45)  # llvmlite, whose LLVM 20 reads what the engine writes


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

    notes: KernelNotes
    inlines: bool = True  # calls: poisoned, each would find other poison in its registers
    plan: PlanFunction | None = None  # what is compiled
    operations: int = 0  # of the plan
    compilation: float = 0.0  # seconds that it probably takes to compile it
    program: Any = None  # a NativeProgram, once it has been written
    compiler: Any = None  # a CompilerProcess, which compiles it beside numpy
    begins: Any = None  # NativeLaunch, which runs the program
    loaded: bool = False  # is its machine code there?
    refused: bool = False  # it can't be compiled
    apart: bool = False  # lanes of one way go on apart from each other
    proving: bool = False  # it is compiled to code that proves something of its launches

    def ready(self, launch: Launch, foresight: LaunchForesight | None, wave: Any = None) -> bool:
        """Is there machine code to run?  The time that it takes to get it does not count towards the launch's."""
        if self.loaded or self.refused:
            return self.loaded
        begun = time.monotonic()
        try:
            self.loaded = self._ready(launch, foresight, wave)
        except Exception as e:  # of llvmlite, of LLVM, or of what writes their input: numpy runs whatever is not compiled
            self.refused = True
            launch.used.failures.append(f"{short_name(launch.name)} runs on numpy, for it could not be compiled: {_first_line(e)}")
        launch.prolong(time.monotonic() - begun)
        return self.loaded

    def _ready(self, launch: Launch, foresight: LaunchForesight | None, wave: Any) -> bool:
        wanted = launch.options.engine == "native"
        if self.plan is None:
            kernel, lowering = launch.kernel, launch.lowering
            self.plan = inlined_plan(kernel, lowering) if self.inlines else kernel.plan(kernel.function, lowering)
            self.operations = sum(len(s.ops) for s in self.plan.segments)
            self.compilation = COMPILE * self.operations**0.5 + COMPILE_SCHEDULER * is_empty()
        if self.program is None:
            if not wanted and not self._pays(foresight, wave, not self.notes.kept, launch.options.threads > 1):
                return False
            self._write(launch, self.plan)
            if self.refused:
                return False
        if self.program.load(wanted):
            self.notes.kept = True
            return True
        return self._compiled(launch, foresight, wave)

    def _compiled(self, launch: Launch, foresight: LaunchForesight | None, wave: Any) -> bool:
        """Compiles beside numpy, where the launch may use a second processor, else once that pays; is the code there?"""
        from .tiers import beside  # here, since it loads llvmlite

        if self.compiler is None:
            if launch.options.threads > 1:
                if beside.is_busy():
                    return False
                self.compiler = beside.begun(self.program.sources())
                if self.compiler is not None:
                    self.notes.kept = True
                    return False
            if not self._pays(foresight, wave, True, False):
                return False
        elif not self.compiler.ended:
            return False
        self.program.load(True)  # what the process has left, or else what this one compiles
        self.notes.kept = True
        return True

    def _pays(self, foresight: LaunchForesight | None, wave: Any, compiling: bool, beside: bool) -> bool:
        """Is more work in sight than the compiler costs, or has numpy, unforeseen, already taken as long as this process would wait for the compiler?"""
        notes = self.notes
        writing = (notes.writing or BASE + WRITE * self.operations) + (0 if "llvmlite" in sys.modules else LOADING)
        cost = writing + self.compilation * compiling
        foreseen = None if foresight is None else foresight.remaining(wave)
        expected = notes.before.seconds - notes.seconds  # of an earlier process, there is left
        if expected > 0:
            return expected > cost
        launched = 0.0 if foresight is None else notes.seconds - foresight.first
        if foreseen is not None and foreseen > cost and launched > EARLY * cost:
            return True
        spent: float = notes.seconds - notes.before.seconds - (0 if foreseen is None else launched)
        return spent > max(notes.before.seconds, writing if beside else cost)

    def begun(self, launch: Launch, wave: Callable[..., Any], foresight: LaunchForesight | None = None, running: Any = None) -> Any:
        """The compiled run of what is left of a launch; None where numpy runs the next wave.  `wave` makes the waves that numpy needs; one may be running."""
        return self.begins(launch, self.program, wave) if self.loaded or self.ready(launch, foresight, running) else None

    def part(self) -> None:
        """Lanes have to go on apart: the kernel is compiled anew."""
        self.apart, self.program, self.compiler, self.loaded = True, None, None, False

    def _write(self, launch: Launch, plan: Any) -> None:
        if missing():
            self.refused = True
            return
        from .program import NativeProgram  # here, since they load llvmlite
        from .run import NativeLaunch
        from .trace.code import Untraceable

        begun = time.thread_time()
        try:
            self.apart |= parts_lanes(plan)
            self.program, self.begins = NativeProgram(launch.kernel, plan, apart=self.apart, proving=self.proving), NativeLaunch
        except Untraceable:
            self.refused = True
        self.notes.writing = time.thread_time() - begun


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
    loops = [(to, n) for n, x in enumerate(segments) for to, limit in getattr(x.end, "turns", {}).items() if limit < SPIN_LIMIT]
    return any(first <= n <= last for first, last in loops for n in asking)


def inlined_plan(kernel: LoadedKernel, lowering: LoweringOptions = ORDINARY) -> PlanFunction:
    """A kernel with its calls inlined."""

    def callee(f: Function) -> PlanFunction | None:
        defined = kernel.resolve(f)
        return None if defined.body is None else kernel.plan(defined, lowering)

    return inlined(kernel.plan(kernel.function, lowering), callee, kernel.targets)


def choice_of(launch: Launch, observed: bool) -> EngineChoice | None:
    """What is known about the kernel of a launch; None if numpy has to run it, such as for observers that hear all."""
    o = launch.options
    if o.engine == "numpy" or observed or o.schedule is not None or o.lockstep:
        return None
    inlines = o.poison is None and launch.stack_limit > DEEPEST  # a frame that holds those of all calls must not overflow the stack
    key = "native", launch.lowering, inlines
    found: EngineChoice | None = launch.kernel.codes.get(key)
    if found is None:
        found = launch.kernel.codes[key] = EngineChoice(notes_of(launch), inlines)
    return None if found.refused else found
