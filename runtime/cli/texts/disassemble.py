"""`warplab disassemble`: an object file to PTX."""

from __future__ import annotations

import click

from warplab.assembler import objects

from .. import files


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option("--output", "-o", type=click.Path(), default="-", help='The PTX file to write; "-", the default, is standard output.')
def disassemble(source: files.InputFile, output: str) -> None:
    """Prints an object file as PTX."""
    files.write(output, objects.disassemble(source.data, name=source.name))
