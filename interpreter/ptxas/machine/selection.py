"""The machine instructions of each block of a function, before loops are unrolled and blocks are ordered."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.assembler.ir import Address, Function, Immediate, Instruction, Operand, Register, SpecialRegister, Symbol, Variable
from warplab.isa.types import TYPES

from ...plan.operands import immediate_bits
from ..atomics import is_gathered, unused_results
from ..joined import Joined
from .instruction import MachineInstruction
from .merging import MEMORY, Merging
from .sequences import sequence
from .sources import Sources, copied_by, is_move

WHAT = {"ld": "ld", "ldu": "ld", "ldmatrix": "ld", "tex": "ld", "tld4": "ld", "suld": "ld", "st": "st", "stmatrix": "st", "sust": "st", "atom": "atom",
        "red": "red", "cp": "ld", "bar": "bar", "barrier": "bar", "exit": "exit", "ret": "exit", "trap": "exit", "bra": "branch", "brx": "branch",
        "call": "branch", "membar": "fence", "fence": "fence"}  # fmt: skip
NAMES = {"global": ("LDG", "STG", "ATOMG", "REDG"), "shared": ("LDS", "STS", "ATOMS", "ATOMS"), "local": ("LDL", "STL", "ATOM", "RED"),
         "const": ("LDC", "ST", "ATOM", "RED"), "generic": ("LD", "ST", "ATOM", "RED")}  # fmt: skip
BANK_LOADS = CLUSTERS = (9, 0)  # since this device a word of the constant bank is loaded before it is used, and blocks form clusters
EITHER_PORT = (7, 0)  # since this device sums and moves may go to the port of products
HALF_PRODUCTS = {"IMAD": 3, "IMAD.WIDE": 5, "IMAD.HI": 5}  # on devices that multiply 16 bits: how many of them
DOUBLES = frozenset({"add", "sub", "mul", "fma", "setp", "min", "max"})
ONE_CONSTANT = frozenset({"fma", "mad", "selp", "slct", "lop3", "prmt", "shf", "bfi"})
STORED = frozenset({"st", "red", "atom"})
SAME = ("S2R", "VOTE", "UFLO", "ISETP")  # finds the one lane that updates a word for its warp
ROUTINES = {"vprintf": 7000, "malloc": 1500, "free": 600}  # machine instructions of CUDA's own functions, as recorded
INDIRECT = ("BSSY", "MOV", "LDC", "BSYNC")  # around a call of a function that a register names
IDLE = ("LDS", "LDS", "LDS")  # without a lane, before the first asynchronous copy of a block
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class SelectedCode:
    """One function's machine instructions, by blocks."""

    def __init__(
        self, sources: Sources, merging: Merging, joined: Mapping[int, Joined], capability: tuple[int, int], *, plain: bool = False
    ) -> None:
        self.plain = plain  # assembled for a debugger: each instruction on its own
        self.sources = sources
        self.merging = merging
        self.joined = joined
        self.capability = capability
        self.flow = sources.flow
        self.registers = len(self.flow.function.registers)
        self.blocks: dict[int, list[MachineInstruction]] = {b: [] for b in self.flow.rpo}
        self.spread = 0  # sums and moves go to either port in turn
        self.unused = unused_results(self.flow.function)
        self._own: dict[object, int] = {}  # registers of ptxas's own, by what they hold
        if not plain:
            self._prepare()
        for b in self.flow.rpo:
            self._block(b)

    def _prepare(self) -> None:
        """Decides from the last instruction on what is merged, so that a reader's own place is known."""
        for b in reversed(self.flow.rpo):
            for i in reversed(self.flow.blocks[b].instructions):
                if id(i) in self.sources.alive:
                    self.merging.is_merged(i)

    # ------------------------------------------------------------ a block

    def _block(self, b: int) -> None:
        out = self.blocks[b]
        if b == 0 and self.flow.function.is_entry:
            out.append(MachineInstruction("LDC", (), (self._fresh("stack"),)))
            if any(i.opcode in MEMORY and self._space(i) in ("global", "generic") for i in self.sources.instructions()):
                out.append(MachineInstruction("ULDC", (), (self._fresh("memory"),)))
        for i in self.flow.blocks[b].instructions:
            if self.plain:
                self._plain(b, i)
            elif id(i) in self.sources.alive and not self.merging.is_merged(i):
                self._instruction(b, i)

    def _plain(self, b: int, i: Instruction) -> None:
        """An instruction for a debugger, with a copy of each word that it writes, and of the address of an access."""
        known, parameter = self.sources.known[id(i)], self.sources.parameter(i) is not None
        reads, writes = tuple(known.read), tuple(known.written)
        if i.opcode in MEMORY and not parameter:
            self._chain(self.blocks[b], i, ["MOV", "MOV"], reads, reads[:1])
            self._access(b, i)
        else:
            made = ["MOV", "LDC"] if parameter else list(sequence(i)) or ["MOV"]
            self._chain(self.blocks[b], i, made + ["MOV"] * (len(made) - 1), reads, writes)
        words = sum(-(-r.type.bits // 32) for r in known.registers if r.index in writes and r.type.bits > 1)
        self._chain(self.blocks[b], i, ["MOV"] * words, writes, writes)

    def _instruction(self, b: int, i: Instruction) -> None:
        s, out = self.sources, self.blocks[b]
        if s.parameter(i) is not None:
            self._kept_copy(b, i, constant=False)
            return
        if i.opcode in MEMORY or i.opcode in ("tex", "tld4", "suld", "sust"):
            self._access(b, i)
            return
        if copied_by(i) is not None or (i.opcode == "mov" and i.guard is None):
            self._copy(b, i)
            return
        if len(s.known[id(i)].written) == 1 and i.guard is None and not s.is_open(i) and s.constants.at(s.place[id(i)]) is not None:
            return  # ptxas computes it
        if i.opcode == "bra" and i.guard is None:
            return
        self._constants(b, i)
        opcodes = list(self.merging.opcodes(i))
        if i.opcode == "ret" and self.flow.function.is_entry:
            opcodes = ["EXIT"]
        self._chain(out, i, opcodes, self._reads(b, i), tuple(s.known[id(i)].written))
        if i.opcode == "call" and not any(isinstance(o, Function) for o in i.operands):
            self._load(b, INDIRECT)
        if i.opcode == "call":
            out[-1].slots = next((ROUTINES[o.name] for o in i.operands if isinstance(o, Function) and o.name in ROUTINES), 1)

    def _chain(
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

    def _constants(self, b: int, i: Instruction) -> None:
        """Constants that have to be in a register: all but one of an instruction, those that are stored, doubles with more than 32 bits."""
        given = [(o, self.sources.constant(i, o)) for o in i.operands[1:]]
        values = [v for _, v in given if v]
        if i.opcode in DOUBLES and i.modifiers[-1] == "f64":
            for o, v in given:
                bits = immediate_bits(o, TYPES["f64"]) if isinstance(o, Immediate) else v
                if bits is not None and bits & 0xFFFF_FFFF and self._is_new(("double", bits, self._before_loops(b))):
                    self._load(self._before_loops(b), ("UMOV", "UMOV"))
        elif i.opcode in ONE_CONSTANT and len(values) > 1:
            self._load(self._before_loops(b), ("MOV",) * (len(values) - 1))
        elif i.opcode in STORED:
            self._load(b, ("MOV",) * len(values))

    def _load(self, b: int, opcodes: tuple[str, ...]) -> None:
        self.blocks[b] += [MachineInstruction(o, (), (self.new_register(),)) for o in opcodes]

    def _reads(self, b: int, i: Instruction) -> tuple[int, ...]:
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
            if copied is None and (self.merging.is_merged(source) or is_move(source)):
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
        if self._is_new(("special", what)):
            self.blocks[self._before_loops(b)].append(MachineInstruction("S2R", (), (self._own["special", what],)))
        found[self._own["special", what]] = None

    def _word(self, b: int, what: object, found: dict[int, None]) -> None:
        """A word of the constant bank."""
        if self.capability < BANK_LOADS:
            return
        if self._is_new(("word", what)):
            self.blocks[self._before_loops(b)].append(MachineInstruction("LDC", (), (self._own["word", what],)))
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
        if self._is_new(key):
            at = self._before_loops(b)
            own = self._own[key]
            if key[0] != "shared":
                self.blocks[at].append(MachineInstruction("LDC", (), (own,)))
            else:
                if self._is_new(("cluster", at)):
                    self.blocks[at].append(MachineInstruction("S2UR", (), (self._own["cluster", at],)))  # the block's place in its cluster
                self.blocks[at].append(MachineInstruction("UMOV", (), (own,)))
                self.blocks[at].append(MachineInstruction("ULEA", (own, self._own["cluster", at]), (own,)))
        found[self._own[key]] = None

    def _before_loops(self, b: int) -> int:
        """The block in front of the outermost loop around a block."""
        while (n := self.flow.loop_of[b]) is not None:
            before = self.flow.idom[self.flow.loops[n].header]
            if before is None:
                break
            b = before
        return b

    # ------------------------------------------------------------ copies

    def _copy(self, b: int, i: Instruction) -> None:
        """A copy costs an instruction only where other values meet it in its register."""
        if self.sources.is_open(i):
            source = i.operands[1]
            held = self.sources.held(i, source)
            self._kept_copy(b, i, constant=held.kind in ("constant", "address"))
        elif (
            isinstance(i.operands[1], SpecialRegister) and self.sources.held(i, i.operands[1]).kind == "special" and self.sources.readers(i)
        ):
            name = i.operands[1].name
            if name.startswith(("%clock", "%globaltimer", "%pm")):
                self.blocks[b].append(MachineInstruction("CS2R", (), tuple(self.sources.known[id(i)].written), i))

    def _kept_copy(self, b: int, i: Instruction, constant: bool) -> None:
        s = self.sources
        if not s.is_open(i):
            return
        source = s.read[id(i)].get(i.operands[1].index) if isinstance(i.operands[1], Register) else None
        if source is not None and not constant and len(s.readers(source)) == 1 and copied_by(source) is None:
            self._hand_on(b, source, i)
            return
        self._chain(self.blocks[b], i, ["MOV"], self._reads(b, i), tuple(s.known[id(i)].written))

    def _hand_on(self, b: int, source: Instruction, i: Instruction) -> None:
        """The instruction that computes a value writes the register into which it is copied."""
        made = next((o for o in reversed(self.blocks[b]) if o.of is source and o.writes), None)
        if made is not None:
            made.writes += tuple(self.sources.known[id(i)].written)

    # ------------------------------------------------------------ accesses

    def _space(self, i: Instruction) -> str:
        words = {w.split("::")[0] for w in i.modifiers}
        if "matrix" in i.opcode:
            return "shared"
        return next((w for w in ("global", "shared", "local", "const", "param") if w in words), "generic")

    def _access(self, b: int, i: Instruction) -> None:
        s, out, words = self.sources, self.blocks[b], set(i.modifiers)
        space, what, join = self._space(i), WHAT.get(i.opcode, ""), self.joined.get(id(i))
        writes = tuple(s.known[id(i)].written)
        if space == "param":
            if what == "st":
                self._argument(b, i)
            elif not s.flow.function.is_entry:
                self._chain(out, i, [], self._reads(b, i), writes)
            elif writes:
                out.append(MachineInstruction("LDC", self._reads(b, i), writes, i))
            return
        if i.opcode == "prefetch":
            out.append(MachineInstruction("CCTL", self._reads(b, i), (), i))
            return
        if i.opcode == "cp":
            self._copying(b, i, words)
            return
        if join is not None and not join.width:
            head = next((o for o in reversed(out) if o.what == what and o.accesses and id(o.accesses[0]) in self.joined), None)
            if head is not None:
                head.accesses += (i,)
                head.writes += writes
                head.reads = tuple(dict.fromkeys(head.reads + self._reads(b, i)))
                return
        size = TYPES[i.modifiers[-1]].bytes if i.modifiers[-1] in TYPES else 4
        width = max(size * next((n for v, n in VECTORS.items() if v in words), 1), join.width if join else 0)
        if {"release", "acq_rel"} & words:
            self._chain(out, i, ["MEMBAR", "ERRBAR", "CGAERRBAR"] if not words & {"cta"} else ["MEMBAR"], (), (self.new_register(),))
        names = NAMES[space]
        opcode = (
            names[0]
            if what == "ld"
            else names[1]
            if what == "st"
            else names[2]
            if what == "atom" and id(i) not in self.unused
            else names[3]
        )
        if i.opcode in ("ldmatrix", "stmatrix"):
            opcode = "LDSM" if what == "ld" else "STSM"
        elif i.opcode in ("tex", "tld4", "suld", "sust"):
            opcode, space = {"tex": "TEX", "tld4": "TLD4", "suld": "SULD", "sust": "SUST"}[i.opcode], "global"
        if width >= 8 and space == "shared" and what in ("ld", "st") and i.opcode in ("ld", "st"):
            opcode += ".128" if width >= 16 else ".64"
        self._constants(b, i)
        gathered = what in ("atom", "red") and space in ("global", "generic") and self._is_gathered(i, opcode)
        if gathered:
            value = self.sources.constant(i, i.operands[-1])
            self._load(b, (*SAME, *(("UPOPC", "IMAD") if value is not None else ("REDUX", "MOV"))))
        out.append(MachineInstruction(opcode, self._reads(b, i), writes, i, what, "global" if space == "generic" else space, (i,), width))
        if gathered and opcode.startswith("ATOM"):
            self._load(b, ("S2R", "LOP3", "POPC", "SHFL", "IADD3"))
        if {"acquire", "acq_rel"} & words and not words & {"cta"}:
            out.append(MachineInstruction("CCTL", (), (), i))

    def _is_gathered(self, i: Instruction, opcode: str) -> bool:
        """Does one lane update a word for its warp, since all lanes have the same address?"""
        a = next((o for o in i.operands if isinstance(o, Address)), None)
        uniform = self.sources.constant(i, i.operands[-1]) is not None
        if a is None or not is_gathered(i, "red" if opcode.startswith("RED") else "atom", uniform=uniform, whole=False):
            return False
        return not isinstance(a.base, Register) or self.sources.held(i, a.base).kind in ("bank", "address", "constant")

    def _argument(self, b: int, i: Instruction) -> None:
        """A value is computed where a call expects it, unless it is a constant or others need it."""
        value = i.operands[1]
        if not isinstance(value, Register | Immediate) or "8" in i.modifiers[-1] or "16" in i.modifiers[-1]:
            return  # packed with others
        source = self.sources.source(i, value)
        if source is None or self.sources.parameter(source) is not None or len(self.sources.readers(source)) > 1:
            self._chain(self.blocks[b], i, ["MOV"], self._reads(b, i), ())

    def _copying(self, b: int, i: Instruction, words: set[str]) -> None:
        if "commit_group" in words:
            out = ["LDGDEPBAR"] if "bulk" not in words else ["UTMACMDFLUSH"]
        elif words & {"wait_group", "wait_all"}:
            out = ["DEPBAR"]
        elif "bulk" in words:
            out = ["UTMALDG" if "tensor" in words else "UBLKCP"]
        else:
            if not any(o.opcode == "LDGSTS" for o in self.blocks[b]):
                self._load(b, IDLE)
            op = MachineInstruction("LDGSTS", self._reads(b, i), (), i, "ld", "global", (i,), 16)
            self.blocks[b].append(op)
            return
        self._chain(self.blocks[b], i, out, self._reads(b, i), ())

    # ------------------------------------------------------------ registers

    def new_register(self) -> int:
        """A register of ptxas's own."""
        self.registers += 1
        return self.registers - 1

    def _fresh(self, key: object) -> int:
        self._is_new(key)
        return self._own[key]

    def _is_new(self, key: object) -> bool:
        if key in self._own:
            return False
        self._own[key] = self.new_register()
        return True
