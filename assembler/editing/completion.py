"""What may be typed at a place of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from warplab.isa.control import BRANCHES, CALLS
from warplab.isa.notation import FORMS, filled, resolve
from warplab.isa.special import COMPONENTS, SPECIAL
from warplab.isa.types import TYPES, ScalarType

from ..ir import Function, Label, Register, Targets, Variable
from ..verify.operands.kinds import REGISTER_TYPES
from .edited import EditedText
from .hover import about_forms, declaration
from .names import Named, RegisterRange
from .spelled import Spelled, spelled_at, statement_start, words_that_fit

Kind = Literal["opcode", "word", "register", "special", "variable", "label", "function", "directive", "type"]
_PARTIAL = re.compile(r"[\w$%]*\Z", re.A)
_BEGINNING = re.compile(r"(?:[A-Za-z_$%][\w$]*\s*:(?!:)\s*)*(?:@\s*!?\s*[\w$%]+\s+)?[a-z]?\w*\Z", re.A)
_GUARD = re.compile(r"(?:[A-Za-z_$%][\w$]*\s*:(?!:)\s*)*@\s*!?\s*[\w$%]*\Z", re.A)
OUTSIDE = ".version .target .address_size .visible .extern .weak .common .entry .func .global .const .shared .tex .file .section .alias .pragma".split()
INSIDE = ".reg .shared .local .param .global .const .loc .pragma".split()
HEADER = ".maxntid .reqntid .minnctapersm .maxnreg .reqnctapercluster .explicitcluster .maxclusterrank .noreturn .pragma".split()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text that may stand in the place of what is typed so far."""

    text: str
    kind: Kind
    detail: str = ""
    markdown: str = ""
    rank: int = 0  # those that fit best have the lowest


@dataclass(frozen=True, slots=True)
class Proposals:
    """What may stand from an offset on, up to where one is."""

    start: int
    found: list[Proposal]


def completion(edited: EditedText, offset: int) -> Proposals:
    """What may be typed at an offset."""
    code = edited.source.code
    start, _ = edited.line(edited.line_of(offset))
    if edited.text[start:offset] != code[start:offset]:
        return Proposals(offset, [])  # inside a comment
    begin = statement_start(code, offset)
    before = code[begin:offset].lstrip()
    partial = _PARTIAL.search(before)
    assert partial is not None
    word = offset - len(partial.group())
    names = edited.names
    inside = names.function_at(offset) is not None
    if _GUARD.match(before) and "@" in before and inside:
        return Proposals(word, [p for p in _registers(edited, offset) if p.detail == ".pred"])
    spelled = spelled_at(code, offset)
    if spelled is not None and spelled.end >= offset and "." in code[spelled.start : offset]:
        typed = tuple(w for w in code[spelled.start : word].split(".")[1:] if w)
        return Proposals(word, list(_words(spelled.opcode, typed)))
    if before.startswith(".") and spelled is None:
        return Proposals(word - (code[word - 1 : word] == "."), list(_directives(before, inside)))
    if _BEGINNING.match(before):
        return Proposals(word, list(_opcodes()) if inside else list(_directives(".", inside)))
    if spelled is not None and inside:
        return Proposals(word, list(_operands(edited, spelled, offset)))
    return Proposals(word, [])


def _opcodes() -> Iterator[Proposal]:
    for opcode in FORMS:
        yield Proposal(opcode, "opcode")


def explained(opcode: str) -> str:
    """What a proposed opcode does, which is asked for one by one."""
    return about_forms(list(FORMS.get(opcode, ())))


def _words(opcode: str, typed: tuple[str, ...]) -> Iterator[Proposal]:
    for rank, (word, form) in enumerate(words_that_fit(opcode, typed)):
        yield Proposal(word, "type" if word in TYPES else "word", form.row, rank=rank)


