"""One test case to one Result: whether it passed, and if not what a person needs to see."""

from __future__ import annotations

import contextlib
import gc
import io
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from ..device.loading import parsed
from ..errors import ApiError, UsageError
from ..run.runner import Outcome, Runner, describe_launches
from .collect import Broken, Case, Tool, cases_of
from .directives import RunCheck, Verdict
from .filecheck import Check, checks_of, match, without_checks
from .metrics import check_metric, measure
from .record import compare, recorded, rewrite

AHEAD = 64  # tests whose texts are read before the first of them runs,
SMALL = 1 << 14  # if they have no more bytes than this: nobody should wait for the first result
Ran = tuple[Runner, Outcome, dict[str, float], str]  # and what was printed


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a case."""

    id: str
    path: str
    line: int
    passed: bool
    seconds: float
    message: str = ""
    updated: bool = False


class Failed(Exception):
    """The case does not hold; the text says why."""


def run_all(cases: Sequence[Case], update: bool = False, gpu: bool = False) -> Iterator[Result]:
    """Carries out cases in order.

    The texts of some are read before these are run: a processor whose caches hold the assembler reads the next text in less time than one
    that has to fetch it anew, behind all that a launch needs.
    """
    with few_collections():
        for start in range(0, len(cases), AHEAD):
            some = cases[start : start + AHEAD]
            spent = {} if update or gpu else _read_ahead(some)
            for case in some:
                r = run_case(case, update, gpu)
                yield replace(r, seconds=r.seconds + spent.pop(case.text)) if case.text in spent else r


def _read_ahead(cases: Sequence[Case]) -> dict[bytes, float]:
    """Parses and checks the texts of runs; the seconds that each took.  What is wrong with a text is told when its test runs."""
    spent: dict[bytes, float] = {}
    for case in cases:
        if isinstance(case.what, RunCheck) and len(case.text) <= SMALL and case.text not in spent:
            start = time.perf_counter()
            with contextlib.suppress(Exception):
                parsed(case.text, str(case.path))
            spent[case.text] = time.perf_counter() - start
    return spent


def run_case(case: Case, update: bool = False, gpu: bool = False) -> Result:
    """Carries out one case; no failure of a case raises."""
    if gpu and isinstance(case.what, RunCheck):
        from .gpu import in_child

        return in_child(case, update)
    return carry_out(case, update, False)


def carry_out(case: Case, update: bool, gpu: bool) -> Result:
    """Carries out one case in this process."""
    start = time.perf_counter()
    message, updated = "", False
    try:
        if update:  # a test before this one may have rewritten the file
            case = next((c for c in cases_of(case.path) if c.name == case.name), case)
        match case.what:
            case Broken(text):
                raise Failed(text)
            case RunCheck() as check:
                updated = _run(case, check, update, gpu)
            case Tool() as tool:
                updated = _tool(case, tool, update)
            case verdicts:
                updated = _verdicts(case, verdicts, update)
    except (Failed, UsageError) as e:
        message = str(e)
    except Exception as e:  # a fault of warplab itself must not end the other tests
        message = f"internal error: {type(e).__name__}: {e}"
    return Result(case.id, str(case.path), case.line, not message, time.perf_counter() - start, message, updated)


# ---------------------------------------------------------------- runs


class Captured(io.TextIOWrapper):
    """Standard output or error for a while, bytes included."""

    def __init__(self) -> None:
        self.raw_bytes = io.BytesIO()
        super().__init__(self.raw_bytes, "utf-8", "surrogateescape", "", write_through=True)

    def text(self) -> str:
        """All that was written."""
        return self.raw_bytes.getvalue().decode(errors="replace")


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """The garbage collector leaves alone what was there before: many small tests make and drop much, and what is loaded stays."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextlib.contextmanager
def captured(data: bytes | None = None) -> Iterator[tuple[Captured, Captured]]:
    """What is written to standard output and error inside; `data` stands on standard input."""
    out, err = Captured(), Captured()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    if data is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape")
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def _run(case: Case, check: RunCheck, update: bool, gpu: bool) -> bool:
    folder = case.path.parent
    try:
        extra = [(folder / m).read_bytes() for m in check.spec.modules]
    except OSError as e:
        raise Failed(f"module: {e}") from None
    texts, names = [case.text, *extra], [str(case.path), *(str(folder / m) for m in check.spec.modules)]
    runner, outcome, values, printed = (_on_device if gpu else _on_model)(texts, names, check, folder)
    problems = _problems(runner, outcome, replace(check, prints=None) if update else check, printed)
    if not gpu:
        problems += [p for m in check.metrics if (p := check_metric(m, values))]
    if problems:
        raise Failed("\n".join([describe_launches(runner.trail), *problems]))
    if outcome.failure:
        return False
    if update:
        return rewrite(case.path, check, outcome, printed)
    if wrong := compare(case.path, check, outcome, recorded(case.path) if case.recorded else {}):
        raise Failed("\n".join([describe_launches(runner.trail), *wrong]))
    return False


