"""Checkers of launches: which tools look at them, what the host tells them of its memory, and what they have found.

    with sanitizing("all") as sanitizer:     # whichever API launches
        ...
    print(sanitizer.report())

A Runner has a Sanitizer of its own, and gives it to its context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Finding, Findings, as_text
from warplab.interpreter.checkers.suppressions import Suppression
from warplab.interpreter.checkers.tools import TOOLS, checkers_of
from warplab.interpreter.faults import Deadlock, ExecutionError, Fault
from warplab.interpreter.launch import Launch
from warplab.interpreter.memory.arena import Arena
from warplab.interpreter.observe import Observer

from ...errors import UsageError
from ..memory.host import host
from .filtering import LaunchFilter

POISON = 1  # the seed of what nobody has written, where nobody names one
FOLLOWED = 1 << 30  # bytes of a larger allocation count as set: their shadow would take as many
WORDS = {t.removesuffix("check"): t for t in TOOLS}


def tools_of(text: str) -> tuple[str, ...]:
    """The tools that a text names: all, or one or several of TOOLS; "race" stands for racecheck."""
    names = [WORDS.get(w, w) for w in text.replace(",", " ").split()]
    if unknown := [n for n in names if n not in (*TOOLS, "all")]:
        raise UsageError(f"no tool is called {unknown[0]!r}; there are {' '.join(TOOLS)} and all")
    return tuple(t for t in TOOLS if t in names or "all" in names)


class SanitizerError(Exception):
    """A launch that was to be sanitized has errors; the text is the report."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(as_text(findings))
        self.findings = tuple(findings)


class Sanitizer:
    """Some tools, and their findings over any number of launches.

    `strict`: what CUDA C++ leaves undefined is an error, even where PTX defines it.  `goes_on`: a launch that ends in a device error ends
    alone; the program does not hear of it, and later launches run.  `leaks`: are they looked for; by default if all tools are asked for.
    `launches`: which are watched.  `suppressions`: what is not reported.  `in_order`: see CheckedRun.
    """

    def __init__(
        self, tools: str = "all", *, strict: bool = False, goes_on: bool = False, leaks: bool | None = None,
        launches: LaunchFilter | None = None, suppressions: Sequence[Suppression] = (), in_order: bool = False,
    ) -> None:  # fmt: skip
        self.tools = tools_of(tools)
        self.goes_on = goes_on
        self._launches = launches or LaunchFilter()
        self._seen = 0  # launches of kernels that are to be watched
        self._watches = True  # the launch at hand?
        self._suppressions = tuple(suppressions)
        self.unexplained: list[ExecutionError] = []  # device errors that no tool reports, after which the program went on
        self._now = ""  # the kernel of the launch that runs
        self._first: dict[str, str] = {}  # who has made the first launch of each kernel
        self._findings = Findings(self._launched)
        self._checkers = checkers_of(
            self.tools, CheckedRun(self._findings, strict, len(self.tools) == len(TOOLS) if leaks is None else leaks, in_order)
        )
        self.observers: Sequence[Observer] = list(dict.fromkeys(o for c in self._checkers for o in c.observers()))
        self.gap = max((c.gap for c in self._checkers), default=0)
        self._finished = False

    def watching(self, launch: Launch) -> Sequence[Observer]:
        """Who watches a launch that begins now."""
        named = self._launches.names(launch.name)
        self._watches = named and self._launches.takes(self._seen)
        self._seen += named
        if self._watches:
            self._now = launch.name
            if launch.name not in self._first:
                self._first[launch.name] = host().launched_from()
            return self.observers
        for arena in (launch.arena, *launch.other_arenas):  # nobody sees what it writes
            for a in arena.living():
                self.written(arena, a.start, a.size)
        return ()

    def _launched(self, finding: Finding) -> str:
        """Who makes the launch that shows a finding; of a finding that shows later, who has made the first launch of its kernel."""
        if finding.kernel and finding.kernel == self._now:
            return host().launched_from()
        return f"first {first}" if (first := self._first.get(finding.kernel)) else ""

    def ended(self) -> None:
        """The launch has run."""
        self._now = ""

    def unset(self, arena: Arena, address: int, size: int) -> None:
        """Memory was made that the host has left unset."""
        if size <= FOLLOWED:
            for c in self._checkers:
                c.unset(arena, address, size)

    def written(self, arena: Arena, address: int, size: int) -> None:
        """The host has written memory, or may."""
        for c in self._checkers:
            c.written(arena, address, size)

    def read(self, arena: Arena, address: int, size: int) -> None:
        """The host reads memory, or may read it: the bytes from `address` on."""
        for c in self._checkers:
            c.read(arena, address, size)

    def queued(self, stream: str | None, after: Sequence[str] = ()) -> None:
        """The next work belongs to a stream, behind all that the streams in `after` have so far; None: it comes after all before it."""
        for c in self._checkers:
            c.queued(stream, after)

    def host(self, what: str, event: str = "", stream: str | None = "") -> None:
        """The host records an event, lets a stream wait for it, or waits for an event, a stream or all (record, wait, sync)."""
        for c in self._checkers:
            if what == "record":
                c.recorded(event, stream)
            elif what == "wait":
                c.awaited(event, stream or "")
            else:
                c.synchronized(event, stream or "")

    def failed(self, error: ExecutionError, launch: Launch | None = None) -> bool:
        """A launch, or a call of the host, ended in an error: does the program go on as if it had not?"""
        for c in self._checkers:
            c.failed(error)
        if launch is not None and self._watches:
            for o in self.observers:
                o.end(launch)
        self.ended()
        if not self.goes_on or not isinstance(error, Fault | Deadlock):
            return False
        if not self.explains(error):
            self.unexplained.append(error)
        return True

    def finish(self) -> None:
        """No launch follows; what shows only now is reported."""
        if not self._finished:
            self._finished = True
            for c in self._checkers:
                c.finish()

    def explains(self, error: ExecutionError | None) -> bool:
        """Does one of the tools report what ended a launch?  A limit or a trap is not a finding."""
        return error is not None and any(c.explains(error) for c in self._checkers)

    @property
    def depends_on_order(self) -> bool:
        """May another order of the same run show more?"""
        return any(c.depends_on_order for c in self._checkers)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found so far and is not suppressed; some things, such as leaks, show only at the end."""
        return tuple(f for f in self._findings.all if not self.suppresses(f))

    def suppresses(self, finding: Finding) -> bool:
        """Is it known, and not to be reported?"""
        return any(s.matches(finding) for s in self._suppressions)

    @property
    def suppressed(self) -> int:
        """How many findings are not reported."""
        return len(self._findings.all) - len(self.findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(f for f in self.findings if f.severity == "error")

    def report(self) -> str:
        """All findings in words."""
        return as_text(self.findings, suppressed=self.suppressed)


OPEN: list[Sanitizer] = []  # of the blocks that are open


@contextmanager
def sanitizing(tools: str | Sanitizer = "all") -> Iterator[Sanitizer]:
    """Launches of the block run under checkers, whichever API launches them; modules that are loaded in it get gaps between variables.

    A Sanitizer goes on with what it has seen before, and is finished by whoever made it.
    """
    sanitizer = Sanitizer(tools) if isinstance(tools, str) else tools
    OPEN.append(sanitizer)
    try:
        yield sanitizer
    finally:
        OPEN.remove(sanitizer)
        if isinstance(tools, str):
            sanitizer.finish()
