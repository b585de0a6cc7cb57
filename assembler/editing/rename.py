"""Another name for something, everywhere; a register of a range gets a declaration of its own."""

from __future__ import annotations

import re

from warplab.isa.special import SPECIAL

from ..ir import Register
from .edited import EditedText
from .fixes import Replacement
from .names import Named, Occurrence, RegisterRange

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.A)


class CannotRename(Exception):
    """Why something cannot have a name."""


def renamed(edited: EditedText, offset: int, new: str) -> tuple[Replacement, ...]:
    """The changes that give what stands at an offset a new name."""
    occurrence = edited.names.at(offset)
    if occurrence is None:
        raise CannotRename("nothing here has a name that can change")
    if not _NAME.fullmatch(new):
        raise CannotRename(f"{new!r} is not a name: a name is a letter, _, $ or %, then letters, digits, _ and $")
    if new in SPECIAL:
        raise CannotRename(f"{new} is a special register")
    named = occurrence.named
    places = edited.names.of(named)
    _free(edited, named, new, places)
    if isinstance(named, RegisterRange):
        return tuple(Replacement(o.start, o.start + len(named.name), new) for o in places)
    changes = [Replacement(o.start, o.end, new) for o in places if o.role != "declared" or not isinstance(o.named, RegisterRange)]
    made = edited.names.range_of(named) if isinstance(named, Register) else None
    if made is not None and isinstance(named, Register):
        end = edited.source.code.find(";", made.span.end) + 1
        start = edited.line(edited.line_of(made.span.start))[0]
        indent = re.compile(r"[ \t]*").match(edited.text, start)
        vector = f".v{named.vector} " if named.vector > 1 else ""
        changes.append(Replacement(end, end, f"\n{indent[0] if indent else ''}.reg {vector}.{named.type} {new};"))
    return tuple(changes)


def _free(edited: EditedText, named: Named, new: str, places: list[Occurrence]) -> None:
    """Refuses a name that means something else at one of the places, or at whose places the new one would hide another."""
    for offset in (o.start for o in places):
        taken = next((n for n in edited.names.visible(offset) if n is not named and _takes(n, new)), None)
        if taken is not None:
            raise CannotRename(f"{new} is declared already, in line {taken.span.line}")
    scope = edited.names.scopes.get(named)
    for o in edited.names.occurrences:
        inside = scope is None or scope.start <= o.start < scope.end
        if inside and o.named is not named and _takes(o.named, new):
            raise CannotRename(f"{new} is used already, in line {edited.line_of(o.start) + 1}")


def _takes(named: Named, new: str) -> bool:
    if isinstance(named, RegisterRange):
        digits = new[len(named.name) :]
        return new.startswith(named.name) and digits.isdigit() and int(digits[:12]) < named.count
    return named.name == new
