"""What the planner made of each function, as text: `warplab dump --stage plan`."""

from __future__ import annotations

from collections.abc import Iterator

from warplab.assembler.objectfile import load
from warplab.assembler.printer import statement

from ..memory.arena import Arena
from ..program import LoadedProgram
from .plan import PlanFunction

_ROOM = 1 << 20  # for the addresses of the module's variables


def plan(data: bytes, name: str) -> str:
    """Slots, segments and steps of every function of a PTX text or object file."""
    module = load(data, name)
    size = sum(v.size + v.align for v in module.variables.values() if v.space in ("global", "const"))
    program = LoadedProgram([module], Arena(size + _ROOM))
    lines: list[str] = []
    for kernel in program.kernels.values():
        for function in dict.fromkeys([kernel.function, *kernel.reached]):
            lines += _function(kernel.plan(function), kernel.name if function is not kernel.function else "")
    return "\n".join(lines) + "\n"


def _function(made: PlanFunction, caller: str) -> Iterator[str]:
    source = f", as {caller} calls it" if caller else ""
    yield f"{made.name}{source}: {len(made.template)} slots, {len(made.segments)} segments, {made.frame_size} bytes of stack"
    names = {r.index: r.name for r in made.function.registers}
    for index, home in sorted(made.homes.items(), key=lambda item: item[1].slot):
        width = f"-{home.slot + home.width - 1}" if home.width > 1 else ""
        yield f"  slot {home.slot}{width}: {names.get(index, 'a factor')} as {home.dtype.name}{', a pointer' if home.pointer else ''}"
    if made.zeros:
        yield f"  zero at first: {' '.join(map(str, sorted(made.zeros)))}"
    for i, segment in enumerate(made.segments):
        reads = " ".join(map(str, segment.reads))
        writes = " ".join(str(slot) for slot in range(segment.writes.bit_length()) if segment.writes >> slot & 1)
        yield f"  segment {i} of B{segment.block}: {segment.length} instructions, reads slots [{reads}], writes [{writes}]"
        for site in segment.sites:
            yield f"    {site.index:4} {statement(site.instruction)}"
        if segment.end is not None:
            yield f"    {segment.end.index:4} {statement(segment.end.instruction)}  (ends the segment)"
    yield ""
