"""PTX text in, verified typed IR out, and back again: the public names of the assembler, each loaded at first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .diagnostics import Diagnostic as Diagnostic
    from .diagnostics import PtxError as PtxError
    from .format import format_text as format_text
    from .ir import Module as Module
    from .parse import parse as parse
    from .verify import check as check

_HOMES = {
    "parse": "parse", "Module": "ir", "PtxError": "diagnostics", "Diagnostic": "diagnostics", "format_text": "format", "check": "verify",
}  # fmt: skip
__all__ = ["Diagnostic", "Module", "PtxError", "check", "format_text", "parse"]


def __getattr__(name: str) -> object:
    """Loads a public name's module when it is first asked for, so that `warplab --help` needs neither lark nor numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
