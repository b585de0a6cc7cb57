"""A function by the name that a person gives it: its symbol, or its C++ name in any length that means only one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from warplab.assembler.demangle import demangled, matching, spellings

from .errors import UsageError


def chosen(symbols: Iterable[str], word: str, what: str = "kernel") -> str:
    """The one symbol that a word means."""
    every = list(symbols)
    found = matching(every, word)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} {what}s are called {word}; write one of: {listed(found)}")
    near = get_close_matches(word, [n for s in every for n in spellings(s)], 1)
    meant = f"; is {near[0]} meant?" if near else ""
    raise UsageError(f"no {what} is called {word}{meant} (the {what}s: {listed(every) or 'none'})")


def listed(symbols: Iterable[str]) -> str:
    """Symbols for a message."""
    return ", ".join(demangled(s) for s in symbols)
