"""One test case to one Result: whether it passed, and if not what a person needs to see."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..device.loading import parsed
from ..errors import UsageError
from .collect import Broken, Case, Failed, Tool, cases_of
from .directives import RunCheck
from .runs import carry_out_run
from .tools import carry_out_tool
from .verdicts import compare_verdicts

AHEAD = 64  # tests whose texts are read before the first of them runs,
SMALL = 1 << 14  # if they have no more bytes than this: nobody should wait for the first result


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