def _directives(before: str, inside: bool) -> Iterator[Proposal]:
    """Directives at the beginning of a statement, types and the like behind them, and those of a function's header."""
    words = before.split()
    if len(words) < 2 and not before.endswith(" "):
        for d in INSIDE if inside else OUTSIDE:
            yield Proposal(d, "directive")
        return
    if ".entry" in words or ".func" in words:
        if ")" in before and not inside:
            for d in HEADER:
                yield Proposal(d, "directive")
            return
        yield Proposal(".param", "directive")
    elif words[0] in (".visible", ".extern", ".weak"):
        for d in (".entry", ".func", ".global", ".const", ".shared"):
            yield Proposal(d, "directive")
    for name in (*REGISTER_TYPES, "texref", "samplerref", "surfref"):
        yield Proposal(f".{name}", "type")
    for d in (".align", ".v2", ".v4"):
        yield Proposal(d, "directive")


# ---------------------------------------------------------------- operands


def _registers(edited: EditedText, offset: int) -> Iterator[Proposal]:
    seen = set()
    for named in edited.names.visible(offset):
        if isinstance(named, Register) and named.name not in seen:
            seen.add(named.name)
            yield Proposal(named.name, "register", f".{named.type}")
        elif isinstance(named, RegisterRange):
            used = {r.name for r in edited.names.scopes if named.has(r)}
            spare = next((f"{named.name}{i}" for i in range(1, named.count) if f"{named.name}{i}" not in used), None)
            if spare is not None:
                yield Proposal(spare, "register", f".{named.type}", "not used so far")


def _operands(edited: EditedText, spelled: Spelled, offset: int) -> Iterator[Proposal]:
    """What may stand in the operand at an offset, what fits its type first."""
    code = edited.source.code
    typed = code[spelled.end : offset]
    visible: list[Named] = list(edited.names.visible(offset))
    if spelled.opcode in BRANCHES:
        for n in visible:
            if isinstance(n, Label | Targets):
                yield Proposal(n.name, "label", f"line {n.span.line}")
        return
    if spelled.opcode in CALLS:
        for n in visible:
            if isinstance(n, Function) and not n.is_entry:
                yield Proposal(n.name, "function", f"line {n.span.line}")
    number = _commas(typed)
    wanted, address = _wanted(spelled, number)
    address = address or typed.rfind("[") > typed.rfind("]")
    spaces = _spaces(spelled)
    for p in _registers(edited, offset):
        yield Proposal(p.text, p.kind, p.detail, p.markdown, _misfit(TYPES[p.detail[1:]], wanted, address))
    for n in visible:
        if isinstance(n, Variable) and (not spaces or n.space in spaces):
            yield Proposal(n.name, "variable", declaration(n), rank=0 if address else 6)
    if not address:
        for row in SPECIAL.values():
            for part in [f".{c}" for c in COMPONENTS] if row.vector else [""]:
                common = row.name in ("%tid", "%ntid", "%ctaid", "%nctaid", "%laneid")
                yield Proposal(f"{row.name}{part}", "special", f".{row.type}", row.doc, 3 if common else 7)


def _commas(typed: str) -> int:
    depth = count = 0
    for c in typed:
        depth += (c in "([{") - (c in ")]}")
        count += c == "," and depth == 0
    return count


def _wanted(spelled: Spelled, number: int) -> tuple[ScalarType | None, bool]:
    """The type of the operand of a number, where it is known, and whether it is an address."""
    found = resolve(spelled.opcode, spelled.words)
    if found is None:
        return None, False
    form, settled = found
    places = filled(form.operands, max(number + 1, sum(not o.optional for o in form.operands)))
    if number >= len(places):
        return None, False
    return form.type_of(places[number], settled), places[number].address


def _misfit(type: ScalarType, wanted: ScalarType | None, address: bool) -> int:
    """How badly a register of a type fits: 0 well, 1 in its size alone, 5 not."""
    if address:
        return 0 if type.is_integer and type.bits == 64 else 1 if type.is_integer and type.bits == 32 else 5
    if wanted is None:
        return 1
    return 5 if type.bits != wanted.bits else 0 if type.kind == wanted.kind else 1 if type.kind == "b" else 2


def _spaces(spelled: Spelled) -> set[str]:
    """The state spaces that an instruction names."""
    return {w.partition("::")[0] for w in spelled.words} & {"global", "const", "shared", "local", "param"}
