"""memcheck: accesses that the memory refuses, texels that one launch writes and fetches, wrong frees, and heap memory that stays allocated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..faults import ExecutionError, Fault
from ..launch import Launch
from ..memory.arena import Allocation
from ..memory.spaces import window_at
from ..observe import Access, ObservedLanes, TexelAccess
from ..plan.plan import Site
from ..values import Array
from .checker import CheckedRun, Checker
from .findings import Finding
from .written_texels import WrittenTexels

KINDS = {"out-of-bounds": "out-of-bounds", "read-only": "out-of-bounds", "null": "null", "freed": "use-after-free",
         "misaligned": "misaligned", "wrong-space": "wrong-space", "stack-overflow": "stack-overflow",
         "double-free": "double-free", "invalid-free": "invalid-free"}  # fmt: skip
HELP = {
    "out-of-bounds": "guard the access with the number of elements, or give the array more of them",
    "null": "does the host pass an address here?",
    "use-after-free": "free the memory after its last use",
    "misaligned": "make the address a multiple of the access's size, or access smaller elements",
    "wrong-space": "convert the address with cvta, or name the space that it belongs to",
    "stack-overflow": "end the recursion earlier, or ask for a larger stack",
    "double-free": "free it once: let one thread do it",
    "invalid-free": "free takes what malloc gave, unchanged",
    "leak": "call free before the last launch ends",
}


@dataclass(slots=True, eq=False)
class _HeapBlock:
    """What a kernel's malloc gave."""

    allocation: Allocation
    finding: Finding  # if nobody frees it


class Memcheck(Checker):
    """Reports faults of memory, and leaks."""

    gap: ClassVar[int] = 128  # one element too many hits none of its neighbours

    def __init__(self, run: CheckedRun) -> None:
        super().__init__(run)
        self._heap: list[_HeapBlock] = []
        self._freed: dict[int, tuple[Allocation, str]] = {}  # by a kernel, and where
        self._space = ""  # that the last access names
        self._failed = False
        self._leaks = run.leaks
        self._written = WrittenTexels(self.tool, run.findings)

    @property
    def hears_all(self) -> bool:
        """See Observer: both engines check each access."""
        return False

    def begin(self, launch: Launch) -> None:
        """See Observer."""
        self._written.begin()

    def texels(self, access: TexelAccess) -> None:
        """See Observer."""
        self._written.texels(access)

    def access(self, access: Access) -> None:
        """See Observer."""
        self._space = access.space

    def allocated(self, site: Site, group: ObservedLanes, addresses: Array, sizes: Array) -> None:
        """See Observer."""
        launch, shape = group.wave.launch, group.geometry.shape
        each = (np.broadcast_to(x, shape).ravel().tolist() for x in (addresses, sizes, group.geometry.lane))
        for address, size, lane in zip(*each, strict=True):
            found = launch.arena.find(address) if address else None
            if found is None:
                continue
            who = Fault("", "")
            launch.name_fault(group.wave.first, group.wave.count, who, lane)
            text = f"{size} bytes from malloc are still allocated when the run ends"
            leak = Finding(
                self.tool, "leak", text, "global", site.instruction.span.line, None, launch.name, who.block, who.thread,
                address=address, size=size, instruction=launch.text_of(site), source=launch.source_of(site), help=HELP["leak"],
            )  # fmt: skip
            self._heap.append(_HeapBlock(found, leak))

    def freed(self, site: Site, group: ObservedLanes, addresses: Array) -> None:
        """See Observer."""
        launch, shape = group.wave.launch, group.geometry.shape
        for address, lane in zip(*(np.broadcast_to(x, shape).ravel().tolist() for x in (addresses, group.geometry.lane)), strict=True):
            found = launch.arena.find(address) if address else None
            if found is not None and not found.freed:
                who = Fault("", "")
                launch.name_fault(group.wave.first, group.wave.count, who, lane)
                line = site.instruction.span.line
                self._freed[found.start] = (found, f"freed at line {line} by block {who.block}, thread {who.thread} of {launch.name}")

    def _where_freed(self, address: int | None) -> str:
        """Where memory at an address was freed, in words."""
        return next((text for a, text in self._freed.values() if address is not None and a.start <= address < a.end), "")

    def explains(self, error: ExecutionError) -> bool:
        """See Checker."""
        return isinstance(error, Fault) and error.kind in KINDS

    def failed(self, error: ExecutionError) -> None:
        """See Checker."""
        self._failed = True
        if not isinstance(error, Fault) or error.kind not in KINDS:
            return
        kind, space = KINDS[error.kind], error.space or None
        if space == "global" and self._space == "const":
            space = "const"
        if space == "shared" and error.address is not None and window_at(error.address):
            kind = "wrong-space"
        freed = self._where_freed(error.address) if error.kind in ("freed", "double-free") else ""
        self.findings.add(
            Finding(
                self.tool, kind, error.message, space, error.line or None, None, error.kernel, error.block, error.thread,
                address=error.address, size=error.size or None, count=error.lanes, instruction=error.instruction,
                source=error.source, nearby="; ".join(filter(None, (error.nearest, freed))), help=HELP.get(kind, ""),
            )
        )  # fmt: skip

    def finish(self) -> None:
        """See Checker."""
        if self._failed or not self._leaks:  # a launch that ended early could not free
            return
        for block in self._heap:
            if not block.allocation.freed:
                self.findings.add(block.finding)
