"""`warplab sanitize`: launches a program as `warplab run` does, under checkers, and prints what they find."""

from __future__ import annotations

from typing import Any

import click

from .errors import ExitCode
from .files import SOURCE, InputFile, print_json
from .launching import LAUNCH_OPTIONS, folder_of, reported, runs_of, with_options


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@click.option("--tool", type=click.Choice(["memcheck", "initcheck", "synccheck", "all"]), default="all", help="What to look for (all).")
@with_options(LAUNCH_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Prints the findings as JSON.")
@click.pass_context
def sanitize(ctx: click.Context, /, files: tuple[InputFile, ...], tool: str, as_json: bool, **options: Any) -> None:
    """Runs a program under checkers: memory, unset values, synchronisation.

    Launches are given as for `warplab run`. Exit codes: 0 nothing was found, 1 an error was found.
    """
    from warplab.interpreter.checkers.findings import TOOLS, Finding

    from ..reports import findings as reports
    from ..run.sanitize import explained, sanitized

    found: list[Finding] = []
    code = 0
    with reported(ctx):
        specs = runs_of(files, options)
        if not specs:
            raise click.UsageError("nothing says how to launch this file: give --grid, --block and --arg, or a //@ run comment", ctx)
        for spec in specs:
            folder = folder_of(files)
            whole = [*files, *(SOURCE.convert(str(folder / m), None, None) for m in spec.modules)]
            tools = TOOLS if tool == "all" else (tool,)
            _, outcome, findings = sanitized([f.data for f in whole], [f.name for f in whole], spec, folder, tools)
            found += findings.all
            if any(f.severity == "error" for f in findings.all):
                code = max(code, ExitCode.CHECK_FAILED)
            if not explained(outcome, tools):
                click.echo(f"error: {outcome.failure}", err=True)
                code = max(code, outcome.code)
    if as_json:
        print_json(reports.as_json(found))
    else:
        click.echo(reports.as_text(found))
    ctx.exit(code)
