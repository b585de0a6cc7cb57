"""What the text says of the registers of a function: which differ by a constant, and powers of two that divide them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warplab.assembler.flow import accesses
from warplab.assembler.ir import Immediate, Instruction, Operand, Register, Symbol, Variable
from warplab.isa.types import TYPES

from ..program import LoadedKernel

MANY = 64  # zeros at the end of 0


@dataclass(frozen=True, slots=True)
class OffsetSum:
    """Some unknown values, by number, and a constant."""

    unknown: tuple[int, ...]
    constant: int


class Offsets:
    """The registers of one function as sums, followed through a block at a time."""

    def __init__(self, kernel: LoadedKernel, instructions: Iterable[Instruction]) -> None:
        self._kernel = kernel
        self._definitions: dict[int, list[Instruction]] = {}
        for i in instructions:
            for r in accesses(i)[1]:
                self._definitions.setdefault(r.index, []).append(i)
        self._unknown: dict[int, int] = {}  # zeros at the end of the values that are numbered
        self._places: dict[int, OffsetSum] = {}  # by id of a Variable
        self._addresses: dict[int, int] = {}  # of variables, by their numbers
        self._zeros: dict[int, int] = {}  # of registers, wherever they were written
        self._settle()
        self._outside: dict[int, OffsetSum] = {}  # registers as they are where a block begins
        self._inside: dict[int, OffsetSum] = {}

    def begin(self) -> None:
        """A block begins."""
        self._inside = {}

    def step(self, i: Instruction) -> None:
        """An instruction of the block is over."""
        written = accesses(i)[1]
        if len(written) == 1 and i.guard is None:
            self._inside[written[0].index] = self._made(i, inside=True) or self._fresh(self._ending(i, inside=True))
            return
        for r in written:
            self._inside[r.index] = self._fresh(self._zeros[r.index])

    def of(self, o: Operand | None, offset: int = 0) -> OffsetSum | None:
        """What an operand is here; None for anything but integers, registers and variables in shared memory."""
        found = self._sum(o, inside=True)
        if found is None:
            return None
        alone = self._addresses.get(found.unknown[0]) if len(found.unknown) == 1 else None
        return OffsetSum(found.unknown, found.constant + offset) if alone is None else OffsetSum((), alone + found.constant + offset)

    def zeros(self, s: OffsetSum) -> int:
        """How many bits at the end of a sum without its constant are certainly zero."""
        return min((self._unknown[u] + _trailing(s.unknown.count(u)) for u in s.unknown), default=MANY)

    # ------------------------------------------------------------ sums

    def _sum(self, o: Operand | None, *, inside: bool) -> OffsetSum | None:
        match o:
            case None:
                return OffsetSum((), 0)
            case Immediate(value=int() as value):
                return OffsetSum((), value)
            case Variable(space="shared"):
                return self._place(o)
            case Symbol(target=Variable(space="shared") as v, generic=False, mask=None):
                return OffsetSum(self._place(v).unknown, o.offset)
            case Register(vector=1):
                return (inside and self._inside.get(o.index)) or self._before(o)
            case _:
                return None

    def _place(self, v: Variable) -> OffsetSum:
        """A variable in shared memory, which is aligned as far as those before it let it be."""
        found = self._places.get(id(v))
        if found is None:
            at = self._kernel.address(v)
            found = self._places[id(v)] = self._fresh(_trailing(at))
            self._addresses[found.unknown[0]] = at
        return found

    def _before(self, r: Register) -> OffsetSum:
        """A register where the block begins: if it is written once it always is what it was made of."""
        found = self._outside.get(r.index)
        if found is None:
            made = self._definitions.get(r.index, ())
            self._outside[r.index] = self._fresh(self._zeros.get(r.index, 0))  # while what it is made of is looked at
            if len(made) == 1 and made[0].guard is None and self._is_constant(made[0]):
                self._outside[r.index] = self._made(made[0], inside=False) or self._outside[r.index]
            found = self._outside[r.index]
        return found

    def _is_constant(self, i: Instruction) -> bool:
        """Are the operands what they were?"""
        return all(len(self._definitions.get(o.index, ())) == 1 for o in i.operands[1:] if isinstance(o, Register))

    def _made(self, i: Instruction, *, inside: bool) -> OffsetSum | None:
        if not _is_integer(i):
            return None
        parts = [self._sum(o, inside=inside) for o in i.operands[1:]]
        match (i.opcode, parts):
            case ("mov" | "cvt", [OffsetSum() as a]):
                return a
            case ("add", [OffsetSum() as a, OffsetSum() as b]):
                return OffsetSum(tuple(sorted(a.unknown + b.unknown)), a.constant + b.constant)
            case ("sub", [OffsetSum() as a, OffsetSum(unknown=()) as b]):
                return OffsetSum(a.unknown, a.constant - b.constant)
            case _:
                return None

    def _fresh(self, zeros: int) -> OffsetSum:
        number = len(self._unknown)
        self._unknown[number] = zeros
        return OffsetSum((number,), 0)

    # ------------------------------------------------------------ zeros

    def _settle(self) -> None:
        """Of each register, of all its definitions: at first any number of zeros, then ever fewer until all agree."""
        zeros = self._zeros
        zeros.update(dict.fromkeys(self._definitions, MANY))
        falling = True
        while falling:
            falling = False
            for index, made in self._definitions.items():
                if (fewest := min(self._ending(i, inside=False) for i in made)) < zeros[index]:
                    zeros[index] = fewest
                    falling = True

    def _ending(self, i: Instruction, *, inside: bool) -> int:
        if not _is_integer(i) or not isinstance(i.operands[0], Register):
            return 0
        z = [self._of(o, inside) for o in i.operands[1:]]
        match i.opcode, z:
            case (("mov" | "cvt" | "cvta" | "neg"), [a]):
                return a
            case (("add" | "sub" | "or" | "xor" | "selp"), [a, b, *_]):
                return min(a, b)
            case "and", [a, b]:
                return max(a, b)
            case "mul", [a, b] if "hi" not in i.modifiers:
                return min(MANY, a + b)
            case "mad", [a, b, c] if "hi" not in i.modifiers:
                return min(a + b, c)
            case "shl", [a, _]:
                return min(MANY, a + _amount(i.operands[2]))
            case "bfi", [a, b, _, _]:
                return min(a + _amount(i.operands[3]), b)
            case _:
                return 0

    def _of(self, o: Operand, inside: bool) -> int:
        if isinstance(o, Register):
            found = self._inside.get(o.index) if inside else None
            return min(self.zeros(found), _trailing(found.constant)) if found else self._zeros.get(o.index, 0)
        if isinstance(o, Variable) and o.space != "shared":
            return _trailing(o.align)
        found = self._sum(o, inside=False)
        return 0 if found is None else min(self.zeros(found), _trailing(found.constant))


def _trailing(n: int) -> int:
    return (n & -n).bit_length() - 1 if n else MANY


def _amount(o: Operand) -> int:
    return o.value if isinstance(o, Immediate) and isinstance(o.value, int) else 0


def _is_integer(i: Instruction) -> bool:
    types = [TYPES[w] for w in i.modifiers if w in TYPES]
    return bool(i.operands) and all(t.is_integer and t.elements == 1 for t in types)
