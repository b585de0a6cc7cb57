"""`warplab dump`: what each stage of the toolchain made of a file, for bug reports and the curious.

A stage is a row of STAGES: a file beside this one or a module elsewhere, imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click

from .. import files

# stage: "module:function"; the function takes a PTX text or object file and its name, and gives the lines to print
STAGES: dict[str, str] = {
    "tree": "warplab.assembler.dump:tree",
    "ir": "warplab.assembler.dump:ir",
    "flow": "warplab.assembler.dump:flow_facts",
    "plan": "warplab.interpreter.plan.dump:plan",
}
AS_JSON = {"plan": "warplab.interpreter.plan.dump:plan_json"}
Stage = Callable[[bytes, str], str]


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option("--stage", type=click.Choice(list(STAGES)), default="ir", show_default=True, help="The stage to print.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: of the plan.")
def dump(source: files.InputFile, stage: str, as_json: bool) -> None:
    """Prints a stage of the toolchain: the syntax tree, the IR, the control flow or the execution plan."""
    if as_json and stage not in AS_JSON:
        raise click.UsageError(f"--json: {' and '.join(AS_JSON)} alone have one, not {stage}")
    module, _, name = (AS_JSON if as_json else STAGES)[stage].partition(":")
    function: Stage = getattr(import_module(module), name)
    files.write("-", function(source.data, source.name))
