"""One test case to one Result: whether it passed, and if not what a person needs to see."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from ..errors import UsageError
from ..litmus.herd.judge import judge_herd
from ..litmus.herd.program import HerdTest
from ..litmus.herd.report import as_text as herd_text
from .collect import Broken, Case, Failed, Tool, cases_of
from .directives import RunCheck
from .features import expectation
from .runs import carry_out_run
from .tools import carry_out_tool
from .verdicts import compare_verdicts


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
    outcome: str = ""  # "skipped" or "xfailed", which count as passed; `message` says why
    output: str = ""  # all that the tool of a failed RUN line printed


def run_case(case: Case, update: bool = False, gpu: bool = False) -> Result:
    """Carries out one case; no failure of a case raises."""
    try:
        wanted = expectation(case.text.decode(errors="replace"), gpu)
    except UsageError as e:
        return Result(case.id, str(case.path), case.line, False, 0.0, str(e))
    if wanted.skipped:
        return Result(case.id, str(case.path), case.line, True, 0.0, wanted.skipped, outcome="skipped")
    found = _carry_out(case, update and not wanted.fails, gpu)
    if not wanted.fails:
        return found
    if found.passed:
        return replace(found, passed=False, message=f"{wanted.fails}: it was expected to fail, and passed")
    return replace(found, passed=True, outcome="xfailed", message=wanted.fails)


def _carry_out(case: Case, update: bool, gpu: bool) -> Result:
    if gpu and isinstance(case.what, RunCheck):
        return _in_child(case, update)
    return carry_out(case, update, False)


def _in_child(case: Case, update: bool) -> Result:
    """One case in a process of its own: a fault spoils a device for the rest of the process that met it."""
    import multiprocessing  # here, since few runs use a device
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    start = time.perf_counter()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            return pool.submit(carry_out, case, update, True).result()
        except BrokenProcessPool:
            message = "the process that used the device crashed"
            return Result(case.id, str(case.path), case.line, False, time.perf_counter() - start, message)


def carry_out(case: Case, update: bool, gpu: bool) -> Result:
    """Carries out one case in this process."""
    start = time.perf_counter()
    message, updated, output = "", False, ""
    try:
        if update:  # a test before this one may have rewritten the file
            case = next((c for c in cases_of(case.path) if c.name == case.name), case)
        match case.what:
            case Broken(text):
                raise Failed(text)
            case RunCheck() as check:
                updated = carry_out_run(case, check, update, gpu)
            case HerdTest() as test:
                if not (found := judge_herd(test)).passed:
                    raise Failed(herd_text(f"{case.path.as_posix()}:{case.line}", found))
            case Tool() as tool:
                updated = carry_out_tool(case, tool, update)
            case verdicts:
                updated = compare_verdicts(case, verdicts, update)
    except (Failed, UsageError) as e:
        message, output = str(e), getattr(e, "output", "")
    except Exception as e:  # a fault of warplab itself must not end the other tests
        message = f"internal error: {type(e).__name__}: {e}"
    return Result(case.id, str(case.path), case.line, not message, time.perf_counter() - start, message, updated, output=output)
