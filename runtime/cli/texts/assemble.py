"""`warplab assemble`: PTX to an object file."""

from __future__ import annotations

import os

import click

from warplab.assembler import objects

from .. import files


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option(
    "--output", "-o", type=click.Path(), help='The object file to write; by default FILE with the suffix ".o"; "-" is standard output.'
)
def assemble(source: files.InputFile, output: str | None) -> None:
    """Writes PTX as an object file: relocatable ELF64 with an encoding of its own, which `warplab disassemble` turns into PTX again."""
    if output is None:
        output = "-" if source.is_stdin else os.path.splitext(source.name)[0] + ".o"
    if output == "-" and os.isatty(1):
        raise click.UsageError("an object file cannot be shown on a terminal; give --output")
    files.write(output, objects.assemble(source.data, name=source.name))
