"""Why no form of an instruction has a spelling: an unknown opcode or word, a missing word, words that do not go together."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warplab.isa import ops as _ops  # noqa: F401  fills FORMS
from warplab.isa.foreign import WORDS
from warplab.isa.notation import FORMS, Form
from warplab.isa.types import TYPES

from ..diagnostics import nearest
from ..ir import Instruction, Register
from ..meant import opcode_meant

MANY = 12  # forms shown
NOW = 9.0  # the PTX version whose forms are shown


@dataclass(frozen=True, slots=True)
class Misspelling:
    """A wrong spelling: the number of the wrong word (-1: the opcode, None: all of them together)."""

    code: str
    message: str
    word: int | None
    help: str = ""
    forms: tuple[str, ...] = ()


@functools.cache
def words_of(opcode: str) -> frozenset[str]:
    """All words that some form of an opcode has."""
    return frozenset(w for form in FORMS[opcode] for slot in form.slots for w in slot.words)


@functools.cache
def _all_words() -> frozenset[str]:
    return frozenset().union(*(words_of(o) for o in FORMS))


def misspelt(instruction: Instruction) -> Misspelling:
    """What is wrong with an instruction that no row fits."""
    opcode, words = instruction.opcode, instruction.modifiers
    if opcode not in FORMS:
        return Misspelling("unknown-instruction", f"no instruction is called {opcode}", -1, opcode_meant(opcode, words))
    shown = tuple(dict.fromkeys(f.canonical for f in _closest(opcode, words)))
    known = words_of(opcode)
    for i, word in enumerate(words):
        if word not in known:
            near = next((w for w in (word.lower(), WORDS.get(word.lower(), "")) if w in known), None) or nearest(word, known)
            hint = f"is .{near} meant?" if near else ""
            if word in _all_words():
                hint = _sibling(opcode, words, i) or hint
                return Misspelling("no-such-form", f".{word} does not go with {opcode}", i, hint, shown)
            return Misspelling("unknown-word", f"no instruction has a word .{word}", i, hint, shown)
    full = ".".join((opcode, *words))
    at, hint = _blame(opcode, words)
    result = instruction.operands[0] if instruction.operands else None
    width = next((TYPES[w].bits for w in words if w in TYPES), 0)
    if hint.startswith(".lo or .hi"):
        wide = isinstance(result, Register) and result.type.bits == 2 * width
        hint = (
            f".wide is missing: the result has {2 * width} bits"
            if wide
            else ".lo is missing (.hi gives the high half, .wide the whole product)"
        )
    return Misspelling("no-such-form", f"no form of {opcode} is spelled {full}", at, hint, shown)


def _sibling(opcode: str, words: tuple[str, ...], i: int) -> str:
    """The spellings with another type of the same size in the place of one; "" where there are none."""
    bits = TYPES[words[i]].bits if words[i] in TYPES else 0
    others = [(*words[:i], f"{kind}{bits}", *words[i + 1 :]) for kind in "busf" if bits]
    legal = [o for o in others if any(form.match(o) is not None for form in FORMS[opcode])]
    return f"write {' or '.join('.'.join((opcode, *o)) for o in legal)}" if legal else ""


def _closest(opcode: str, words: tuple[str, ...]) -> list[Form]:
    """The forms that share most words with a spelling."""
    given = set(words)

    def distance(form: Form) -> int:
        missing = sum(not s.optional and not given & set(s.words) for s in form.slots)
        known = {w for s in form.slots for w in s.words}
        return missing + 2 * len(given - known)

    return sorted((f for f in FORMS[opcode] if f.need.before > NOW), key=distance)[:MANY]


def _blame(opcode: str, words: tuple[str, ...]) -> tuple[int | None, str]:
    """The one word whose removal or exchange makes a legal spelling, with advice."""
    types = [w for w in words if w in TYPES]
    for form in FORMS[opcode]:
        for i in range(len(words)):
            if form.match(words[:i] + words[i + 1 :]) is not None:
                return i, f"write {'.'.join((opcode, *words[:i], *words[i + 1 :]))}"
    missing: dict[tuple[str, ...], None] = {}
    for form in [f for f in FORMS[opcode] if f.need.before > NOW]:
        for slot in form.slots:
            if slot.optional or any(w in slot.words for w in words):
                continue
            if any(form.match((*words[:at], w, *words[at:])) is not None for w in slot.words[:4] for at in range(len(words) + 1)):
                missing[slot.words] = None
    if missing:
        if any({"u32", "f32"} <= set(choices) for choices in missing):
            return None, "a type is missing, such as .u32 or .f32"
        first = [choices[0] for choices in missing]  # of several slots one word each, the exact one first
        several = sorted(first, key=lambda w: w not in ("rn", "lo")) if len(missing) > 1 else next(iter(missing))[:8]
        return None, f".{' or .'.join(several)} is missing"
    for i in range(len(words)):
        if words[i] in TYPES and (hint := _sibling(opcode, words, i)):
            return i, hint
    for i, word in enumerate(words):
        for form in FORMS[opcode]:
            for slot in form.slots:
                if word not in slot.words and any(form.match((*words[:i], w, *words[i + 1 :])) is not None for w in slot.words[:16]):
                    choices = [w for w in slot.words if form.match((*words[:i], w, *words[i + 1 :])) is not None]
                    if (word in types) == (choices[0] in TYPES):
                        return i, f"valid here: .{', .'.join(choices[:12])}"
    return None, ""
