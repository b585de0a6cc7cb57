"""PTX text to ir.Module.

`parse` raises PtxError; `parse_all` recovers after each error and hands on what it could read, and all diagnostics.
"""

from __future__ import annotations

from ..collector import collector_off
from ..diagnostics import Diagnostic, PtxError
from ..ir import Module
from .lazy_bodies import Judge
from .modules import Parser
from .text import Source


def _decoded(data: bytes) -> str:
    """Bytes as text; what is not ASCII is an error, and is shown with it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def parse_all(text: str | bytes, name: str = "<text>", judge_later: Judge | None = None) -> tuple[Module, list[Diagnostic]]:
    """What can be read of a text, and what is wrong with it, in the order of the text; see parse."""
    if isinstance(text, bytes):
        text = _decoded(text)
    with collector_off():
        parser = Parser(Source(text, name), judge_later)
        module = parser.module()
    return module, sorted(parser.reports.diagnostics, key=lambda d: d.span.start)


def parse(text: str | bytes, name: str = "<text>", judge_later: Judge | None = None) -> Module:
    """Parses PTX to a Module; raises PtxError for syntax errors.

    With `judge_later`, bodies of entries are read when something looks at them, and then judged by it.
    """
    module, diagnostics = parse_all(text, name, judge_later)
    if diagnostics:
        raise PtxError(diagnostics, module.text, name)
    return module
