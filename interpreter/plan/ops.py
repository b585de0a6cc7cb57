"""One instruction to its step: operands and modifiers settled beforehand, guards put around.

R[0] is the group itself.  A pure instruction whose operands are plain slots costs one call of its meaning and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from warplab.assembler.ir import Address, Immediate, Instruction, Pair, Register, Sink, Variable, Vector
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from ..ptxas.contraction import Contraction, Fused, Handed
from ..special import window_of
from ..vector.effects import effect_step, unsupported
from ..vector.exchange import Exchange
from ..vector.steps import assign, carrying, join, lanes, load_one, parameter, pure, select, store_one, unpack, warps
from ..vector.values import Array, LocalPlace, Shifted, plain
from .built import At, Built, built, with_elements
from .operands import Get, Operands, Set, as_get, as_set
from .plan import PlanFunction, Step
from .roles import parameters_of, uses, works_on
from .shapes import Known

WINDOWS = ("shared", "local")  # spaces that are seen through a window of the generic space
OPAQUE_ADDRESS = frozenset({"ld", "ldu", "st", "atom", "red"})  # their meaning hands the address on untouched


class InstructionSteps:
    """Builds the steps of one function's instructions."""

    plan: PlanFunction
    operands: Operands
    first_generation: bool
    flushes: bool
    exchanges: dict[int, Exchange]  # by id(Instruction)
    known: dict[int, Known]  # likewise
    contraction: Contraction

    def step(self, given: Instruction) -> Step | None:
        """One instruction as a function of the register list."""
        assert given.form is not None and given.settled is not None, f"{given.opcode} was not verified"
        if self.contraction.handed:
            if (product := self.contraction.handed.get(id(given))) is not None:
                return self._handed(given, product)
            if (fused := self.contraction.fused.get(id(given))) is not None:
                return self._fused(given, fused)
        return self._step(given)

    def _step(self, given: Instruction) -> Step | None:
        shape = self.known[id(given)].shape
        how = None if self.flushes else shape.built  # what is remembered does not flush
        if how is None:
            how = built(given, first_generation=self.first_generation, flushes=self.flushes)
            if not how.varies and not self.flushes:
                shape.built = how
        i = given if how.refitted is None else replace(given, form=how.refitted[0], settled=how.refitted[1])
        if how.route == "pack":
            inner = self._pack(with_elements(i))
        elif how.route == "move" and (moved := self._move(i)) is not None:
            inner = moved
        elif how.hands_on and self._is_pointer(i.operands[0]):
            return self._pointer_step(i)
        elif how.route == "effect":
            special = effect_step(self, i)
            if special is None:
                return None
            inner, written = special
            return inner if i.guard is None else self._guarded(i, inner, written)
        elif how.meaning is None:
            inner = unsupported(i)
            return inner if i.guard is None else self._guarded(i, inner, [])
        else:
            inner = self._meaning(i, how, how.meaning)
            if isinstance(inner, Exchange):
                self.exchanges[id(given)] = inner
        return inner if i.guard is None else self._guarded(i, inner, self.written(i))

    def _handed(self, given: Instruction, product: Handed) -> Step:
        """A product that keeps its factors for the sums that fuse it."""
        t = product.type
        if product.split is not None:
            return self._split(given, product, product.split)
        first, second = (
            assign(self.operands.target(r, t), self.operands.source(op, t))
            for r, op in zip(product.factors, given.operands[1:], strict=True)
        )
        own = self._step(given) if product.kept else None

        def hand_on(R: list[Any]) -> None:
            first(R)
            second(R)
            if own is not None:
                own(R)

        return hand_on

    def _split(self, given: Instruction, product: Handed, split: Callable[[Array, Array], tuple[Array, Array]]) -> Step:
        """A quotient that is a product of other factors than its operands."""
        t = product.type
        x, y = (as_get(self.operands.source(op, t)) for op in given.operands[1:])
        put_x, put_y = (as_set(self.operands.target(r, t)) for r in product.factors)
        own = self._step(given) if product.kept else None

        def step(R: list[Any]) -> None:
            factors = split(x(R), y(R))
            put_x(R, factors[0])
            put_y(R, factors[1])
            if own is not None:
                own(R)

        return step

    def _fused(self, given: Instruction, fused: Fused) -> Step:
        """A sum that rounds once with its product."""
        how = built(fused.instruction, first_generation=False, flushes=self.flushes)
        assert how.meaning is not None
        inner = self._meaning(fused.instruction, how, fused.signed(how.meaning))
        return inner if given.guard is None else self._guarded(given, inner, self.written(given))

    def _is_pointer(self, op: object) -> bool:
        return isinstance(op, Register) and self.plan.homes[op.index].pointer

    def _pointer_step(self, i: Instruction) -> Step:
        home = self.plan.homes
        assert isinstance(i.operands[0], Register)
        d = home[i.operands[0].index].slot
        unsigned = home[i.operands[0].index].dtype
        kinds = [self._pointer_source(o, unsigned) for o in i.operands[1:]]
        if i.opcode in ("mov", "cvta"):
            (a,) = kinds

            def hand_on(R: list[Any]) -> None:
                R[d] = a(R)

            return hand_on
        a, b = kinds
        half, whole = 1 << (8 * unsigned.itemsize - 1), 1 << 8 * unsigned.itemsize

        def add(R: list[Any]) -> None:
            x, y = a(R), b(R)
            if type(y) is not Shifted and y.size == 1:
                if type(x) is not Shifted:
                    if x.size == 1:
                        R[d] = x + y
                        return
                    x = Shifted(x)
            elif type(x) is not Shifted and x.size == 1:
                x, y = (y if type(y) is Shifted else Shifted(y)), x
            else:
                R[d] = Shifted(plain(x) + plain(y))
                return
            by = int(y[0, 0])
            R[d] = x.moved(by - whole if by >= half else by)

        return add

    def _pointer_source(self, op: Any, unsigned: np.dtype[Any]) -> Get:
        if isinstance(op, Register) and self.plan.homes[op.index].pointer:
            slot = self.plan.homes[op.index].slot

            def shared(R: list[Any]) -> Any:
                v = R[slot]
                if type(v) is not Shifted and v.size > 1:  # all that walk from this value share what is known of it
                    v = R[slot] = Shifted(v)
                return v

            return shared
        return as_get(self.operands.source(op, TYPES[f"u{unsigned.itemsize * 8}"], unsigned))

    def _move(self, i: Instruction) -> Step | None:
        """mov between registers is handing the array on."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d, a = i.operands
        if t.bits == 128 or not isinstance(d, Register):
            return None
        home = self.plan.homes[d.index]
        own = home.dtype if home.dtype.itemsize == t.dtype.itemsize else t.dtype
        get = self.operands.source(a, t, own)
        put = home.slot if own is home.dtype and d.vector == 1 else self.operands.target(d, ScalarType(t.name, t.bits, t.kind, own))
        return assign(put, get)

    def _pack(self, i: Instruction) -> Step:
        """mov.b32 d, {a, b} and mov.b32 {a, b}, d."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d, a = i.operands
        if isinstance(d, Vector) and isinstance(a, Vector):
            each = TYPES[f"b{t.bits // len(d.elements)}"]
            get_all, put_all = self.operands.sources(a.elements, each), self.operands.targets(d.elements, each)
            return lambda R: put_all(R, get_all(R))
        if isinstance(d, Vector):
            count = len(d.elements)
            each = TYPES[f"b{t.bits // count}"]
            get = as_get(self.operands.source(a, t))
            puts = [as_set(self.operands.target(e, each)) for e in d.elements]

            def spread(R: list[Any]) -> None:
                for p, v in zip(puts, unpack(get(R), t, each, count), strict=True):
                    p(R, v)

            return spread
        assert isinstance(a, Vector)
        count = len(a.elements)
        each = TYPES[f"b{t.bits // count}"]
        gets = [as_get(self.operands.source(e, each)) for e in a.elements]
        put = as_set(self.operands.target(d, t))
        return lambda R: put(R, join([g(R) for g in gets], t, each))

    def written(self, i: Instruction) -> list[int]:
        """The slots that an instruction writes."""
        k = self.known.get(id(i))
        out: list[int] = []
        for index in [r.index for r in uses(i)[1]] if k is None else k.written:
            home = self.plan.homes[index]
            out += range(home.slot, home.slot + home.width)
        return out

    def _meaning(self, i: Instruction, how: Built, meaning: Callable[..., Any]) -> Step:
        homes = self.plan.homes
        if how.scalar is not None and (access := self._access_one(i, how, how.scalar)) is not None:
            return access
        common = None if how.free is None else self._common(i, how.free)
        put: int | Set | None = None
        sources: list[int | Get] = []
        for n, (op, at) in enumerate(zip(i.operands, how.places, strict=True)):
            own = common if at.common else None
            home = homes[op.index] if at.plain else None  # type: ignore[union-attr]
            kept = home is not None and home.dtype is (at.type.dtype if own is None else own)  # type: ignore[union-attr]
            if n == 0 and how.writes:
                put = home.slot if home is not None and kept else self._destination(op, at, own, how.takes_pair)
                if not how.reads_destination:
                    continue
            plain = home is not None and kept and not home.pointer
            sources.append(home.slot if home is not None and plain else self._source(i, op, at, own))
        if how.carry:
            return carrying(how.carry, meaning, put, sources)
        if how.loads and how.accesses is not None and len(sources) == 1:
            return self._load(how.accesses, put, as_get(sources[0]))
        if how.works_on == "lanes":
            return lanes(meaning, put, sources)
        if how.works_on == "warps":
            return warps(meaning, put, sources)
        return pure(meaning, put, sources)

    def _access_one(self, i: Instruction, how: Built, n: int) -> Step | None:
        """ld and st of one element, from and to a register that is kept as memory has it: most of them."""
        assert how.accesses is not None
        space, t, _ = how.accesses
        register, address = i.operands[n], i.operands[1 - n]
        assert isinstance(register, Register) and isinstance(address, Address)
        home = self.plan.homes[register.index]
        if how.loads and space.startswith("param"):
            v = address.base
            if not isinstance(v, Variable) or id(v) in self.plan.frame or home.dtype.itemsize != t.dtype.itemsize:
                return None
            return parameter(v, address.offset, home.dtype, home.slot)
        if home.dtype is not t.dtype or (home.pointer and not how.loads):
            return None
        where = self._address(i, address, how.places[1 - n].place)
        return (load_one if how.loads else store_one)(space, t, home.slot, where)

    @staticmethod
    def _load(what: tuple[str, ScalarType, int], put: int | Set | None, address: Get) -> Step:
        """What the meaning of ld does, without its calls: loads are the commonest instructions that are not arithmetic."""
        space, t, count = what
        finish = as_set(put)
        if space.startswith("param"):
            name = t.name
            return lambda R: finish(R, R[0].load(space, address(R), name, count))
        return lambda R: finish(R, R[0].wave.access.load(R[0], space, address(R), t, count))

    def _common(self, i: Instruction, t: ScalarType) -> np.dtype[Any]:
        """The one integer dtype in which a sign-free instruction works: its destination's."""
        d = i.operands[0]
        if isinstance(d, Register) and t.elements == 1:
            have = self.plan.homes[d.index].dtype
            if have.itemsize == t.dtype.itemsize and (have.kind in "iu" or i.opcode in ("mov", "selp")):
                return have
        return t.dtype

    def _destination(self, op: Any, at: At, own: np.dtype[Any] | None, takes_pair: bool) -> int | Set | None:
        place, t = at.place, at.type
        assert t is not None, f"no type for {place.name}"
        if own is not None and own is not t.dtype:
            t = ScalarType(t.name, t.bits, t.kind, own)
        if isinstance(op, Sink):
            return None
        if isinstance(op, Pair):
            return self.operands.target(op, t)
        if place.second and not takes_pair:  # the second half is missing: the meaning still gives both
            inner = as_set(self.operands.target(op, t))
            return lambda R, v: inner(R, v[0])
        if place.count != 1 and not isinstance(op, Vector) and getattr(op, "vector", 1) == 1 and t.bits != 128:
            inner = as_set(self.operands.target(op, t))
            return lambda R, v: inner(R, v[0])
        return self.operands.target(op, t)

    def _source(self, i: Instruction, op: Any, at: At, own: np.dtype[Any] | None) -> int | Get:
        place, t = at.place, at.type
        if place.address:
            assert isinstance(op, Address)
            return self._address(i, op, place)
        if place.constant:
            assert isinstance(op, Immediate)
            value = int(op.value)
            return lambda R: value
        assert t is not None, f"{i.opcode}: no type for {place.name}"
        get = self.operands.source(op, t, own)
        if place.count != 1 and not isinstance(op, Vector) and getattr(op, "vector", 1) == 1 and t.bits != 128:
            inner = as_get(get)
            return lambda R: (inner(R),)
        return get

    def _address(self, i: Instruction, op: Address, place: Place) -> Get:
        space = str((i.settled or {}).get("ss", ""))
        if i.opcode == "ld" and space.startswith("param") and isinstance(op.base, Variable) and id(op.base) not in self.plan.frame:
            v, offset = op.base, op.offset
            return lambda R: R[0].wave.launch.param_place(v, offset)
        if space.startswith("param") and isinstance(op.base, Variable) and id(op.base) in self.plan.frame:
            at = self.plan.frame[id(op.base)] + op.offset
            return lambda R: LocalPlace(R[0].act.base + at)
        if isinstance(op.base, Variable) and op.base.space in WINDOWS and _is_generic(i):
            op = replace(op, offset=op.offset + window_of(op.base.space))  # a variable's own address is one within its space
        get = self.operands.address(op, i.opcode in OPAQUE_ADDRESS)
        if op.parts:
            parts = [as_get(self.operands.source(p, TYPES["b32"])) for p in op.parts]
            return lambda R: (get(R), *[p(R) for p in parts])
        return get

    def _guarded(self, i: Instruction, inner: Step, written: list[int]) -> Step:
        assert i.guard is not None
        p = self.plan.homes[i.guard.index].slot
        negated = i.guard_negated
        form = i.form
        masked = form is not None and (form.effect or works_on(form) in ("lanes", "warps"))

        def step(R: list[Any]) -> None:
            condition = R[p]
            if negated:
                condition = ~condition
            if condition.size == 1:
                if condition[0, 0]:
                    inner(R)
                return
            n = np.count_nonzero(condition)
            if n == 0:
                return
            if n == condition.size:
                inner(R)
                return
            old = [R[s] for s in written]
            if masked:
                g = R[0]
                g.active = condition
                try:
                    inner(R)
                finally:
                    g.active = None
            else:
                inner(R)
            for s, before in zip(written, old, strict=True):
                if before is not None:  # it is where nobody reads the result
                    R[s] = select(condition, R[s], before)

        return step


def _is_generic(i: Instruction) -> bool:
    """An access whose words name no state space."""
    assert i.form is not None and i.settled is not None
    return i.form.meaning is not None and "ss" in parameters_of(i.form.meaning) and not i.settled.keys() & {"ss", "global"}
