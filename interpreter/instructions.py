"""One instruction to its step: operands and modifiers settled beforehand, guards put around.

R[0] is the group itself.  A pure instruction whose operands are plain slots costs one call of its meaning and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from warplab.assembler.ir import Address, Element, Immediate, Instruction, Minus, Operand, Pair, Register, Sink, Variable, Vector
from warplab.assembler.listing import READS_ITS_DESTINATION
from warplab.isa.notation import Operand as Place
from warplab.isa.ops.data import ld
from warplab.isa.types import TYPES, ScalarType

from .effects import effect_step, unsupported
from .exchange import Exchange
from .operands import Get, Operands, Set, as_get, as_set
from .plan import PlanFunction, Step
from .roles import Used, carries_pointer, fitting, is_sign_free, operand_type, parameters_of, places, uses, works_on
from .special import window_of
from .steps import assign, by_name, join, lanes, pure, select, unpack, warps
from .values import LocalPlace, Shifted, plain

WINDOWS = ("shared", "local")  # spaces that are seen through a window of the generic space
OPAQUE_ADDRESS = frozenset({"ld", "ldu", "st", "atom", "red"})  # their meaning hands the address on untouched


class InstructionSteps:
    """Builds the steps of one function's instructions."""

    plan: PlanFunction
    operands: Operands
    first_generation: bool
    exchanges: dict[int, Exchange]  # by id(Instruction)
    used: dict[int, Used]  # likewise

    def step(self, i: Instruction) -> Step | None:
        """One instruction as a function of the register list."""
        assert i.form is not None and i.settled is not None, f"{i.opcode} was not verified"
        given, i = i, _with_elements(fitting(i))
        assert i.form is not None and i.settled is not None
        whole = i.opcode == "mov" and "vec" not in i.settled
        if whole and any(isinstance(o, Vector) for o in i.operands):
            inner, written = self._pack(i)
        elif whole and (moved := self._move(i)) is not None:
            inner, written = moved
        elif carries_pointer(i) and self._is_pointer(i.operands[0]) and i.guard is None:
            return self._pointer_step(i)
        elif i.form.effect:
            special = effect_step(self, i)
            if special is None:
                return None
            inner, written = special
        elif i.form.meaning is None:
            inner, written = unsupported(i), []
        else:
            inner, written = self._meaning(i)
            if isinstance(inner, Exchange):
                self.exchanges[id(given)] = inner
        if i.guard is None:
            return inner
        return self._guarded(i, inner, written)

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

    def _move(self, i: Instruction) -> tuple[Step, list[int]] | None:
        """mov between registers is handing the array on."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d, a = i.operands
        if t.bits == 128 or not isinstance(d, Register):
            return None
        own = (
            self.plan.homes[d.index].dtype
            if isinstance(d, Register) and self.plan.homes[d.index].dtype.itemsize == t.dtype.itemsize
            else t.dtype
        )
        get = self.operands.source(a, t, own)
        put = self.operands.target(d, ScalarType(t.name, t.bits, t.kind, own))
        return assign(put, get), self.written(i)

    def _pack(self, i: Instruction) -> tuple[Step, list[int]]:
        """mov.b32 d, {a, b} and mov.b32 {a, b}, d."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d, a = i.operands
        if isinstance(d, Vector) and isinstance(a, Vector):
            each = TYPES[f"b{t.bits // len(d.elements)}"]
            get_all, put_all = self.operands.sources(a.elements, each), self.operands.targets(d.elements, each)
            return (lambda R: put_all(R, get_all(R))), self.written(i)
        if isinstance(d, Vector):
            count = len(d.elements)
            each = TYPES[f"b{t.bits // count}"]
            get = as_get(self.operands.source(a, t))
            puts = [as_set(self.operands.target(e, each)) for e in d.elements]

            def spread(R: list[Any]) -> None:
                for p, v in zip(puts, unpack(get(R), t, each, count), strict=True):
                    p(R, v)

            return spread, self.written(i)
        assert isinstance(a, Vector)
        count = len(a.elements)
        each = TYPES[f"b{t.bits // count}"]
        gets = [as_get(self.operands.source(e, each)) for e in a.elements]
        put = as_set(self.operands.target(d, t))
        return (lambda R: put(R, join([g(R) for g in gets], t, each))), self.written(i)

    def written(self, i: Instruction) -> list[int]:
        """The slots that an instruction writes."""
        out: list[int] = []
        for r in (self.used.get(id(i)) or uses(i))[1]:
            home = self.plan.homes[r.index]
            out += range(home.slot, home.slot + home.width)
        return out

    def _meaning(self, i: Instruction) -> tuple[Step, list[int]]:
        form, settled = i.form, i.settled
        assert form is not None and settled is not None and form.meaning is not None
        named = parameters_of(form.meaning)
        shape = works_on(form)
        filled = places(form, i.operands)
        free = is_sign_free(i) and shape not in ("lanes", "warps")
        common = self._common(i) if free else None
        put: int | Set | None = None
        sources: list[int | Get] = []
        extra: dict[str, Any] = {}
        for op, place in zip(i.operands, filled, strict=True):
            if place.is_destination and place is filled[0]:
                put = self._destination(i, op, place, common, "pair" in named)
                if i.opcode in READS_ITS_DESTINATION:
                    sources.append(self._source(i, op, place, common))
                continue
            sources.append(self._source(i, op, place, common))
        for op, place in zip(i.operands, filled, strict=True):
            if isinstance(op, Minus):
                extra[f"{place.name}neg"], op = True, op.operand
            if isinstance(op, Element) and op.part not in "xyzw" and f"{place.name}sel" in named:
                extra[f"{place.name}sel"] = op.part
        if self.first_generation:  # 1.x has no subnormal singles, and cuts the product of mad.f32
            if "ftz" in named and "f32" in i.modifiers:
                extra["ftz"] = True
            if "capability_1" in named:
                extra["capability_1"] = True
        if "pair" in named and not isinstance(i.operands[0], Pair):
            extra["pair"] = False
        meaning = form.bind(settled)
        if extra:
            meaning = functools.partial(meaning, **extra)
        optional = [p.name for p in filled if p.optional]
        if optional and len(filled) < len(form.operands):
            meaning = by_name(meaning, [p.name for p in filled if not (p.is_destination and p is filled[0])], optional)
        carry = self._carry(form.carry)
        if carry is not None:
            return carry(meaning, put, sources), self.written(i)
        if form.meaning is ld and len(sources) == 1:
            return self._load(i, put, as_get(sources[0])), self.written(i)
        if shape == "lanes":
            return lanes(meaning, put, sources), self.written(i)
        if shape == "warps":
            return warps(meaning, put, sources), self.written(i)
        return pure(meaning, put, sources), self.written(i)

    def _load(self, i: Instruction, put: int | Set | None, address: Get) -> Step:
        """What the meaning of ld does, without its calls: loads are the commonest instructions that are not arithmetic."""
        assert i.settled is not None
        t = TYPES[str(i.settled["type"])]
        space = "global" if i.settled.get("global") else str(i.settled.get("ss", "generic"))
        count = int(str(i.settled.get("vec", "v1"))[1:])
        finish = as_set(put)
        if space.startswith("param"):
            return lambda R: finish(R, R[0].load(space, address(R), t.name, count))
        return lambda R: finish(R, R[0].wave.access.load(R[0], space, address(R), t, count))

    def _carry(self, carry: str) -> Callable[..., Step] | None:
        if not carry:
            return None

        def build(meaning: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
            gets, finish = [as_get(s) for s in sources], as_set(put)
            takes, gives = "in" in carry.split(), "out" in carry.split()

            def step(R: list[Any]) -> None:
                g = R[0]
                kw = {"cc": g.carry()} if takes else {}
                result = meaning(*[s(R) for s in gets], **kw)
                if gives:
                    result, g.cc = result
                finish(R, result)

            return step

        return build

    def _common(self, i: Instruction) -> np.dtype[Any]:
        """The one integer dtype in which a sign-free instruction works: its destination's."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d = i.operands[0]
        if isinstance(d, Register) and t.elements == 1:
            have = self.plan.homes[d.index].dtype
            if have.itemsize == t.dtype.itemsize and (have.kind in "iu" or i.opcode in ("mov", "selp")):
                return have
        return t.dtype

    def _destination(self, i: Instruction, op: Any, place: Place, common: np.dtype[Any] | None, alone: bool) -> int | Set | None:
        t = operand_type(i, place)
        assert t is not None, f"{i.opcode}: no type for {place.name}"
        if common is not None and t.elements == 1 and t.bits == common.itemsize * 8:
            t = ScalarType(t.name, t.bits, t.kind, common)
        if isinstance(op, Sink):
            return None
        if isinstance(op, Pair):
            return self.operands.target(op, t)
        if place.second and not alone:  # the second half is missing: the meaning still gives both
            inner = as_set(self.operands.target(op, t))
            return lambda R, v: inner(R, v[0])
        if place.count != 1 and not isinstance(op, Vector) and getattr(op, "vector", 1) == 1 and t.bits != 128:
            inner = as_set(self.operands.target(op, t))
            return lambda R, v: inner(R, v[0])
        return self.operands.target(op, t)

    def _source(self, i: Instruction, op: Any, place: Place, common: np.dtype[Any] | None) -> int | Get:
        if place.address:
            assert isinstance(op, Address)
            return self._address(i, op, place)
        if place.constant:
            assert isinstance(op, Immediate)
            value = int(op.value)
            return lambda R: value
        t = operand_type(i, place)
        assert t is not None, f"{i.opcode}: no type for {place.name}"
        own = common if common is not None and t.is_integer and t.bits == common.itemsize * 8 else None
        if common is not None and own is None and i.opcode == "selp" and t.name != "pred":
            own = common
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


def _with_elements(i: Instruction) -> Instruction:
    """mov.b64 d, v: the vector register v as its elements."""
    if i.opcode != "mov" or i.settled is None or "vec" in i.settled:
        return i
    vectors = [isinstance(o, Register) and o.vector > 1 for o in i.operands]
    return replace(i, operands=tuple(_elements(o) if v else o for o, v in zip(i.operands, vectors, strict=True))) if any(vectors) else i


def _elements(op: Operand) -> Operand:
    assert isinstance(op, Register)
    return Vector(tuple(Element(op, x) for x in "xyzw"[: op.vector]))


def _is_generic(i: Instruction) -> bool:
    """An access whose words name no state space."""
    assert i.form is not None and i.settled is not None
    return i.form.meaning is not None and "ss" in parameters_of(i.form.meaning) and not i.settled.keys() & {"ss", "global"}
