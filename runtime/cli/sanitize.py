"""`warplab sanitize`: launches a program as `warplab run` does, under checkers, and prints what they find."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from warplab.interpreter.checkers.tools import NAMES

from .colours import paint
from .errors import ExitCode
from .files import SOURCE, InputFile, print_json
from .launching import runner_of, runs_of, with_options

if TYPE_CHECKING:
    from warplab.interpreter.checkers.findings import Finding

FORMATS = ("text", "json", "html", "sarif", "junit")


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@click.option("--tool", default="all", metavar="TOOL", help=f"The checkers: {NAMES}, several of them, or all.")
@with_options("launch", "orders", "findings")
@click.option("--json", "as_json", is_flag=True, help="Prints the findings as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="The form of the findings (default: text).")
@click.option(
    "--print-limit", type=click.IntRange(0), default=100, metavar="N", help="Text lists the first N findings (default: 100; 0: all)."
)
@click.pass_context
def sanitize(
    ctx: click.Context, /, files: tuple[InputFile, ...], tool: str, as_json: bool, form: str, print_limit: int, **options: Any
) -> None:
    """Runs a program under checkers: memory, uninitialised values, races, barriers.

    Launches are given as for `warplab run`. Exit codes: 0 nothing was found, 1 an error was found.
    """
    from warplab.interpreter.checkers.findings import as_json as findings_as_json

    from ..device.launches.sanitizing import tools_of
    from ..golden.output import captured
    from ..player.findings import PlayedFindings
    from ..reports.findings import rendered
    from ..run.schedules import Orders, in_orders, look_in_other_orders

    found: list[Finding] = []
    played = PlayedFindings()
    compared: list[Orders] = []
    code = 0
    tools = " ".join(tools_of(tool))
    specs = runs_of(files, options)
    if not specs:
        raise click.UsageError("nothing says how to launch this file: give --grid, --block and --arg, or a //@ run comment", ctx)
    for spec in specs:
        runner = runner_of(files, replace(spec, sanitize=tools))
        if as_json or form != "text":  # what the kernel prints is not a part of the report
            with captured() as (out, _):
                outcome = played.run(runner) if form == "html" else runner.run()
            click.echo(out.text(), nl=False, err=True)
        else:
            outcome = runner.run()
        look_in_other_orders(runner, outcome)
        found += outcome.findings
        if spec.schedules:
            orders = in_orders(runner, outcome)
            compared.append(orders)
            found += orders.findings
        if outcome.errors or (spec.schedules and orders.is_fault):
            code = max(code, ExitCode.CHECK_FAILED)
        if outcome.failure and runner.sanitizer is not None and not runner.sanitizer.explains(outcome.cause):
            click.echo(paint(f"error: {outcome.failure}"), err=True)
            code = max(code, outcome.code)
    if compared and (as_json or form == "json"):
        print_json({"findings": findings_as_json(found), "orders": [o.as_json() for o in compared]})
        ctx.exit(code)
    text = (
        played.page(found, files[0].name)
        if form == "html" and not as_json
        else rendered(found, "json" if as_json else form, files[0].name, print_limit)
    )
    click.echo(paint(text) if form == "text" and not as_json else text)
    for orders in compared:
        click.echo(f"========= {orders}".replace("\n", "\n========= "), err=form != "text")
    ctx.exit(code)
