"""`warplab dump`: what each stage of the toolchain made of a file, for bug reports and the curious.

A stage is a row of STAGES: a file beside this one or a module elsewhere, imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import click

from .. import files

NATIVE = ("inlined", "uniformity", "cut", "frame", "rows", "llvm", "assembly")
# stage: "module:function"; the function takes a PTX text or object file and its name, and gives the lines to print
STAGES: dict[str, str] = {
    "tree": "warplab.assembler.dump:tree",
    "ir": "warplab.assembler.dump:ir",
    "flow": "warplab.assembler.dump:flow_facts",
    "plan": "warplab.interpreter.plan.dump:plan",
    **{stage: f"warplab.interpreter.native.dump:{stage}" for stage in NATIVE},
}
AS_JSON = {
    "plan": "warplab.interpreter.plan.dump:plan_json",
    **{stage: f"warplab.interpreter.native.dump:{stage}_json" for stage in NATIVE[:4]},
}
Stage = Callable[[bytes, str], str]


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option("--stage", type=click.Choice(list(STAGES)), default="ir", show_default=True, help="The stage to print.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: of the plan, and of stages of the native compiler.")
def dump(source: files.InputFile, stage: str, as_json: bool) -> None:
    """Prints a stage of the toolchain: the syntax tree, the IR, the control flow or the execution plan; and what the native engine compiles:
    the plan with its calls inlined, which registers are uniform, the rows it is cut into, where registers lie, the rows as the scheduler reads them,
    LLVM IR, and the assembly language of this computer.
    """
    if as_json and stage not in AS_JSON:
        raise click.UsageError(f"--json: {', '.join(AS_JSON)} have one, {stage} has none")
    if stage == "assembly" and (wanted := import_module("warplab.interpreter.native.tiering").missing()):
        raise click.UsageError(f"the stage assembly needs {wanted}: pip install --upgrade 'warplab[native]'")
    module, _, name = (AS_JSON if as_json else STAGES)[stage].partition(":")
    function: Stage = getattr(import_module(module), name)
    files.write("-", function(source.data, source.name))
