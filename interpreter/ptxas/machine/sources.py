"""Where the values that instructions read come from, and which of them need no instruction: ptxas keeps constants, parameters and copies for free.

A read has one source, an instruction, or several that meet in its register.  An instruction whose result nothing reads is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Address, Immediate, Instruction, Operand, Register, SpecialRegister, Symbol, Variable, Vector
from warplab.isa.types import TYPES

from ...plan.roles import registers_of
from ...plan.shapes import Known
from ..constants import Constants, Place
from ..interruptions import nature

IN_BANK = frozenset({"%ntid", "%nctaid"})  # special registers that lie in the constant bank
PARAMETERS = frozenset({"param", "param::entry"})
DEEPEST = 16  # copies of copies


@dataclass(frozen=True, slots=True)
class HeldOperand:
    """What an operand is: a constant, a word of the constant bank, a special register, the address of a variable, or a register."""

    kind: str  # "constant" "bank" "special" "address" "register"
    value: object = None


REGISTER = HeldOperand("register")
CONSTANT = HeldOperand("constant")


class Reaching:
    """The instructions that may have written a register where it is read."""

    def __init__(self, flow: Flow, known: Mapping[int, Known]) -> None:
        self._flow = flow
        self._known = known
        self._written: dict[int, dict[int, list[int]]] = {}  # register -> block -> instructions that write it
        self._at_start: dict[int, dict[int, tuple[Place, ...]]] = {}
        for b in flow.depth_first:
            for n, i in enumerate(flow.blocks[b].instructions):
                for index in known[id(i)].written:
                    self._written.setdefault(index, {}).setdefault(b, []).append(n)

    def of(self, index: int, at: Place) -> list[Instruction]:
        """What a read at a place may see."""
        blocks = self._written.get(index, {})
        b, n = at
        inside = self._last(blocks, b, n)
        found = inside if inside and self._kills(inside[-1]) else dict.fromkeys((*inside, *self._start(index).get(b, ())))
        return [self._flow.blocks[x].instructions[m] for x, m in found]

    def _kills(self, at: Place) -> bool:
        i = self._flow.blocks[at[0]].instructions[at[1]]
        return self._known[id(i)].facts.kills

    def _last(self, blocks: Mapping[int, list[int]], b: int, before: int) -> list[Place]:
        """The writes before a place in its block, the last one first, up to one that kills."""
        out = []
        for n in reversed(blocks.get(b, ())):
            if n < before:
                out.append((b, n))
                if self._kills((b, n)):
                    break
        return out

    def _start(self, index: int) -> dict[int, tuple[Place, ...]]:
        """What reaches the start of each block."""
        found = self._at_start.get(index)
        if found is not None:
            return found
        found = self._at_start[index] = {}
        blocks = self._written.get(index, {})
        leaves = {b: self._last(blocks, b, 1 << 30) for b in blocks}
        waiting = list(blocks)
        while waiting:
            b = waiting.pop()
            own = leaves.get(b, [])
            passed = () if own and self._kills(own[-1]) else found.get(b, ())
            out = dict.fromkeys((*own, *passed))
            for s in self._flow.blocks[b].successors:
                if not self._flow.live_in[s] >> index & 1:
                    continue
                before = found.get(s, ())
                if any(x not in before for x in out):
                    found[s] = tuple(dict.fromkeys((*before, *out)))
                    waiting.append(s)
        return found


class Sources:
    """The sources of one function's values."""

    def __init__(self, flow: Flow, known: Mapping[int, Known]) -> None:
        self.flow = flow
        self.known = known
        self.constants = Constants(flow, flow.depth_first, known)
        self.place: dict[int, Place] = {}
        self.read: dict[
            int, dict[int, Instruction]
        ] = {}  # what wrote the registers that an instruction reads, where that is one instruction
        self.users: dict[int, list[Instruction]] = {}
        self.open: set[int] = set()  # instructions, by identity, whose results meet others in their registers
        self._met: dict[tuple[int, int], list[Instruction]] = {}  # (identity of a reader, register): the instructions that meet there
        reaching = Reaching(flow, known)
        for b in flow.depth_first:
            for n, i in enumerate(flow.blocks[b].instructions):
                self.place[id(i)] = (b, n)
                self._look(i, (b, n), reaching)
        self.alive = self._alive()

    def _look(self, i: Instruction, at: Place, reaching: Reaching) -> None:
        found = self.read[id(i)] = {}
        for index in dict.fromkeys(self.known[id(i)].read):
            sources = reaching.of(index, at)
            if len(sources) == 1 and sources[0].guard is None:
                found[index] = sources[0]
                self.users.setdefault(id(sources[0]), []).append(i)
                continue
            self._met[id(i), index] = sources
            self.open.update(map(id, sources))

    def instructions(self) -> Iterator[Instruction]:
        """All that is reachable."""
        for b in self.flow.depth_first:
            yield from self.flow.blocks[b].instructions

    def _alive(self) -> set[int]:
        """The instructions, by identity, that have an effect or whose results are read."""
        alive: set[int] = set()
        waiting = [i for i in self.instructions() if not nature(i).removable]
        while waiting:
            i = waiting.pop()
            if id(i) in alive:
                continue
            alive.add(id(i))
            waiting += self.read[id(i)].values()
            for index in self.known[id(i)].read:
                waiting += self._met.get((id(i), index), ())
        return alive

    def readers(self, i: Instruction) -> list[Instruction]:
        """The instructions that read a result and are kept."""
        return [u for u in self.users.get(id(i), ()) if id(u) in self.alive]

    def is_open(self, i: Instruction) -> bool:
        """Does a result meet others in its register, so that it has to be there?"""
        return id(i) in self.open

    # ------------------------------------------------------------ what an operand is

    def source(self, i: Instruction, op: Operand) -> Instruction | None:
        """The instruction whose result an operand is, seen through copies."""
        for _ in range(DEEPEST):
            found = self.read[id(i)].get(op.index) if isinstance(op, Register) else None
            if found is None:
                return None
            copied = copied_by(found)
            if copied is None:
                return found
            i, op = found, copied
        return None

    def constant(self, i: Instruction, op: Operand) -> int | None:
        """The bits of an operand, if they are known."""
        t = op.type if isinstance(op, Register) else TYPES["b64"]
        return self.constants.value(op, t, self.place[id(i)]) if isinstance(op, Register | Immediate) else None

    def held(self, i: Instruction, op: Operand) -> HeldOperand:
        """What an operand of an instruction is, seen through copies."""
        for _ in range(DEEPEST):
            if isinstance(op, Immediate):
                return CONSTANT
            if isinstance(op, SpecialRegister):
                return HeldOperand("bank" if op.name in IN_BANK else "special", (op.name, op.component))
            if isinstance(op, Variable | Symbol):
                return HeldOperand("address", op.target if isinstance(op, Symbol) else op)
            if not isinstance(op, Register):
                return REGISTER
            if self.constants.of(op.index, self.place[id(i)]) is not None:
                return CONSTANT
            found = self.read[id(i)].get(op.index)
            if found is None:
                return REGISTER
            if (at := self.parameter(found)) is not None:
                return HeldOperand("bank", at)
            copied = copied_by(found)
            if copied is None:
                return REGISTER
            i, op = found, copied
        return REGISTER

    def parameter(self, i: Instruction) -> tuple[str, int] | None:
        """The place in the constant bank of the parameter that an instruction loads."""
        if i.opcode != "ld" or not self.flow.function.is_entry or PARAMETERS.isdisjoint(i.modifiers):
            return None
        a = i.operands[1]
        if isinstance(a, Address) and isinstance(a.base, Variable):
            return a.base.name, a.offset
        return None

    def roots(self, i: Instruction, operands: Iterable[Operand]) -> tuple[int, ...]:
        """The registers behind operands: those of what is copied in the place of copies, none of constants and of the constant bank."""
        out: dict[int, None] = {}
        for op in operands:
            for r in registers_of(op):
                self._root(i, r, out)
        return tuple(out)

    def _root(self, i: Instruction, r: Register, out: dict[int, None]) -> None:
        for _ in range(DEEPEST):
            if self.held(i, r).kind in ("constant", "bank"):
                return
            found = self.read[id(i)].get(r.index)
            copied = None if found is None else copied_by(found)
            if found is None or not isinstance(copied, Register):
                break
            i, r = found, copied
        out[r.index] = None


def copied_by(i: Instruction) -> Operand | None:
    """What an instruction hands on as it is, without a machine instruction."""
    if i.guard is not None or not isinstance(i.operands[0] if i.operands else None, Register):
        return None
    source = i.operands[1] if len(i.operands) == 2 else None
    match i.opcode:
        case "mov":
            return source if isinstance(source, Register | SpecialRegister | Variable | Symbol | Immediate) else None
        case "cvta":
            return source if not {"shared", "local", "shared::cta"} & set(i.modifiers) else None
        case "cvt" if len(i.modifiers) == 2:
            to, of = (TYPES.get(m) for m in i.modifiers)
            if to is None or of is None or not (to.is_integer and of.is_integer):
                return None
            return source if to.bits <= of.bits or of.name[0] != "s" else None
    return None


def is_move(i: Instruction) -> bool:
    """Does an instruction only pack registers, or unpack them?"""
    return i.opcode == "mov" and i.guard is None and any(isinstance(o, Vector) for o in i.operands)
