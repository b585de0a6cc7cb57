"""The machine instructions of each block of a function, before loops are unrolled and blocks are ordered."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.assembler.ir import Function, Instruction, Register, SpecialRegister

from ..joined import Joined
from .accesses import AccessCode, space_of
from .instruction import MachineInstruction
from .merging import MEMORY, Merging
from .operands import OperandCode
from .sequences import sequence
from .sources import Sources, copied_by

ROUTINES = {"vprintf": 7000, "malloc": 1500, "free": 600}  # machine instructions of CUDA's own functions, as recorded
INDIRECT = ("BSSY", "MOV", "LDC", "BSYNC")  # around a call of a function that a register names


class SelectedCode:
    """One function's machine instructions, by blocks."""

    def __init__(
        self, sources: Sources, merging: Merging, joined: Mapping[int, Joined], capability: tuple[int, int], *, plain: bool = False
    ) -> None:
        self.plain = plain  # assembled for a debugger: each instruction on its own
        self.sources = sources
        self.merging = merging
        self.flow = sources.flow
        self.code = OperandCode(sources, merging, capability)
        self.accesses = AccessCode(self.code, joined)
        self.blocks = self.code.blocks
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
            out.append(MachineInstruction("LDC", (), (self.code.fresh("stack"),)))
            if any(i.opcode in MEMORY and space_of(i) in ("global", "generic") for i in self.sources.instructions()):
                out.append(MachineInstruction("ULDC", (), (self.code.fresh("memory"),)))
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
            self.code.chain(self.blocks[b], i, ["MOV", "MOV"], reads, reads[:1])
            self.accesses.access(b, i)
        else:
            made = ["MOV", "LDC"] if parameter else list(sequence(i, self.code.capability)) or ["MOV"]
            self.code.chain(self.blocks[b], i, made + ["MOV"] * (len(made) - 1), reads, writes)
        words = sum(-(-r.type.bits // 32) for r in known.registers if r.index in writes and r.type.bits > 1)
        self.code.chain(self.blocks[b], i, ["MOV"] * words, writes, writes)

    def _instruction(self, b: int, i: Instruction) -> None:
        s, out = self.sources, self.blocks[b]
        if s.parameter(i) is not None:
            self._kept_copy(b, i, constant=False)
            return
        if i.opcode in MEMORY or i.opcode in ("tex", "tld4", "suld", "sust"):
            self.accesses.access(b, i)
            return
        if i.opcode == "wgmma":
            self._group(b, i)
            return
        if copied_by(i) is not None or (i.opcode == "mov" and i.guard is None):
            self._copy(b, i)
            return
        if len(s.known[id(i)].written) == 1 and i.guard is None and not s.is_open(i) and s.constants.at(s.place[id(i)]) is not None:
            return  # ptxas computes it
        if i.opcode == "bra" and i.guard is None:
            return
        self.code.constants(b, i)
        opcodes = list(self.merging.opcodes(i))
        if i.opcode == "ret" and self.flow.function.is_entry:
            opcodes = ["EXIT"]
        self.code.chain(out, i, opcodes, self.code.reads(b, i), tuple(s.known[id(i)].written))
        if i.opcode == "call" and not any(isinstance(o, Function) for o in i.operands):
            self.code.load(b, INDIRECT)
        if i.opcode == "call":
            out[-1].slots = next((ROUTINES[o.name] for o in i.operands if isinstance(o, Function) and o.name in ROUTINES), 1)

    def _group(self, b: int, i: Instruction) -> None:
        """A warpgroup's product of matrices needs its descriptors alone: that its sum is there a wait for its group says."""
        s, out, words = self.sources, self.blocks[b], set(i.modifiers)
        if "mma_async" in words:
            written = tuple(s.known[id(i)].written)
            reads = tuple(r for r in self.code.reads(b, i) if r not in written)
            for r in reads:
                writer = next((o for o in reversed(out) if r in o.writes), None)
                if writer is not None and writer.opcode != "UMOV":  # a descriptor that is computed anew; its upper half is a constant
                    out.append(MachineInstruction("UMOV", (r,), (r,), i))
            out.append(MachineInstruction("HGMMA", reads, written, i))
        elif words & {"fence", "wait_group"}:
            out.append(MachineInstruction("WARPGROUP.ARRIVE" if "fence" in words else "WARPGROUP.DEPBAR", (), (), i, "fence"))

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
        self.code.chain(self.blocks[b], i, ["MOV"], self.code.reads(b, i), tuple(s.known[id(i)].written))

    def _hand_on(self, b: int, source: Instruction, i: Instruction) -> None:
        """The instruction that computes a value writes the register into which it is copied."""
        made = next((o for o in reversed(self.blocks[b]) if o.of is source and o.writes), None)
        if made is not None:
            made.writes += tuple(self.sources.known[id(i)].written)
