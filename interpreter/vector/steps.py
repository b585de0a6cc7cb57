"""The shapes of steps: functions of the register list, as cheap as their operands allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warplab.assembler.ir import Variable
from warplab.isa.types import ScalarType

from ..plan.operands import Get, Set, as_get, as_set
from ..plan.plan import Step
from .exchange import Exchange
from .values import Array, plain


def assign(put: int | Set | None, get: int | Get) -> Step:
    if isinstance(put, int) and isinstance(get, int):
        d, s = put, get

        def move(R: list[Any]) -> None:
            R[d] = R[s]

        return move
    finish, source = as_set(put), as_get(get)
    return lambda R: finish(R, source(R))


def pure(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
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


def lanes(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
    gets, finish = [as_get(s) for s in sources], as_set(put)
    if len(gets) == 1:
        (get,) = gets
        return lambda R: finish(R, f(R[0], get(R)))
    return lambda R: finish(R, f(R[0], *[g(R) for g in gets]))


def warps(f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Exchange:
    return Exchange(f, as_set(put), [as_get(s) for s in sources])


def load_one(space: str, t: ScalarType, d: int, address: Get) -> Step:
    """What the meaning of ld does with one element, without its calls."""

    def load(R: list[Any]) -> None:
        g = R[0]
        (R[d],) = g.wave.access.load(g, space, address(R), t, 1)

    return load


def store_one(space: str, t: ScalarType, s: int, address: Get) -> Step:
    """What the meaning of st does with one element."""

    def store(R: list[Any]) -> None:
        g = R[0]
        g.wave.access.store(g, space, address(R), t, (R[s],))

    return store


def parameter(v: Variable, offset: int, dtype: np.dtype[Any], d: int) -> Step:
    """A load of a kernel's parameter."""

    def load(R: list[Any]) -> None:
        launch = R[0].wave.launch
        R[d] = launch.parameter(launch.param_place(v, offset).at, dtype)

    return load


def carrying(carry: str, f: Callable[..., Any], put: int | Set | None, sources: list[int | Get]) -> Step:
    """A step that takes the condition code register, gives it, or both."""
    gets, finish = [as_get(s) for s in sources], as_set(put)
    takes, gives = "in" in carry.split(), "out" in carry.split()

    def step(R: list[Any]) -> None:
        g = R[0]
        kw = {"cc": g.carry()} if takes else {}
        result = f(*[s(R) for s in gets], **kw)
        if gives:
            result, g.cc = result
        finish(R, result)

    return step


def by_name(meaning: Callable[..., Any], names: list[str], optional: list[str]) -> Callable[..., Any]:
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
