"""`warplab fmt`: one layout for all PTX."""

from __future__ import annotations

import difflib

import click

from warplab.assembler.format import format_text

from .. import files
from ..errors import ExitCode


@click.command()
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=files.PTX)
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if a file is not formatted.")
@click.option("--diff", is_flag=True, help="Change nothing; print what would change.")
@click.option("--json", "as_json", is_flag=True, help="With --check: print JSON.")
def fmt(sources: tuple[files.InputFile, ...], check: bool, diff: bool, as_json: bool) -> None:
    """Formats PTX files in place; standard input goes to standard output. Comments stay."""
    changed: list[str] = []
    for source in sources:
        before = source.text()
        after = format_text(before, source.name)
        if before != after:
            changed.append(source.name)
        if diff:
            lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), source.name, source.name)
            click.echo("".join(x if x.endswith("\n") else x + "\n\\ No newline at end of file\n" for x in lines), nl=False)
        elif check:
            if before != after and not as_json:
                click.echo(f"{source.name} is not formatted")
        elif source.is_stdin:
            files.write("-", after)
        elif before != after:
            files.write(source.name, after)
    if as_json:
        files.print_json({"changed": changed})
    if changed and (check or diff):
        click.get_current_context().exit(ExitCode.CHECK_FAILED)