def _on_model(texts: list[bytes], names: list[str], check: RunCheck, folder: Path) -> Ran:
    with captured() as (out, _):
        try:
            runner = Runner(texts, names, check.spec, folder)
            outcome, values = _measured(runner, bool(check.metrics))
            runner.close()
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


def _measured(runner: Runner, wanted: bool) -> tuple[Outcome, dict[str, float]]:
    if not wanted:
        return runner.run(), {}
    from ..profiler import profiling

    with profiling() as seen:
        outcome = runner.run()
    return outcome, measure(seen.launches)


def _problems(runner: Runner, outcome: Outcome, check: RunCheck, printed: str) -> list[str]:
    if check.faults:
        if not outcome.failure:
            return [f"ended well; a fault with {check.faults[0]!r} was expected"]
        report = f"{outcome.failure}\n{outcome.error}\n{getattr(outcome.cause, 'kind', type(outcome.cause).__name__)}"
        return [f"the fault does not say {t!r}:\n{outcome.failure}" for t in check.faults if t.lower() not in report.lower()]
    if outcome.failure:
        return [outcome.failure]
    out = []
    for m in outcome.mismatches:
        where = f"{m.name or 'element'}{list(m.index)}" if m.index else "the value"
        out.append(f"{m.text}\n  {m.wrong} of {m.total} differ; first {where}: got {m.got}, wanted {m.wanted}")
    if check.prints is not None and printed != check.prints:
        diff = unified_diff(check.prints.splitlines(), printed.splitlines(), "wanted", "printed", lineterm="", n=1)
        out.append("\n".join(diff) or "the output differs at the end of its last line")
    return out


# ---------------------------------------------------------------- verdicts of the assembler


def _verdicts(case: Case, verdicts: tuple[Verdict, ...], update: bool) -> bool:
    from warplab.assembler import check

    found = check(case.text.decode("utf-8", "surrogateescape"))
    left = [d for d in found if d.severity == "error" or any(v.severity == "warning" for v in verdicts)]
    problems, missing = [], []
    for v in verdicts:
        for d in left:
            if d.severity == v.severity and d.span.line == v.line and v.code in ("", d.code) and v.text.lower() in d.message.lower():
                left.remove(d)
                break
        else:
            wanted = f"{v.severity}{f'[{v.code}]' if v.code else ''}{f' {v.text!r}' if v.text else ''}"
            at = "; there ".join(f"{d.severity}[{d.code}]: {d.message}" for d in found if d.span.line == v.line)
            problems.append(f"line {v.line}: no {wanted}" + (f"; there is {at}" if at else ""))
            missing.append(v)
    text = case.text.decode(errors="replace")
    new = [d for d in left if d.severity == "error"]
    problems += [f"not expected:\n{d.render(text, str(case.path))}" for d in new]
    if problems and not update:
        raise Failed("\n".join(problems))
    if problems:
        from .update import rewrite_verdicts

        rewrite_verdicts(case.path, missing, new)
    return bool(problems)


