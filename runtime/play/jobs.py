"""What the page asks about a program, answered in a process that has limits: every answer is plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from warplab.assembler import PtxError
from warplab.assembler.diagnostics import LIMIT
from warplab.assembler.editing.completion import completion, explained
from warplab.assembler.editing.edited import EditedText
from warplab.assembler.editing.fixes import fixes
from warplab.assembler.editing.hover import hover
from warplab.interpreter.checkers.findings import as_json
from warplab.interpreter.checkers.tools import TOOLS
from warplab.interpreter.memory.arena import OutOfMemory
from warplab.interpreter.profiler import KernelProfile

from ..errors import ApiError, UsageError
from ..golden.output import captured
from ..player import page
from ..profiler import profiling
from ..recording import Recording
from ..reports.page.html import page as profiles_page
from ..reports.page.sources import only_given
from ..reports.programs.outcomes import preview, verdict
from ..run.checked import SmallRun
from ..run.outcome import Outcome, describe_launches
from ..run.recorded import record
from ..run.runner import Runner
from ..run.runspec import RunSpec, directives

PLAYER = 12 << 20  # bytes of a page
RECORDED = 256 << 20  # bytes of a recording
PRINTED = 20_000  # characters of what kernels print
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlayLimits:
    """What a run may take."""

    steps: int = 20_000_000
    seconds: float = 10.0
    memory: int = 512  # MiB


@dataclass(frozen=True, slots=True)
class PlayedProgram:
    """A program of the page: its text, and the PTX that it is or became."""

    text: str
    name: str
    ptx: bytes
    device_rules_only: bool = False
    limits: PlayLimits = PlayLimits()
    otherwise: tuple[RunSpec, ...] = ()  # of a lab, where the text does not say how to run it
    folder: Path | None = None  # of the lab, whose files those runs may read


# ---------------------------------------------------------------- as one types


def checked(text: str) -> Answer:
    """The diagnostics of PTX, with fixes of the first ones."""
    edited = EditedText(text, "program.ptx")
    said = []
    for n, d in enumerate(edited.diagnostics[:LIMIT]):
        mends = [{"title": f.title, "changes": [asdict(c) for c in f.changes]} for f in fixes(edited, d)] if n < 3 else []
        said.append({
            "from": d.span.start, "to": max(d.span.end, d.span.start), "line": d.span.line, "severity": d.severity, "code": d.code,
            "message": d.message, "help": d.help, "fixes": mends,
        })  # fmt: skip
    return {"diagnostics": said}


def completed(text: str, offset: int) -> Answer:
    """What may be typed."""
    found = completion(EditedText(text), offset)
    return {"from": found.start, "options": [{"label": p.text, "kind": p.kind, "detail": p.detail, "rank": p.rank} for p in found.found]}


def told(text: str, offset: int) -> Answer:
    """What stands at a place, in Markdown."""
    found = hover(EditedText(text), offset)
    return {} if found is None else {"from": found.start, "to": found.end, "markdown": found.markdown}


def opcode(word: str) -> Answer:
    """What an opcode does, in Markdown."""
    return {"markdown": explained(word)}


# ---------------------------------------------------------------- runs


def ran(program: PlayedProgram) -> Answer:
    """The runs of a program; small ones are checked, too."""
    return _each(program, "", _plain)


def sanitized(program: PlayedProgram) -> Answer:
    """The runs of a program under all checkers."""
    return _each(program, " ".join(TOOLS), lambda runner: runner.run())


def recorded(program: PlayedProgram) -> Answer:
    """The runs, and a page that plays their launches."""
    launches: list[Recording] = []

    def one(runner: Runner) -> Outcome:
        made = record(runner, RECORDED)
        launches.extend(r for r in made.launches if r.step_count)
        return made.outcome

    answer = _each(program, "", one)
    if launches:
        answer["page"] = page(launches, PLAYER, sources=_sources(program))
    elif "error" not in answer:
        answer["error"] = "nothing was executed, so there is nothing to play"
    return answer


def profiled(program: PlayedProgram) -> Answer:
    """The runs, and a page with their profiles."""
    launches: list[KernelProfile] = []

    def one(runner: Runner) -> Outcome:
        with profiling(time=None) as p:
            outcome = runner.run()
        launches.extend(p.launches)
        return outcome

    answer = _each(program, "", one)
    if launches:
        with only_given(_sources(program)):
            answer["page"] = profiles_page(launches)
    return answer


def _sources(program: PlayedProgram) -> Mapping[str, str]:
    """The text as .loc names it; no file of this machine is read."""
    return {} if program.name.endswith(".ptx") else {program.name: program.text}


def _plain(runner: Runner) -> Outcome:
    small = SmallRun(runner)
    runner.context.observe = small.watching(lambda launch: None)
    outcome = runner.run()
    if not runner.spec.sanitize:
        small.check()
    return outcome


def _each(program: PlayedProgram, tools: str, carry_out: Callable[[Runner], Outcome]) -> Answer:
    """All runs of a program."""
    with captured() as (out, _):
        try:
            own = directives(program.text)
            folder = None if own else program.folder  # without a folder a run reads no files
            specs = own or program.otherwise
            if not specs:
                raise UsageError("nothing says how to launch this: write a comment such as //@ run --grid 1 --block 32 --arg out:x=f32[32]")
            parts = [_run(program, spec, folder, tools, carry_out) for spec in specs]
        except (PtxError, UsageError, ApiError, OutOfMemory, RecursionError) as e:
            said = str(e).removeprefix("CUDA_ERROR_INVALID_PTX: ") or type(e).__name__
            return {"error": said, "printed": out.text()[:PRINTED]}
        except MemoryError:
            return {"error": "out of memory", "printed": ""}
    return {"runs": parts, "printed": out.text()[:PRINTED]}


def _run(program: PlayedProgram, spec: RunSpec, folder: Path | None, tools: str, carry_out: Callable[[Runner], Outcome]) -> Answer:
    limits = program.limits
    if spec.modules:
        raise UsageError("--modules: files may not be read here")
    spec = replace(
        spec, max_steps=min(spec.max_steps or limits.steps, limits.steps), timeout=min(spec.timeout or limits.seconds, limits.seconds),
        dump=(), sanitize=tools or spec.sanitize, leak_check=spec.leak_check or "no", threads=1,
        device_rules_only=program.device_rules_only or spec.device_rules_only,
    )  # fmt: skip
    runner = Runner([program.ptx], [program.name], spec, folder)
    runner.context.arena.limit = limits.memory << 20
    outcome = carry_out(runner)
    word, said = verdict(outcome)
    arrays = [
        {"name": b.name, "type": b.type, "shape": list(b.before.shape), "changed": b.changed, "values": preview(b)}
        for b in outcome.buffers.values()
        if b.after is not None
    ]
    return {
        "what": describe_launches(runner.trail), "verdict": word, "said": said, "arrays": arrays, "findings": as_json(outcome.findings),
        "line": spec.line,
    }  # fmt: skip


JOBS: dict[str, Callable[..., Answer]] = {
    "check": checked, "complete": completed, "hover": told, "opcode": opcode, "run": ran, "sanitize": sanitized, "record": recorded, "profile": profiled,
}  # fmt: skip
