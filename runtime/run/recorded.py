"""A run whose launches are recorded; what the limit leaves out of a recording and turns out to matter is recorded by running once more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.checkers.findings import Finding
from warplab.interpreter.faults import Fault
from warplab.interpreter.recorder.recorder import LIMIT
from warplab.interpreter.recorder.track import RecordedEvent

from ..device.output import quiet
from ..errors import UsageError
from ..recording import Recording, recording
from .expect import Mismatch
from .outcome import Outcome
from .runner import Runner
from .watchpoint import last_writer


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run, and a recording of each of its launches."""

    runner: Runner
    outcome: Outcome
    launches: tuple[Recording, ...]

    def chosen(self, number: int | None = None) -> Recording:
        """A launch by its number, from 1 on; without one, that which ended early, else the last one."""
        if not self.launches:
            raise UsageError(self.outcome.failure or "the run launches nothing")
        if number is not None:
            if not 1 <= number <= len(self.launches):
                raise UsageError(f"there is no launch {number}; the run has {len(self.launches)}")
            return self.launches[number - 1]
        return next((r for r in self.launches if r.track.ended), self.launches[-1])


def record(runner: Runner, limit: int = LIMIT, blocks: Collection[int] | None = None) -> RecordedRun:
    """Carries a run out, recorded; `blocks`: only these, by their places in the grid, x first."""
    out = _once(runner, limit, blocks)
    if blocks is not None or not any(r.track.kept_blocks is not None for r in out.launches):
        return out
    matters = _matters(out)
    if matters is None or out.chosen().is_recorded(out.chosen().block(matters)):
        return out
    with quiet():
        again = _once(_again(runner), limit, [matters])
    return replace(out, launches=again.launches)


def record_block(runner: Runner, f: Finding) -> Recording | None:
    """The block of a finding, recorded in the launch where it came, by carrying out a run again that was carried out; None where it shows no more."""
    grids = [shape.grid for handle, shape in runner.trail if handle.kernel.name == f.kernel]
    if f.block is None or not grids:
        return None
    spec = runner.spec if f.schedule is None else replace(runner.spec, schedule=f.schedule, schedules=None)
    wanted = {f.block[0] + grid[0] * (f.block[1] + grid[1] * f.block[2]) for grid in grids}
    with quiet():
        made = _once(Runner(runner.texts, runner.names, spec, runner.folder), LIMIT, wanted)
    there = [rec for rec in made.launches if place_of(rec, f) is not None]
    return next((rec for rec in there if rec.track.ended), there[0]) if there else None


def _once(runner: Runner, limit: int, blocks: Collection[int] | None) -> RecordedRun:
    with recording(limit, blocks) as made:
        outcome = runner.run()
    for rec in made.launches:
        for finding in outcome.findings:
            place = place_of(rec, finding)
            if place is not None:
                _enter(rec, f"{finding.tool}: {finding.message}", *place)
    _leave_unset(made.launches, outcome)
    for mismatch in outcome.mismatches:
        _expected(made.launches, mismatch)
    return RecordedRun(runner, outcome, tuple(made.launches))


def _leave_unset(launches: Sequence[Recording], outcome: Outcome) -> None:
    """Enters which bytes of outputs no launch had written before each one."""
    unset = {b.address: np.ones(b.before.nbytes, np.bool_) for b in outcome.buffers.values() if b.poisoned and b.texels is None}
    for rec in launches:
        changes = rec.bytes.changes["global"]
        for address, mask in unset.items():
            rec.track.unset += _runs(mask, address)
            near = np.flatnonzero((changes.address < address + mask.size) & (changes.address + changes.size > address))
            for size in np.unique(changes.size[near]).tolist():
                at = changes.address[near[changes.size[near] == size]] - address
                mask[np.clip((at[:, None] + np.arange(size)).ravel(), 0, mask.size - 1)] = False


def _runs(mask: NDArray[np.bool_], address: int) -> list[tuple[int, int]]:
    """Where a mask holds: the addresses and sizes of its runs."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(address + int(start), int(end - start)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def place_of(rec: Recording, f: Finding) -> tuple[int, int] | None:
    """The step and the lane of what a checker has found: the last time that its thread executes its line."""
    if f.kernel != rec.track.kernel or f.block is None or f.thread is None or f.line is None:
        return None
    lane = rec.lane(f.block, f.thread)
    wanted = np.array([i.line == f.line for i in rec.track.instructions], np.bool_)
    own = np.intersect1d(rec.columns.steps_of(wanted), rec.steps(lane))
    return (int(own[-1]), lane) if own.size else None


def _expected(launches: Sequence[Recording], m: Mismatch) -> None:
    """Enters an expectation that does not hold: where the first wrong element was written last, or else at the end."""
    text = f"expect {m.text}: {m}"
    for rec in reversed(launches):
        if not m.index or all(o.name != m.name for o in rec.track.objects):
            continue
        try:
            last = rec.last_write(rec.cell(m.name, m.index), 0, rec.step_count + 1)
        except UsageError:  # the launch has it in another shape
            continue
        if last is not None and last[0] < rec.step_count:
            _enter(rec, text, *last)
            return
    ended = [rec for rec in launches if rec.step_count]
    if ended:
        rec = ended[-1]
        _enter(rec, text, rec.step_count - 1, int(rec.at(rec.step_count - 1).lanes[0]))


def _enter(rec: Recording, text: str, step: int, lane: int) -> None:
    """Enters what was found as an event."""
    execution, k = rec.columns.place(step)
    lanes = rec.columns.lanes_of(execution)
    mask = (lanes.numbers == lane).reshape(lanes.shape)
    rec.track.events.append(RecordedEvent(execution, k, "finding", text, rec.track.lanes_of[execution], mask))


def _again(runner: Runner) -> Runner:
    return Runner(runner.texts, runner.names, runner.spec, runner.folder)


def _matters(run: RecordedRun) -> int | None:
    """The block that faults, of the first finding, or that wrote the first wrong element, by its place in the grid."""
    cause = run.outcome.cause
    at = cause.block if isinstance(cause, Fault) else next((f.block for f in run.outcome.errors if f.block is not None), None)
    if at is None and run.outcome.mismatches and run.outcome.mismatches[0].index is not None:
        wrong = run.outcome.mismatches[0]
        b = run.outcome.buffers.get(wrong.name)
        if b is not None and b.texels is None and wrong.index is not None:
            writer = last_writer(_again(run.runner), wrong.name, wrong.index)
            at = None if writer is None else writer.block
    if at is None:
        return None
    x, y, _ = run.chosen().track.grid
    return at[0] + x * (at[1] + y * at[2])
