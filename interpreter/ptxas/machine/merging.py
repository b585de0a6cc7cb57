"""Which instructions ptxas merges into the instructions that read their results, and what those become.

| instruction | merged into | together |
|---|---|---|
| `mul.wide` | `add.s64` | `IMAD.WIDE` |
| `mul.lo`, `shl` by a constant | `add` | `IMAD`, `LEA` |
| `shl.b64` by a constant, `cvt.s64.s32` | `add.s64` | `LEA`, `LEA.HI.X` |
| `shr.u32` by a constant | `add` | `LEA.HI` |
| a sum | a sum, `min`, `max` | `IADD3`, `VIADDMNMX` |
| `min` | `max` with 0 | `VIMNMX` |
| `and` `or` `xor` `not` | another of them, or a comparison of the result with 0 | `LOP3` |
| a comparison | `and.pred` `or.pred` | `ISETP.AND` |
| a sum with a constant | the accesses of which it is the address | the offset of the access |
| a product of floats | a sum | `FFMA`, as contraction.py has it |
"""

from __future__ import annotations

from warplab.assembler.ir import Address, Instruction, Operand, Register
from warplab.isa.types import TYPES

from ..contraction import Contraction
from .sequences import RULES, WIDE, Words, division, own_type, sequence
from .sources import Sources

LOGIC = frozenset({"and", "or", "xor", "not"})
SUMS = frozenset({"add", "sub"})
NARROW = frozenset({"u32", "s32", "b32"})
LOW = 0xFFFF_FFFF
FLOATS = {"f32": "FADD", "f64": "DADD"}
NARROW_SPACES = frozenset({"local", "shared", "shared::cta"})
INPUTS = 3  # of one machine instruction, a sum or a logical one
THREE_INPUTS = (5, 0)  # since this device
MEMORY = frozenset({"ld", "ldu", "st", "atom", "red", "ldmatrix", "stmatrix", "cp", "prefetch"})
COMPARED = frozenset({"eq", "ne"})


