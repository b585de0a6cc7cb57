"""Reads the manual's own syntax line, `"setp.cmp{.ftz}.type  p[|q], a, b"`, into a Form; holds every Form by opcode.

A row is all that warplab knows of an instruction form: its words, operands, types, the PTX version and target it needs, and its
meaning.  Verifier, printer, plan, object file and the instruction reference read it; nothing is said twice.

    words      .word            required, stands for itself          {.word}     optional
               .slot            one of the set given by keyword      {.slot}     optional
    operands   a b c d ...      register or immediate of the slot `type` (else of the last type word in the row)
               a:f32  a:atype   of that type, or of the type that slot holds; a:wide is twice as wide as .type
               a:type+          a register may be wider than the type (ld, st, cvt)
               a:s32~           a register of that size, whatever kind of number it holds
               [a]              address;  [a, b] / [a, {b}] as the manual writes tensors and textures
               #n               integer constant known at assembly, handed to the meaning as an int
               d*4  d.vec       braced vector of 4, or of as many elements as the slot vec says (a plain register without .vec)
               d|p  d[|p]       pair; the second half in brackets may be missing
               {!}c             predicate that may be negated
               {, b}            operands that may be missing (everything inside the braces)
    The first operand is the destination if it is called d or p (also in a pair); all others are sources.
    An operand called p, one that may be negated, and a pair's second half called p or q are predicates.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .facts import Facts, Need, facts_of, row_states
from .types import TYPES, ScalarType

Meaning = Callable[..., Any]
F = TypeVar("F", bound=Meaning)

_OPCODE = re.compile(r"\s*(\w+)")
_WORD = re.compile(r"(\{)?\.([\w:]+)\}?")
_OPERAND = re.compile(
    r"(?P<neg>\{!\})?(?P<const>#)?(?P<name>\w+)(?:\*(?P<count>\d+)|\.(?P<vec>\w+))?(?::(?P<type>\w+)(?P<wider>[+~])?)?"
    r"(?:(?P<pair>\||\[\|)(?P<second>\w+)\]?)?$"
)


# What ptxas overlooks: these words a second time, and words of tensormap, testp and ldmatrix in any other instruction.
REPEATABLE = frozenset({"NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"})
IDLE = frozenset(
    "acc::f16 acc::f32 b4x16_p64 b6x16_p32 b8x16 box_dim element_stride elemtype fill_mode finite global_address global_dim global_stride "
    "infinite interleave_layout normal notanumber number rank subnormal swizzle_atomicity swizzle_mode".split()
)
ACTIVE = frozenset({"testp", "tensormap", "ldmatrix"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for a word after the opcode."""

    name: str
    words: tuple[str, ...]
    optional: bool

    @property
    def is_flag(self) -> bool:
        """A word that stands for itself: ".sync" or "{.sat}"."""
        return self.words == (self.name,)


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand place of a form."""

    name: str
    type: str = ""  # a type, a slot that holds one, "wide", or "" for the row's own type
    wider: bool = False  # a register wider than the type is legal
    loose: bool = False  # a type of its own, and yet a register of another kind of number is legal
    address: bool = False
    constant: bool = False
    count: int | str = 1  # elements of a braced vector: a number, or the slot that tells
    second: str = ""  # the other half of a pair d|p
    second_optional: bool = False
    negatable: bool = False
    optional: bool = False
    text: str = ""  # as the row writes it

    @property
    def is_destination(self) -> bool:
        return not self.address and self.name in ("d", "p")


@dataclass(frozen=True, slots=True)
class Form:
    """One line of the manual: a family of spellings that share operands and meaning."""

    row: str
    opcode: str
    slots: tuple[Slot, ...]
    operands: tuple[Operand, ...]
    need: Need
    word_needs: Mapping[str, Need]
    meaning: Meaning | None  # None: accepted, verified and printed, not executed
    effect: str  # "" or the name of what the engine itself does: "branch", "call", "return", "barrier", ...
    carry: str  # "", "in", "out" or "in out": what it does with the condition code register
    doc: str
    section: str  # of the PTX ISA manual
    facts: Facts  # what the verifier and the interpreter ask of the opcode and of this row

    def match(self, words: Iterable[str]) -> dict[str, str | bool] | None:
        """Modifiers by slot name, or None; words may stand in any order, as ptxas reads them, but types keep that of the row."""
        open_slots = list(enumerate(self.slots))
        found: dict[str, str | bool] = {}
        newest = -1  # the place of the last type word
        met: set[str] = set()
        for word in words:
            typed = word in TYPES
            for k, (i, slot) in enumerate(open_slots):
                if word in slot.words and not (typed and i < newest):
                    found[slot.name] = True if slot.is_flag else word
                    newest = i if typed else newest
                    del open_slots[k]
                    break
            else:
                if not (word in IDLE and self.opcode not in ACTIVE) and not (word in REPEATABLE and word in met):
                    return None
            met.add(word)
        return found if all(slot.optional for _, slot in open_slots) else None

    def type_of(self, operand: Operand, modifiers: Mapping[str, str | bool]) -> ScalarType | None:
        """The type that an operand has under these modifiers; None where the row gives it none (labels, functions)."""
        name = operand.type or ("pred" if operand.negatable or operand.name == "p" else "type")
        if name == "wide":
            own = TYPES[str(modifiers["type"])]
            return TYPES[f"{own.kind}{own.bits * 2}"]
        word = modifiers.get(name, name)
        if word is True:
            word = name
        if isinstance(word, str) and word in TYPES:
            return TYPES[word]
        last = next((s.name for s in reversed(self.slots) if s.is_flag and s.name in TYPES), None)
        return TYPES[last] if last and not operand.type else None

    def places(self, given: int) -> dict[str, int]:
        """The numbers of the operands by name, where so many are given."""
        return {operand.name: i for i, operand in enumerate(filled(self.operands, given))}

    def bind(self, modifiers: Mapping[str, str | bool]) -> Meaning:
        """The meaning with its modifiers settled: done once per instruction, never per step."""
        assert self.meaning is not None, self.row
        named = parameters(self.meaning)
        settled = {_python(k): v for k, v in modifiers.items() if _python(k) in named}
        return functools.partial(self.meaning, **settled) if settled else self.meaning

    def spellings(self) -> Iterator[str]:
        """Every spelling in the row's own order of words."""
        choices = [([""] if s.optional else []) + ["." + w for w in s.words] for s in self.slots]
        for combo in itertools.product(*choices):
            yield self.opcode + "".join(combo)

    @property
    def canonical(self) -> str:
        """The row's head, slots written as the manual does: `add{.sat}.s32`."""
        return self.row.split()[0]


