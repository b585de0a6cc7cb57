"""Instructions to operations: operands to sources and targets, modifiers and guards settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warplab.assembler import ir
from warplab.assembler.ir import Immediate, Instruction, Operand, Pair, Register, Sink, Variable, Vector
from warplab.isa.facts import opcodes
from warplab.isa.notation import Operand as Place
from warplab.isa.spaces import window_of
from warplab.isa.types import TYPES, ScalarType

from ..ptxas.contraction import Contraction, Handed
from .meanings import op_facts, with_elements
from .operands import Operands
from .plan import DType, Each, FramePlace, Guard, Op, ParameterPlace, Pointer, Site, Source, Target, Tuple
from .roles import is_generic, uses
from .shapes import At, Known, OpFacts

WINDOWS = ("shared", "local")  # spaces that are seen through a window of the generic space
OPAQUE_ADDRESS = opcodes("access")  # their meaning hands the address on untouched
NO_OPERATION = frozenset({"barrier", "warp_barrier", "cluster_wait"})  # effects that only end a segment


class Ops:
    """Plans the instructions of one function."""

    def __init__(
        self,
        operands: Operands,
        known: Mapping[int, Known],
        contraction: Contraction,
        *,
        first_generation: bool,
        flushes: bool,
        demotes: bool = False,
    ) -> None:
        self.operands = operands
        self.homes = operands.homes
        self.known = known  # by id(Instruction)
        self.contraction = contraction
        self.first_generation = first_generation
        self.flushes = flushes
        self.demotes = demotes
        self.variant = (first_generation, flushes, False, False, demotes)

    def op(self, given: Instruction, site: Site) -> Op | None:
        """One instruction; None where there is nothing to do before it ends its segment."""
        key = id(given)
        given = self.contraction.replaced.get(key, given)
        if self.contraction.handed:
            if (product := self.contraction.handed.get(key)) is not None:
                return self._factors(given, product, site)
            if (fused := self.contraction.fused.get(key)) is not None:
                facts = op_facts(self.known[id(given)], False, self.flushes, fused.minus_product, fused.minus_addend, self.demotes)
                return self._meaning(fused.instruction, facts, site, self._guard(given), self._keeps(given))
        return self._op(given, site)

    def _op(self, given: Instruction, site: Site) -> Op | None:
        known = self.known[id(given)]
        facts = known.facts.ops.get(self.variant) or op_facts(known, self.first_generation, self.flushes, demotes=self.demotes)
        i = given if facts.refitted is None else given.under(facts.refitted)
        guard: Guard | None = None
        keeps: tuple[int, ...] = ()
        if i.guard is not None:
            guard, keeps = self._guard(i), self._keeps(i)
        if facts.route == "pack":
            return self._pack(with_elements(i), facts, site, guard, keeps)
        if facts.route == "move" and (moved := self._move(i, facts, site, guard, keeps)) is not None:
            return moved
        if facts.hands_on and self._is_pointer(i.operands[0]):
            return self._pointer(i, facts, site)
        if facts.route == "effect":
            return self._effect(i, facts, site, guard, keeps)
        if facts.route == "unsupported":
            return Op("unsupported", facts.meaning, None, (), site, guard)
        return self._meaning(i, facts, site, guard, keeps)

    def guard(self, i: Instruction) -> Guard | None:
        """The predicate of an instruction."""
        return None if i.guard is None else self._guard(i)

    def _guard(self, i: Instruction) -> Guard | None:
        return None if i.guard is None else Guard(self.homes[i.guard.index].slot, i.guard_negated)

    def _keeps(self, i: Instruction) -> tuple[int, ...]:
        """The slots that an instruction writes, where it is guarded."""
        if i.guard is None:
            return ()
        known = self.known.get(id(i))
        out: list[int] = []
        for index in [r.index for r in uses(i)[1]] if known is None else known.written:
            home = self.homes[index]
            out += range(home.slot, home.slot + home.width)
        return tuple(out)

    # ------------------------------------------------------------ products that are fused

    def _factors(self, given: Instruction, product: Handed, site: Site) -> Op:
        """An instruction that hands its operands on: a product its factors, to the sums that fuse it."""
        t = product.type
        targets = tuple([self.operands.target(r, t) for r in product.factors])
        sources = tuple([self.operands.source(op, t) for op in product.operands])
        facts = op_facts(self.known[id(given)], self.first_generation, self.flushes)
        own = self._op(given, site) if product.kept else None
        return Op("quotient" if product.quotient else "factors", facts.meaning, Each(targets), sources, site, product=own)

    # ------------------------------------------------------------ addresses handed on, bits moved

    def _is_pointer(self, op: object) -> bool:
        return isinstance(op, Register) and self.homes[op.index].pointer

    def _pointer(self, i: Instruction, facts: OpFacts, site: Site) -> Op:
        d = i.operands[0]
        assert isinstance(d, Register)
        home = self.homes[d.index]
        return Op("pointer", facts.meaning, home.slot, tuple([self._pointer_source(o, home.dtype) for o in i.operands[1:]]), site)

    def _pointer_source(self, op: Operand, unsigned: DType) -> Source:
        if isinstance(op, Register) and self.homes[op.index].pointer:
            return Pointer(self.homes[op.index].slot, 0)
        return self.operands.source(op, TYPES[f"u{unsigned.itemsize * 8}"], unsigned)

    def _move(self, i: Instruction, facts: OpFacts, site: Site, guard: Guard | None, keeps: tuple[int, ...]) -> Op | None:
        """mov between registers is handing the array on."""
        t = TYPES[str(facts.meaning.settled["type"])]
        d, a = i.operands
        if t.bits == 128 or not isinstance(d, Register):
            return None
        home = self.homes[d.index]
        own = home.dtype if home.dtype.itemsize == t.dtype.itemsize else t.dtype
        source = self.operands.source(a, t, own)
        if own is home.dtype and d.vector == 1:
            target: Target = home.slot
        else:
            target = self.operands.target(d, ScalarType(t.name, t.bits, t.kind, own))
        return Op("move", facts.meaning, target, (source,), site, guard, keeps)

    def _pack(self, i: Instruction, facts: OpFacts, site: Site, guard: Guard | None, keeps: tuple[int, ...]) -> Op:
        """mov.b32 d, {a, b} and mov.b32 {a, b}, d."""
        t = TYPES[str(facts.meaning.settled["type"])]
        d, a = i.operands
        parts = d if isinstance(d, Vector) else a
        assert isinstance(parts, Vector)
        each = TYPES[f"b{t.bits // len(parts.elements)}"]
        target = self.operands.target(d, each if isinstance(d, Vector) else t)
        source = self.operands.source(a, each if isinstance(a, Vector) else t)
        how = "move" if isinstance(d, Vector) and isinstance(a, Vector) else "unpack" if isinstance(d, Vector) else "pack"
        return Op(how, facts.meaning, target, (source,), site, guard, keeps)

    # ------------------------------------------------------------ effects of the engine

    def _effect(self, i: Instruction, facts: OpFacts, site: Site, guard: Guard | None, keeps: tuple[int, ...]) -> Op | None:
        effect, settled = facts.meaning.form.effect, facts.meaning.settled
        if effect in NO_OPERATION:
            return None
        target: Target = None
        sources: tuple[Source, ...] = ()
        if effect in ("alloca", "stacksave"):
            t = TYPES[str(settled["type"])]
            target = self.operands.target(i.operands[0], t)
            if effect == "alloca":
                align = i.operands[2] if len(i.operands) > 2 else Immediate(8, "int")
                sources = (self.operands.source(i.operands[1], t), self.operands.number(align))
        elif effect == "stackrestore":
            sources, keeps = (self.operands.source(i.operands[0], TYPES[str(settled["type"])]),), ()
        return Op("effect", facts.meaning, target, sources, site, guard, keeps)

    # ------------------------------------------------------------ meanings of rows

    def _meaning(self, i: Instruction, facts: OpFacts, site: Site, guard: Guard | None, keeps: tuple[int, ...]) -> Op:
        homes = self.homes
        if facts.scalar is not None and (one := self._access_one(i, facts, facts.scalar, site, guard, keeps)) is not None:
            return one
        common = None if facts.free is None else self._common(i, facts.free)
        target: Target = None
        sources: list[Source] = []
        for n, (op, at) in enumerate(zip(i.operands, facts.places, strict=True)):
            own = common if at.common else None
            home = homes[op.index] if at.plain else None  # type: ignore[union-attr]
            kept = home is not None and home.dtype is (at.type.dtype if own is None else own)  # type: ignore[union-attr]
            if n == 0 and facts.writes:
                target = home.slot if home is not None and kept else self._destination(op, at, own, facts.takes_pair)
                if not facts.reads_destination:
                    continue
            plain = home is not None and kept and not home.pointer
            sources.append(home.slot if home is not None and plain else self._source(i, op, at, own))
        return Op(facts.how, facts.meaning, target, tuple(sources), site, guard, keeps)

    def _access_one(self, i: Instruction, facts: OpFacts, n: int, site: Site, guard: Guard | None, keeps: tuple[int, ...]) -> Op | None:
        """ld and st of one element, from and to a register that is kept as memory has it: most of them."""
        access = facts.meaning.access
        assert access is not None
        register, address = i.operands[n], i.operands[1 - n]
        assert isinstance(register, Register) and isinstance(address, ir.Address)
        home = self.homes[register.index]
        dtype = access.type.dtype
        if n == 0 and access.space.startswith("param"):
            v = address.base
            if not isinstance(v, Variable) or id(v) in self.operands.frame or home.dtype.itemsize != dtype.itemsize:
                return None
            return Op("parameter", facts.meaning, home.slot, (ParameterPlace(v, address.offset, home.dtype),), site, guard, keeps)
        if home.dtype is not dtype or (home.pointer and n == 1):
            return None
        where = self._address(i, address, facts.places[1 - n].place)
        if n == 0:
            return Op("load", facts.meaning, Each((home.slot,)), (where,), site, guard, keeps)
        return Op("store", facts.meaning, None, (where, Tuple((home.slot,))), site, guard, keeps)

    def _common(self, i: Instruction, t: ScalarType) -> DType:
        """The one integer dtype in which a sign-free instruction works: its destination's."""
        d = i.operands[0]
        if isinstance(d, Register) and t.elements == 1:
            have = self.homes[d.index].dtype
            if have.itemsize == t.dtype.itemsize and (have.kind in "iu" or (i.form is not None and i.form.facts.moves_bits)):
                return have
        return t.dtype

    def _destination(self, op: Operand, at: At, own: DType | None, takes_pair: bool) -> Target:
        place, t = at.place, at.type
        assert t is not None, f"no type for {place.name}"
        if own is not None and own is not t.dtype:
            t = ScalarType(t.name, t.bits, t.kind, own)
        if isinstance(op, Sink):
            return None
        target = self.operands.target(op, t)
        # Where the second half of a pair is missing the meaning still gives both.
        alone = not isinstance(op, Pair) and ((place.second and not takes_pair) or _is_single(place, op, t))
        return Each((target,)) if alone else target

    def _source(self, i: Instruction, op: Operand, at: At, own: DType | None) -> Source:
        place, t = at.place, at.type
        if place.address:
            assert isinstance(op, ir.Address)
            return self._address(i, op, place)
        if place.constant:
            return self.operands.number(op)
        assert t is not None, f"{i.opcode}: no type for {place.name}"
        source = self.operands.source(op, t, own)
        return Tuple((source,)) if _is_single(place, op, t) else source

    def _address(self, i: Instruction, op: ir.Address, place: Place) -> Source:
        space = str((i.settled or {}).get("ss", ""))
        base = op.base
        if isinstance(base, Variable):
            in_frame = id(base) in self.operands.frame
            if i.form is not None and i.form.facts.access == "load" and space.startswith("param") and not in_frame:
                return ParameterPlace(base, op.offset)
            if space.startswith("param") and in_frame:
                return FramePlace(self.operands.frame[id(base)] + op.offset)
            if base.space in WINDOWS and is_generic(i):
                op = replace(op, offset=op.offset + window_of(base.space))  # a variable's own address is one within its space
        source: Source = self.operands.address(op, i.opcode in OPAQUE_ADDRESS, space)
        if isinstance(base, Variable) and base.handle and base.space == "param":
            source = ParameterPlace(base, 0)  # the kernel was given the handle
        if op.parts:
            return Tuple((source, *[self.operands.source(p, TYPES["b64" if _is_handle(p) else "b32"]) for p in op.parts]))
        return source


def _is_handle(part: Operand) -> bool:
    """Is a further part of an address the handle of a sampler, and no coordinate?"""
    return isinstance(part, Variable) or (isinstance(part, Register) and part.type.bits == 64)


def _is_single(place: Place, op: Any, t: ScalarType) -> bool:
    """Does the meaning take or give a tuple of the one value that stands here?"""
    return place.count != 1 and not isinstance(op, Vector) and getattr(op, "vector", 1) == 1 and t.bits != 128
