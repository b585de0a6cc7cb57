"""`warplab test`: golden-output tests, the same ones that the pytest plugin collects."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from .. import files
from ..colours import paint
from ..errors import ExitCode

if TYPE_CHECKING:
    from ...golden import Case, Result


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path())
@click.option("-k", "keyword", default="", metavar="TEXT", help='Only tests whose name contains TEXT; "not TEXT" selects the others.')
@click.option("-n", "--jobs", type=click.IntRange(1), default=1, metavar="JOBS", help="The number of processes.")
@click.option(
    "--fmad",
    type=click.Choice(["none", "f64", "all"]),
    help="Which products and sums become one multiply-add, in tests without an own --fmad (default: all).",
)
@click.option(
    "--schedules", type=click.IntRange(1), metavar="N", help="Also N seeds for each run without a --schedule: all orders must pass."
)
@click.option("--update", is_flag=True, help="Rewrite recorded outputs in place, for review.")
@click.option("--gpu", is_flag=True, help="Run on a GPU, through cuda.bindings; budgets on counters are skipped.")
@click.option("--junit", type=click.Path(), metavar="FILE", help="Write a JUnit XML report.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--verbose", "-v", is_flag=True, help="List the tests that pass, too, and show the whole output of RUN lines that fail.")
@click.pass_context
def test(
    ctx: click.Context,
    paths: tuple[str, ...],
    keyword: str,
    jobs: int,
    fmad: str | None,
    schedules: int | None,
    update: bool,
    gpu: bool,
    junit: str | None,
    as_json: bool,
    verbose: bool,
) -> None:
    """Runs the tests that files of PTX and CUDA C++ contain.

    PATHs are .ptx or .cu files or folders. A file is a test where `//@ run`, `//@ error` or `// RUN:` comments state the expected result.
    """
    from ...golden import collect, report

    start = time.monotonic()
    cases = collect(paths, keyword)
    if not cases:
        raise click.UsageError(
            "there is no test: no .ptx or .cu here has //@ or // RUN: lines" + (f" and {keyword!r} in its name" if keyword else ""), ctx
        )
    if fmad is not None and update:
        raise click.UsageError("--update records what the tests say themselves: write --fmad into their //@ run", ctx)
    cases = [case.told(fmad, schedules) for case in cases]
    results: list[Result] = []
    for r in _results(cases, jobs, update, gpu):
        results.append(r)
        if as_json:
            continue
        if not r.passed:
            click.echo(paint(report.failure(r)))
            if verbose and r.output:
                click.echo(f"  the whole output:\n{r.output.rstrip()}")
        elif verbose or r.updated:
            word = "updated" if r.updated else r.outcome or "ok"
            click.echo(paint(f"{word:7} {r.id}  {r.message or f'{r.seconds * 1000:.0f} ms'}"))
    seconds = time.monotonic() - start
    if junit is not None:
        files.write(junit, report.as_junit(results, seconds))
    click.echo(report.as_json(results, seconds) if as_json else report.summary(results, seconds))
    ctx.exit(ExitCode.OK if all(r.passed for r in results) else ExitCode.CHECK_FAILED)


def _results(cases: list[Case], jobs: int, update: bool, gpu: bool) -> Iterator[Result]:
    from ...golden import run_case

    if jobs == 1 or len(cases) == 1:
        yield from (run_case(case, update, gpu) for case in cases)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    by_file: dict[str, list[Case]] = {}
    for case in cases:
        by_file.setdefault(str(case.path), []).append(case)
    work = [(group, update, gpu) for group in by_file.values()]
    # Tests of one file stay together: they may rewrite it, and its text is parsed once a process.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(min(jobs, len(work)), context) as pool:
        for batch in pool.map(_batch, work):
            yield from batch


def _batch(work: tuple[list[Case], bool, bool]) -> list[Result]:
    from ...golden import run_case

    group, update, gpu = work
    return [run_case(case, update, gpu) for case in group]
