"""A launch, its memory and its instructions in the words of a recording."""

from __future__ import annotations

import re

import numpy as np

from ..launch import Launch
from ..memory.arena import Arena
from ..plan.plan import PlanFunction, Site
from .layout import RecordedInstruction, bases_of, registers_read, registers_written
from .track import NamedCells, Track

GENERATED = re.compile(r".*_(param_\d+)$")


def track_of(launch: Launch) -> Track:
    """The track of a launch that has not begun."""
    o, kernel = launch.options, launch.kernel
    said = {
        "fmad": kernel.program.fmad, "schedule": o.schedule, "poison": o.poison, "cooperative": o.cooperative or None,
    }  # fmt: skip
    n = launch.blocks
    axes = [launch.block_special(0, n, f"ctaid.{axis}").ravel() for axis in "xyz"]
    return Track(
        launch.name, launch.grid, launch.block, launch.cluster, launch.kernel.program.modules[0].target,
        {k: str(v) for k, v in said.items() if v is not None}, np.stack(axes, axis=1).astype(np.int32),
        [(m.name, m.text) for m in kernel.program.modules],
        [(v.name, v.type.name, at, v.size) for v, at in kernel.parameters], launch.parameters.tobytes()[: kernel.parameter_bytes],
        objects(launch), shared_bytes=launch.shared_bytes,
    )  # fmt: skip


def objects(launch: Launch) -> list[NamedCells]:
    """What has a name in memory; an allocation without one has that of the parameter that points to it."""
    out: list[NamedCells] = []
    pointed = _pointed(launch)
    arenas: list[Arena] = [launch.arena, *launch.other_arenas]
    for n, a in enumerate(one for arena in arenas for one in arena.living()):
        named = a.object
        if named is None:
            name = a.what if a.what != "allocation" else pointed.get(a.start, f"memory{n}")
            out.append(NamedCells(name, "global", a.start, a.size))
        else:
            out.append(NamedCells(named.name, "global", a.start, min(named.size, a.size), named.type or "b8", named.dims))
    program = launch.kernel.program
    for name, v in program.variables.items():
        if v.space in ("global", "const") and v.size:
            out.append(NamedCells(name, "global", program.address(v), v.size, v.type.name, v.dims))
    for place in launch.kernel.shared_objects(launch.dynamic_shared):
        o = place.object
        if o.size:
            dims = tuple(d or o.size // max(o.element, 1) for d in o.dims)
            out.append(NamedCells(o.name, "shared", place.start, o.size, o.type or "b8", dims))
    return out


def _pointed(launch: Launch) -> dict[int, str]:
    """Addresses that the kernel was given, by its parameters' names; of names that compilers have made up only `param_0` is left."""
    raw, out = launch.parameters.tobytes(), dict[int, str]()
    for v, at in launch.kernel.parameters:
        if v.size == 8 and not v.dims:
            name = GENERATED.sub(r"\1", v.name)
            out.setdefault(int.from_bytes(raw[at : at + 8], "little"), name)
    return out


def described(launch: Launch, plan: PlanFunction, site: Site) -> RecordedInstruction:
    """An instruction."""
    i = site.instruction
    module, text = 0, i.opcode
    for n, m in enumerate(launch.kernel.program.modules):
        piece = m.text[i.span.start : i.span.end]
        if i.opcode in piece:
            module, text = n, " ".join(piece.split())
            break
    reads = [r.name for r in registers_read(i)]
    if i.form is not None and i.form.effect == "return":  # what the caller gets
        reads += [v.register.name for v in plan.function.returns if v.register is not None]
    guard = "" if i.guard is None else ("!" if i.guard_negated else "") + i.guard.name
    return RecordedInstruction(
        plan.name, module, i.span.line, i.span.column, text, i.opcode, launch.source_of(site), guard,
        tuple(reads), tuple(r.name for r in bases_of(i)), tuple(r.name for r in registers_written(i)),
    )  # fmt: skip
