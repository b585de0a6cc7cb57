"""Which product each sum of a stretch of code fuses: what uses what, what interrupts, and which product ptxas prefers.

Within a stretch that nothing interrupts ptxas fuses a product into the sums that use it, if nothing else does.  What it takes for an
interruption, and which it prefers where both operands of a sum are products, was found by asking it: tests/data/contraction holds questions
and answers.  contraction.py turns the choice into instructions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from warplab.assembler.ir import Immediate, Instruction, Operand, Register
from warplab.isa.types import TYPES

from ..plan.operands import immediate_bits
from ..plan.roles import works_on
from ..plan.shapes import Known

PRODUCTS = frozenset({"mul", "div"})
ONE = {"f64": 0x3FF << 52, "f32": 0x3F80_0000, "f16": 0x3C00}
ROUNDED = frozenset({"rn", "rz", "rm", "rp", "rna", "rs"})


@dataclass(slots=True, eq=False)
class Product:
    instruction: Instruction
    type: str
    ftz: bool
    stretch: int
    sums: list[Sum] = field(default_factory=list)
    fusable: bool = True  # sums alone use it, all in its stretch
    kept: bool = False  # some instruction reads the register that holds it
    addend: bool = False  # of a fused sum


@dataclass(slots=True, eq=False)
class Sum:
    instruction: Instruction
    type: str
    products: list[tuple[int, Product, bool]]  # the operand's number, what it holds, and whether its negation
    chosen: Product | None = None


# ---------------------------------------------------------------- where nothing interrupts


def interrupts(i: Instruction) -> bool:
    """Does ptxas begin a new block at this instruction: a routine that it calls, a fence, anything guarded that is not arithmetic?"""
    words = i.modifiers
    match i.opcode:
        case "div" | "rem" if words[-1][0] in "us":
            return words[-1] != "u32"
        case "rcp" | "sqrt" if isinstance(i.operands[1], Immediate):
            return False
        case "div" | "rcp" | "sqrt":
            return not {"approx", "full"} & set(words) and (words[-1] == "f64" or not ROUNDED.isdisjoint(words))
        case "rsqrt":
            return words[-1] == "f64" and "ftz" not in words
        case "membar" | "brkpt" | "pmevent" | "call":
            return True
        case "fence":
            return words[0] in ("acq_rel", "sc")
        case "bra":  # within a chain it leads to the next block either way
            return False
        case _:
            return i.guard is not None and not _is_pure(i)


def _is_pure(i: Instruction) -> bool:
    form = i.form
    return form is not None and not form.effect and not form.carry and form.meaning is not None and works_on(form) not in ("lanes", "warps")


# ---------------------------------------------------------------- what uses what


def is_free_product(i: Instruction, types: frozenset[str]) -> bool:
    if i.opcode == "div":  # a reciprocal times the dividend
        return i.modifiers[-1] == "f32" and i.modifiers[0] in ("approx", "full") and "f32" in types and i.guard is None
    return _type_of(i, types) != "" and i.guard is None and "sat" not in i.modifiers


def _type_of(i: Instruction, types: frozenset[str]) -> str:
    """The type of a free product or sum."""
    words = i.modifiers
    own = words[-1] if words else ""
    if own not in types or not isinstance(i.operands[0], Register) or (len(words) > 1 and words[-2] in TYPES):
        return ""
    # ptxas 13.0 contracts pairs of f32 whether they name .rn or not.
    return own if ROUNDED.isdisjoint(words) or (own == "f32x2" and "rn" in words) else ""


def _is_reciprocal(i: Instruction) -> bool:
    """Is the dividend 1 or -1, so that flushing leaves no product?"""
    a = i.operands[1]
    return "ftz" in i.modifiers and isinstance(a, Immediate) and immediate_bits(a, TYPES["f32"]) & 0x7FFF_FFFF == ONE["f32"]


class Walk:
    """One way through a chain of blocks: which register holds which product."""

    def __init__(self, types: frozenset[str], all_known: Mapping[int, Known]) -> None:
        self.types = types
        self.known = all_known
        self.products: list[Product] = []
        self.sums: list[Sum] = []
        self.held: dict[int, tuple[Product, bool]] = {}  # by Register.index: the product, and whether its negation
        self.constants: set[int] = set()
        self.stretch = 0

    def go(self, instructions: Sequence[Instruction], live: int) -> None:
        """From the first instruction to the last."""
        dead = self._dead(instructions, live)
        for i in instructions:
            k = self.known[id(i)]
            if interrupts(i):
                self.stretch += 1
            if id(i) in dead:
                for index in (*k.read, *k.written):
                    self._keep(index)
                for index in k.written:
                    self.held.pop(index, None)
            else:
                self._step(i, k)
        for index, (product, _) in self.held.items():
            if live >> index & 1:
                product.fusable, product.kept = False, True

    def _dead(self, instructions: Sequence[Instruction], live: int) -> set[int]:
        """Instructions whose results are never read: ptxas removes them before anything is contracted, unless they are routines."""
        dead: set[int] = set()
        for i in reversed(instructions):
            k = self.known[id(i)]
            if k.written and not any(live >> index & 1 for index in k.written) and _is_pure(i) and not interrupts(i):
                dead.add(id(i))
                continue
            if k.facts.kills:
                for index in k.written:
                    live &= ~(1 << index)
            for index in k.read:
                live |= 1 << index
        return dead

    def _step(self, i: Instruction, k: Known) -> None:
        new: tuple[Product, bool] | None = None
        constant = False
        if i.opcode in PRODUCTS and is_free_product(i, self.types):
            if (source := self._by_one(i)) is not None:
                new = self._copy(*source, k)
            else:
                for index in k.read:
                    self._use(index)
                constant = all(map(self._is_constant, i.operands[1:]))
                if not constant and not (i.opcode == "div" and _is_reciprocal(i)):
                    new = Product(i, i.modifiers[-1], "ftz" in i.modifiers, self.stretch), False
                    self.products.append(new[0])
        elif i.opcode in ("add", "sub") and _type_of(i, self.types):
            self._sum(i, k)
        elif (source := self._copied(i)) is not None:
            new = self._copy(*source, k)
            constant = i.opcode == "mov" and self._is_constant(i.operands[1])
        else:
            for index in k.read:
                self._use(index)
        self._forget(k)
        d = k.written[0] if k.written else -1
        if constant:
            self.constants.add(d)
        elif new is not None:
            self.held[d] = new

    def _copy(self, source: Operand, minus: bool, k: Known) -> tuple[Product, bool] | None:
        """A register that holds what another does, perhaps with the other sign."""
        for index in k.read:
            self._keep(index)
        found = self.held.get(source.index) if isinstance(source, Register) else None
        if found is None:
            return None
        if found[0].stretch != self.stretch:
            found[0].fusable = False
        return found[0], found[1] != minus

    def _copied(self, i: Instruction) -> tuple[Operand, bool] | None:
        """The source of an instruction that copies or negates a number, and whether it negates."""
        if i.guard is not None or len(i.operands) != 2 or not isinstance(i.operands[0], Register):
            return None
        d, source = i.operands
        assert isinstance(d, Register)
        if i.opcode == "mov":
            alone = isinstance(source, Immediate) or (isinstance(source, Register) and source.type.bits == d.type.bits)
            return (source, False) if alone and d.vector == 1 else None
        held = self.held.get(source.index) if isinstance(source, Register) else None
        if held is None:
            return None
        words = set(i.modifiers)
        if i.opcode == "cvt":
            return (source, False) if i.modifiers in (("f32", "f32"), ("f64", "f64")) else None
        # ptxas 13.0 negates a pair of bf16 with an instruction of its own.
        if i.opcode == "neg" and held[0].type in words and held[0].type != "bf16x2" and ("ftz" not in words or held[0].ftz):
            return source, True
        return None

    def _by_one(self, i: Instruction) -> tuple[Operand, bool] | None:
        """The other factor where one is 1 or -1, and whether it is -1."""
        t = TYPES[i.modifiers[-1]]
        if i.opcode == "div" or t.elements > 1 or t.name == "bf16" or "ftz" in i.modifiers:
            return None
        one = ONE[t.name]
        for factor, other in (i.operands[1:], i.operands[:0:-1]):
            if isinstance(factor, Immediate) and isinstance(other, Register):
                bits = immediate_bits(factor, t)
                if bits & ~(1 << t.bits - 1) == one:
                    return other, bits != one
        return None

    def _is_constant(self, op: Operand) -> bool:
        return isinstance(op, Immediate) or (isinstance(op, Register) and op.index in self.constants)

    def _sum(self, i: Instruction, k: Known) -> None:
        type_, ftz = i.modifiers[-1], "ftz" in i.modifiers
        if i.guard is not None:
            self._use(i.guard.index)
        found = Sum(i, type_, [])
        for n, op in enumerate(i.operands[1:], 1):
            held = self.held.get(op.index) if isinstance(op, Register) else None
            if held is None:
                continue
            product = held[0]
            if product.stretch != self.stretch or (product.type, product.ftz) != (type_, ftz):
                product.fusable = False
            if any(product is other for _, other, _ in found.products):
                product.fusable = False
            found.products.append((n, *held))
            product.sums.append(found)
        self.sums.append(found)

    def _use(self, index: int) -> None:
        """Something that is not a sum reads a register."""
        if index in self.held:
            product = self.held[index][0]
            product.fusable, product.kept = False, True

    def _keep(self, index: int) -> None:
        if index in self.held:
            self.held[index][0].kept = True

    def _forget(self, k: Known) -> None:
        """The registers that an instruction writes hold something else now."""
        for index in k.written:
            if not k.facts.kills:  # in some lanes only
                self._use(index)
            self.held.pop(index, None)
            self.constants.discard(index)


# ---------------------------------------------------------------- which product is chosen


def choose(sums: Sequence[Sum]) -> None:
    """Gives each sum the product that it fuses: first those that are used once, then in the order of the text those that are used least."""
    for s in sums:
        alone = [p for _, p, _ in s.products if p.fusable and len(p.sums) == 1]
        if alone and TYPES[s.type].elements == 1:
            _fuse(s, alone[0])
    for s in sums:
        free = [p for _, p, _ in s.products if p.fusable and not p.addend]
        if free and s.chosen is None:
            _fuse(s, min(free, key=lambda p: len(p.sums)))


def _fuse(s: Sum, chosen: Product) -> None:
    s.chosen = chosen
    for _, p, _ in s.products:
        p.addend |= p is not chosen
