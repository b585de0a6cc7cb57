"""synccheck: barriers and masks that the rules of the instruction forbid, and launches in which nobody can go on."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..faults import Deadlock, ExecutionError, Fault
from ..launch import Launch
from ..plan.plan import Site
from ..values import Array, plain
from ..vector.group import Group
from ..vector.ports import WavePort
from .checker import Checker
from .findings import Finding, Findings, Tool

WARP = 32
LANES = np.arange(WARP, dtype=np.uint32)


class Synccheck(Checker):
    """Reports wrong barriers, wrong masks and deadlocks."""

    tool: ClassVar[Tool] = "synccheck"

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings)
        self._waiting: dict[tuple[int, int, int], Site] = {}  # wave, barrier, block -> where the first waits for this completion

    # ------------------------------------------------------------ barriers of a block

    def arrival(self, site: Site, group: Group, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        if count is not None and count % WARP:
            text = f"barrier {number} has a count of {count} threads, which is no multiple of {WARP}"
            self._report("barrier-mismatch", text, site, group, None, help=f"round the count up to {-(-count // WARP) * WARP}")
        if not waits:
            return
        for block in group.geometry.blocks.tolist():
            first = self._waiting.setdefault((id(group.wave), number, block), site)
            if first.instruction is not site.instruction and (_is_aligned(first) or _is_aligned(site)):
                text = f"threads of one block wait at barrier {number} at different instructions, of which one is .aligned"
                advice = "let all threads reach one bar.sync, or use barrier.sync without .aligned"
                self._report("barrier-divergence", text, site, group, None, first, advice)

    def completion(self, wave: WavePort, number: int, blocks: Array) -> None:
        """See Observer."""
        for block in blocks.tolist():
            self._waiting.pop((id(wave), number, block), None)

    def end(self, launch: Launch) -> None:
        """See Observer."""
        self._waiting.clear()

    # ------------------------------------------------------------ masks of a warp

    def members(self, site: Site, group: Group, membermask: Array) -> None:
        """See Observer."""
        masks = plain(membermask).astype(np.uint32)
        if masks.size == 1 and int(masks.flat[0]) == 0xFFFFFFFF:
            return
        shape = group.geometry.shape
        lane = (group.geometry.thread % WARP).astype(np.uint32)
        alive = True if group.alive is None else group.alive
        absent = np.broadcast_to((masks >> lane & 1 == 0) & alive, shape)
        if absent.any():
            text = "a lane executes the instruction and is not in its own membermask"
            self._report("invalid-mask", text, site, group, absent, help="name every lane that comes here in the mask")
        if masks.size == 1:
            return
        layout = group.geometry.warps
        here = layout.members & layout.spread(np.broadcast_to(alive, shape))
        spread = np.where(here, layout.spread(np.broadcast_to(masks, shape)), np.uint32(0))
        if (here & (spread != np.bitwise_or.reduce(spread, axis=1, keepdims=True))).any():
            names = (spread[:, :, None] >> LANES & 1).astype(bool) & here[:, None, :] & here[:, :, None]
            differs = (names & (spread[:, :, None] != spread[:, None, :])).any(axis=2)
            if differs.any():
                text = "lanes that name each other in their membermasks have different ones"
                self._report("mask-mismatch", text, site, group, layout.gather(differs), help="give all of these lanes one mask")

    # ------------------------------------------------------------ findings

    def _report(
        self, kind: str, message: str, site: Site, group: Group, lanes: Array | None, other: Site | None = None, help: str = ""
    ) -> None:
        launch = group.wave.launch
        who = group.blame(Fault("", ""), lanes)
        self.findings.add(
            Finding(
                self.tool, kind, message, None, site.instruction.span.line, None if other is None else other.instruction.span.line,
                launch.name, who.block, who.thread, count=group.geometry.n if lanes is None else int(np.count_nonzero(lanes)),
                instruction=launch.text_of(site), source=launch.source_of(site),
                other_instruction=launch.text_of(other), other_source=launch.source_of(other), help=help,
            )
        )  # fmt: skip

    def failed(self, error: ExecutionError) -> None:
        """See Checker."""
        if not isinstance(error, Deadlock):
            return
        for w in error.waiting:
            self.findings.add(
                Finding(
                    self.tool, "deadlock", f"{w.lanes} threads wait for {w.wants}; {w.missing}", None, w.line or None, None,
                    error.kernel, w.block, w.thread, count=w.lanes, instruction=w.instruction, source=w.source,
                )
            )  # fmt: skip


def _is_aligned(site: Site) -> bool:
    form = site.instruction.form
    when = None if form is None else form.facts.aligned
    return when is not None and when.holds(site.instruction.modifiers)
