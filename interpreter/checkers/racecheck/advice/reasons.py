"""Why two accesses race, and what would order them, in words."""

from __future__ import annotations

from dataclasses import dataclass

from ....plan.plan import Site
from ..order.memory_order import SCOPE_NAMES, Kind
from .updates import Update


@dataclass(frozen=True, slots=True)
class Narrow:
    """An acquire of a block that was too narrow, or whose release was."""

    scope: int
    line: int
    released: int  # the line of that release, 0 where it was wide enough


@dataclass(frozen=True, slots=True)
class RacingPair:
    """Two accesses that nothing orders."""

    what: str
    other: str
    site: Site
    other_site: Site
    kind: Kind
    other_kind: Kind
    same_block: bool
    cross_warps: bool
    earlier: bool  # the other is one of a launch before
    proxy: bool  # only a proxy fence is missing
    narrow: Narrow | None
    space: str
    update: Update | None  # both are parts of updates, as `x = x + 1` is one
    in_loop: bool  # both are one instruction, of a loop

    @property
    def wants_barrier(self) -> bool:
        """Would a barrier in the function order the two?"""
        plain = not (self.proxy or self.earlier or self.update or "copied" in self.what or "copied" in self.other)
        return plain and self.same_block and (self.site is not self.other_site or self.in_loop)

    def reason(self) -> tuple[str, str]:
        """What is missing, and what helps."""
        line, other = self.site.instruction.span.line, self.other_site.instruction.span.line
        between = f"between line {other} and line {line}" if line != other else f"between two executions of line {line}"
        if self.proxy:
            reader = "wgmma" if self.kind.reads_async else "the copy"
            return (
                f"no fence.proxy.async {between}: {reader} does not see plain stores without one",
                f"execute fence.proxy.async after the stores, before the barrier and {reader}",
            )
        if self.earlier:
            return (
                "the two launches are on streams that nothing orders",
                "launch both on one stream, or record an event after the first and wait for it on the other stream",
            )
        if "copied" in self.what or "copied" in self.other:
            return self._of_copies(between)
        if self.update is not None:
            return "both threads load it, change it and store it, so one of the updates may be lost", self.update.advice(self.space)
        if self.same_block and self.site is self.other_site and not self.in_loop:
            return "nothing orders the threads that execute it", "let one thread write it, give each thread a place of its own, or use atom"
        if self.same_block:
            if not self.cross_warps:
                return f"no bar.warp.sync and no barrier {between}", "put bar.warp.sync (__syncwarp) between the two"
            return f"no barrier {between}", "put bar.sync (__syncthreads) between the two; every thread must reach it"
        return self._of_blocks(between)

    def _of_copies(self, between: str) -> tuple[str, str]:
        first = "copied" in self.other
        site, kind = (self.other_site, self.other_kind) if first else (self.site, self.kind)
        line = site.instruction.span.line
        if kind.reads_async:
            return (
                f"the wgmma of line {line} may still read, or was issued before, {between}",
                "execute wgmma.commit_group and wgmma.wait_group, and then let other threads pass a barrier",
            )
        return (
            f"the asynchronous copy of line {line} is not known to be complete, or was issued before, {between}",
            "wait for the copy (wait_group, or its mbarrier), then let the other threads wait at a barrier",
        )

    def _of_blocks(self, between: str) -> tuple[str, str]:
        strong = self.what.startswith("strong"), self.other.startswith("strong")
        if all(strong):
            scope = min(self.kind.scope, self.other_kind.scope)
            return (
                f"one of the two is of scope {SCOPE_NAMES[scope]}, and the other thread is not in that scope, or their sizes differ",
                "give both a scope that includes both threads, such as .gpu",
            )
        if self.narrow is not None:
            if self.narrow.released:
                return (
                    f"the release at line {self.narrow.released} is of a scope narrower than gpu, and the reader is in another block",
                    "release at .gpu scope",
                )
            return (
                f"the acquire at line {self.narrow.line} is of scope {SCOPE_NAMES[self.narrow.scope]}, and the writer is in another block",
                "acquire at .gpu scope",
            )
        if any(strong):
            return (
                f"one of the two is a plain access, which strong ones do not protect, and nothing orders the blocks {between}",
                "make both accesses strong, or order them with a release and an acquire at .gpu scope, or with two launches",
            )
        if self.site is self.other_site:
            return (
                f"nothing orders the blocks {between}: bar.sync joins the threads of one block",
                "let one block write it, give each block a place of its own, or use atom",
            )
        return (
            f"nothing orders the blocks {between}: bar.sync joins the threads of one block",
            "release with a fence and a strong store, acquire with a strong load and a fence, both at .gpu scope, or use two launches",
        )
