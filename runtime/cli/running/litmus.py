"""`warplab litmus`: which outcomes the memory model allows for a small program, and which of them are seen."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ExitCode
from ..files import print_json


@click.command()
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path())
@click.option("-k", "keyword", default="", metavar="TEXT", help="Only tests whose name contains TEXT.")
@click.option(
    "--schedules", type=click.IntRange(0), default=100, show_default=True, metavar="N", help="Seeds that run beside the default order."
)
@click.option("--explain", is_flag=True, help="Says why: the cycle that forbids an outcome, or an execution that has it.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Draws the explanation of one condition.")
@click.option("--json", "as_json", is_flag=True, help="Prints JSON.")
@click.pass_context
def litmus(
    ctx: click.Context, paths: tuple[str, ...], keyword: str, schedules: int, explain: bool, svg: Path | None, as_json: bool
) -> None:
    """Enumerates the outcomes of small programs that the PTX memory model allows, and says which of them are seen.

    A FILE is a .litmus file in herd's format, or PTX with `//@ run` comments that launch it, and behind each of them conditions such as
    `//@ forbids r0=1 r1=0` or `//@ allows r0=1 r1=1`; a folder stands for all in it. Exit codes: 0 all conditions hold, 1 one does not.
    """
    from ...golden import collect
    from ...golden.collect import Broken
    from ...golden.directives import RunCheck
    from ...litmus import report
    from ...litmus.herd import report as herd
    from ...litmus.herd.judge import judge_herd
    from ...litmus.herd.program import HerdTest
    from ...litmus.judge import judge

    reports = []
    pictures: list[str] = []
    explain = explain or svg is not None
    passed = True
    cases = collect(paths, keyword)
    for case in cases:
        if isinstance(case.what, Broken):
            raise click.UsageError(f"{case.path}: {case.what.message}", ctx)
    tests = [(case, case.what) for case in cases if isinstance(case.what, RunCheck | HerdTest)]
    if any(isinstance(test, HerdTest) or test.conditions for _, test in tests):
        tests = [(case, test) for case, test in tests if isinstance(test, HerdTest) or test.conditions]
    if not tests:
        raise click.UsageError("there is no litmus test: write //@ run and //@ allows or //@ forbids lines", ctx)
    for case, test in tests:
        file = case.path.as_posix()
        if isinstance(test, HerdTest):
            allowed = judge_herd(test, explain=explain)
            passed = passed and allowed.passed
            text, values = herd.as_text(file, allowed), herd.as_json(file, allowed)
            pictures += herd.pictures(allowed)
        else:
            found = judge([case.text], [str(case.path)], test.spec, case.path.parent, test.conditions, schedules, explain)
            passed = passed and found.passed
            text, values = report.as_text(f"{file}:{case.line}", found), report.as_json(file, case.line, found)
            pictures += report.pictures(file, found)
        reports.append(values)
        if not as_json:
            click.echo(text)
    if as_json:
        print_json(reports)
    if svg is not None:
        if len(pictures) != 1:
            raise click.UsageError(
                f"--svg draws the explanation of one condition, and there are {len(pictures)}: choose a test with -k", ctx
            )
        svg.write_text(pictures[0], encoding="utf-8")
    ctx.exit(ExitCode.OK if passed else ExitCode.CHECK_FAILED)
