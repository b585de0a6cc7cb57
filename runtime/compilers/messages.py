"""What the compilers say of a file, as values: severity, line and text of each message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# nvcc and NVRTC: `k.cu(5): error: ...`, `k.cu(5): warning #177-D: ...`; the preprocessor: `k.cu:3:10: fatal error: ...`
_MESSAGE = re.compile(
    r"^(?P<file>.+?)(?:\((?P<line>\d+)\)|:(?P<at>\d+)(?::\d+)?): (?:fatal |catastrophic )?(?P<severity>error|warning)"
    r"(?: #(?P<code>[\w-]+))?: (?P<text>.*)$"
)


@dataclass(frozen=True, slots=True)
class Message:
    """One error or warning."""

    severity: str
    line: int
    code: str  # NVIDIA's number, such as 177-D; of errors often none
    message: str


def messages(log: str, name: str) -> Iterator[Message]:
    """Those that are about the file of that name."""
    for line in log.splitlines():
        m = _MESSAGE.match(line)
        if m is not None and m["file"] == name:
            yield Message(m["severity"], int(m["line"] or m["at"]), m["code"] or "", m["text"])
