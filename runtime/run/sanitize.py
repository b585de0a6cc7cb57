"""Carries a RunSpec out under checkers, and gives what they found.  `warplab sanitize` stands on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from warplab.interpreter.checkers.checker import Checker
from warplab.interpreter.checkers.findings import Findings
from warplab.interpreter.checkers.initcheck import Initcheck
from warplab.interpreter.checkers.memcheck import KINDS, Memcheck
from warplab.interpreter.checkers.synccheck import Synccheck
from warplab.interpreter.faults import Deadlock, Fault

from .runner import Outcome, RunBuffer, Runner
from .runspec import RunSpec

CHECKERS: tuple[type[Checker], ...] = (Memcheck, Initcheck, Synccheck)
GAP = 128  # bytes between variables in shared memory: one element too many hits none of them
RUBBISH = 1  # the seed of what nobody has written, where the run names none


def sanitized(
    texts: Sequence[bytes], names: Sequence[str], spec: RunSpec, folder: Path | None, tools: Collection[str]
) -> tuple[Runner, Outcome, Findings]:
    """One run under the named tools: who carried it out, what came of it, what they found."""
    findings = Findings()
    checkers = [checker(findings) for checker in CHECKERS if checker.tool in tools]
    observers = [o for c in checkers for o in c.observers()]
    if spec.poison is None:
        spec = replace(spec, poison=RUBBISH)
    runner = Runner(texts, names, spec, folder, observers, GAP if "memcheck" in tools else 0)
    arena = runner.context.arena

    def made(b: RunBuffer) -> None:
        if b.poisoned:
            for c in checkers:
                c.unset(arena, b.address, b.before.nbytes)

    def written(address: int, size: int) -> None:
        for c in checkers:
            c.written(arena, address, size)

    runner.on_buffer, runner.on_write = made, written
    outcome = runner.run()
    if outcome.cause is not None:
        for c in checkers:
            c.failed(outcome.cause)
    for c in checkers:
        c.finish()
    return runner, outcome, findings


def explained(outcome: Outcome, tools: Collection[str]) -> bool:
    """Did a run end as it should, or with what one of the tools reports?  A limit or a trap is no finding."""
    if isinstance(outcome.cause, Fault):
        return "memcheck" in tools and outcome.cause.kind in KINDS
    if isinstance(outcome.cause, Deadlock):
        return "synccheck" in tools
    return not outcome.failure
