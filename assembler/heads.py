"""Opcodes with their modifiers, resolved once for all modules."""

from __future__ import annotations

import re

from warplab.isa.notation import Form, resolve

_HEAD = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)((?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)", re.ASCII)

Head = tuple[str, tuple[str, ...], Form | None, dict[str, str | bool] | None]


class Slow(Exception):
    """What the fast path does not know: labels, braces, directives, odd layouts, errors."""


HEADS: dict[str, Head] = {}
CALLS: dict[str, Head] = {}  # read by the grammar alone


def head_of(text: str) -> Head:
    """An opcode with its modifiers, resolved."""
    if not _HEAD.fullmatch(text):
        raise Slow
    words = text.split(".")
    found = resolve(words[0], tuple(words[1:]))
    head = (words[0], tuple(words[1:]), found[0] if found else None, found[1] if found else None)
    if found is not None:
        (CALLS if words[0] == "call" else HEADS)[text] = head
    return head
