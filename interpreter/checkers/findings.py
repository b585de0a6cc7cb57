"""What the checkers find: one frozen Finding for each kind, space and pair of lines, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from warplab.assembler.demangle import short_name

from ..faults import place
from ..seeds import told

Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault that a checker saw: what and where, who did it first, and how often it happened."""

    tool: str
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
    launched: str = ""  # the calls of the program under way at the launch, the innermost first, a line each
    schedule: int | None = None  # the seed of the first order that showed it, where the default order did not


Key = tuple[str, str, str | None, str, frozenset[int | None]]


def key_of(finding: Finding) -> Key:
    """What findings have in common that are reported as one; a generic address may reach several spaces at one line."""
    return finding.tool, finding.kind, finding.space, finding.kernel, frozenset((finding.line, finding.other_line))


class Findings:
    """All findings of a run, in the order in which they came.  `launched`: who makes the launch that shows one."""

    def __init__(self, launched: Callable[[Finding], str] | None = None) -> None:
        self._found: dict[Key, Finding] = {}
        self._launched = launched

    def add(self, finding: Finding) -> None:
        """Takes one more, or counts it with those of its key; an error outweighs a remark."""
        key = key_of(finding)
        before = self._found.get(key)
        if before is None:
            self._found[key] = replace(finding, launched=self._launched(finding)) if self._launched is not None else finding
            return
        first = finding if (before.severity, finding.severity) == ("info", "error") else before
        self._found[key] = replace(first, count=before.count + finding.count)

    def advise(self, key: Key, help: str) -> None:
        """Better advice than that which was given when a finding came, with it alone in sight."""
        self._found[key] = replace(self._found[key], help=help)

    @property
    def all(self) -> tuple[Finding, ...]:
        """Each finding once."""
        return tuple(self._found.values())


# ---------------------------------------------------------------- in words


def as_text(findings: Sequence[Finding], limit: int = 0, suppressed: int = 0) -> str:
    """Each finding as a paragraph with a frame at its left, and a summary, in the manner of compute-sanitizer; at most so many, 0: all."""
    printed = findings[: limit or None]
    lines = [line for f in printed for line in (*paragraph(f), "")]
    if left := len(findings) - len(printed):
        lines += [f"{left} more finding{' is' if left == 1 else 's are'} not printed: --print-limit 0 prints all", ""]
    errors = sum(f.severity == "error" for f in findings)
    more = f", {len(findings) - errors} remarks" if errors < len(findings) else ""
    more += f", {suppressed} suppressed" if suppressed else ""
    lines.append(f"ERROR SUMMARY: {errors} error{'' if errors == 1 else 's'}{more}")
    return "\n".join(f"========= {line}".rstrip() for line in lines)


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Each finding as a table of plain values."""
    return [asdict(f) | {"schedule": told(f.schedule)} for f in findings]


def paragraph(f: Finding) -> Iterator[str]:
    """One finding; the lines behind the first are indented."""
    where = " in a register" if f.space == "register" else f" in {f.space} memory" if f.space else ""
    yield f"{'Error' if f.severity == 'error' else 'Info'}: {f.kind}{where} ({f.tool})"
    yield f"    {f.message}"
    yield from _place("at", f.line, f.instruction, f.source)
    yield from _place("and", f.other_line, f.other_instruction, f.other_source)
    if f.block is not None:
        again = f", {f.count} times" if f.count > 1 else ""
        other = f" and block {f.other_block}, thread {f.other_thread}" if f.other_block is not None else ""
        yield f"    by block {f.block}, thread {f.thread}{other} of {short_name(f.kernel)}{again}"
    if f.launched:
        yield from f"    launched {f.launched}".splitlines()
    if f.schedule is not None:
        yield f"    under --schedule {f.schedule}, not in the default order"
    if f.nearby:
        yield f"    {f.nearby}"
    if f.help:
        yield f"    help: {f.help}"


def _place(word: str, line: int | None, instruction: str, source: str) -> Iterator[str]:
    if line is not None:
        yield f"    {word} {place(line, instruction, source)}"
