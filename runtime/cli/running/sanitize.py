"""`warplab sanitize`: launches a program as `warplab run` does, under checkers, and prints what they find."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warplab.interpreter.checkers.tools import NAMES

from ..colours import paint
from ..errors import ExitCode
from ..files import SOURCE, InputFile
from .launching import runner_of, runs_of, with_options

if TYPE_CHECKING:
    from warplab.interpreter.checkers.findings import Finding

    from ...run.runner import Runner

FILE = click.Path(dir_okay=False, path_type=Path)
FORMATS = ("text", "json", "html", "sarif", "junit")


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@click.option("--tool", metavar="TOOL", help=f"The checkers: {NAMES}, several of them, or all (default: all, without the check for leaks).")
@with_options("launch", "orders", "findings", "watched")
@click.option("--destroy-on-device-error", type=click.Choice(["context", "kernel"]), help="The same as --on-error stop and continue.")
@click.option("--json", "as_json", is_flag=True, help="Prints the findings as JSON.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="The form of the findings (default: text).")
@click.option(
    "--print-limit", type=click.IntRange(0), default=100, metavar="N", help="Text lists the first N findings (default: 100; 0: all)."
)
@click.option("--log-file", type=FILE, metavar="FILE", help="Writes the report there.")
@click.option("--generate-suppressions", "known", type=FILE, metavar="FILE", help="Writes what was found as a file for --suppressions.")
@click.option(
    "--record-on-error", "recording", type=FILE, metavar="FILE", help="Records the block of the first error, for `warplab debug FILE`."
)
@click.option("--error-exitcode", type=click.IntRange(0, 255), metavar="N", help="The exit code if an error was found (default: 1).")
@click.pass_context
def sanitize(
    ctx: click.Context, /, files: tuple[InputFile, ...], tool: str | None, destroy_on_device_error: str | None, as_json: bool, form: str,
    print_limit: int, log_file: Path | None, known: Path | None, recording: Path | None, error_exitcode: int | None, **options: Any,
) -> None:  # fmt: skip
    """Runs a program under checkers: memory, uninitialised values, races, barriers.

    Launches are given as for `warplab run`. Exit codes: 0 nothing was found, 1 an error was found.
    """
    from warplab.interpreter.checkers.findings import as_json as findings_as_json
    from warplab.interpreter.checkers.suppressions import as_suppressions

    from ...device.launches.sanitizing import tools_of
    from ...golden.output import captured
    from ...player.findings import PlayedFindings
    from ...reports.findings import rendered
    from ...run.exhaustive import ExhaustiveOrders
    from ...run.schedules import Orders, in_orders, look_in_other_orders

    found: list[Finding] = []
    played = PlayedFindings()
    compared: list[Orders | ExhaustiveOrders] = []
    code = suppressed = 0
    tools = " ".join(tools_of(tool or "all"))
    options["leak_check"] = options["leak_check"] or ("no" if tool is None else None)
    if destroy_on_device_error is not None:
        options["goes_on"] = "continue" if destroy_on_device_error == "kernel" else "stop"
    form = "json" if as_json else form
    specs = runs_of(files, options)
    if not specs:
        raise click.UsageError("nothing says how to launch this file: give --grid, --block and --arg, or a //@ run comment", ctx)
    for spec in specs:
        runner = runner_of(files, replace(spec, sanitize=tools))
        if form != "text":  # what the kernel prints is not a part of the report
            with captured() as (out, _):
                outcome = played.run(runner) if form == "html" else runner.run()
            click.echo(out.text(), nl=False, err=True)
        else:
            outcome = runner.run()
        look_in_other_orders(runner, outcome)
        found += outcome.findings
        suppressed += outcome.suppressed
        if spec.schedules:
            orders = in_orders(runner, outcome)
            compared.append(orders)
            found += orders.findings
        if outcome.errors or (spec.schedules and orders.is_fault):
            code = max(code, ExitCode.CHECK_FAILED if error_exitcode is None else error_exitcode)
            if recording is not None and outcome.errors:
                _record(runner, outcome.errors, recording)
                recording = None
        if outcome.failure and runner.sanitizer is not None and not runner.sanitizer.explains(outcome.cause):
            click.echo(paint(f"error: {outcome.failure}"), err=True)
            code = max(code, outcome.code)
    if known is not None:
        known.write_text(as_suppressions(found), encoding="utf-8")
    if compared and form == "json":
        text = json.dumps({"findings": findings_as_json(found), "orders": [o.as_json() for o in compared]}, indent=2)
    elif form == "html":
        text = played.page(found, files[0].name)
    else:
        text = rendered(found, form, files[0].name, print_limit, suppressed)
    beside = "".join(f"========= {orders}".replace("\n", "\n========= ") + "\n" for orders in compared if form != "json")
    if log_file is not None:
        log_file.write_text(text + "\n" + (beside if form == "text" else ""), encoding="utf-8")
    else:
        click.echo(paint(text) if form == "text" else text)
    if log_file is None or form != "text":
        click.echo(beside, nl=False, err=form != "text")
    ctx.exit(code)


def _record(runner: Runner, errors: Sequence[Finding], file: Path) -> None:
    """Writes the block of the first error whose thread is known."""
    from warplab.assembler.demangle import short_name

    from ...recording.telling import dim3
    from ...run.recorded import record_block

    found = next((f for f in errors if f.block is not None), None)
    rec = None if found is None else record_block(runner, found)
    if found is None or found.block is None or rec is None:
        click.echo("nothing was recorded: no error names a block that a recording holds", err=True)
        return
    rec.save(str(file))
    click.echo(f"block {dim3(found.block)} of {short_name(rec.track.kernel)} is recorded: warplab debug {file}", err=True)
