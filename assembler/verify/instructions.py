"""Judges the instructions of a function: spelling, needs, number and kinds of operands.

The verdict depends on the Shape alone, save where constants count, so one instruction of each shape is judged, and legal shapes are remembered.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warplab.isa.control import CALLS
from warplab.isa.facts import opcodes
from warplab.isa.notation import FORMS, Form, filled, resolve
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES

from ..diagnostics import Diagnostic, Note
from ..ir import Address, Declaration, Function, Immediate, Instruction, Module, Operand, Register, Span, SpecialRegister, Symbol, Variable
from ..listing import listing
from . import limits, needs
from .abi import reached_by_kernels, without_abi
from .forms import misspelt
from .module import declarations
from .operands import HANDLES, Misfit, described, is_narrow, misfit, video
from .places import Places, places

ALONE = CALLS | limits.VALUES | HANDLES  # judged by their constants, too
INDEXED = opcodes("is_indexed")  # take `g[4]` without brackets around it
Where = Callable[[Places], Span]


@functools.lru_cache(maxsize=64)
def _legal(has: needs.Has) -> set[object]:
    """What has been found legal under a version and target: shapes, shapes with constants, and types of register declarations."""
    return set()


MOST = 1 << 17  # legal shapes remembered: more than any text needs


@dataclass(slots=True)
class Judge:
    """Verdicts on one module's instructions."""

    module: Module
    found: list[Diagnostic]
    has: needs.Has
    legal: set[object] = field(init=False)
    without_abi: Note | None = field(init=False)
    _reached: frozenset[str] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.without_abi = without_abi(self.module)
        self.legal = _legal(self.has)
        if len(self.legal) > MOST:
            self.legal.clear()

    @property
    def reached(self) -> frozenset[str]:
        """The functions that kernels reach."""
        if self._reached is None:
            self._reached = frozenset(reached_by_kernels(self.module))
        return self._reached

    def body(self, function: Function) -> Iterator[Instruction]:
        """Judges every statement of a body; yields the calls, which are judged together with their declarations."""
        columns, legal = listing(function), self.legal
        for statement in columns.rest:
            registers = isinstance(statement, Declaration) and not statement.variables
            key = (statement.type, statement.vector) if registers else None  # type: ignore[union-attr]
            if key is None or key not in legal:
                wrong = list(declarations.judge_statement(self.module, statement))
                self.found += wrong
                if key is not None and not wrong:
                    legal.add(key)
        fresh = columns.shapes.keys() - legal
        odd = {g for g in {s.guard for s in columns.instructions} if g is not None and g.category != "pred"}
        if not fresh and not odd:
            return
        for s in [s for s in columns.instructions if s.shape in fresh or s.guard in odd]:
            shape = s.shape
            if s.opcode in CALLS:
                yield s
                self.judge(s)
            elif s.guard in odd:
                self.judge(s)
            elif shape not in fresh:  # found legal meanwhile
                continue
            elif s.opcode in ALONE:
                values = [o.value for o in s.operands if isinstance(o, Immediate)]
                whole = (shape, *values, *[o.offset != 0 for o in s.operands if isinstance(o, Address)])
                if whole not in legal and self.judge(s):
                    legal.add(whole)
            elif self.judge(s):
                legal.add(shape)
                fresh.discard(shape)

    # ------------------------------------------------------------ one instruction

    def judge(self, instruction: Instruction) -> bool:
        """Reports what is wrong with an instruction; True where nothing is and its operands' values do not matter."""
        form, settled = instruction.form, instruction.settled
        guard = instruction.guard
        if guard is not None and (guard.type.kind != "p" or guard.vector > 1):
            self.report(
                instruction, "bad-predicate", f"the guard {guard.name} is not a predicate but has type .{guard.type}",
                lambda p: p.guard, declared=guard,
            )  # fmt: skip
            return False
        if form is None or settled is None:
            self.misspelt(instruction)
            return False
        for word, need in needs.needed(form, settled):
            missing = self.has.lacks(need)
            if missing and need.before < self.has.version[0]:  # a spelling that ended long ago: today a word is missing in it
                self.misspelt(instruction)
                return False
            if missing:
                what = f".{word}" if word else instruction.opcode
                place = instruction.modifiers.index(word) if word in instruction.modifiers else None if word else -1
                self.needs(instruction, what, missing, place)
                return False
        if self.broken(instruction, limits.misplaced(instruction, form, settled) or limits.excluded(instruction, settled, self.has)):
            return False
        if instruction.opcode in CALLS:
            return False
        matched = self.operands(instruction, form)
        if matched is None:
            return False
        if self.broken(instruction, limits.out_of_range(instruction, self.has)):
            return False
        narrow = is_narrow(form, settled, instruction.operands, instruction.modifiers, needs.capability(self.has.target)[0])
        if narrow is not None:
            help = "keep the address in a .b64 register; where shared memory is meant, say .shared"
            self.report(instruction, "address-size", "an address in global memory has 64 bits", lambda p: p.operand(narrow), help=help)
            return False
        # `g[4]` and `g+4` are one operand here, and only the former is a place: that is told from the text, every time.
        return instruction.opcode not in INDEXED or not any(isinstance(o, Symbol) for o in instruction.operands)

    def broken(self, instruction: Instruction, wrong: limits.Wrong | None) -> bool:
        """Reports a broken rule."""
        if wrong is None:
            return False
        place = instruction.modifiers.index(wrong.word) if wrong.word in instruction.modifiers else None
        where = (lambda p: p.operand(wrong.operand)) if wrong.operand is not None else (lambda p: _word(p, place))
        self.report(instruction, wrong.code, wrong.message, where, help=wrong.help)
        return True

    def operands(self, instruction: Instruction, form: Form) -> Form | None:
        """Reports what is wrong with the operands; the form that they fit, else None."""
        settled = instruction.settled
        assert settled is not None
        given = instruction.operands
        first: tuple[int, Misfit] | None = None
        alternatives = [form]
        alternatives += [f for f in FORMS[form.opcode] if f is not form and f.match(instruction.modifiers) is not None]
        counts = sorted({n for f in alternatives for n in _counts(f, settled)})
        for candidate in alternatives:
            taken = filled(_hinted(candidate, settled), len(given))
            if len(taken) != len(given):
                continue
            under = candidate.match(instruction.modifiers)
            assert under is not None
            for i, (place, operand) in enumerate(zip(taken, given, strict=True)):
                wrong = self.misfit(candidate, under, i, place, operand, len(given))
                if wrong is None and place.address and isinstance(operand, Symbol) and not self.is_indexed(instruction, i):
                    wrong = Misfit("operand-kind", f"an address in [ ] is expected here, not {described(operand)}")
                if wrong is not None:
                    first = first or (i, wrong)
                    break
            else:
                return candidate if self.specials(instruction) else None
        if first is None:
            n = len(given)
            expected = " or ".join(map(str, counts))
            self.report(
                instruction, "operand-count", f"{'.'.join((form.opcode, *instruction.modifiers))} has {expected} operands, not {n}",
                lambda p: p.operand(counts[-1]) if n > counts[-1] else p.head, forms=(form.row,),
            )  # fmt: skip
        else:
            i, wrong = first
            self.report(
                instruction,
                wrong.code,
                wrong.message,
                lambda p: p.operand(i, wrong.part),
                help=_wider(instruction, i) or _with_predicates(instruction, wrong) or _memory(instruction, form) or wrong.help,
                declared=wrong.declared,
                forms=(form.row,),
            )
        return None

    def is_indexed(self, instruction: Instruction, i: int) -> bool:
        """Is an operand written as `g[4]`, which is not a value but a place?"""
        span = places(self.module, instruction).operand(i)
        return "[" in self.module.text[span.start : span.end]

    @staticmethod
    def misfit(form: Form, settled: Mapping[str, str | bool], i: int, place: Place, operand: Operand, count: int) -> Misfit | None:
        """Why an operand does not fit its place."""
        if form.opcode in video.ALL:
            t = form.type_of(place, settled)
            assert t is not None, form.row
            special, wrong = video.video_misfit(form, settled, i, operand, t, count)
            if special:
                return wrong
        return misfit(form, settled, i, place, operand)

    def specials(self, instruction: Instruction) -> bool:
        """Reports special registers that the module's version or target does not have."""
        for i, operand in enumerate(instruction.operands):
            if isinstance(operand, SpecialRegister):
                missing = self.has.lacks(needs.of_special(operand))
                if missing:
                    self.report(instruction, "needs", f"{described(operand)} needs {missing}", lambda p, i=i: p.operand(i))  # type: ignore[misc]
                    return False
        return True

    # ------------------------------------------------------------ reports

    def misspelt(self, instruction: Instruction) -> None:
        """Reports a spelling that no row has."""
        wrong = misspelt(instruction)
        self.report(
            instruction, wrong.code, wrong.message, lambda p: _word(p, wrong.word), help=wrong.help, forms=wrong.forms,
        )  # fmt: skip

    def needs(self, instruction: Instruction, what: str, missing: str, word: int | None) -> None:
        """Reports a form or word that the module's version or target does not have."""
        version = f"{self.module.version[0]}.{self.module.version[1]}"
        self.report(
            instruction, "needs", f"{what} needs {missing}", lambda p: _word(p, word),
            help=f"the module says .version {version} and .target {self.module.target}",
        )  # fmt: skip

    def report(
        self, instruction: Instruction, code: str, message: str, where: Where, *, help: str = "", forms: Sequence[str] = (),
        declared: Register | Variable | None = None,
    ) -> None:  # fmt: skip
        """Adds an error about a part of an instruction."""
        parts = places(self.module, instruction)
        span: Span = parts.shown(where(parts))
        notes = (Note(f"{declared.name} is declared here", declared.span),) if declared is not None else ()
        self.found.append(Diagnostic("error", code, message, span, notes, help, tuple(forms), file=self.module.name))


