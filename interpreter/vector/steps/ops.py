"""Operations of a plan as steps: functions of the register list, as cheap as their operands allow.

A pure operation whose operands are plain slots costs one call of its meaning and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.types import TYPES, ScalarType

from ...faults import Fault
from ...plan.plan import Each, Guard, Op, ParameterPlace, Pointer, Source, Target, Tuple
from ...values import Array, Shifted, plain
from ..group import Group
from ..waiting.exchange import Exchange
from .meanings import as_they_are, bound, dividend_and_reciprocal
from .operands import Get, get_of, set_of, shared_pointer

Step = Callable[[list[Any]], None]
MASKED = frozenset({"lanes", "warps", "load", "store", "effect"})  # the guard tells these which lanes take part


def step(op: Op) -> Step:
    """One operation under its guard."""
    inner = unguarded(op)
    return inner if op.guard is None else guarded(op, op.guard, inner)


def unguarded(op: Op) -> Step:
    """One operation for all lanes."""
    return _STEPS[op.how](op)


def guarded(op: Op, guard: Guard, inner: Step) -> Step:
    """A step for the lanes where a guard holds."""
    p, negated = guard
    written, masked = op.keeps, op.how in MASKED

    def under_guard(R: list[Any]) -> None:
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
            if before is not None:  # it is where no lane reads the result
                R[s] = _select(condition, R[s], before)

    return under_guard


def _select(condition: Array, new: Any, old: Any) -> Any:
    """new where the condition holds, else old."""
    a, b = plain(new), plain(old)
    if a.dtype != b.dtype:
        b = b.view(a.dtype) if a.dtype.itemsize == b.dtype.itemsize else np.zeros((1, 1), a.dtype)
    return np.where(condition, a, b)


# ---------------------------------------------------------------- meanings of rows


def _pure(op: Op) -> Step:
    f, d = bound(op.meaning), op.target
    if type(d) is int and all(type(s) is int for s in op.sources):
        slots: Any = op.sources
        match slots:
            case (a,):

                def one(R: list[Any]) -> None:
                    R[d] = f(R[a])

                return one
            case (a, b):

                def two(R: list[Any]) -> None:
                    R[d] = f(R[a], R[b])

                return two
            case (a, b, c):

                def three(R: list[Any]) -> None:
                    R[d] = f(R[a], R[b], R[c])

                return three
    gets, finish = [get_of(s) for s in op.sources], set_of(d)
    return lambda R: finish(R, f(*[g(R) for g in gets]))


def _lanes(op: Op) -> Step:
    f, finish = bound(op.meaning), set_of(op.target)
    gets = [get_of(s) for s in op.sources]
    if op.meaning.form.facts.copies:
        return _copying(op, f, gets)
    if len(gets) == 1:
        (get,) = gets
        return lambda R: finish(R, f(R[0], get(R)))
    return lambda R: finish(R, f(R[0], *[g(R) for g in gets]))


def _copying(op: Op, f: Callable[..., Any], gets: list[Get]) -> Step:
    """A step that says which instruction it is: its work may come later, and fail then."""
    site = op.site

    def copy(R: list[Any]) -> None:
        g = R[0]
        g.wave.current = site
        f(g, *[get(R) for get in gets])

    return copy


def _warps(op: Op) -> Step:
    return Exchange(bound(op.meaning), set_of(op.target), [get_of(s) for s in op.sources])


def _carry(op: Op) -> Step:
    """A step that takes the condition code register, gives it, or both."""
    f, gets, finish = bound(op.meaning), [get_of(s) for s in op.sources], set_of(op.target)
    carry = op.meaning.form.carry.split()
    takes, gives = "in" in carry, "out" in carry

    def with_carry(R: list[Any]) -> None:
        g = R[0]
        kw = {"cc": g.carry()} if takes else {}
        result = f(*[s(R) for s in gets], **kw)
        if gives:
            result, g.cc = result
        finish(R, result)

    return with_carry


def _factors(op: Op) -> Step:
    f = dividend_and_reciprocal(op.meaning) if op.how == "quotient" else as_they_are
    gets, finish = [get_of(s) for s in op.sources], set_of(op.target)
    product = None if op.product is None else step(op.product)

    def hand_on(R: list[Any]) -> None:
        finish(R, f(*[x(R) for x in gets]))
        if product is not None:
            product(R)

    return hand_on


# ---------------------------------------------------------------- memory


def _load(op: Op) -> Step:
    """What the meaning of ld does, without its calls: loads are the commonest instructions that are not arithmetic."""
    access, (address,) = op.meaning.access, [get_of(s) for s in op.sources]
    assert access is not None
    space, t, count = access
    if space.startswith("param"):
        finish, name = set_of(op.target), t.name
        return lambda R: finish(R, R[0].load(space, address(R), name, count))
    match op.target:
        case Each((int(d),)):

            def load(R: list[Any]) -> None:
                g = R[0]
                (R[d],) = g.wave.access.load(g, space, address(R), t, 1)

            return load
    finish = set_of(op.target)
    return lambda R: finish(R, R[0].wave.access.load(R[0], space, address(R), t, count))


def _store(op: Op) -> Step:
    """What the meaning of st does."""
    access, address = op.meaning.access, get_of(op.sources[0])
    assert access is not None
    space, t, _ = access
    match op.sources[1]:
        case Tuple((int(s),)):

            def store(R: list[Any]) -> None:
                g = R[0]
                g.wave.access.store(g, space, address(R), t, (R[s],))

            return store
    values = get_of(op.sources[1])
    return lambda R: R[0].wave.access.store(R[0], space, address(R), t, values(R))


def _parameter(op: Op) -> Step:
    (place,), d = op.sources, op.target
    assert isinstance(place, ParameterPlace) and type(d) is int
    v, offset, dtype = place

    def load(R: list[Any]) -> None:
        launch = R[0].wave.launch
        R[d] = launch.parameter(launch.param_place(v, offset).at, dtype)

    return load


# ---------------------------------------------------------------- bits and addresses handed on


def _move(op: Op) -> Step:
    (s,), d = op.sources, op.target
    if type(d) is int and type(s) is int:
        a, b = d, s

        def move(R: list[Any]) -> None:
            R[a] = R[b]

        return move
    finish, get = set_of(d), get_of(s)
    return lambda R: finish(R, get(R))


def parts_of(op: Op, whole: Source | Target) -> tuple[ScalarType, ScalarType, int]:
    """A packed value and its pieces: their types, and how many."""
    t = TYPES[str(op.meaning.settled["type"])]
    assert isinstance(whole, Each | Tuple)
    count = len(whole[0])
    return t, TYPES[f"b{t.bits // count}"], count


def _pack(op: Op) -> Step:
    """mov.b32 d, {a, b}"""
    (parts,) = op.sources
    t, each, _ = parts_of(op, parts)
    get, put = get_of(parts), set_of(op.target)
    return lambda R: put(R, joined(get(R), t, each))


def _unpack(op: Op) -> Step:
    """mov.b32 {a, b}, d"""
    t, each, count = parts_of(op, op.target)
    get, put = get_of(op.sources[0]), set_of(op.target)
    return lambda R: put(R, pieces(get(R), t, each, count))


def pieces(v: Any, whole: ScalarType, each: ScalarType, count: int) -> list[Array]:
    """The pieces of a packed value, lowest first."""
    if whole.bits == 128:
        if count == 2:
            return [v[0], v[1]]
        return [(half >> np.uint64(s)).astype(np.uint32) for half in v for s in (0, 32)]
    return [(v >> v.dtype.type(n * each.bits)).astype(each.dtype) for n in range(count)]


def joined(parts: Sequence[Array], whole: ScalarType, each: ScalarType) -> Any:
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


def _pointer(op: Op) -> Step:
    d = op.target
    assert type(d) is int
    gets: list[Get] = [shared_pointer(s) if isinstance(s, Pointer) else get_of(s) for s in op.sources]
    if len(gets) == 1:
        (a,) = gets

        def hand_on(R: list[Any]) -> None:
            R[d] = a(R)

        return hand_on
    a, b = gets

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
        bits = 8 * y.itemsize
        R[d] = x.moved(by - (1 << bits) if by >> bits - 1 else by)

    return add


# ---------------------------------------------------------------- effects of the engine


def _effect(op: Op) -> Step:
    gets, finish = [get_of(s) for s in op.sources], set_of(op.target)
    match op.meaning.form.effect:
        case "cluster_arrive":
            return lambda R: R[0].wave.barriers.cluster_arrive(R[0])
        case "alloca":
            size, align = gets
            dtype = TYPES[str(op.meaning.settled["type"])].dtype
            return lambda R: finish(R, R[0].allocate_stack(size(R), align(R), dtype))
        case "stacksave":
            dtype = TYPES[str(op.meaning.settled["type"])].dtype
            return lambda R: finish(R, np.array([[R[0].act.top]], dtype))
        case "stackrestore":
            (top,) = gets
            return lambda R: R[0].restore_stack(top(R))
        case "yield":
            return lambda R: R[0].pause()
        case "breakpoint":
            return _halt
        case other:
            raise AssertionError(other)


def _halt(R: list[Any]) -> None:
    g: Group = R[0]
    if g.active is None or g.active.any():
        raise g.blame(Fault("trap", "breakpoint without a debugger"), g.active)


def _unsupported(op: Op) -> Step:
    """An instruction that is assembled and not executed says so, and why, when it is reached."""
    i = op.site.instruction
    name, why = ".".join((i.opcode, *i.modifiers)), op.meaning.form.facts.not_executed
    text = f"{name} is assembled, but not executed by this model" + (f": {why}" if why else "")

    def refuse(R: list[Any]) -> None:
        raise R[0].blame(Fault("unsupported", text), R[0].active)

    return refuse


_STEPS: dict[str, Callable[[Op], Step]] = {
    "pure": _pure, "lanes": _lanes, "warps": _warps, "carry": _carry, "factors": _factors, "quotient": _factors,
    "load": _load, "store": _store, "parameter": _parameter,
    "move": _move, "pack": _pack, "unpack": _unpack, "pointer": _pointer,
    "effect": _effect, "unsupported": _unsupported,
}  # fmt: skip
