"""What the machine instructions of one function read: registers, constants, words of the constant bank, addresses of variables.

What ptxas loads for that is put where it is needed first, in front of all loops.
"""

from __future__ import annotations

from warplab.assembler.ir import Address, Function, Immediate, Instruction, Operand, Register, SpecialRegister, Symbol, Variable
from warplab.isa.types import TYPES

from ...plan.operands import immediate_bits
from .instruction import MachineInstruction
from .merging import MEMORY, Merging
from .sources import Sources, copied_by, is_move

WHAT = {"ld": "ld", "ldu": "ld", "ldmatrix": "ld", "tex": "ld", "tld4": "ld", "suld": "ld", "st": "st", "stmatrix": "st", "sust": "st", "atom": "atom",
        "red": "red", "cp": "ld", "bar": "bar", "barrier": "bar", "exit": "exit", "ret": "exit", "trap": "exit", "bra": "branch", "brx": "branch",
        "call": "branch", "membar": "fence", "fence": "fence"}  # fmt: skip
BANK_LOADS = CLUSTERS = (9, 0)  # since this device a word of the constant bank is loaded before it is used, and blocks form clusters
EITHER_PORT = (7, 0)  # since this device sums and moves may go to the port of products
HALF_PRODUCTS = {"IMAD": 3, "IMAD.WIDE": 5, "IMAD.HI": 5}  # on devices that multiply 16 bits: how many of them
DOUBLES = frozenset({"add", "sub", "mul", "fma", "setp", "min", "max"})
ONE_CONSTANT = frozenset({"fma", "mad", "selp", "slct", "lop3", "prmt", "shf", "bfi"})
STORED = frozenset({"st", "red", "atom"})


