"""Judges what debuggers read: .section, whose lines stand in the IR as they were written, and what .loc says of inlined functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...diagnostics import Diagnostic
from ...ir import Module, Section, Span
from ..places import span_at, without_comments

_NAME = r"[A-Za-z_$%.][\w$.]*"
# What a line of a section may hold, the version of PTX that brought it, and how it is called.
CAME = (
    (re.compile(rf"{_NAME}\s*\+\s*\d"), (3, 2), "a number added to a label"),
    (re.compile(rf"{_NAME}\s*:"), (7, 0), "a label in a section"),
    (re.compile(rf"{_NAME}\s*-\s*{_NAME}"), (7, 5), "the difference of two labels"),
)
_PLACE = r"(\d\w*)\s+(\d\w*)\s+(\d\w*)"
_LOCATION = re.compile(rf"\.loc\s+{_PLACE}(?:\s*,\s*function_name\s+({_NAME})[^,]*,\s*inlined_at\s+{_PLACE})?")
_START = Span(0, 0, 1, 1)
_LABEL = re.compile(rf"({_NAME})\s*:")


def judge_section(module: Module, section: Section) -> Iterator[Diagnostic]:
    """What its lines hold that the module's version of PTX does not know."""
    later = [(pattern, version, what) for pattern, version, what in CAME if module.version < version]
    text = without_comments(module.text) if later else ""
    for pattern, version, what in later:
        for found in pattern.finditer(text, *_lines(text, section)):
            span = span_at(module.text, found.start(), found.end(), section.span)
            yield Diagnostic("error", "needs", f"{what} needs PTX {version[0]}.{version[1]}", span, file=module.name)


def judge_inlined(module: Module) -> Iterator[Diagnostic]:
    """A place of which something was inlined stood in a .loc before, and the name of what was inlined stands in a section."""
    if "inlined_at" not in module.text:
        return
    text = without_comments(module.text)
    named = {name for s in module.items if isinstance(s, Section) for name in _LABEL.findall(text, *_lines(text, s))}
    met: set[tuple[str, ...]] = set()
    for found in _LOCATION.finditer(text):
        file, line, column, name, *place = found.groups()
        code, why = "", ""
        if name is not None and module.version < (7, 0):
            code, why = "needs", "inlined_at needs PTX 7.0"
        elif name is not None and tuple(place) not in met:
            code, why = "bad-location", f"no .loc before this one says {' '.join(place)}, where its function was inlined"
        elif name is not None and name not in named:
            code, why = "unresolved", f"no .section has the label {name}"
        if code:
            yield Diagnostic("error", code, why, span_at(module.text, found.start(), found.end(), _START), file=module.name)
        met.add((file, line, column))


def _lines(text: str, section: Section) -> tuple[int, int]:
    """From where to where the lines of a section go."""
    begin = text.find("{", section.span.start)
    return begin, text.find("}", begin)
