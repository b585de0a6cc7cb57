"""memcheck: accesses that the memory refuses, wrong frees, and heap memory that is still allocated at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..faults import ExecutionError, Fault
from ..memory.arena import Allocation
from ..observe import Access
from ..plan.plan import Site
from ..values import Array
from ..vector.group import Group
from .checker import Checker
from .findings import Finding, Findings, Tool

KINDS = {"out-of-bounds": "out-of-bounds", "read-only": "out-of-bounds", "null": "null", "freed": "use-after-free",
         "misaligned": "misaligned", "wrong-space": "wrong-space", "stack-overflow": "stack-overflow",
         "double-free": "double-free", "invalid-free": "invalid-free"}  # fmt: skip
HELP = {"leak": "call free before the last launch ends", "null": "does the host pass an address here?"}


@dataclass(slots=True, eq=False)
class _HeapBlock:
    """What a kernel's malloc gave."""

    allocation: Allocation
    finding: Finding  # if nobody frees it


class Memcheck(Checker):
    """Reports faults of memory, and leaks."""

    tool: ClassVar[Tool] = "memcheck"

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings)
        self._heap: list[_HeapBlock] = []
        self._space = ""  # that the last access names
        self._failed = False

    def access(self, access: Access) -> None:
        """See Observer."""
        self._space = access.space

    def allocated(self, site: Site, group: Group, addresses: Array, sizes: Array) -> None:
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

    def failed(self, error: ExecutionError) -> None:
        """See Checker."""
        self._failed = True
        if not isinstance(error, Fault) or error.kind not in KINDS:
            return
        kind, space = KINDS[error.kind], error.space or None
        if space == "global" and self._space == "const":
            space = "const"
        self.findings.add(
            Finding(
                self.tool, kind, error.message, space, error.line or None, None, error.kernel, error.block, error.thread,
                address=error.address, size=error.size or None, count=error.lanes, instruction=error.instruction,
                source=error.source, nearby=error.nearest, help=HELP.get(kind, ""),
            )
        )  # fmt: skip

    def finish(self) -> None:
        """See Checker."""
        if self._failed:  # a launch that ended early could not free
            return
        for block in self._heap:
            if not block.allocation.freed:
                self.findings.add(block.finding)
