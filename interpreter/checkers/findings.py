"""What the checkers find: one frozen Finding for each kind and pair of lines, counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Dim3 = tuple[int, int, int]
Tool = Literal["memcheck", "initcheck", "racecheck", "synccheck"]
TOOLS: tuple[Tool, ...] = ("memcheck", "initcheck", "racecheck", "synccheck")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that a checker saw: what and where, who did it first, and how often it happened."""

    tool: Tool
    kind: str
    message: str  # in words, one line
    space: str | None = None
    line: int | None = None
    other_line: int | None = None
    kernel: str = ""
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other_block: Dim3 | None = None
    other_thread: Dim3 | None = None
    address: int | None = None
    size: int | None = None
    severity: Literal["error", "info"] = "error"
    count: int = 1
    instruction: str = ""
    source: str = ""  # file:line of the .loc in force
    other_instruction: str = ""
    other_source: str = ""
    nearby: str = ""  # the objects around the address, in words
    help: str = ""  # what would mend it


class Findings:
    """All findings of a run, in the order in which they came."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str, frozenset[int | None]], Finding] = {}

    def add(self, finding: Finding) -> None:
        """Takes one more, or counts it with those of its kind and lines; an error outweighs a remark."""
        key = (finding.tool, finding.kind, finding.kernel, frozenset((finding.line, finding.other_line)))
        before = self._found.get(key)
        if before is None:
            self._found[key] = finding
            return
        first = finding if (before.severity, finding.severity) == ("info", "error") else before
        self._found[key] = replace(first, count=before.count + finding.count)

    @property
    def all(self) -> tuple[Finding, ...]:
        """Each finding once."""
        return tuple(self._found.values())
