"""Runs under test: on the model or on a device, and what of the outcome is not as the directives say."""

from __future__ import annotations

import shlex
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

from warplab.interpreter.checkers.findings import as_text
from warplab.interpreter.faults import Fault

from ..device.described import target_of
from ..errors import ApiError
from ..litmus.judge import judge
from ..litmus.report import as_text as litmus_text
from ..run.outcome import Outcome, describe_launches
from ..run.runner import Runner
from ..run.schedules import in_orders
from ..sources import DEFAULT_DEVICE, InputFile, program_of
from .collect import Case, Failed
from .directives import RunCheck
from .metrics import check_metric, measured
from .output import captured
from .record import compare, recorded, rewrite

LITMUS_SEEDS = 20  # of a litmus test that names no number
Ran = tuple[Runner, Outcome, dict[str, float], str]  # and what was printed


def _programs(case: Case, check: RunCheck) -> tuple[list[InputFile], RunCheck]:
    """The file of a case and the modules of its run; code that was compiled for a newer device, as the compiler has no older target, runs, too."""
    folder = case.path.parent
    device = target_of(check.spec.device or DEFAULT_DEVICE)
    try:
        given = [(case.path, case.text), *((folder / m, (folder / m).read_bytes()) for m in check.spec.modules)]
        programs = [program_of(str(path), text, device) for path, text in given]
    except OSError as e:
        raise Failed(f"module: {e}") from None
    except ApiError as e:
        raise Failed(e.message) from None
    if any(p.too_new for p in programs):
        check = replace(check, spec=replace(check.spec, device_rules_only=True))
    return programs, check


def carry_out_run(case: Case, check: RunCheck, update: bool, gpu: bool) -> bool:
    """Runs a file on the model, or on a device, and holds the outcome against its directives; True where a record was rewritten."""
    folder = case.path.parent
    programs, check = _programs(case, check)
    texts, names = [p.data for p in programs], [p.name for p in programs]
    runner, outcome, values, printed = (_on_device if gpu else _on_model)(texts, names, check, folder)
    try:
        problems = _problems(runner, outcome, replace(check, prints=None) if update else check, printed)
        if not gpu and not problems:
            problems += _in_other_orders(texts, names, check, folder, runner, outcome)
    finally:
        if not gpu:
            runner.close()  # not before the orders were compared in its variables, too
    if not gpu:
        problems += [p for m in check.metrics if (p := check_metric(m, values))]
    if problems:
        raise Failed("\n".join([describe_launches(runner.trail), *problems, *_opening(case, check, runner, outcome)]))
    if outcome.failure:
        return False
    if update:
        return rewrite(case.path, check, outcome, printed)
    if wrong := compare(case.path, check, outcome, recorded(case.path)):
        first = next((w.element for w in wrong if w.element), "")
        raise Failed("\n".join([describe_launches(runner.trail), *[w.text for w in wrong], *_opening(case, check, runner, outcome, first)]))
    return False


def _opening(case: Case, check: RunCheck, runner: Runner, outcome: Outcome, element: str = "") -> list[str]:
    """The command that opens the launch where the first wrong element was written, or where it ended early; none where there is no such place."""
    if outcome.failure:
        commands = ["catch fault", "run"] if isinstance(outcome.cause, Fault) else ["goto end"]
    else:
        wrong = next((m for m in outcome.mismatches if m.name and m.index), None)
        element = element or ("" if wrong is None else wrong.name + "".join(f"[{n}]" for n in wrong.index or ()))
        commands = [f"goto {element}"] if element else []
    if not commands or not runner.trail:
        return []
    words = ["warplab", "debug", str(case.path), "--run", str(check.number)]
    words += ["--fmad", check.spec.fmad] if check.spec.fmad else []
    return [f"debug it: {shlex.join([*words, *[w for c in commands for w in ('-ex', c)]])}"]


def _in_other_orders(texts: list[bytes], names: list[str], check: RunCheck, folder: Path, runner: Runner, outcome: Outcome) -> list[str]:
    """What is wrong in other orders, or with all that the memory model allows."""
    if check.conditions:
        seeds = check.spec.schedules if isinstance(check.spec.schedules, int) else LITMUS_SEEDS
        found = judge(texts, names, check.spec, folder, check.conditions, seeds)
        return [] if found.passed else [litmus_text(f"line {check.spec.line}", found)]
    if check.spec.schedules:
        orders = in_orders(runner, outcome)
        return [str(orders)] if orders.is_fault else []
    return []


def _on_model(texts: list[bytes], names: list[str], check: RunCheck, folder: Path) -> Ran:
    with captured() as (out, _):
        try:
            spec = replace(check.spec, threads=check.spec.threads or 1)  # a program with races does the same each time
            runner = Runner(texts, names, spec, folder)
            outcome, values = measured(runner, check.metrics)
        except ApiError as e:
            raise Failed(e.message or e.name) from None
    return runner, outcome, values, out.text()


def _on_device(texts: list[bytes], names: list[str], check: RunCheck, folder: Path) -> Ran:
    from .gpu import DeviceOutput, GpuRunner

    with DeviceOutput() as out:
        try:
            runner = GpuRunner(texts, names, check.spec, folder)
            outcome = runner.run()
        except ApiError as e:
            raise Failed(e.message or e.name) from None
    return runner, outcome, {}, out.text()


def _problems(runner: Runner, outcome: Outcome, check: RunCheck, printed: str) -> list[str]:
    if check.faults:
        if not outcome.failure:
            return [f"ended well; a fault with {check.faults[0]!r} was expected"]
        report = f"{outcome.failure}\n{outcome.error}\n{getattr(outcome.cause, 'kind', type(outcome.cause).__name__)}"
        return [f"the fault does not say {t!r}:\n{outcome.failure}" for t in check.faults if t.lower() not in report.lower()]
    found = [as_text(outcome.findings)] if outcome.errors else []
    if outcome.failure:
        return [outcome.failure, *found]
    out = [*found, *[f"{m.text}\n  {m}" for m in outcome.mismatches]]
    if check.prints is not None and printed != check.prints:
        diff = unified_diff(check.prints.splitlines(), printed.splitlines(), "wanted", "printed", lineterm="", n=1)
        out.append("\n".join(diff) or "the output differs at the end of its last line")
    return out
