"""Why no form of an instruction has a spelling: an unknown opcode or word, a missing word, words that do not go together."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from warplab.isa import ops as _ops  # noqa: F401  fills FORMS
from warplab.isa.notation import FORMS, Form
from warplab.isa.types import TYPES

from ..diagnostics import nearest
from ..ir import Instruction, Register

MANY = 12  # forms shown
NOW = 9.0  # the PTX version whose forms are shown
# What other assemblers and languages say.
OPCODES = {
    "load": "ld", "store": "st", "jmp": "bra", "jump": "bra", "goto": "bra", "br": "bra", "b": "bra", "branch": "bra", "cmp": "setp",
    "compare": "setp", "return": "ret", "halt": "exit", "move": "mov", "sll": "shl", "srl": "shr", "sar": "shr", "lea": "mov",
    "syncthreads": "bar.sync 0", "__syncthreads": "bar.sync 0", "fadd": "add.f32", "fsub": "sub.f32", "fmul": "mul.f32", "iadd": "add.s32",
    "imul": "mul.lo.s32", "inc": "add", "dec": "sub", "mod": "rem", "nop": "no statement at all", "select": "selp", "shuffle": "shfl.sync",
    "atomic": "atom", "barrier_sync": "bar.sync 0", "sync": "bar.sync 0",
}  # fmt: skip
WORDS = {
    "gte": "ge", "lte": "le", "neq": "ne", "float": "f32", "double": "f64", "half": "f16", "int": "s32", "uint": "u32", "long": "s64",
    "byte": "u8", "char": "s8", "i32": "s32", "i64": "s64", "i16": "s16", "i8": "s8", "low": "lo", "high": "hi", "constant": "const",
}  # fmt: skip


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
        near = OPCODES.get(opcode) or nearest(opcode, FORMS)
        return Misspelling("unknown-instruction", f"no instruction is called {opcode}", -1, f"is {near} meant?" if near else "")
    shown = tuple(dict.fromkeys(f.canonical for f in _closest(opcode, words)))
    known = words_of(opcode)
    for i, word in enumerate(words):
        if word not in known:
            near = WORDS[word] if WORDS.get(word) in known else nearest(word, known)
            hint = f"is .{near} meant?" if near else ""
            if word in _all_words():
                return Misspelling("no-such-form", f".{word} does not go with {opcode}", i, hint, shown)
            return Misspelling("unknown-word", f"no instruction has a word .{word}", i, hint, shown)
    full = ".".join((opcode, *words))
    at, hint = _blame(opcode, words)
    result = instruction.operands[0] if instruction.operands else None
    width = next((TYPES[w].bits for w in words if w in TYPES), 0)
    if hint == ".lo is missing":  # or .hi or .wide, which are forms of their own
        wide = isinstance(result, Register) and result.type.bits == 2 * width
        hint = (
            f".wide is missing: the result has {2 * width} bits"
            if wide
            else ".lo is missing (.hi gives the high half, .wide the whole product)"
        )
    return Misspelling("no-such-form", f"no form of {opcode} is spelled {full}", at, hint, shown)


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
    for form in FORMS[opcode]:
        for slot in form.slots:
            if slot.optional or any(w in slot.words for w in words):
                continue
            for w in slot.words[:4]:
                for at in range(len(words) + 1):
                    if form.match((*words[:at], w, *words[at:])) is not None:
                        if {"u32", "f32"} <= set(slot.words):
                            return None, "a type is missing, such as .u32 or .f32"
                        return None, f".{' or .'.join(slot.words[:8])} is missing"
    for i, word in enumerate(words):
        for form in FORMS[opcode]:
            for slot in form.slots:
                if word not in slot.words and any(form.match((*words[:i], w, *words[i + 1 :])) is not None for w in slot.words[:16]):
                    choices = [w for w in slot.words if form.match((*words[:i], w, *words[i + 1 :])) is not None]
                    if (word in types) == (choices[0] in TYPES):
                        return i, f".{' .'.join(choices[:12])} may stand here"
    return None, ""