def _word(p: Places, word: int | None) -> Span:
    if word is None:
        return p.head
    return p.words[word] if 0 <= word < len(p.words) else p.opcode


def _hinted(form: Form, settled: Mapping[str, str | bool]) -> list[Place]:
    """The places of a form; the cache policy stands there exactly with .L2::cache_hint, where the form has that word."""
    hint = "L2::cache_hint" in settled
    if form.facts.access == "atomic" and settled.get("op") == "exch" and not hint:
        # ptxas lets .exch have the third source of .cas, and reads nothing from it.
        return [*form.operands, replace(form.operands[-1], optional=True)]
    if not any(slot.name == "L2::cache_hint" for slot in form.slots):
        return [*form.operands]
    return [
        replace(place, optional=False) if place.type == "b64" and place.optional else place
        for place in form.operands
        if hint or not (place.optional and place.type == "b64")
    ]


def _counts(form: Form, settled: Mapping[str, str | bool]) -> set[int]:
    places = _hinted(form, settled)
    return set(range(sum(not place.optional for place in places), len(places) + 1))


def _with_predicates(instruction: Instruction, wrong: Misfit) -> str:
    """The form for predicates, if one stands where its type does not fit."""
    if not isinstance(wrong.declared, Register) or wrong.declared.type.kind != "p":
        return ""
    words = tuple("pred" if w in TYPES else w for w in instruction.modifiers)
    legal = resolve(instruction.opcode, words) is not None
    return f"write {'.'.join((instruction.opcode, *words))} for predicates" if legal else ""


def _memory(instruction: Instruction, form: Form) -> str:
    """The load that is meant where memory is named in an instruction that does not reach it."""
    read = next((o for o in instruction.operands[1:] if isinstance(o, Address)), None)
    result = instruction.operands[0] if instruction.operands else None
    if read is None or not isinstance(result, Register) or any(place.address for place in form.operands):
        return ""
    space = f".{read.base.space}" if isinstance(read.base, Variable) else ""
    return f"{form.opcode} does not reach memory: ld{space}.{result.type} reads it into a register"


def _wider(instruction: Instruction, i: int) -> str:
    """Which form gives the whole product, if the result of a .lo is twice as wide as its type; "" otherwise."""
    result, words = instruction.operands[i], instruction.modifiers
    width = next((TYPES[w].bits for w in words if w in TYPES), 0)
    whole = tuple("wide" if w == "lo" else w for w in words)
    if (
        i
        or whole == words
        or not isinstance(result, Register)
        or result.type.bits != 2 * width
        or resolve(instruction.opcode, whole) is None
    ):
        return ""
    return f"{'.'.join((instruction.opcode, *whole))} gives the whole product of {2 * width} bits"
