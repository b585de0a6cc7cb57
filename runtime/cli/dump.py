"""`warplab dump`: what each stage of the toolchain made of a file, for bug reports and the curious.

A stage is a row of STAGES: a file beside this one or a module elsewhere, imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click

from . import files

# stage: "module:function"; the function takes a PTX text or object file and its name, and gives the lines to print
STAGES: dict[str, str] = {
    "tree": "warplab.assembler.dump:tree",
    "ir": "warplab.assembler.dump:ir",
    "flow": "warplab.assembler.dump:flow_facts",
    "plan": "warplab.interpreter.plan.dump:plan",
}
Stage = Callable[[bytes, str], str]


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option("--stage", type=click.Choice(list(STAGES)), default="ir", show_default=True, help="Which stage.")
def dump(source: files.Source, stage: str) -> None:
    """Prints what a stage of the toolchain made of a file."""
    module, _, name = STAGES[stage].partition(":")
    function: Stage = getattr(import_module(module), name)
    files.write("-", function(source.data, source.name))
