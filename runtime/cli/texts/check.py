"""`warplab check`: the verifier's findings, for people, for scripts, or as ptxas prints them."""

from __future__ import annotations

from difflib import get_close_matches

import click

from warplab.assembler.diagnostics import EXPLANATIONS, LIMIT, Diagnostic
from warplab.assembler.objects import disassemble
from warplab.assembler.verify import check as verifier
from warplab.isa.profiles import TARGETS

from .. import files
from ..colours import paint
from ..errors import ExitCode


@click.command()
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=files.SOURCE)
@click.option("--target", metavar="SM", help="Verify for this target instead of the module's own, such as sm_70.")
@click.option("--ptxas-style", is_flag=True, help="Print one line per finding, as ptxas does.")
@click.option("--warn", "-W", multiple=True, metavar="NAME", help='Show only the warnings of this code word ("all", "none"); repeatable.')
@click.option("--no-warn", multiple=True, metavar="NAME", help="Hide the warnings of this code word; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(
    sources: tuple[files.InputFile, ...],
    target: str | None,
    ptxas_style: bool,
    warn: tuple[str, ...],
    no_warn: tuple[str, ...],
    as_json: bool,
) -> None:
    """Verifies PTX and reports errors and warnings.

    Each finding has a code word, which `warplab explain` explains. Exit code 3 if there are errors.
    """
    for name in (*warn, *no_warn):
        if name not in EXPLANATIONS and name not in ("all", "none"):
            near = get_close_matches(name, EXPLANATIONS, 1)
            raise click.UsageError(f"no finding has the code word {name}" + (f"; did you mean {near[0]}?" if near else ""))
    if target is not None and target.replace("compute_", "sm_") not in TARGETS:
        near = get_close_matches(target, TARGETS, 1, 0)
        raise click.BadParameter(f"{target!r} is not a target; is {near[0]} meant?", param_hint="--target")
    failed = False
    report: list[files.Json] = []
    for source in sources:
        text = disassemble(source.data, source.name) if source.is_object else source.text()
        found = [d for d in verifier(text, target, source.name) if _wanted(d, warn, no_warn)]
        failed |= any(d.severity == "error" for d in found)
        if as_json:
            report.append({"file": source.name, "diagnostics": [files.plain(d.to_json()) for d in found]})
        else:
            _print(source.name, text, found, ptxas_style)
    if as_json:
        files.print_json(report)
    if failed:
        click.get_current_context().exit(ExitCode.PTX)


def _wanted(d: Diagnostic, warn: tuple[str, ...], no_warn: tuple[str, ...]) -> bool:
    if d.severity == "error":
        return True
    if d.code in no_warn or "all" in no_warn or "none" in warn:
        return False
    return not warn or "all" in warn or d.code in warn


def _print(name: str, text: str, found: list[Diagnostic], ptxas_style: bool) -> None:
    for i, d in enumerate(found[:LIMIT]):
        if ptxas_style:
            click.echo(d.ptxas_style(name))
        else:
            click.echo(("\n" if i else "") + paint(d.render(text, name)))
    if len(found) > LIMIT:
        click.echo(f"... and {len(found) - LIMIT} more")
    errors = sum(d.severity == "error" for d in found)
    if ptxas_style and errors:
        click.echo("ptxas fatal   : Ptx assembly aborted due to errors")
    elif found and not ptxas_style:
        warnings = sum(d.severity == "warning" for d in found)
        click.echo(f"\n{name}: {errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}")