def filled(operands: Sequence[Operand], given: int) -> Sequence[Operand]:
    """The operand places that so many operands fill: those that may be missing are filled from the left."""
    if given >= len(operands):
        return operands
    spare = given - sum(not operand.optional for operand in operands)
    found = []
    for operand in operands:
        spare -= operand.optional
        if not operand.optional or spare >= 0:
            found.append(operand)
    return found


class Forms(Mapping[str, list["Form"]]):
    """Every form by opcode.  A row is read when its opcode is first asked for: one program needs few of the 2,000."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Callable[[], Form]]] = {}
        self._read: dict[str, list[Form]] = {}
        self._effects: dict[str, set[str]] = {}  # effect -> opcodes

    def add(self, opcode: str, read: Callable[[], Form], effect: str, facts: Mapping[str, Any] | None) -> None:
        """One more row of an opcode, with its effect and the facts that it states for itself."""
        self._rows.setdefault(opcode, []).append(read)
        if effect:
            self._effects.setdefault(effect, set()).add(opcode)
        if facts:
            row_states(opcode, facts)

    def with_effect(self, effect: str) -> Collection[str]:
        """The opcodes that have a row with an effect."""
        return self._effects.get(effect, ())

    def __getitem__(self, opcode: str) -> list[Form]:
        found = self._read.get(opcode)
        if found is None:
            found = self._read[opcode] = [read() for read in self._rows[opcode]]
        return found

    def __contains__(self, opcode: object) -> bool:
        return opcode in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


FORMS = Forms()


def with_effect(*effects: str) -> frozenset[str]:
    """The opcodes that have a row with one of some effects."""
    from . import ops  # noqa: F401  fills FORMS

    return frozenset().union(*(FORMS.with_effect(effect) for effect in effects))


def _python(word: str) -> str:
    """A word as a Python name: `shared::cta` is shared_cta, `and` is and_."""
    name = word.replace("::", "_")
    return name + "_" if name in ("and", "or", "not", "global", "return", "is", "in") else name


def parameters(meaning: Meaning) -> tuple[str, ...]:
    """The names of a meaning's parameters; inspect.signature would cost a start of warplab a tenth of a second."""
    code = getattr(meaning, "__wrapped__", meaning).__code__  # behind a decorator
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _operand(text: str, optional: bool) -> Operand:
    if text.startswith("["):
        name = text.strip("[]").split(",")[0].strip()
        base, _, kind = name.partition(":")
        return Operand(base, kind, address=True, optional=optional, text=text)
    m = _OPERAND.match(text)
    assert m, f"operand {text!r} of a row"
    count: int | str = int(m["count"]) if m["count"] else (m["vec"] or 1)
    return Operand(
        m["name"], m["type"] or "", m["wider"] == "+", m["wider"] == "~", False, bool(m["const"]), count,
        m["second"] or "", m["pair"] == "[|", bool(m["neg"]), optional, text,
    )  # fmt: skip


