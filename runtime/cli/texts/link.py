"""`warplab link`: several modules into one, and which of them defines each symbol."""

from __future__ import annotations

import click

from warplab.assembler import objects
from warplab.assembler.ir import Function, Variable
from warplab.assembler.link import Program, link_modules
from warplab.assembler.merge import merge

from .. import files


@click.command()
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=files.SOURCE)
@click.option("--output", "-o", type=click.Path(), help='Write the linked module: PTX for ".ptx" and "-", else an object file.')
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def link(sources: tuple[files.InputFile, ...], output: str | None, as_json: bool) -> None:
    """Links PTX and object files, and writes the linked module or lists where everything goes.

    Every .extern declaration must find its definition; a mistake is shown with both places. Exit code 3 if the files do not fit together.
    """
    program = link_modules([objects.load(s.data, s.name) for s in sources])
    if output is not None:
        text = merge(program)
        files.write(output, text if output == "-" or output.endswith(".ptx") else objects.assemble(text, name=output))
        if not as_json:
            return
    rows = _rows(program)
    if as_json:
        files.print_json(
            {
                "modules": [m.name for m in program.modules],
                "symbols": [dict(zip(("kind", "name", "file", "line", "used_by"), row, strict=True)) for row in rows],
                "runtime": list(program.unresolved),
            }
        )
        return
    for kind, name, file, line, users in rows:
        used = f", declared in {', '.join(users)}" if users else ""
        click.echo(f"{kind:<8} {name}  {file}:{line}{used}")
    for name in program.unresolved:
        click.echo(f"runtime  {name}")


def _rows(program: Program) -> list[tuple[str, str, str, int, list[str]]]:
    """Kind, name and place of each definition, and the other modules that declare it."""
    owner: dict[Function | Variable, str] = {}
    users: dict[Function | Variable, list[str]] = {}
    for module in program.modules:
        nodes: list[Function | Variable] = [*module.functions.values(), *module.variables.values()]
        for node in nodes:
            owner[node] = module.name
            found = program.definition(node)
            if found is not node:
                users.setdefault(found, []).append(module.name)
    rows: list[tuple[str, str, Function | Variable]] = []
    rows += [("kernel" if f.is_entry else "func", n, f) for n, f in program.functions.items()]
    rows += [(v.space, n, v) for n, v in program.variables.items()]
    return [(kind, name, owner.get(node, ""), node.span.line, users.get(node, [])) for kind, name, node in rows]
