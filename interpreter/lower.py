"""Instructions to steps: each becomes one function of the register list, its operands and modifiers settled beforehand.

R[0] is the group itself.  A pure instruction whose operands are plain slots costs one call of its meaning and nothing else.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from warplab.assembler.flow import READS_ITS_DESTINATION, flow
from warplab.assembler.ir import Address, Element, Function, Immediate, Instruction, Minus, Pair, Register, Sink, Variable, Vector
from warplab.isa.notation import Operand as Place
from warplab.isa.ops.data import ld
from warplab.isa.types import TYPES, ScalarType

from . import branches
from .exchange import Exchange
from .observe import observed_end, observed_step
from .operands import Get, Operands, Set, Symbols, as_get, as_set
from .plan import (
    Home,
    PlanFunction,
    Segment,
    Site,
    Step,
    carries_pointer,
    choose_dtypes,
    fitting,
    is_sign_free,
    operand_type,
    places,
    pointer_registers,
    uses,
)
from .slots import assign, mask_of, order_of
from .values import Array, LocalPlace, Shifted, plain

OPAQUE_ADDRESS = frozenset({"ld", "ldu", "st", "atom", "red"})  # their meaning hands the address on untouched
STOPS = frozenset({"barrier", "warp_barrier", "cluster_wait"})


def lower(function: Function, symbols: Symbols, observed: bool = False, first_generation: bool = False) -> PlanFunction:
    """Plans one function; an observed plan announces every instruction; the first generation of devices calculates otherwise."""
    plan = Lowering(function, symbols, first_generation).plan
    if observed:
        for s in plan.segments:
            s.steps = tuple(observed_step(step, site, plan.homes) for step, site in zip(s.steps, s.sites, strict=True))
            observed_end(s, plan.homes)
    return plan


class Lowering:
    """The work of lower(), function by function."""

    def __init__(self, function: Function, symbols: Symbols, first_generation: bool) -> None:
        self.function = function
        self.first_generation = first_generation
        f = flow(function)
        self.plan = PlanFunction(function, f)
        self.blocks = order_of(f)
        self.labels = {id(label): b.index for b in f.blocks for label in b.labels}
        self.locations = {id(i): at for b in f.blocks for i, at in zip(b.instructions, b.locations, strict=True)}
        instructions = [i for b in self.blocks for i in f.blocks[b].instructions]
        pointers = pointer_registers(instructions)
        dtypes = choose_dtypes(instructions, pointers)
        formals = [v.register for v in (*function.params, *function.returns) if v.register is not None]
        for r in formals:
            dtypes.setdefault(r.index, r.type.dtype if r.type.elements == 1 else np.dtype(f"u{r.type.bytes}"))
        self.plan.homes, top = assign(f, dtypes, pointers, 1)
        for r in formals:
            if r.index not in self.plan.homes:
                self.plan.homes[r.index] = Home(top, 1, dtypes[r.index])
                top += 1
        self._frame()
        self.exchanges: dict[int, Exchange] = {}  # by id(Instruction)
        self.operands = Operands(self.plan.homes, symbols, self.plan.frame, top)
        self._segments()
        self._template(top)

    # ------------------------------------------------------------ memory of the frame

    def _frame(self) -> None:
        at = 0
        for v in frame_variables(self.function):
            align = max(v.align, 4)
            at = -(-at // align) * align
            self.plan.frame[id(v)] = at
            at += max(v.size, 1)
        self.plan.frame_size = -(-at // 16) * 16

    def _template(self, top: int) -> None:
        entry = self.plan.flow.live_in[self.blocks[0]] if self.blocks else 0
        template: list[Any] = [None] * top + self.operands.values
        for index, home in self.plan.homes.items():
            if entry >> index & 1:  # read before it is ever written: a fixed zero
                for s in range(home.slot, home.slot + home.width):
                    self.plan.zeros[s] = np.zeros((1, 1), home.dtype)
        self.plan.template = template
        self.plan.wanted = entry

    # ------------------------------------------------------------ segments

    def _segments(self) -> None:
        plan, f = self.plan, self.plan.flow
        plan.first = [-1] * len(f.blocks)
        cut: list[tuple[int, list[Instruction], Instruction | None]] = []
        for b in self.blocks:
            plan.first[b] = len(cut)
            body: list[Instruction] = []
            for i in f.blocks[b].instructions:
                if body and stands_alone(i):
                    cut.append((b, body, None))
                    body = []
                if is_stop(i):
                    if needs_lanes(i):  # waits, then executes as the first of the next segment
                        cut.append((b, body, i))
                        body = [i]
                    else:
                        cut.append((b, body, i))
                        body = []
                else:
                    body.append(i)
            last = body[-1] if body and ends_block(body[-1]) else None
            cut.append((b, body[:-1] if last else body, last))
        self.cut = cut
        self._liveness(cut)
        for pc, (b, body, last) in enumerate(cut):
            plan.segments.append(self._segment(pc, b, body, last))

    def _liveness(self, cut: list[tuple[int, list[Instruction], Instruction | None]]) -> None:
        plan, f = self.plan, self.plan.flow
        returned = 0
        for v in self.function.returns:
            if v.register is not None:
                returned |= 1 << v.register.index
        live_in: list[int] = [0] * len(cut)
        after = 0
        for pc in reversed(range(len(cut))):
            b, body, last = cut[pc]
            ends = pc + 1 == len(cut) or cut[pc + 1][0] != b
            live = f.live_out[b] if ends else after
            if ends and not f.blocks[b].successors:
                live |= returned
            if last is not None and not needs_lanes(last):
                live = _before(last, live)
            elif last is not None:
                for r in uses(last)[0]:
                    live |= 1 << r.index
            for i in reversed(body):
                live = _before(i, live)
            live_in[pc] = after = live
        plan.live_in = [mask_of(x, plan.homes) for x in live_in] + [mask_of(returned, plan.homes)]

    def _segment(self, pc: int, b: int, body: list[Instruction], last: Instruction | None) -> Segment:
        steps: list[Step] = []
        sites: list[Site] = []
        reads: dict[int, None] = {}
        writes = 0
        for i in (*body, *([last] if last is not None else [])):
            read, written, kills = uses(i)
            for r in read if kills else read + written:
                home = self.plan.homes[r.index]
                for s in range(home.slot, home.slot + home.width):
                    if not writes >> s & 1:
                        reads[s] = None
            if i is last and needs_lanes(i):
                continue
            for r in written:
                home = self.plan.homes[r.index]
                writes |= ((1 << home.width) - 1) << home.slot
        for i in body:
            step = self.step(i)
            if step is not None:
                steps.append(step)
                sites.append(self.site(i, b))
        segment = Segment(b, tuple(steps), tuple(sites), None, None, tuple(reads), writes, len(body) + (last is not None))
        segment.exchange = self.exchanges.get(id(body[0])) if body else None
        if last is not None:
            segment.end = self.site(last, b)
        segment.terminate = branches.terminator(self, pc, b, last)
        return segment

    def site(self, i: Instruction, b: int) -> Site:
        """How messages name an instruction."""
        return Site(i, self.locations[id(i)], i.span.start, self.function.name)

    # ------------------------------------------------------------ steps

    def step(self, i: Instruction) -> Step | None:
        """One instruction as a function of the register list."""
        assert i.form is not None and i.settled is not None, f"{i.opcode} was not verified"
        given, i = i, fitting(i)
        assert i.form is not None
        if i.opcode == "mov" and any(isinstance(o, Vector) for o in i.operands):
            inner, written = self._pack(i)
        elif i.opcode == "mov" and (moved := self._move(i)) is not None:
            inner, written = moved
        elif carries_pointer(i) and self._is_pointer(i.operands[0]) and i.guard is None:
            return self._pointer_step(i)
        elif i.form.effect:
            special = branches.step(self, i)
            if special is None:
                return None
            inner, written = special
        elif i.form.meaning is None:
            inner, written = branches.unsupported(i), []
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
        return _assign(put, get), self._written(i)

    def _pack(self, i: Instruction) -> tuple[Step, list[int]]:
        """mov.b32 d, {a, b} and mov.b32 {a, b}, d."""
        t = TYPES[str(i.settled["type"])]  # type: ignore[index]
        d, a = i.operands
        if isinstance(d, Vector) and isinstance(a, Vector):
            each = TYPES[f"b{t.bits // len(d.elements)}"]
            get_all, put_all = self.operands.sources(a.elements, each), self.operands.targets(d.elements, each)
            return (lambda R: put_all(R, get_all(R))), self._written(i)
        if isinstance(d, Vector):
            count = len(d.elements)
            each = TYPES[f"b{t.bits // count}"]
            get = as_get(self.operands.source(a, t))
            puts = [as_set(self.operands.target(e, each)) for e in d.elements]

            def spread(R: list[Any]) -> None:
                for p, v in zip(puts, unpack(get(R), t, each, count), strict=True):
                    p(R, v)

            return spread, self._written(i)
        assert isinstance(a, Vector)
        count = len(a.elements)
        each = TYPES[f"b{t.bits // count}"]
        gets = [as_get(self.operands.source(e, each)) for e in a.elements]
        put = as_set(self.operands.target(d, t))
        return (lambda R: put(R, join([g(R) for g in gets], t, each))), self._written(i)

    def _written(self, i: Instruction) -> list[int]:
        out: list[int] = []
        for r in uses(i)[1]:
            home = self.plan.homes[r.index]
            out += range(home.slot, home.slot + home.width)
        return out

    def _meaning(self, i: Instruction) -> tuple[Step, list[int]]:
        form, settled = i.form, i.settled
        assert form is not None and settled is not None and form.meaning is not None
        named = inspect.signature(form.meaning).parameters
        shape = next(iter(named), "")
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
            meaning = _by_name(meaning, [p.name for p in filled if not (p.is_destination and p is filled[0])], optional)
        carry = self._carry(form.carry)
        if carry is not None:
            return carry(meaning, put, sources), self._written(i)
        if form.meaning is ld and len(sources) == 1:
            return self._load(i, put, as_get(sources[0])), self._written(i)
        if shape == "lanes":
            return _lanes(meaning, put, sources), self._written(i)
        if shape == "warps":
            return _warps(meaning, put, sources), self._written(i)
        return _pure(meaning, put, sources), self._written(i)

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
        masked = form is not None and (
            form.effect or (form.meaning is not None and next(iter(inspect.signature(form.meaning).parameters), "") in ("lanes", "warps"))
        )

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
                R[s] = select(condition, R[s], before)

        return step


# ---------------------------------------------------------------- shapes of steps


def _assign(put: int | Set | None, get: int | Get) -> Step:
    if isinstance(put, int) and isinstance(get, int):
        d, s = put, get

        def move(R: list[Any]) -> None:
            R[d] = R[s]

        return move
    finish, source = as_set(put), as_get(get)
    return lambda R: finish(R, source(R))


def _pure(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
    if isinstance(put, int) and all(isinstance(s, int) for s in sources):
        d = put
        slots: list[Any] = sources
        if len(slots) == 1:
            (a,) = slots

            def one(R: list[Any]) -> None:
                R[d] = f(R[a])

            return one
        if len(slots) == 2:
            a, b = slots

            def two(R: list[Any]) -> None:
                R[d] = f(R[a], R[b])

            return two
        if len(slots) == 3:
            a, b, c = slots

            def three(R: list[Any]) -> None:
                R[d] = f(R[a], R[b], R[c])

            return three
    gets, finish = [as_get(s) for s in sources], as_set(put)
    return lambda R: finish(R, f(*[g(R) for g in gets]))


def _lanes(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
    gets, finish = [as_get(s) for s in sources], as_set(put)
    if len(gets) == 1:
        (get,) = gets
        return lambda R: finish(R, f(R[0], get(R)))
    return lambda R: finish(R, f(R[0], *[g(R) for g in gets]))


def _warps(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Exchange:
    return Exchange(f, as_set(put), [as_get(s) for s in sources])


def _by_name(meaning: Callable[..., Any], names: list[str], optional: list[str]) -> Callable[..., Any]:
    """Hands the optional operands that are there over by name, since one before them may be missing."""

    def call(*args: Any) -> Any:
        own = args[len(args) - len(names) :]
        first = list(args[: len(args) - len(names)])
        plain_args = [v for n, v in zip(names, own, strict=True) if n not in optional]
        named = {n: v for n, v in zip(names, own, strict=True) if n in optional}
        return meaning(*first, *plain_args, **named)

    return call


def select(condition: Array, new: Any, old: Any) -> Any:
    """new where the condition holds, else old."""
    if old is None:
        return plain(new)
    a, b = plain(new), plain(old)
    if a.dtype != b.dtype:
        b = b.view(a.dtype) if a.dtype.itemsize == b.dtype.itemsize else np.zeros((1, 1), a.dtype)
    return np.where(condition, a, b)


def unpack(v: Any, whole: ScalarType, each: ScalarType, count: int) -> list[Array]:
    """The pieces of a packed value, lowest first."""
    if whole.bits == 128:
        if count == 2:
            return [v[0], v[1]]
        return [(half >> np.uint64(s)).astype(np.uint32) for half in v for s in (0, 32)]
    return [(v >> v.dtype.type(n * each.bits)).astype(each.dtype) for n in range(count)]


def join(parts: list[Array], whole: ScalarType, each: ScalarType) -> Any:
    """The packed value of some pieces, lowest first."""
    if whole.bits == 128:
        if len(parts) == 2:
            return parts[0], parts[1]
        low, high = (a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32) for a, b in (parts[:2], parts[2:]))
        return low, high
    kind = whole.dtype.type
    out = parts[0].astype(whole.dtype)
    for n, p in enumerate(parts[1:], 1):
        out = out | p.astype(whole.dtype) << kind(n * each.bits)
    return out


def frame_variables(function: Function) -> list[Variable]:
    """What lives on the stack: .local variables, .param variables of the body, and a device function's own parameters and results."""
    from warplab.assembler.ir import Block, Declaration

    out: list[Variable] = []
    if not function.is_entry:
        out += [v for v in (*function.params, *function.returns) if v.register is None]

    def walk(block: Block) -> None:
        for s in block.statements:
            if isinstance(s, Block):
                walk(s)
            elif isinstance(s, Declaration):
                out.extend(v for v in s.variables if v.space in ("local", "param"))

    if function.body is not None:
        walk(function.body)
    return out