class OperandCode:
    """The blocks of one function, as far as they are made, and what instructions in them read."""

    def __init__(self, sources: Sources, merging: Merging, capability: tuple[int, int]) -> None:
        self.sources = sources
        self.merging = merging
        self.capability = capability
        self.flow = sources.flow
        self.registers = len(self.flow.function.registers)
        self.blocks: dict[int, list[MachineInstruction]] = {b: [] for b in self.flow.rpo}
        self.spread = 0  # sums and moves go to either port in turn
        self._own: dict[object, int] = {}  # registers of ptxas's own, by what they hold

    def chain(
        self, out: list[MachineInstruction], i: Instruction, opcodes: list[str], reads: tuple[int, ...], writes: tuple[int, ...]
    ) -> None:
        """Instructions each of which needs the one before; the last one writes the result."""
        what = WHAT.get(i.opcode, "")
        if (5, 0) <= self.capability < EITHER_PORT:
            opcodes = [x for o in opcodes for x in (("XMAD",) * HALF_PRODUCTS[o] if o in HALF_PRODUCTS else (o,))]
        for n, opcode in enumerate(opcodes):
            last = n == len(opcodes) - 1
            made = writes if last else (self.new_register(),)
            if opcode in ("IADD3", "MOV") and len(opcodes) == 1 and self.capability >= EITHER_PORT:
                opcode, self.spread = (("IMAD.IADD" if opcode == "IADD3" else "IMAD.MOV"), 0) if self.spread else (opcode, 1)
            out.append(MachineInstruction(opcode, reads, made, i, what if last else ""))
            reads = made if not last else reads

    # ------------------------------------------------------------ operands

    def constants(self, b: int, i: Instruction) -> None:
        """Constants that have to be in a register: all but one of an instruction, those that are stored, doubles with more than 32 bits."""
        given = [(o, self.sources.constant(i, o)) for o in i.operands[1:]]
        values = [v for _, v in given if v]
        if i.opcode in DOUBLES and i.modifiers[-1] == "f64":
            for o, v in given:
                bits = immediate_bits(o, TYPES["f64"]) if isinstance(o, Immediate) else v
                if bits is not None and bits & 0xFFFF_FFFF and self.is_new(("double", bits, self.before_loops(b))):
                    self.load(self.before_loops(b), ("UMOV", "UMOV"))
        elif i.opcode in ONE_CONSTANT and len(values) > 1:
            self.load(self.before_loops(b), ("MOV",) * (len(values) - 1))
        elif i.opcode in STORED:
            self.load(b, ("MOV",) * len(values))

    def load(self, b: int, opcodes: tuple[str, ...]) -> None:
        """Instructions that need nothing in registers."""
        self.blocks[b] += [MachineInstruction(o, (), (self.new_register(),)) for o in opcodes]

    def reads(self, b: int, i: Instruction) -> tuple[int, ...]:
        """The registers that an instruction reads, with those of what is merged into it; words of the constant bank are loaded."""
        found: dict[int, None] = {}
        self._gather(b, i, found)
        return tuple(found)

    def _gather(self, b: int, i: Instruction, found: dict[int, None]) -> None:
        s = self.sources
        for op in i.operands:
            if isinstance(op, SpecialRegister | Variable | Symbol):
                self._held(b, i, op, found)
            elif isinstance(op, Address) and isinstance(op.base, Variable):
                self._variable(b, i, op.base, found)
        for index in dict.fromkeys(s.known[id(i)].read):
            source = s.read[id(i)].get(index)
            if source is not None and self.merging.is_merged(source):
                self._gather(b, source, found)
                continue
            self._register(b, i, index, found)

    def _register(self, b: int, i: Instruction, index: int, found: dict[int, None]) -> None:
        """A register as what it is a copy of."""
        s = self.sources
        register = next((r for r in s.known[id(i)].registers if r.index == index), None)
        for _ in range(16):
            source = s.read[id(i)].get(index)
            if register is not None and s.constants.of(index, s.place[id(i)]) is not None:
                return
            if source is None:
                break
            if (at := s.parameter(source)) is not None:
                self._word(b, ("parameter", *at), found)
                return
            copied = copied_by(source)
            if copied is None and (self.merging.is_merged(source) or is_move(source) or self.merging.is_nothing(source)):
                self._gather(b, source, found)
                return
            if not isinstance(copied, Register):
                if copied is not None:
                    self._held(b, source, copied, found)
                    return
                break
            i, index, register = source, copied.index, copied
        found[index] = None

    def _held(self, b: int, i: Instruction, op: Operand, found: dict[int, None]) -> None:
        held = self.sources.held(i, op)
        if held.kind == "bank":
            self._word(b, held.value, found)
        elif held.kind == "special":
            self._special(b, held.value, found)
        elif held.kind == "address":
            self._variable(b, i, held.value, found)

    def _special(self, b: int, what: object, found: dict[int, None]) -> None:
        if self.is_new(("special", what)):
            self.blocks[self.before_loops(b)].append(MachineInstruction("S2R", (), (self._own["special", what],)))
        found[self._own["special", what]] = None

    def _word(self, b: int, what: object, found: dict[int, None]) -> None:
        """A word of the constant bank."""
        if self.capability < BANK_LOADS:
            return
        if self.is_new(("word", what)):
            self.blocks[self.before_loops(b)].append(MachineInstruction("LDC", (), (self._own["word", what],)))
        found[self._own["word", what]] = None

    def _variable(self, b: int, i: Instruction, what: object, found: dict[int, None]) -> None:
        if isinstance(what, Function):
            key: tuple[object, ...] = ("function", what.name)
        elif isinstance(what, Variable) and what.space == "shared":
            key = ("shared", what.name, id(i))
        elif isinstance(what, Variable) and (what.space == "global" or (what.space == "const" and i.opcode not in MEMORY)):
            key = ("variable", what.name)
        else:
            return
        if key[0] == "shared" and self.capability < CLUSTERS:
            return  # the address is a constant
        if self.is_new(key):
            at = self.before_loops(b)
            own = self._own[key]
            if key[0] != "shared":
                self.blocks[at].append(MachineInstruction("LDC", (), (own,)))
            else:
                if self.is_new(("cluster", at)):
                    self.blocks[at].append(MachineInstruction("S2UR", (), (self._own["cluster", at],)))  # the block's place in its cluster
                self.blocks[at].append(MachineInstruction("UMOV", (), (own,)))
                self.blocks[at].append(MachineInstruction("ULEA", (own, self._own["cluster", at]), (own,)))
        found[self._own[key]] = None

    def before_loops(self, b: int) -> int:
        """The block in front of the outermost loop around a block."""
        while (n := self.flow.loop_of[b]) is not None:
            before = self.flow.idom[self.flow.loops[n].header]
            if before is None:
                break
            b = before
        return b

    # ------------------------------------------------------------ registers

    def new_register(self) -> int:
        """A register of ptxas's own."""
        self.registers += 1
        return self.registers - 1

    def fresh(self, key: object) -> int:
        """The register that holds something, which is new or known."""
        self.is_new(key)
        return self._own[key]

    def is_new(self, key: object) -> bool:
        """Does something get its register now?"""
        if key in self._own:
            return False
        self._own[key] = self.new_register()
        return True