@functools.cache
def _operands(text: str) -> tuple[Operand, ...]:
    parts: list[tuple[str, bool]] = []
    depth, square, current, optional = 0, 0, "", False
    for ch in text.replace("{!}", "\0") + ",":
        square += (ch == "[") - (ch == "]")
        if ch == "," and square == 0:
            if current.strip():
                parts.append((current.strip().replace("\0", "{!}"), optional))
            current, optional = "", depth > 0
        elif ch == "{" and square == 0:
            depth += 1
            if not parts and not current.strip():
                optional = True  # an optional first operand
        elif ch == "}" and square == 0:
            depth -= 1
        else:
            current += ch
    return tuple(_operand(t, o) for t, o in parts)


def words(given: str | Iterable[str]) -> tuple[str, ...]:
    """A set of words, given as a string of them or any iterable (a dict's keys)."""
    return tuple(given.split() if isinstance(given, str) else given)


def form(
    row: str, meaning: Meaning | None, *, ptx: float = 1.0, sm: int = 10, arch: str = "",
    needs: Mapping[str, Need] | None = None, effect: str = "", carry: str = "", doc: str = "", section: str = "",
    facts: Mapping[str, Any] | None = None, **sets: str | Iterable[str],
) -> Form:  # fmt: skip
    """Reads one row."""
    head, _, operands = row.partition(" ")
    opcode = _opcode(row)
    slots = tuple(
        Slot(name, words(sets[name]) if name in sets else (name,), bool(brace)) for brace, name in _WORD.findall(head[len(opcode) :])
    )
    unused = set(sets) - {s.name for s in slots}
    assert not unused, f"{row}: no slot named {unused}"
    by_word = dict(needs or {})
    end = by_word.pop("", Need())  # "" stands for the whole row
    return Form(
        " ".join(row.split()), opcode, slots, _operands(operands), Need(ptx, sm, arch, end.before, end.ends), by_word, meaning, effect, carry,
        doc or (meaning.__doc__ if meaning is not None else "") or "", section, facts_of(opcode, facts),
    )  # fmt: skip


def _opcode(row: str) -> str:
    found = _OPCODE.match(row)
    assert found is not None, row
    return found[1]


def _checked(new: Form) -> Form:
    if new.meaning is not None:
        named = parameters(new.meaning)
        for slot in new.slots:
            # The operands carry their dtype, a required fixed word (".sync") never varies, and .aligned is a promise of the program;
            # any other modifier that the function does not name would be silently ignored.
            silent = slot.is_flag and (not slot.optional or slot.name == "aligned")
            free = slot.name in ("type", "dtype", "atype", "btype", "ctype", "vec")
            assert silent or free or _python(slot.name) in named, f"{new.row}: {new.meaning.__name__}() ignores .{slot.name}"
    return new


def instruction(
    row: str, *, ptx: float = 1.0, sm: int = 10, arch: str = "", needs: Mapping[str, Need] | None = None,
    effect: str = "", carry: str = "", doc: str = "", section: str = "", facts: Mapping[str, Any] | None = None, **sets: str | Iterable[str],
) -> Callable[[F], F]:  # fmt: skip
    """Decorates a meaning with one row of the manual; several rows may share a function.  `facts` are those of facts.py."""

    def register(meaning: F) -> F:
        known = dict(ptx=ptx, sm=sm, arch=arch, needs=needs, effect=effect, carry=carry, doc=doc, section=section, facts=facts)
        FORMS.add(_opcode(row), lambda: _checked(form(row, meaning, **known, **sets)), effect, facts)  # type: ignore[arg-type]
        return meaning

    return register


def accepted(
    row: str, *, doc: str, ptx: float = 1.0, sm: int = 10, arch: str = "", needs: Mapping[str, Need] | None = None,
    effect: str = "", section: str = "", facts: Mapping[str, Any] | None = None, **sets: str | Iterable[str],
) -> None:  # fmt: skip
    """A row without a meaning on arrays: the engine itself performs its effect, or it is assembled and not executed."""
    known = dict(ptx=ptx, sm=sm, arch=arch, needs=needs, effect=effect, doc=doc, section=section, facts=facts)
    FORMS.add(_opcode(row), lambda: _checked(form(row, None, **known, **sets)), effect, facts)  # type: ignore[arg-type]


@functools.cache
def resolve(opcode: str, modifiers: tuple[str, ...]) -> tuple[Form, dict[str, str | bool]] | None:
    """The form that a spelling names, with its modifiers by slot; the first row that fits wins."""
    for candidate in FORMS.get(opcode, ()):
        found = candidate.match(modifiers)
        if found is not None:
            return candidate, found
    return None
