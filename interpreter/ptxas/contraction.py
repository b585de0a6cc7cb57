"""Products and sums that become one multiply-add: which types, and what the instructions are then.

PTX leaves it free to round `mul` and `add` together where neither names a rounding; products.py knows where ptxas does so.  The product hands
its factors on in registers of its own, and the sum becomes an fma.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Instruction, Operand, Register, shape_of
from warplab.isa.types import TYPES, ScalarType

from ..plan.shapes import Known, known
from ..plan.slots import lives
from .chains import Chains
from .constants import Constants
from .folding import Folder, Folding, may_fold
from .local_arrays import in_registers
from .products import PRODUCTS, Product, Sum, Walk, is_free_product
from .turns import WrittenOut, written_out

Fmad = Literal["none", "f64", "all"]
DEFAULT: Fmad = "all"
TYPED: dict[Fmad, frozenset[str]] = {
    "none": frozenset(),
    "f64": frozenset({"f64"}),
    "all": frozenset({"f64", "f32", "f16", "bf16", "f32x2", "f16x2", "bf16x2"}),
}


@dataclass(frozen=True, slots=True)
class Handed:
    """An instruction whose operands are handed on: a product, or what another instruction undoes."""

    operands: tuple[Operand, ...]
    factors: tuple[Register, ...]  # where they are handed on
    type: ScalarType  # as which they are copied
    kept: bool  # an instruction reads the result itself
    quotient: bool = False  # approximate: the factors are the dividend and a reciprocal


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
    replaced: dict[int, Instruction] = field(default_factory=dict)
    known: dict[int, Known] = field(default_factory=dict)
    flow: Flow | None = None  # with copies of loops whose turns fuse different sums
    origin: dict[int, Instruction] = field(default_factory=dict)  # what was copied, by the identity of the copy


NOTHING = Contraction()


def contract(flow: Flow, all_known: Mapping[int, Known], fmad: Fmad) -> Contraction:
    """What ptxas makes of a function; `all_known` speaks of every reachable instruction."""
    types = TYPED[fmad]
    instructions = [k.instruction for k in all_known.values()]
    has_products = any(i.opcode in PRODUCTS and is_free_product(i, types) for i in instructions)
    if not has_products and not (types and any(map(may_fold, instructions))):
        return NOTHING
    constants = Constants(flow, flow.depth_first, all_known)
    seen, copies = in_registers(flow, all_known, constants)
    live_in, live_out = lives(flow, seen)
    made, registers = Contraction(), len(flow.function.registers)
    if has_products:
        walk = Walk(flow, Chains(flow, seen, constants, live_in, live_out).result(), types, seen, constants, copies)
        walk.go(live_in, live_out)
        turns = written_out(walk, all_known)
        made.known, made.flow, made.origin = dict(turns.known), turns.flow, turns.origin
        _build(made, walk, turns, {**all_known, **turns.known} if turns.known else all_known, registers)
    _replace(made, Folder(flow, all_known, constants, live_out, registers + 2 * len(made.handed)).go(), all_known)
    return made


def _replace(made: Contraction, folding: Folding, all_known: Mapping[int, Known]) -> None:
    """What is folded, but for products that are fused."""
    copies: dict[int, list[int]] = {}
    for key, i in made.origin.items():
        copies.setdefault(id(i), []).append(key)
    for old, new in folding.replaced.items():
        if old not in made.fused and old not in made.handed:
            k = made.known[id(new)] = known(new)
            for key in (old, *copies.get(old, ())):
                made.replaced[key], made.known[key] = new, k
    for old, r in folding.handed.items():
        handed = Handed(all_known[old].instruction.operands[1:2], (r,), r.type, True)
        for key in (old, *copies.get(old, ())):
            made.handed[key], made.known[key] = handed, _with_factors(made.known.get(key, all_known[old]), handed)


def _build(made: Contraction, walk: Walk, turns: WrittenOut, all_known: Mapping[int, Known], registers: int) -> None:
    products: dict[int, list[Product]] = {}  # what an instruction computes in the turns of its loop
    for p in walk.products:
        products.setdefault(id(turns.instruction(p)), []).append(p)
    for own in products.values():
        sums = {id(turns.instruction(s)): (s, p) for p in own for s in p.sums if s.chosen is p}
        if not sums:
            continue
        i = turns.instruction(own[0])
        d = i.operands[0]
        assert isinstance(d, Register)
        first = registers + 2 * len(made.handed)
        factors = (replace(d, name=f"{d.name}.a", index=first), replace(d, name=f"{d.name}.b", index=first + 1))
        t = TYPES[own[0].type]
        held = t if t.elements == 1 else TYPES[f"b{t.bits}"]
        kept = any(p.kept or any(s.chosen is not p for s in p.sums) for p in own)
        handed = made.handed[id(i)] = Handed(i.operands[1:], factors, held, kept, i.opcode == "div")
        made.known[id(i)] = _with_factors(all_known[id(i)], handed)
        for key, (s, p) in sums.items():
            fused = made.fused[key] = _fused(s, p, factors)
            made.known[key] = known(fused.instruction)


def _with_factors(k: Known, handed: Handed) -> Known:
    """An instruction that writes what it hands on, and its result where that is wanted."""
    n = len(k.registers)
    new = range(n, n + len(handed.factors))
    facts = replace(
        k.facts,
        written=(*(k.facts.written if handed.kept else ()), *new),
        votes=(*k.facts.votes, *[(m, handed.type.dtype.str) for m in new]),
    )
    registers = [*k.registers, *handed.factors]
    return Known(k.instruction, facts, registers, k.read, [registers[m].index for m in facts.written])


def _fused(s: Sum, p: Product, factors: tuple[Register, ...]) -> Fused:
    i = s.instruction
    place, minus = next((n, minus) for n, product, minus in s.products if product is p)
    words = ("rn", *[w for w in ("ftz", "sat") if w in i.modifiers], p.type)
    operands = (i.operands[0], *factors, i.operands[3 - place])
    fma = replace(i, shape=shape_of("fma", words, operands), operands=operands)
    subtracts = i.opcode == "sub"
    return Fused(fma, minus != (subtracts and place == 2), subtracts and place == 1)