# ---------------------------------------------------------------- tools


_FILECHECK = re.compile(r"^(?P<command>.*?)(?:\|\s*(?:filecheck|FileCheck)\b(?P<options>.*))?$")


def _tool(case: Case, tool: Tool, update: bool) -> bool:
    m = _FILECHECK.match(tool.words)
    assert m is not None
    try:
        words = [w.replace("%s", str(case.path)) for w in shlex.split(m["command"])]
        options = shlex.split(m["options"] or "")
    except ValueError as e:
        raise Failed(f"line {tool.line}: RUN: {e}") from None
    prefix = _prefix(options)
    fails = words[:1] == ["not"]
    words = words[fails:]
    if words[:1] != ["warplab"] or words[1:2] == ["test"]:
        raise Failed(f"line {tool.line}: RUN: only `warplab COMMAND ...` can be run, with `not` in front where it should fail")
    data = b""
    if "<" in words[:-1]:  # standard input, as in `warplab fmt - < %s`
        at = words.index("<")
        try:
            data = Path(words[at + 1]).read_bytes()
        except OSError as e:
            raise Failed(f"line {tool.line}: RUN: {words[at + 1]}: {e.strerror}") from None
        words = words[:at] + words[at + 2 :]
    before = case.path.read_bytes()
    code, output, errors = call(words[1:], data)
    if case.path.read_bytes() != before:
        case.path.write_bytes(before)
        raise Failed(f"line {tool.line}: RUN: {shlex.join(words)} changes the test itself: write `warplab fmt - < %s`")
    if fails != (code != 0):
        raise Failed(f"{shlex.join(words)}\nended with exit code {code}\n{(errors or output).rstrip()}")
    checks = checks_of(case.text.decode(errors="replace"), prefix)
    text = without_checks(output + errors if fails or "2>&1" in words else output)
    if update:
        return _record(case, prefix, checks, text)
    try:
        failure = match(checks, text)
    except re.error as e:
        raise Failed(f"a {prefix} line holds no regular expression that can be read: {e}") from None
    if failure is not None:
        lines = text.splitlines()
        around = range(max(1, failure.output_line - 2), min(len(lines), failure.output_line + 4) + 1)
        shown = "\n".join(f"  {'>' if n == failure.output_line else ' '} {n:4} | {lines[n - 1]}" for n in around)
        kind = f"{prefix}-{failure.check.kind}" if failure.check.kind else prefix
        raise Failed(f"{case.path}:{failure.check.line}: {kind}: {failure.check.pattern}\n  {failure.reason}; the output there:\n{shown}")
    return False


def _prefix(options: list[str]) -> str:
    return next((o.partition("=")[2] for o in options if o.startswith("--check-prefix=")), "CHECK")


def _record(case: Case, prefix: str, checks: list[Check], text: str) -> bool:
    """Writes the output down where there are no CHECK lines yet, or where they repeated it as a whole."""
    from .update import is_recorded, record_checks

    if checks and match(checks, text) is None:
        return False
    others = [c.what.words for c in cases_of(case.path) if isinstance(c.what, Tool)]
    if sum(_prefix((m["options"] or "").split()) == prefix for o in others if (m := _FILECHECK.match(o))) > 1:
        raise Failed(f"several RUN lines share the {prefix} lines: give each its own with | filecheck --check-prefix=NAME")
    if not is_recorded(checks):
        raise Failed(f"the {prefix} lines do not hold, and were written by hand: change them there, or take them out and record all")
    record_checks(case.path, prefix, checks, text)
    return True


def call(words: list[str], data: bytes = b"") -> tuple[int, str, str]:
    """A command of warplab in this process, with data on standard input: exit code, standard output, standard error."""
    from ..cli import main

    code = 0
    with captured(data) as (out, err):
        try:
            main([w for w in words if w != "2>&1"], prog_name="warplab")
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 1 if e.code else 0
    return code, out.text(), err.text()
