"""initcheck: uses of undefined bits as findings."""

from __future__ import annotations

from collections.abc import Iterable

from ...memory.arena import Arena
from ...observe import Observer
from ..checker import CheckedRun, Checker
from ..findings import Finding
from .origins import LANE

HELP = {
    "register": "give the register a value on every way that leads here",
    "global": "let the host copy or set the memory before the launch, or a kernel write it before it is read",
    "shared": "write it first, and let all threads wait at a barrier before they read",
    "local": "write every element before it is read",
}


class Initcheck(Checker):
    """Reports where bits that nobody has set matter."""

    def __init__(self, run: CheckedRun) -> None:
        super().__init__(run)
        self._values = run.values

    def observers(self) -> Iterable[Observer]:
        return (self._values,)

    def unset(self, arena: Arena, address: int, size: int) -> None:
        self._values.unset(arena, address, size)

    def written(self, arena: Arena, address: int, size: int) -> None:
        self._values.set(arena, address, size)

    def finish(self) -> None:
        for use in self._values.uses.found.values():
            if use.origin.space == LANE:  # synccheck reports those
                continue
            origin = use.origin.site
            self.findings.add(
                Finding(
                    self.tool, "uninitialized", use.text, use.origin.space, use.site.instruction.span.line,
                    None if origin is None else origin.instruction.span.line,
                    use.launch.name, use.block, use.thread, address=use.origin.address, size=use.origin.size or None, count=use.count,
                    instruction=use.launch.text_of(use.site), source=use.launch.source_of(use.site),
                    help=HELP.get(use.origin.space, ""), nearby=use.origin.nearby,
                    other_instruction=use.launch.text_of(origin), other_source=use.launch.source_of(origin),
                )
            )  # fmt: skip