class Merging:
    """What is merged in one function."""

    def __init__(self, sources: Sources, contraction: Contraction, capability: tuple[int, int]) -> None:
        self.capability = capability
        self.most = INPUTS if capability >= THREE_INPUTS else INPUTS - 1
        self.sources = sources
        self.contraction = contraction
        self._merged: dict[int, bool] = {}
        self._low: dict[int, bool] = {}

    def is_merged(self, i: Instruction) -> bool:
        """Do the readers of an instruction's result do its work?"""
        found = self._merged.get(id(i))
        if found is None:
            self._merged[id(i)] = False  # while it is worked out
            readers = self.sources.readers(i)
            found = (
                i.guard is None
                and bool(readers)
                and not self.sources.is_open(i)
                and (self._is_handed_on(i) or all(self._takes(u, i, len(readers) == 1) for u in readers))
            )
            self._merged[id(i)] = found
        return found

    def _is_handed_on(self, i: Instruction) -> bool:
        handed = self.contraction.handed.get(id(i))
        return handed is not None and not handed.kept

    def _takes(self, user: Instruction, i: Instruction, alone: bool) -> bool:
        """Does one machine instruction do the work of both?"""
        together = self.sources.place[id(user)][0] == self.sources.place[id(i)][0]
        t, own = own_type(user), own_type(i)
        if _is_address_alone(user, i):
            return i.opcode in SUMS and self._is_offset(i)
        match i.opcode:
            case "mul" if "wide" in i.modifiers:
                return user.opcode in SUMS and t in WIDE
            case "mul" if "lo" in i.modifiers and own in NARROW:
                subtracted = (
                    user.opcode == "sub" and user.operands[2] == i.operands[0] and self.sources.constant(i, i.operands[2]) is not None
                )
                return (user.opcode == "add" or subtracted) and t in NARROW and together and self._is_free(user)
            case "shr" if own in NARROW and alone and together and self.sources.constant(i, i.operands[2]) is not None:
                return user.opcode == "add" and own == "u32" and t in NARROW and self._is_free(user)
            case "min" | "max" if alone and together and t == own == "s32":
                return user.opcode == "max" and 0 in [self.sources.constant(user, o) for o in user.operands[1:]]
            case "shl" if self.sources.constant(i, i.operands[2]) is not None:
                if own in WIDE:
                    return user.opcode == "add" and t in WIDE and (alone or self._is_widened(i))
                return user.opcode in ("add", "or") and t in NARROW and (together or user.opcode == "add") and self._is_free(user)
            case "cvt" if i.modifiers[:2] == ("s64", "s32"):
                return together and ((user.opcode == "add" and t in WIDE) or (user.opcode == "shl" and self.is_merged(user)))
            case "add" | "sub" if own in NARROW and alone and together:
                if user.opcode in ("min", "max"):
                    return t == "s32" and self._is_free(user)
                return user.opcode in SUMS and t in NARROW and self._fits(user, i, SUMS)
            case "and" | "or" | "xor" | "not" if own != "pred" and alone and together:
                if user.opcode == "setp":
                    return (
                        user.modifiers[0] in COMPARED and t not in WIDE and 0 in [self.sources.constant(user, o) for o in user.operands[1:]]
                    )
                return user.opcode in LOGIC and (t in WIDE) == (own in WIDE) and self._fits(user, i, LOGIC)
        return False

    def _merged_into(self, i: Instruction) -> list[Instruction]:
        return [s for s in self.sources.read[id(i)].values() if self._merged.get(id(s))]

    def _is_free(self, user: Instruction) -> bool:
        """Is an instruction neither merged itself, nor something merged into it?"""
        return not self._merged.get(id(user)) and not self._merged_into(user)

    def _fits(self, user: Instruction, i: Instruction, kinds: frozenset[str]) -> bool:
        """Are both, with what they are merged with, one instruction of these kinds with few inputs?"""
        while self._merged.get(id(user)):
            (user,) = self.sources.readers(user)
        if user.opcode not in kinds or any(s.opcode not in kinds for s in self._merged_into(user)):
            return False
        return len((self.inputs(user) - set(self.sources.known[id(i)].written)) | self.inputs(i)) <= self.most

    def inputs(self, i: Instruction) -> set[int]:
        """The registers that an instruction needs, with those of what is merged into it."""
        found: set[int] = set()
        for index in self.sources.known[id(i)].read:
            source = self.sources.read[id(i)].get(index)
            found |= self.inputs(source) if source is not None and self._merged.get(id(source)) else {index}
        return found

    def _is_offset(self, i: Instruction) -> bool:
        """Is it a sum of a register and a constant that fits an access?"""
        values = [self.sources.constant(i, o) for o in i.operands[1:]]
        return any(v is not None and (v + (1 << 23)) & ((1 << TYPES[own_type(i)].bits) - 1) < 1 << 24 for v in values)

    # ------------------------------------------------------------ what is left

    def opcodes(self, i: Instruction) -> Words:
        """The machine instructions of an instruction, with those of what is merged into it."""
        fused = self.contraction.fused.get(id(i))
        if fused is not None:
            return sequence(fused.instruction, self.capability)
        t = own_type(i)
        merged = [s for s in self.sources.read[id(i)].values() if self._merged.get(id(s))]
        names = {s.opcode for s in merged}
        if i.opcode in SUMS and t in WIDE:
            if any(s.opcode == "mul" for s in merged):
                return ("IMAD.WIDE",)
            if "shl" in names:
                return ("IMAD.WIDE",) if any(self._is_widened(s) and self._beside(s, i) for s in merged) else ("LEA", "LEA.HI.X")
        if i.opcode in SUMS and t in NARROW and names:
            return ("IMAD",) if "mul" in names else ("LEA",) if "shl" in names else ("LEA.HI",) if "shr" in names else ("IADD3",)
        if i.opcode in ("min", "max") and names:
            inner = {x.opcode for s in merged for x in self._merged_into(s)}
            return ("VIADDMNMX",) if (names | inner) & SUMS else ("VIMNMX",)
        if i.opcode == "setp" and names & LOGIC:
            return ("LOP3",)
        if i.opcode == "mad" and "wide" in i.modifiers and self._is_power_of_two(i):
            return self._scaled_sum(i)
        if i.opcode == "mul" and t in WIDE and "lo" in i.modifiers and all(self._is_half(i, o) for o in i.operands[1:]):
            return ("IMAD.WIDE",)
        if i.opcode in ("neg", "abs") and t in FLOATS and self._is_kept(i):
            return (FLOATS[t],)
        if self._is_half_alone(i) or self._adds_nothing(i):
            return ()
        if i.opcode in ("div", "rem") and t in NARROW:
            return division(
                i, self.capability, known=self.sources.constant(i, i.operands[2]) is not None, shared=self._is_divided_before(i)
            )
        if t in WIDE and (self.is_low(i) or (i.opcode == "and" and (self.sources.constant(i, i.operands[2]) or LOW + 1) <= LOW)):
            return self._whole(i)[:1]
        if i.opcode in LOGIC and t == "pred":
            plain = [
                s
                for s in self.sources.read[id(i)].values()
                if s.opcode == "setp" and len(s.modifiers) == 2 and len(self.sources.readers(s)) == 1
            ]
            return () if i.opcode == "not" or plain else ("PLOP3",)
        return self._whole(i)

    def _whole(self, i: Instruction) -> Words:
        """Those of an instruction alone."""
        return sequence(i, self.capability, constant=any(self.sources.constant(i, o) is not None for o in i.operands[1:]))

    def is_nothing(self, i: Instruction) -> bool:
        """Is there no machine instruction of it, such as of a sign that its readers change?"""
        return i.opcode in RULES and i.guard is None and not self.sources.is_open(i) and not self.opcodes(i)

    def _is_widened(self, i: Instruction) -> bool:
        """Is a shift of 64 bits one of a number of 32?"""
        source = self.sources.read[id(i)].get(i.operands[1].index) if i.opcode == "shl" and isinstance(i.operands[1], Register) else None
        return source is not None and source.opcode == "cvt" and source.modifiers[1:] in (("s32",), ("u32",))

    def _beside(self, i: Instruction, user: Instruction) -> bool:
        """Does the number that is shifted stand in the block of the sum?"""
        source = self.sources.read[id(i)][i.operands[1].index]  # type: ignore[union-attr]
        return self.sources.place[id(source)][0] == self.sources.place[id(user)][0]

    def _is_kept(self, i: Instruction) -> bool:
        """Is a sign more than one of a number that arithmetic reads?"""
        return self.sources.is_open(i) or any(u.opcode in ("mov", "st", "shfl", "selp") for u in self.sources.readers(i))

    def is_low(self, i: Instruction) -> bool:
        """Does nothing read more than the lower 32 bits of a result?  Addresses in local and in shared memory have no more."""
        found = self._low.get(id(i))
        if found is None:
            self._low[id(i)] = False  # while it is worked out
            readers = self.sources.readers(i)
            found = self._low[id(i)] = bool(readers) and not self.sources.is_open(i) and all(self._reads_low(u, i) for u in readers)
        return found

    def _reads_low(self, user: Instruction, i: Instruction) -> bool:
        if _is_address_alone(user, i):
            return not NARROW_SPACES.isdisjoint(user.modifiers)
        if user.opcode == "cvt":
            return user.modifiers[0] in NARROW
        if user.opcode == "and" and (self.sources.constant(user, user.operands[2]) or LOW + 1) <= LOW:
            return True
        return user.opcode in ("add", "sub", "and", "or", "xor", "shl", "mov") and self.is_low(user)

    def _adds_nothing(self, i: Instruction) -> bool:
        return i.opcode == "add" and i.guard is None and 0 in [self.sources.constant(i, o) for o in i.operands[1:]]

    def _is_divided_before(self, i: Instruction) -> bool:
        """Has another division of the block the same divisor?"""
        b, n = self.sources.place[id(i)]
        before = self.sources.flow.blocks[b].instructions[:n]
        return any(o.opcode in ("div", "rem") and o.modifiers == i.modifiers and o.operands[2] == i.operands[2] for o in before)

    def _is_half_alone(self, i: Instruction) -> bool:
        """Is a result one half of a register of 64 bits, beside 0?"""
        if own_type(i) not in WIDE or i.opcode not in ("and", "shr", "shl") or i.modifiers[-1] == "s64":
            return False
        return self.sources.constant(i, i.operands[2]) == (LOW if i.opcode == "and" else 32)

    def _is_half(self, i: Instruction, o: Operand) -> bool:
        """Has a factor 32 bits?"""
        value = self.sources.constant(i, o)
        if value is not None:
            return value <= LOW
        source = self.sources.read[id(i)].get(o.index) if isinstance(o, Register) else None
        if source is None:
            return False
        return (self._is_half_alone(source) and source.opcode != "shl") or (
            source.opcode == "cvt" and source.modifiers[-1] in ("u32", "u16", "u8")
        )

    def _is_power_of_two(self, i: Instruction) -> bool:
        value = self.sources.constant(i, i.operands[2])
        return value is not None and value > 0 and value & (value - 1) == 0

    def _scaled_sum(self, i: Instruction) -> Words:
        """An index times the size of an element, plus the start: where several sums of a block share the product, it is made once."""
        b = self.sources.place[id(i)][0]
        sharing = [u for u in self.sources.flow.blocks[b].instructions if u.shape is i.shape and u.operands[1:3] == i.operands[1:3]]
        if len(sharing) < 2:
            return ("LEA", "LEA.HI.X")
        return ("IADD3", "IADD3.X") if sharing[0] is not i else ("IMAD", "IMAD.HI", "IADD3", "IADD3.X")


def _is_address_alone(user: Instruction, i: Instruction) -> bool:
    """Is a result nothing but the base of an access's address?"""
    if user.opcode not in MEMORY or user.opcode == "cp" or not isinstance(i.operands[0], Register):
        return False
    index = i.operands[0].index
    bases = [o for o in user.operands if isinstance(o, Address) and isinstance(o.base, Register) and o.base.index == index]
    others = [o for o in user.operands if not isinstance(o, Address) and index in {r.index for r in _registers(o)}]
    return bool(bases) and not others


def _registers(o: object) -> list[Register]:
    return [o] if isinstance(o, Register) else [r for e in getattr(o, "elements", ()) for r in _registers(e)]
