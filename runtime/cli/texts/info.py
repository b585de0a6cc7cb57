"""`warplab info`: facts about functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import click

from warplab.assembler import info as facts
from warplab.assembler.demangle import demangled
from warplab.assembler.info import FunctionInfo, ModuleInfo, Parameter
from warplab.assembler.objects import load

from ...names import chosen
from .. import completing, files


@click.command()
@click.argument("source", metavar="FILE", type=files.SOURCE)
@click.option("--function", "-f", "name", metavar="NAME", shell_complete=completing.kernels, help="Only this function.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(source: files.InputFile, name: str | None, as_json: bool) -> None:
    """Reports parameters, memory, registers and barriers of functions.

    FILE is PTX or an object file. Registers are the virtual ones that the text declares, and the most that are live at the same time.
    """
    found = facts.info(load(source.data, source.name))
    wanted = None if name is None else chosen([f.name for f in found.functions], name, "function")
    functions = [f for f in found.functions if wanted in (None, f.name)]
    if as_json:
        files.print_json(files.plain({**asdict(found), "functions": [{**asdict(f), "cpp_name": demangled(f.name)} for f in functions]}))
    else:
        click.echo("\n".join([*_module(found), *(line for f in functions for line in ("", *_function(f)))]))


def _module(m: ModuleInfo) -> Iterator[str]:
    yield f"{m.name}: PTX {m.version[0]}.{m.version[1]} for {', '.join(m.targets)}, {m.address_size}-bit addresses"
    sizes = (("global", m.global_bytes), ("const", m.const_bytes), ("shared", m.shared_bytes))
    yield "  " + ", ".join(f"{space} {n} B" for space, n in sizes)


def _function(f: FunctionInfo) -> Iterator[str]:
    linkage = f".{f.linkage} " if f.linkage else ""
    yield f"{linkage}{'.entry' if f.is_entry else '.func'} {f.name} (line {f.line})"
    if f.name != (cpp := demangled(f.name)):
        yield f"  C++ name    {cpp}"
    yield from _parameters("parameters", f.params)
    yield from _parameters("results", f.returns)
    dynamic = " + dynamic" if f.dynamic_shared else ""
    yield f"  memory      param {f.param_bytes} B, shared {f.shared_bytes} B{dynamic}, const {f.const_bytes} B, local {f.local_bytes} B"
    for kind, r in f.registers.items():
        unit = kind if kind == "pred" else f"{kind}-bit"
        yield f"  registers   {unit:<8} {r.declared} declared, {r.used} used, {r.live} live at most"
    yield f"  live        {f.live_words} words of 32 bits at most"
    barriers = [*(f"number {n}" for n in f.barriers), *(["chosen by a register"] if f.any_barrier else [])]
    yield f"  barriers    {', '.join(barriers) or 'none'}"
    for name, values in f.directives:
        yield f"  {name:<11} {', '.join(map(str, values))}".rstrip()
    counts = ((f.instructions, "instruction"), (f.blocks, "block"), (f.loops, "loop"))
    yield "  code        " + ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts)
    calls = [*f.calls, *(["through a pointer"] if f.indirect_calls else [])]
    if calls:
        yield f"  calls       {', '.join(calls)}"


def _parameters(title: str, parameters: tuple[Parameter, ...]) -> Iterator[str]:
    for i, p in enumerate(parameters):
        dims = "".join(f"[{d}]" for d in p.dims)
        pointer = ""
        if p.pointer is not None:
            space, align = p.pointer
            pointer = f", points to {space or 'any'} memory aligned to {align}"
        yield f"  {title if i == 0 else '':<11} +{p.offset:<5} .{p.type} {p.name}{dims}, {p.size} B{pointer}"
