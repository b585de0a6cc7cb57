"""The instructions of a litmus test: an opcode with its words, and its operands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeVar

from warplab.assembler.diagnostics import PtxError
from warplab.interpreter.litmus.events import GENERIC
from warplab.interpreter.litmus.proxies import ALIAS
from warplab.interpreter.order import GPU, SCOPES, SYS, MemoryOrder

from .program import HerdInstruction, Kind, Operand
from .tokens import HerdToken, Tokens

LOADS = {"ld": GENERIC, "tld": "texture", "suld": "surface", "cold": "constant"}
STORES = {"st": GENERIC, "sust": "surface"}
ATOMICS = {"atom": GENERIC, "suatom": "surface"}
REDUCTIONS = {"red": GENERIC, "sured": "surface"}
PROXIES = (GENERIC, "texture", "surface", "constant", "async")
ARITHMETIC = ("add", "sub", "mul", "div", "min", "max", "and", "or", "xor")
BRANCHES = {"beq": "==", "bne": "!=", "bge": ">=", "ble": "<=", "bgt": ">", "blt": "<"}
SEMANTICS = ("weak", "relaxed", "acquire", "release", "acq_rel", "sc")
OPCODES = [*LOADS, *STORES, *ATOMICS, *REDUCTIONS, *ARITHMETIC, *BRANCHES, "mov", "goto", "fence", "bar", "barrier"]
_T = TypeVar("_T")
_ALLOWED = {
    "load": ("weak", "relaxed", "acquire"),
    "store": ("weak", "relaxed", "release"),
    "atomic": ("relaxed", "acquire", "release", "acq_rel"),
    "fence": ("acq_rel", "sc"),
}


class InstructionReader:
    """Reads the instructions of one thread; a branch's target is resolved when all labels are known."""

    def __init__(self, tokens: Tokens, is_place: Callable[[str], bool]) -> None:
        self.tokens, self.is_place = tokens, is_place
        self.instructions: list[HerdInstruction] = []
        self.labels: dict[str, int] = {}
        self._jumps: dict[int, HerdToken] = {}

    def cell(self) -> None:
        """What one thread has in one row: a label, an instruction, both, or nothing."""
        t = self.tokens
        if t.peek().text in ("|", ";"):
            return
        word = t.word("an instruction or a label")
        if t.accept(":"):
            if word.text in self.labels:
                raise t.error(word, f"the label {word.text} stands twice in one thread")
            self.labels[word.text] = len(self.instructions)
            return self.cell()
        self.instructions.append(self._instruction(word))

    def finished(self) -> tuple[HerdInstruction, ...]:
        """The instructions, with the targets of branches."""
        for at, label in self._jumps.items():
            if label.text not in self.labels:
                raise self.tokens.unknown(label, "label of this thread", sorted(self.labels))
            self.instructions[at] = replace(self.instructions[at], target=self.labels[label.text])
        return tuple(self.instructions)

    # ------------------------------------------------------------ one instruction

    def _instruction(self, word: HerdToken) -> HerdInstruction:
        mnemonic, *words = word.text.split(".")
        line = self.tokens.line_of(word)
        if mnemonic in LOADS:
            result = self._register()
            if words:
                return self._access("load", word, line, LOADS[mnemonic], words, result=result, name=self._comma(self._place))
            return HerdInstruction("compute", word.text, line, result=result, operation="mov", operands=(self._comma(self._value),))
        if mnemonic in STORES:
            name = self._place()
            return self._access("store", word, line, STORES[mnemonic], words, name=name, operands=(self._comma(self._value),))
        if mnemonic in ATOMICS or mnemonic in REDUCTIONS:
            return self._atomic(word, line, mnemonic, words)
        if mnemonic == "fence":
            return self._fence(word, line, words)
        if mnemonic in ("bar", "barrier"):
            return self._barrier(word, line, words)
        if words or (mnemonic not in ARITHMETIC and mnemonic not in BRANCHES and mnemonic not in ("mov", "goto")):
            raise self.tokens.unknown(HerdToken(mnemonic, word.start), "instruction", OPCODES)
        if mnemonic in BRANCHES or mnemonic == "goto":
            compared = () if mnemonic == "goto" else (self._value(), self._comma(self._value))
            if compared:
                self.tokens.expect(",")
            self._jumps[len(self.instructions)] = self.tokens.word("a label")
            return HerdInstruction("branch", word.text, line, operation=BRANCHES.get(mnemonic, ""), operands=compared)
        result = self._register()
        count = 1 if mnemonic == "mov" else 2
        return HerdInstruction(
            "compute", word.text, line, result=result, operation=mnemonic, operands=tuple(self._comma(self._value) for _ in range(count))
        )

    def _access(
        self, kind: Kind, word: HerdToken, line: int, proxy: str, words: list[str], *, name: str, result: str = "", operation: str = "",
        operands: tuple[Operand, ...] = (),
    ) -> HerdInstruction:  # fmt: skip
        return HerdInstruction(kind, word.text, line, self._order(word, kind, words), proxy, name, result, operation, operands)

    def _atomic(self, word: HerdToken, line: int, mnemonic: str, words: list[str]) -> HerdInstruction:
        returns = mnemonic in ATOMICS
        result = self._register() if returns else ""
        name = self._comma(self._place) if returns else self._place()
        *words, operation = words or [""]
        known = (*ARITHMETIC, "cas", "exch") if returns else ARITHMETIC
        if operation not in known:
            raise self._wrong(word, f"expected an operation at the end of {word.text}: {', '.join(known)}")
        operands = tuple(self._comma(self._value) for _ in range(2 if operation == "cas" else 1))
        proxy = (ATOMICS | REDUCTIONS)[mnemonic]
        return self._access("atomic", word, line, proxy, words, name=name, result=result, operation=operation, operands=operands)

    def _fence(self, word: HerdToken, line: int, words: list[str]) -> HerdInstruction:
        if words[:1] != ["proxy"]:
            order = self._order(word, "fence", words)
            return HerdInstruction("fence", word.text, line, order)
        known = (*PROXIES, ALIAS)
        if len(words) != 2 or words[1] not in known:
            raise self._wrong(word, f"expected fence.proxy and one of {', '.join(known)}")
        return HerdInstruction("fence", word.text, line, MemoryOrder(True, SYS, fence=True, proxy=True), words[1])

    def _barrier(self, word: HerdToken, line: int, words: list[str]) -> HerdInstruction:
        words = words[1:] if words[:1] == ["cta"] else words
        if words not in (["sync"], ["arrive"]):
            raise self._wrong(word, "expected bar.cta.sync or bar.cta.arrive")
        instance = str(self.tokens.number("the number of the barrier"))
        operands: tuple[Operand, ...] = ()
        while len(operands) < 2 and self.tokens.accept(","):
            operands = (*operands, self._value())
        return HerdInstruction("barrier", word.text, line, name=instance, operation=words[0], operands=operands)

    def _order(self, word: HerdToken, kind: Kind, words: list[str]) -> MemoryOrder:
        semantics, *scopes = words or [""]
        if semantics not in _ALLOWED[kind]:
            raise self._wrong(word, f"expected one of {', '.join('.' + w for w in _ALLOWED[kind])} behind the opcode of {word.text}")
        if semantics == "weak":
            if scopes:
                raise self._wrong(word, f"a weak access has no scope: write {word.text.split('.')[0]}.weak")
            return MemoryOrder(scope=GPU)
        if len(scopes) != 1 or scopes[0] not in SCOPES:
            raise self._wrong(word, f"expected a scope behind .{semantics}: {', '.join('.' + s for s in SCOPES)}")
        both = semantics in ("acq_rel", "sc")
        return MemoryOrder(
            True, SCOPES[scopes[0]], both or semantics == "acquire", both or semantics == "release", kind == "fence", semantics == "sc"
        )

    # ------------------------------------------------------------ operands

    def _comma(self, read: Callable[[], _T]) -> _T:
        self.tokens.expect(",")
        return read()

    def _register(self) -> str:
        word = self.tokens.word("a register")
        if self.is_place(word.text):
            raise self._wrong(word, f"expected a register, and found the location {word.text}")
        return word.text

    def _value(self) -> Operand:
        if self.tokens.peek().is_number:
            return self.tokens.number("a number")
        return self._register()

    def _place(self) -> str:
        bracket = self.tokens.accept("[")
        name = self.tokens.word("a location").text
        if bracket:
            self.tokens.expect("]")
        return name

    def _wrong(self, word: HerdToken, message: str) -> PtxError:
        return self.tokens.error(word, message)


def registers_of(instructions: Collection[HerdInstruction]) -> set[str]:
    """The registers that some instructions name."""
    return {i.result for i in instructions if i.result} | {name for i in instructions for name in i.reads}
