"""Which products and sums become one multiply-add, as ptxas chooses them.

PTX leaves it free to round `mul` and `add` together where neither names a rounding.  ptxas does so within a stretch of code that nothing
interrupts: it fuses a product into the sums that use it if nothing else does.  What it takes for an interruption, and whom it prefers
where both operands of a sum are products, was found by asking it; tests/data/contraction.txt holds the questions.  The product hands its
factors on in registers of its own, and the sum becomes an fma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Immediate, Instruction, Operand, Register
from warplab.isa import sfu
from warplab.isa.notation import FORMS, Form
from warplab.isa.types import TYPES, ScalarType

from .operands import immediate_bits
from .roles import works_on
from .shapes import Known, known
from .slots import lives
from .values import Array

Fmad = Literal["none", "f64", "all"]
DEFAULT: Fmad = "f64"
TYPED: dict[Fmad, frozenset[str]] = {
    "none": frozenset(),
    "f64": frozenset({"f64"}),
    "all": frozenset({"f64", "f32", "f16", "bf16", "f32x2", "f16x2", "bf16x2"}),
}
PRODUCTS = frozenset({"mul", "div"})
ONE = {"f64": 0x3FF << 52, "f32": 0x3F80_0000, "f16": 0x3C00}
ROUNDED = frozenset({"rn", "rz", "rm", "rp", "rna", "rs"})


@dataclass(frozen=True, slots=True)
class Handed:
    """A product whose factors are handed on."""

    factors: tuple[Register, Register]
    type: ScalarType  # as which they are copied
    kept: bool  # somebody reads the product itself
    split: Callable[[Array, Array], tuple[Array, Array]] | None = None  # makes them of the operands, where they are others


@dataclass(frozen=True, slots=True)
class Fused:
    """A sum as the fma that it becomes, with the signs that a fma does not have."""

    instruction: Instruction
    minus_product: bool
    minus_addend: bool

    def signed(self, meaning: Callable[..., Array]) -> Callable[..., Array]:
        """The meaning of the fma with these signs."""
        if not self.minus_product and not self.minus_addend:
            return meaning
        flip = _negation("f64" in self.instruction.modifiers)
        if not self.minus_addend:
            return lambda a, b, c: meaning(flip(a), b, c)
        if not self.minus_product:
            return lambda a, b, c: meaning(a, b, flip(c))
        return lambda a, b, c: meaning(flip(a), b, flip(c))


@dataclass(slots=True)
class Contraction:
    """What changes in a function: instructions by identity."""

    handed: dict[int, Handed] = field(default_factory=dict)
    fused: dict[int, Fused] = field(default_factory=dict)
    known: dict[int, Known] = field(default_factory=dict)


NOTHING = Contraction()


@dataclass(slots=True, eq=False)
class _Product:
    instruction: Instruction
    type: str
    ftz: bool
    stretch: int
    sums: list[_Sum] = field(default_factory=list)
    fusable: bool = True  # sums alone use it, all in its stretch
    kept: bool = False  # some instruction reads the register that holds it
    addend: bool = False  # of a fused sum


@dataclass(slots=True, eq=False)
class _Sum:
    instruction: Instruction
    type: str
    products: list[tuple[int, _Product, bool]]  # the operand's number, what it holds, and whether its negation
    chosen: _Product | None = None


def contract(flow: Flow, all_known: Mapping[int, Known], fmad: Fmad) -> Contraction:
    """The pairs of a function; `all_known` speaks of every reachable instruction."""
    types = TYPED[fmad]
    if not any(k.instruction.opcode in PRODUCTS and _is_free_product(k.instruction, types) for k in all_known.values()):
        return NOTHING
    returns = any(v.register is not None for v in flow.function.returns)  # their liveness is told by the text alone
    _, live_out = lives(flow, all_known)
    made = Contraction()
    for chain in _chains(flow, joined=not returns):
        instructions = [i for b in chain for i in flow.blocks[b].instructions]
        if any(i.opcode in PRODUCTS and _is_free_product(i, types) for i in instructions):
            walk = _Walk(types, all_known)
            walk.go(instructions, live_out[chain[-1]])
            _choose(walk.sums)
            _build(made, walk.products, all_known, len(flow.function.registers))
    return made


# ---------------------------------------------------------------- where nothing interrupts


def _chains(flow: Flow, joined: bool) -> Iterator[list[int]]:
    """Blocks, each with those that nothing but its end leads to."""
    following: dict[int, int] = {}
    for b in flow.depth_first if joined else ():
        block, nexts = flow.blocks[b], set(flow.blocks[b].successors)
        if len(nexts) == 1 and (block.terminator is None or block.terminator.opcode == "bra"):
            (s,) = nexts
            if s not in (0, b) and set(flow.predecessors[s]) == {b}:
                following[b] = s
    inner = set(following.values())
    for b in flow.depth_first:
        if b not in inner:
            chain = [b]
            while chain[-1] in following:
                chain.append(following[chain[-1]])
            yield chain


def interrupts(i: Instruction) -> bool:
    """Does ptxas begin a new block at this instruction: a routine that it calls, a fence, anything guarded that is no arithmetic?"""
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


def _is_free_product(i: Instruction, types: frozenset[str]) -> bool:
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


class _Walk:
    """One way through a chain of blocks: which register holds which product."""

    def __init__(self, types: frozenset[str], all_known: Mapping[int, Known]) -> None:
        self.types = types
        self.known = all_known
        self.products: list[_Product] = []
        self.sums: list[_Sum] = []
        self.held: dict[int, tuple[_Product, bool]] = {}  # by Register.index: the product, and whether its negation
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
        """Instructions whose results nobody reads: they are gone before anything is contracted, unless they are routines."""
        dead: set[int] = set()
        for i in reversed(instructions):
            k = self.known[id(i)]
            if k.written and not any(live >> index & 1 for index in k.written) and _is_pure(i) and not interrupts(i):
                dead.add(id(i))
                continue
            if k.shape.kills:
                for index in k.written:
                    live &= ~(1 << index)
            for index in k.read:
                live |= 1 << index
        return dead

    def _step(self, i: Instruction, k: Known) -> None:
        new: tuple[_Product, bool] | None = None
        constant = False
        if i.opcode in PRODUCTS and _is_free_product(i, self.types):
            if (source := self._by_one(i)) is not None:
                new = self._copy(*source, k)
            else:
                for index in k.read:
                    self._use(index)
                constant = all(map(self._is_constant, i.operands[1:]))
                if not constant and not (i.opcode == "div" and _is_reciprocal(i)):
                    new = _Product(i, i.modifiers[-1], "ftz" in i.modifiers, self.stretch), False
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

    def _copy(self, source: Operand, minus: bool, k: Known) -> tuple[_Product, bool] | None:
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
        found = _Sum(i, type_, [])
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
        """Something that is no sum reads a register."""
        if index in self.held:
            product = self.held[index][0]
            product.fusable, product.kept = False, True

    def _keep(self, index: int) -> None:
        if index in self.held:
            self.held[index][0].kept = True

    def _forget(self, k: Known) -> None:
        """The registers that an instruction writes hold something else now."""
        for index in k.written:
            if not k.shape.kills:  # in some lanes only
                self._use(index)
            self.held.pop(index, None)
            self.constants.discard(index)


# ---------------------------------------------------------------- who is chosen


def _choose(sums: Sequence[_Sum]) -> None:
    """Gives each sum the product that it fuses: first those that are used once, then in the order of the text those that are used least."""
    for s in sums:
        alone = [p for _, p, _ in s.products if p.fusable and len(p.sums) == 1]
        if alone and TYPES[s.type].elements == 1:
            _fuse(s, alone[0])
    for s in sums:
        free = [p for _, p, _ in s.products if p.fusable and not p.addend]
        if free and s.chosen is None:
            _fuse(s, min(free, key=lambda p: len(p.sums)))


def _fuse(s: _Sum, chosen: _Product) -> None:
    s.chosen = chosen
    for _, p, _ in s.products:
        p.addend |= p is not chosen


def _build(made: Contraction, products: Sequence[_Product], all_known: Mapping[int, Known], registers: int) -> None:
    for p in products:
        sums = [s for s in p.sums if s.chosen is p]
        if not sums:
            continue
        i = p.instruction
        d = i.operands[0]
        assert isinstance(d, Register)
        first = registers + 2 * len(made.handed)
        factors = (replace(d, name=f"{d.name}.a", index=first), replace(d, name=f"{d.name}.b", index=first + 1))
        t = TYPES[p.type]
        held = t if t.elements == 1 else TYPES[f"b{t.bits}"]
        handed = made.handed[id(i)] = Handed(factors, held, p.kept or len(sums) < len(p.sums), _splitting(i))
        made.known[id(i)] = _with_factors(all_known[id(i)], handed)
        for s in sums:
            fused = made.fused[id(s.instruction)] = _fused(s, p, factors)
            made.known[id(s.instruction)] = known(fused.instruction)


def _splitting(i: Instruction) -> Callable[[Array, Array], tuple[Array, Array]] | None:
    """The factors of an approximate quotient; what is far from 1 is scaled first."""
    if i.opcode != "div":
        return None
    full, ftz = "full" in i.modifiers, "ftz" in i.modifiers

    def split(a: Array, b: Array) -> tuple[Array, Array]:
        size, one = np.abs(b), np.float32(1)
        scale = np.where(size > 2.0**126, np.float32(0.25), one) if full else one
        if not ftz:
            scale = np.where(size < 2.0**-126, np.float32(2.0**24), scale)
        return a * scale, sfu.rcp(b * scale, True)

    return split


def _with_factors(k: Known, handed: Handed) -> Known:
    """A product that writes its factors, and itself where it is wanted."""
    n = len(k.registers)
    shape = replace(
        k.shape,
        written=(*(k.shape.written if handed.kept else ()), n, n + 1),
        votes=(*k.shape.votes, (n, handed.type.dtype.str), (n + 1, handed.type.dtype.str)),
        built=None,
    )
    registers = [*k.registers, *handed.factors]
    return Known(k.instruction, shape, registers, k.read, [registers[m].index for m in shape.written])


def _fused(s: _Sum, p: _Product, factors: tuple[Register, Register]) -> Fused:
    i = s.instruction
    place, minus = next((n, minus) for n, product, minus in s.products if product is p)
    form, settled = _fma(("rn", *[w for w in ("ftz", "sat") if w in i.modifiers], p.type))
    fma = replace(
        i, opcode="fma", modifiers=("rn", *[w for w in ("ftz", "sat") if w in i.modifiers], p.type),
        operands=(i.operands[0], *factors, i.operands[3 - place]), form=form, settled=settled,
    )  # fmt: skip
    subtracts = i.opcode == "sub"
    return Fused(fma, minus != (subtracts and place == 2), subtracts and place == 1)


@lru_cache(maxsize=64)
def _fma(words: tuple[str, ...]) -> tuple[Form, dict[str, str | bool]]:
    return next((f, settled) for f in FORMS["fma"] if (settled := f.match(words)) is not None)


def _negation(double: bool) -> Callable[[Any], Any]:
    """The sign of a factor or addend turned, be it a float or the bits of a bf16; a NaN of double precision keeps its own."""
    if double:
        return next(f for f in FORMS["neg"] if f.match(("f64",)) is not None).bind({"f64": True})
    return lambda x: -x if x.dtype.kind == "f" else x ^ x.dtype.type(0x8000)
