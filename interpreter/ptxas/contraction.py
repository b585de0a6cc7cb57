"""Products and sums that become one multiply-add: which types, and what the instructions are then.

PTX leaves it free to round `mul` and `add` together where neither names a rounding; products.py knows where ptxas does so.  The product hands
its factors on in registers of its own, and the sum becomes an fma.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Instruction, Register, shape_of
from warplab.isa.types import TYPES, ScalarType

from ..plan.shapes import Known, known
from ..plan.slots import lives
from .products import PRODUCTS, Product, Sum, Walk, choose, is_free_product

Fmad = Literal["none", "f64", "all"]
DEFAULT: Fmad = "all"
TYPED: dict[Fmad, frozenset[str]] = {
    "none": frozenset(),
    "f64": frozenset({"f64"}),
    "all": frozenset({"f64", "f32", "f16", "bf16", "f32x2", "f16x2", "bf16x2"}),
}


@dataclass(frozen=True, slots=True)
class Handed:
    """A product whose factors are handed on."""

    factors: tuple[Register, Register]
    type: ScalarType  # as which they are copied
    kept: bool  # an instruction reads the product itself
    quotient: bool  # approximate: the factors are the dividend and a reciprocal


@dataclass(frozen=True, slots=True)
class Fused:
    """A sum as the fma that it becomes, with the signs that a fma does not have."""

    instruction: Instruction
    minus_product: bool
    minus_addend: bool


@dataclass(slots=True)
class Contraction:
    """What changes in a function: instructions by identity."""

    handed: dict[int, Handed] = field(default_factory=dict)
    fused: dict[int, Fused] = field(default_factory=dict)
    known: dict[int, Known] = field(default_factory=dict)


NOTHING = Contraction()


def contract(flow: Flow, all_known: Mapping[int, Known], fmad: Fmad) -> Contraction:
    """The pairs of a function; `all_known` speaks of every reachable instruction."""
    types = TYPED[fmad]
    if not any(k.instruction.opcode in PRODUCTS and is_free_product(k.instruction, types) for k in all_known.values()):
        return NOTHING
    returns = any(v.register is not None for v in flow.function.returns)  # their liveness is told by the text alone
    _, live_out = lives(flow, all_known)
    made = Contraction()
    for chain in _chains(flow, joined=not returns):
        instructions = [i for b in chain for i in flow.blocks[b].instructions]
        if any(i.opcode in PRODUCTS and is_free_product(i, types) for i in instructions):
            walk = Walk(types, all_known)
            walk.go(instructions, live_out[chain[-1]])
            choose(walk.sums)
            _build(made, walk.products, all_known, len(flow.function.registers))
    return made


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


def _build(made: Contraction, products: Sequence[Product], all_known: Mapping[int, Known], registers: int) -> None:
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
        handed = made.handed[id(i)] = Handed(factors, held, p.kept or len(sums) < len(p.sums), i.opcode == "div")
        made.known[id(i)] = _with_factors(all_known[id(i)], handed)
        for s in sums:
            fused = made.fused[id(s.instruction)] = _fused(s, p, factors)
            made.known[id(s.instruction)] = known(fused.instruction)


def _with_factors(k: Known, handed: Handed) -> Known:
    """A product that writes its factors, and itself where it is wanted."""
    n = len(k.registers)
    facts = replace(
        k.facts,
        written=(*(k.facts.written if handed.kept else ()), n, n + 1),
        votes=(*k.facts.votes, (n, handed.type.dtype.str), (n + 1, handed.type.dtype.str)),
    )
    registers = [*k.registers, *handed.factors]
    return Known(k.instruction, facts, registers, k.read, [registers[m].index for m in facts.written])


def _fused(s: Sum, p: Product, factors: tuple[Register, Register]) -> Fused:
    i = s.instruction
    place, minus = next((n, minus) for n, product, minus in s.products if product is p)
    words = ("rn", *[w for w in ("ftz", "sat") if w in i.modifiers], p.type)
    operands = (i.operands[0], *factors, i.operands[3 - place])
    fma = replace(i, shape=shape_of("fma", words, operands), operands=operands)
    subtracts = i.opcode == "sub"
    return Fused(fma, minus != (subtracts and place == 2), subtracts and place == 1)
