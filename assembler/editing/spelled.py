"""The instruction at a place of a text, by its words alone: what its rows are, and which words may follow those that are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warplab.isa import ops as _ops  # noqa: F401  fills FORMS
from warplab.isa.notation import FORMS, Form, Slot, resolve
from warplab.isa.types import TYPES

_HEAD = re.compile(r"\s*(?:[A-Za-z_$%][\w$]*\s*:(?!:)\s*)*(?:@\s*!?\s*[\w$%]*\s+)?([a-z]\w*)((?:\.[\w:]*)*)", re.A)
_FRESH = re.compile(r"[ \t]*[a-z@]")
_STATEMENT = re.compile(r"[;}]|\{(?![^;{}\n]*\})")  # what a statement begins behind; a vector's braces close on their line


@dataclass(frozen=True, slots=True)
class Spelled:
    """An opcode with its words, where they stand, and what follows."""

    opcode: str
    words: tuple[str, ...]
    start: int
    end: int  # of the words
    statement: int  # where the statement begins

    @property
    def forms(self) -> list[Form]:
        """The rows of the spelling: the one that has it, else all that have its words so far."""
        found = resolve(self.opcode, self.words)
        if found is not None:
            return [found[0]]
        return [f for f in FORMS.get(self.opcode, ()) if open_slots(f, self.words) is not None] or list(FORMS.get(self.opcode, ()))


def spelled_at(code: str, offset: int) -> Spelled | None:
    """The instruction of the statement at an offset of a text without comments; one that is being typed ends with its line."""
    begin = statement_start(code, offset)
    m = _HEAD.match(code, begin)
    if m is None or m[1] not in FORMS:
        return None
    return Spelled(m[1], tuple(w for w in m[2].split(".") if w), m.start(1), m.end(), begin)


def statement_start(code: str, offset: int) -> int:
    """Where the statement at an offset begins."""
    begin = max((m.end() for m in _STATEMENT.finditer(code, max(0, offset - 2000), offset)), default=max(0, offset - 2000))
    line = code.rfind("\n", begin, offset) + 1
    # Where the statement before has no ';' yet, a line that begins as an instruction does is one of its own, unless that one must go on.
    if line > begin and _FRESH.match(code, line) and code[begin:line].rstrip()[-1:] not in (*",([{|+-=", ""):
        return line
    return begin


def open_slots(form: Form, words: tuple[str, ...]) -> list[Slot] | None:
    """The places of a row that are free behind some words; None where the words are not all its own."""
    free = list(enumerate(form.slots))
    newest = -1
    for word in words:
        place = next((k for k, (i, s) in enumerate(free) if word in s.words and not (word in TYPES and i < newest)), None)
        if place is None:
            return None
        newest = max(newest, free[place][0])
        del free[place]
    return [s for i, s in free if i > newest or not s.optional]


def words_that_fit(opcode: str, words: tuple[str, ...]) -> Iterator[tuple[str, Form]]:
    """The words that may come next, each with the first row that has it."""
    seen = set()
    for form in FORMS.get(opcode, ()):
        for slot in open_slots(form, words) or ():
            for word in slot.words:
                if word not in seen:
                    seen.add(word)
                    yield word, form
            if not slot.optional:
                break
