"""One test on one submission, in this process.  Whoever calls it sees to time and memory: worker.py under supervise.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from warplab.interpreter.checkers.findings import as_text
from warplab.interpreter.memory.arena import OutOfMemory
from warplab.interpreter.profiler.metrics import CYCLES

from ..errors import ApiError, UsageError
from ..golden.metrics import check_metric, measured
from ..golden.output import captured
from ..run.outcome import DOUBTFUL, Outcome
from ..run.runner import Runner
from ..run.runspec import RunSpec
from .compiling import BuiltFile
from .lab import Lab, LabTest, Submission

POISON = 1  # the seed of what registers and memory hold that the submission never writes: on a GPU no zeros, either
NOTHING: Mapping[str, BuiltFile] = {}
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def judge(
    lab: Lab, test: LabTest, submission: Submission, built: Mapping[str, BuiltFile] = NOTHING, times: list[float] | None = None
) -> str:
    """What is wrong; nothing where the test passes.  `built`: what was made of its files in CUDA C++.

    `times` gets the predicted cycles of each run, where the test has points for speed.
    """
    name = submission.named(test.file)
    data = submission.files.get(name)
    if data is None:
        return f"{test.file or 'a .ptx or .cu file'} is missing in the submission (symbolic links are not accepted)"
    if len(data) > lab.limits.source << 10:
        return f"{name} is larger than {lab.limits.source} KiB"
    code = _COMMENT.sub(" ", data.decode(errors="replace"))
    for pattern in test.require:
        if not re.search(pattern, code):
            return f"{name} has nothing that matches {pattern!r}"
    for pattern in test.forbid:
        if found := re.search(pattern, code):
            return f"{name} has {found[0].strip()!r}, which this test does not allow"
    made = built.get(name)
    if made is not None and made.wrong:
        return made.wrong
    if made is not None:
        data = made.ptx
    if not test.runs:
        return _assembles(data, name)
    if test.warnings and (doubts := _warnings(data, name)):
        return doubts
    for number, given in enumerate(test.runs, 1):
        spec = given if made is None or made.on(given) else replace(given, device_rules_only=True)
        where = f"run {number} of {len(test.runs)}: " if len(test.runs) > 1 else ""
        if wrong := _run(lab, test, spec, data, name, times if test.speed else None):
            return where + wrong
        if test.sanitize and (wrong := _run(lab, replace(test, metrics=()), replace(spec, sanitize=test.sanitize), data, name)):
            return where + wrong
        for seed in range(1, test.orders) if spec.schedule is None else ():
            if wrong := _run(lab, replace(test, metrics=()), replace(spec, schedule=seed), data, name):
                return f"{where}in another order of warps and lanes, --schedule {seed}: {wrong}"
    return ""


def _warnings(data: bytes, name: str) -> str:
    """What is legal and will hardly do on a GPU."""
    from warplab.assembler import check

    text = data.decode("utf-8", "surrogateescape")
    return "\n\n".join(d.render(text, name) for d in check(text, None, name, DOUBTFUL) if d.code in DOUBTFUL)


def _assembles(data: bytes, name: str) -> str:
    from warplab.assembler import check

    text = data.decode("utf-8", "surrogateescape")
    shown = text.encode(errors="replace").decode()
    return "\n\n".join(d.render(shown, name) for d in check(text) if d.severity == "error")


def _run(lab: Lab, test: LabTest, spec: RunSpec, data: bytes, name: str, times: list[float] | None = None) -> str:
    own = [lab.folder / m for m in (*test.modules, *spec.modules)]
    spec = replace(
        spec, max_steps=min(spec.max_steps or lab.limits.steps, lab.limits.steps), timeout=min(spec.timeout or 1e9, lab.limits.seconds),
        show=(), dump=(), poison=POISON if spec.poison is None else spec.poison,
    )  # fmt: skip
    with captured() as (out, _):
        try:
            # Only the lab's own text names files; the submission is bytes that are parsed and run.
            runner = Runner([data, *(m.read_bytes() for m in own)], [name, *(m.name for m in own)], spec, lab.folder)
            runner.context.arena.limit = lab.limits.memory << 20
            outcome, values = measured(runner, test.metrics if times is None else (*test.metrics, CYCLES))
        except ApiError as e:
            return e.message or e.name
        except UsageError as e:
            return str(e)
        except OutOfMemory:
            return f"needs more than the {lab.limits.memory} MiB of memory that the device has"
    if wrong := _outcome(test, outcome):
        return wrong
    if outcome.errors:
        return as_text(outcome.errors)
    if test.prints is not None and out.text() != test.prints:
        return f"printed {out.text()[:500]!r}, expected {test.prints!r}"
    if times is not None:
        times.append(values.get(CYCLES, 0.0))
    try:
        return "\n".join(m for text in test.metrics if (m := check_metric(text, values)))
    except UsageError as e:
        return str(e)


def _outcome(test: LabTest, outcome: Outcome) -> str:
    if test.fault:
        if not outcome.failure:
            return f"ended well; a fault with {test.fault!r} was expected"
        return "" if test.fault.lower() in f"{outcome.failure} {outcome.error}".lower() else outcome.failure
    if outcome.failure:
        return outcome.failure
    for b in outcome.buffers.values():
        if b.way in ("", "in") and b.changed:
            # Expectations speak of the inputs as they are: a kernel that overwrites them could make any of them true.
            return f"the kernel changed {b.name}, which is an input"
    lines = []
    for m in outcome.mismatches:
        lines.append(f"{m.text}\n  {m}")
        left = outcome.buffers[m.name].unwritten if m.name in outcome.buffers else None
        if left is not None and m.index and left[m.index]:
            lines.append(f"  no thread wrote {m.place}; {int(left.sum())} of {left.size} elements of {m.name} were never written")
    return "\n".join(lines)