def _before(i: Instruction, live: int) -> int:
    read, written, kills = uses(i)
    if kills:
        for r in written:
            live &= ~(1 << r.index)
    for r in read:
        live |= 1 << r.index
    if not kills:
        for r in written:
            live |= 1 << r.index
    return live


def is_stop(i: Instruction) -> bool:
    """May lanes have to wait here?"""
    return (i.form is not None and i.form.effect in STOPS) or needs_lanes(i)


def needs_lanes(i: Instruction) -> bool:
    """Instructions that execute once the lanes of their mask, or of their whole warp, are there."""
    if i.form is None or i.form.effect:
        return False
    return "sync" in i.modifiers and i.form.meaning is not None and next(iter(inspect.signature(i.form.meaning).parameters), "") == "warps"


def stands_alone(i: Instruction) -> bool:
    """Instructions that a part of a group may have to begin again: nothing else may be in their segment."""
    if i.form is None or not i.form.effect:
        return False
    if i.form.effect == "call":
        return i.guard is not None or not isinstance(i.operands[0], Function)
    number = next((o for o in i.operands if isinstance(o, Register | Immediate)), None)
    return i.form.effect in STOPS and (i.guard is not None or (i.form.effect == "barrier" and isinstance(number, Register)))


def ends_block(i: Instruction) -> bool:
    """Control leaves the block here."""
    return i.form is not None and i.form.effect in ("branch", "branch_table", "call", "return", "exit", "trap")
