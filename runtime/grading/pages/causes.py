"""Why a test fails, in two or three words and with the line: what the first line of its message says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..report import TestReport

# Words at the beginning of a message -> the cause.  The first that fits counts.
_CAUSES: tuple[tuple[str, str], ...] = (
    (r"deadlock in kernel", "deadlock"),
    (r"kernel .* reached the limit of|took more than [\d.]+ s\b|not run: the tests before it", "endless or too slow"),
    (r"took more than \d+ MiB|needs more than the \d+ MiB|out of memory", "too much memory"),
    (r"the process that ran the test", "crash"),
    (r"nested too deeply|.* is larger than \d+ KiB", "too large a source"),
    (r"=+ Error: .*\(racecheck\)", "race"),
    (r"=+ Error: .*\(initcheck\)", "uninitialised"),
    (r"=+ Error: .*\(synccheck\)", "misused barrier"),
    (r"=+ Error: .*\bleak", "leak"),
    (
        r"(=+ Error: )?(out of bounds|out-of-bounds|null|misaligned|use after free|double free|freed|invalid free|read-only|wrong space)\b",
        "",
    ),
    (r"=+ Error: .*\(memcheck\)", "memory error"),
    (r"error: .* does not compile", "does not compile"),
    (r"error\[|.*\bis not assembled|.*: error\[", "does not assemble"),
    (r"warning\[", "warnings"),
    (r"metric ", "over budget"),
    (r"right, and [\d.]+ times as slow", "slow"),
    (r"the kernel changed .*, which is an input", "input overwritten"),
    (r".*is missing in the submission", "missing file"),
    (r".* has nothing that matches|.* which this test does not allow", "not as asked for"),
    (r".* is empty$", "empty"),
    (r"there (?:is no|are \d+) kernels?\b|no kernel is called", "no such kernel"),
    (r"printed ", "wrong output"),
    (r"internal error", "internal error"),
)
_NAMED = {"out-of-bounds": "out of bounds"}
_BEFORE = re.compile(r"(?:run \d+ of \d+: |in another order of warps and lanes, --schedule \d+: )*")
_ORDER = "in another order of warps and lanes"
_DIFFER = re.compile(r"^ +\d+ of \d+ differ", re.M)
_OF_CPP = re.compile(r"[\w.-]+\.cu[:(](?P<line>\d+)")
_LINE = re.compile(r"\bline (?P<line>\d+)\b|-->[^\n]*?:(?P<other>\d+):")


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a test fails, and where."""

    kind: str
    line: int = 0  # of the file that was handed in; 0: no line

    def __str__(self) -> str:
        return f"{self.kind}, line {self.line}" if self.line else self.kind


def cause_of(t: TestReport) -> Cause | None:
    """The cause; None where the test passes."""
    if t.passed:
        return None
    message = t.message[match.end() :] if (match := _BEFORE.match(t.message)) else t.message
    kind = _kind(message)
    if kind == "wrong values" and _ORDER in t.message.partition("\n")[0]:
        kind = "depends on the order"
    place = _OF_CPP.search(message) or _LINE.search(message)
    return Cause(kind, int(place[1] or place.groupdict().get("other") or 0) if place and kind not in ("wrong values", "over budget") else 0)


def _kind(message: str) -> str:
    for pattern, kind in _CAUSES:
        if match := re.match(pattern, message):
            said = match[0].rpartition(": ")[2]
            return kind or _NAMED.get(said, said)
    if _DIFFER.search(message):
        return "wrong values"
    return "other"
