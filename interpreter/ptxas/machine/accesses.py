"""The machine instructions of accesses to memory, with fences and with what combines the updates of a warp."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.assembler.ir import Address, Immediate, Instruction, Register
from warplab.isa.types import TYPES

from ..atomics import is_gathered, unused_results
from ..joined import Joined
from .instruction import MachineInstruction
from .operands import WHAT, OperandCode

NAMES = {"global": ("LDG", "STG", "ATOMG", "REDG"), "shared": ("LDS", "STS", "ATOMS", "ATOMS"), "local": ("LDL", "STL", "ATOM", "RED"),
         "const": ("LDC", "ST", "ATOM", "RED"), "generic": ("LD", "ST", "ATOM", "RED")}  # fmt: skip
SAME = ("S2R", "VOTE", "UFLO", "ISETP")  # finds the one lane that updates a word for its warp
IDLE = ("LDS", "LDS", "LDS")  # without a lane, before the first asynchronous copy of a block
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class AccessCode:
    """The accesses of one function."""

    def __init__(self, code: OperandCode, joined: Mapping[int, Joined]) -> None:
        self.code = code
        self.sources = code.sources
        self.joined = joined
        self.unused = unused_results(code.flow.function)

    def access(self, b: int, i: Instruction) -> None:
        """Puts an access into a block."""
        s, out, words = self.sources, self.code.blocks[b], set(i.modifiers)
        space, what, join = space_of(i), WHAT.get(i.opcode, ""), self.joined.get(id(i))
        writes = tuple(s.known[id(i)].written)
        if space == "param":
            if what == "st":
                self._argument(b, i)
            elif not s.flow.function.is_entry:
                self.code.chain(out, i, [], self.code.reads(b, i), writes)
            elif writes:
                out.append(MachineInstruction("LDC", self.code.reads(b, i), writes, i))
            return
        if i.opcode == "prefetch":
            out.append(MachineInstruction("CCTL", self.code.reads(b, i), (), i))
            return
        if i.opcode == "cp":
            self._copying(b, i, words)
            return
        if join is not None and not join.width:
            head = next((o for o in reversed(out) if o.what == what and o.accesses and id(o.accesses[0]) in self.joined), None)
            if head is not None:
                head.accesses += (i,)
                head.writes += writes
                head.reads = tuple(dict.fromkeys(head.reads + self.code.reads(b, i)))
                return
        size = TYPES[i.modifiers[-1]].bytes if i.modifiers[-1] in TYPES else 4
        width = max(size * next((n for v, n in VECTORS.items() if v in words), 1), join.width if join else 0)
        if {"release", "acq_rel"} & words:
            self.code.chain(
                out, i, ["MEMBAR", "ERRBAR", "CGAERRBAR"] if not words & {"cta"} else ["MEMBAR.CTA"], (), (self.code.new_register(),)
            )
        names = NAMES[space]
        opcode = names[("ld", "st", "atom", "red").index("red" if id(i) in self.unused else what)]
        if i.opcode in ("ldmatrix", "stmatrix"):
            opcode = "LDSM" if what == "ld" else "STSM"
        elif i.opcode in ("tex", "tld4", "suld", "sust"):
            opcode, space = {"tex": "TEX", "tld4": "TLD4", "suld": "SULD", "sust": "SUST"}[i.opcode], "global"
        elif "shared::cluster" in words:
            opcode = {"ld": "LD", "st": "ST"}.get(what, "ATOM") + ".CLUSTER"
        if width >= 8 and space == "shared" and what in ("ld", "st") and i.opcode in ("ld", "st"):
            opcode += ".128" if width >= 16 else ".64"
        self.code.constants(b, i)
        gathered = what in ("atom", "red") and space in ("global", "generic") and self._is_gathered(i, opcode)
        if gathered:
            value = self.sources.constant(i, i.operands[-1])
            self.code.load(b, (*SAME, *(("UPOPC", "IMAD") if value is not None else ("REDUX", "MOV"))))
        out.append(
            MachineInstruction(opcode, self.code.reads(b, i), writes, i, what, "global" if space == "generic" else space, (i,), width)
        )
        if gathered and opcode.startswith("ATOM"):
            self.code.load(b, ("S2R", "LOP3", "POPC", "SHFL", "IADD3"))
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
            self.code.chain(self.code.blocks[b], i, ["MOV"], self.code.reads(b, i), ())

    def _copying(self, b: int, i: Instruction, words: set[str]) -> None:
        if "commit_group" in words:
            out = ["LDGDEPBAR"] if "bulk" not in words else ["UTMACMDFLUSH"]
        elif words & {"wait_group", "wait_all"}:
            out = ["DEPBAR"]
        elif "bulk" in words:
            out = ["UTMALDG" if "tensor" in words else "UBLKCP"]
        else:
            if not any(o.opcode == "LDGSTS" for o in self.code.blocks[b]):
                self.code.load(b, IDLE)
            op = MachineInstruction("LDGSTS", self.code.reads(b, i), (), i, "ld", "global", (i,), 16)
            self.code.blocks[b].append(op)
            return
        self.code.chain(self.code.blocks[b], i, out, self.code.reads(b, i), ())


def space_of(i: Instruction) -> str:
    """The state space that an access names."""
    words = {w.split("::")[0] for w in i.modifiers}
    if "matrix" in i.opcode:
        return "shared"
    return next((w for w in ("global", "shared", "local", "const", "param") if w in words), "generic")
