"""`warplab cfg`: the control flow of functions as text, dot or SVG."""

from __future__ import annotations

from dataclasses import asdict

import click

from warplab.assembler.flow.cfg import FlowGraph, as_dot, as_text, graph
from warplab.assembler.flow.cfg_svg import as_svg
from warplab.assembler.objects import load

from ...names import chosen
from .. import completing, files

FORMATS = {"text": as_text, "dot": as_dot, "svg": as_svg}


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option(
    "--function", "-f", "name", metavar="NAME", shell_complete=completing.kernels,
    help="Only this function; by default text and dot show all functions, svg the first entry.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="The form; by default that of the suffix of --output, otherwise text."
)
@click.option("--output", "-o", type=click.Path(), default="-", help='A file; "-", the default, is standard output.')
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cfg(source: files.InputFile, name: str | None, form: str | None, output: str, as_json: bool) -> None:
    """Draws the control flow of a function.

    Blocks show their immediate dominator, the loops around them, and where the lanes of a warp reconverge after they diverged.
    """
    module = load(source.data, source.name)
    defined = [f for f in module.functions.values() if f.body is not None]
    if not defined:
        raise click.UsageError(f"{source.name} defines no function")
    shown = [module.functions[chosen([f.name for f in defined], name, "function")]] if name is not None else defined
    form = form or ({"svg": "svg", "dot": "dot", "gv": "dot"}.get(output.rpartition(".")[2], "text"))
    if form == "svg" and not as_json:
        shown = [next((f for f in shown if f.is_entry), shown[0])]
    graphs: list[FlowGraph] = [graph(f, module.text, module.files) for f in shown]
    if as_json:
        files.print_json([files.plain(asdict(g)) for g in graphs])
    else:
        files.write(output, "\n".join(FORMATS[form](g) for g in graphs))
