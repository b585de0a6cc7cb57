"""One test case to one Result: whether it passed, and if not what a person needs to see."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..errors import UsageError
from .collect import Broken, Case, Failed, Tool, cases_of
from .directives import RunCheck
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
                updated = carry_out_run(case, check, update, gpu)
            case Tool() as tool:
                updated = carry_out_tool(case, tool, update)
            case verdicts:
                updated = compare_verdicts(case, verdicts, update)
    except (Failed, UsageError) as e:
        message = str(e)
    except Exception as e:  # a fault of warplab itself must not end the other tests
        message = f"internal error: {type(e).__name__}: {e}"
    return Result(case.id, str(case.path), case.line, not message, time.perf_counter() - start, message, updated)
