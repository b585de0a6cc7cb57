"""`warplab diff`: two runs, and the first store in which they differ."""

from __future__ import annotations

from typing import Any

import click

from ..errors import ExitCode
from ..files import SOURCE, InputFile
from .recordings import changed, recording_options, recordings


@click.command()
@click.argument("file", type=SOURCE)
@click.argument("other", type=SOURCE, required=False)
@click.option("--with", "words", default="", metavar="OPTIONS", help="Options of the second run, such as '--fmad all' or '--schedule 3'.")
@recording_options
@click.pass_context
def diff(
    ctx: click.Context, /, file: InputFile, other: InputFile | None, words: str, limit: str, blocks: str | None, launch: int | None,
    **options: Any,
) -> None:  # fmt: skip
    """Compares two runs store by store, thread by thread, and shows where the first value that differs comes from in both.

    FILE and OTHER are PTX files or recordings; without OTHER, FILE is run twice. Launch options count for both runs, those of --with for the second
    one. Exit codes: 0 all stores are alike, 1 one differs.
    """
    from ...recording.differences import difference, told

    second = other or file
    if other is None and not words:
        raise click.UsageError("compare with what? Name a second file, or options: --with '--fmad all'", ctx)
    one, n = recordings((file,), limit, blocks, launch, options)
    two, m = recordings((second,), limit, blocks, launch, changed(options, words))
    found = difference(one[n], two[m])
    names = (file.name, second.name) if other is not None else (file.name, f"{file.name} {words}")
    for line in told(one[n], two[m], found, names):
        click.echo(line)
    ctx.exit(ExitCode.OK if found is None else ExitCode.CHECK_FAILED)
