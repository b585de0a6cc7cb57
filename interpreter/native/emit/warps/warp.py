"""Cross-lane instructions of compiled code, whose vectors are whole warps.

Each entry stands beside the meaning in isa/ops/warp.py that it equals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.ops import warp as isa

from ...trace.symbol import SymbolicArray, lift
from ...trace.ufuncs import select
from .rules import Warp, rule

U32 = np.dtype(np.uint32)
DISTANCES = (1, 2, 4, 8, 16)  # at which lanes read each other in loops of reductions and scans
ALL = "<" + ", ".join(["i1 true"] * 32) + ">"


# ---------------------------------------------------------------- pieces


def _one(warp: Warp, text: str, dtype: Any = U32) -> SymbolicArray:
    """A number of the warp, for all its lanes."""
    code, w = warp.code, warp.width
    t = {1: "i1", 32: "i32", 64: "i64"}[1 if np.dtype(dtype).kind == "b" else 8 * np.dtype(dtype).itemsize]
    first = code.emit(f"insertelement <{w} x {t}> poison, {t} {text}, i32 0")
    return SymbolicArray(code, code.emit(f"shufflevector <{w} x {t}> {first}, <{w} x {t}> poison, <{w} x i32> zeroinitializer"), dtype)


def _bits(warp: Warp, flags: SymbolicArray) -> str:
    """Flags of lanes as a number of 32 bits."""
    lanes = lift(warp.code, flags, flags.dtype, warp.width)
    return warp.code.emit(f"bitcast {lanes.type} {lanes.value} to i32")


def flags(warp: Warp, bits: str) -> SymbolicArray:
    """A number of 32 bits as flags of lanes."""
    return SymbolicArray(warp.code, warp.code.emit(f"bitcast i32 {bits} to <32 x i1>"), np.bool_)


def _groups(warp: Warp, membermask: Any = None) -> SymbolicArray:
    """The lanes that each lane works with: those that execute and that its membermask names."""
    members = _one(warp, warp.members)
    if membermask is None or warp.constant(membermask) == isa.FULL:
        return members
    return members & lift(warp.code, membermask, U32, warp.width)  # type: ignore[no-any-return]


def _by_group(warp: Warp, groups: SymbolicArray, value: Callable[[str], str]) -> SymbolicArray:
    """A number of 32 bits for each lane, which is computed once for each of the groups that there are."""
    code = warp.code
    rest, found = code.scratch("i32", "rest"), code.scratch(groups.type, "found")
    code.lines.append(f"  store i32 {warp.members}, ptr {rest}")
    start = code.fresh(f"load i32, ptr {rest}")
    loop, end = f"group.{start[1:]}", f"grouped.{start[1:]}"
    code.lines += [f"  br label %{loop}", f"{loop}:"]
    left = code.fresh(f"load i32, ptr {rest}")
    first = code.emit(f"and i32 {code.call('llvm.cttz.i32', 'i32', f'i32 {left}', 'i1 false')}, 31")
    group = code.emit(f"extractelement {groups.type} {groups.value}, i32 {first}")
    same = groups == _one(warp, group)
    before = SymbolicArray(code, code.fresh(f"load {groups.type}, ptr {found}, align 64"), U32)
    now = select(same, _one(warp, value(group)), before)
    others = code.emit(f"and i32 {left}, {code.emit(f'xor i32 {_bits(warp, same)}, -1')}")
    more = code.emit(f"icmp ne i32 {others}, 0")
    code.lines += [
        f"  store {groups.type} {now.value}, ptr {found}, align 64", f"  store i32 {others}, ptr {rest}", f"  br i1 {more}, label %{loop}, label %{end}",
        f"{end}:",
    ]  # fmt: skip
    return SymbolicArray(code, code.fresh(f"load {groups.type}, ptr {found}, align 64"), U32)


# ---------------------------------------------------------------- instructions


@rule(isa.shfl)
def shfl(warp: Warp, a: SymbolicArray, b: Any, c: Any, membermask: Any = None, *, mode: str) -> tuple[SymbolicArray, Any]:
    """Lanes that are known beforehand are a fixed permutation; one that all lanes read is a number of the warp."""
    code = warp.code
    a = select(flags(warp, warp.members), lift(code, a, a.dtype, warp.width), lift(code, 0, a.dtype, warp.width))
    by, clamp = warp.constant(b), warp.constant(c)
    if clamp is None or warp.members != "%bits":  # with a guard, LLVM confuses that of a lane with that of the lane it reads
        return _gathered(warp, a, b, c, mode)
    if by is not None:
        return _permuted(warp, a, by, clamp, mode)
    if mode == "idx" and clamp == 31:
        return _of_one_lane(warp, a, b), lift(code, True, np.dtype(np.bool_), warp.width)
    if mode == "idx" or b.lanes > 1:
        return _gathered(warp, a, b, c, mode)
    by = code.emit(f"and i32 {code.emit(f'extractelement {b.type} {b.value}, i32 0')}, 31")
    types = [a.type, f"<{warp.width} x i1>"]

    def read(distances: Sequence[int]) -> list[str]:
        if not distances:
            return [x.value for x in _gathered(warp, a, b, c, mode)]
        first, *others = distances
        is_first = code.emit(f"icmp eq i32 {by}, {first}")
        return code.either(is_first, [lambda: [x.value for x in _permuted(warp, a, first, clamp, mode)], lambda: read(others)], types)

    found, inside = read(DISTANCES)
    return SymbolicArray(code, found, a.dtype), SymbolicArray(code, inside, np.bool_)


def _permuted(warp: Warp, a: SymbolicArray, b: int, c: int, mode: str) -> tuple[SymbolicArray, SymbolicArray]:
    """The values of lanes that are known."""
    lanes, holds = isa.partner(np.full((1, 1), b, np.uint32), np.full((1, 1), c, np.uint32), mode)
    inside = lift(warp.code, np.broadcast_to(holds, (1, 32)), np.dtype(np.bool_), warp.width)
    return a.shuffled(np.broadcast_to(lanes, (1, 32))[0].tolist()), inside


def _of_one_lane(warp: Warp, a: SymbolicArray, b: Any) -> SymbolicArray:
    """What the lanes `b` have: in most programs that is one lane for all, such as the leader of a group."""
    code, index = warp.code, lift(warp.code, b, U32, warp.width) & 31
    first = code.emit(f"and i32 {code.call('llvm.cttz.i32', 'i32', f'i32 {warp.members}', 'i1 false')}, 31")
    lane = code.emit(f"extractelement {index.type} {index.value}, i32 {first}")
    if b.lanes == 1:
        return _element(warp, a, lane)
    others = code.emit(f"and i32 {_bits(warp, index != _one(warp, lane))}, {warp.members}")
    ways = [lambda: [_element(warp, a, lane).value], lambda: [_gathered(warp, a, b, np.uint32(31), "idx")[0].value]]
    (found,) = code.either(code.emit(f"icmp eq i32 {others}, 0"), ways, [a.type])
    return SymbolicArray(code, found, a.dtype)


def _element(warp: Warp, a: SymbolicArray, lane: str) -> SymbolicArray:
    """What one lane has, for all."""
    code, t = warp.code, f"i{8 * a.itemsize}"
    bits = a.view(f"u{a.itemsize}")
    room = code.scratch(f"<32 x {t}>", f"shfl{8 * a.itemsize}")
    code.lines.append(f"  store {bits.type} {bits.value}, ptr {room}, align 64")
    found = code.fresh(f"load {t}, ptr {code.emit(f'getelementptr {t}, ptr {room}, i32 {lane}')}, align {a.itemsize}")
    return _one(warp, found, bits.dtype).view(a.dtype)


def _gathered(warp: Warp, a: SymbolicArray, b: Any, c: Any, mode: str) -> tuple[SymbolicArray, Any]:
    """The values of any lanes."""
    code = warp.code
    b, c = (lift(code, x, U32, warp.width) for x in (b, c))
    source: Any
    source, inside = isa.partner(b, c, mode)
    room = code.scratch(f"<32 x i{8 * a.itemsize}>", f"shfl{8 * a.itemsize}")
    bits = a.view(f"u{a.itemsize}")
    code.lines.append(f"  store {bits.type} {bits.value}, ptr {room}, align 64")
    places = code.fresh(f"getelementptr i{8 * a.itemsize}, ptr {room}, {source.type} {source.value}")
    t = f"<32 x i{8 * a.itemsize}>"
    name = f"llvm.masked.gather.v32i{8 * a.itemsize}.v32p0"
    code.module.declarations[name] = f"declare {t} @{name}(<32 x ptr>, i32, <32 x i1>, {t})"
    found = code.fresh(f"call {t} @{name}(<32 x ptr> {places}, i32 {a.itemsize}, <32 x i1> {ALL}, {t} poison)")
    return SymbolicArray(code, found, bits.dtype).view(a.dtype), inside


@rule(isa.vote)
def vote(warp: Warp, a: SymbolicArray, membermask: Any = None, *, mode: str) -> SymbolicArray:
    """Comparisons of the lanes' flags as a number."""
    groups = _groups(warp, membermask)
    holds: Any = groups & _one(warp, _bits(warp, a))
    return {"any": holds != 0, "all": holds == groups, "uni": (holds == groups) | (holds == 0)}[mode]  # type: ignore[no-any-return]


@rule(isa.ballot)
def ballot(warp: Warp, a: SymbolicArray, membermask: Any = None) -> SymbolicArray:
    """The flags themselves."""
    return _groups(warp, membermask) & _one(warp, _bits(warp, a))  # type: ignore[no-any-return]


@rule(isa.activemask)
def activemask(warp: Warp) -> SymbolicArray:
    """The lanes that take part."""
    return _one(warp, warp.members)


@rule(isa.match_all)
def match_all(warp: Warp, a: SymbolicArray, membermask: Any) -> tuple[SymbolicArray, SymbolicArray]:
    """All lanes of a group against its first."""
    groups, code = _groups(warp, membermask), warp.code
    bits = lift(code, a, a.dtype, warp.width).view(f"u{a.itemsize}")

    def differing(group: str) -> str:
        low = code.emit(f"and i32 {code.call('llvm.cttz.i32', 'i32', f'i32 {group}', 'i1 false')}, 31")
        one = code.emit(f"extractelement {bits.type} {bits.value}, i32 {low}")
        return code.emit(f"and i32 {_bits(warp, bits != _one(warp, one, bits.dtype))}, {group}")

    same: Any = _by_group(warp, groups, differing) == 0
    return select(same, groups, lift(code, 0, U32, warp.width)), same


@rule(isa.match_any)
def match_any(warp: Warp, a: SymbolicArray, membermask: Any) -> Any:
    """One comparison for each lane, and its bit in those that are equal."""
    code = warp.code
    bits = lift(code, a, a.dtype, warp.width).view(f"u{a.itemsize}")
    out: Any = lift(code, 0, U32, warp.width)
    for lane in range(32):
        equal = bits == bits.shuffled([lane] * 32)
        out = out | select(equal, lift(code, 1 << lane, U32, warp.width), lift(code, 0, U32, warp.width))
    return out & _groups(warp, membermask)


@rule(isa.redux)
def redux(warp: Warp, a: SymbolicArray, membermask: Any, *, op: str) -> SymbolicArray:
    """A reduction of the vector, for each group."""
    code, info = warp.code, np.iinfo(a.dtype)
    neutral = {"min": info.max, "max": info.min, "and": info.max if a.dtype.kind == "u" else -1}.get(op, 0)
    name = f"{'s' if a.dtype.kind == 'i' else 'u'}{op}" if op in ("min", "max") else op

    def reduced(group: str) -> str:
        held = select(flags(warp, group), lift(code, a, a.dtype, warp.width), lift(code, neutral, a.dtype, warp.width))
        return code.call(f"llvm.vector.reduce.{name}.v32i32", "i32", f"{held.type} {held.value}")

    if membermask.lanes == 1:
        return _one(warp, reduced(code.emit(f"extractelement <32 x i32> {_groups(warp, membermask).value}, i32 0")), a.dtype)
    return _by_group(warp, _groups(warp, membermask), reduced).view(a.dtype)


@rule(isa.elect)
def elect(warp: Warp, membermask: Any) -> tuple[SymbolicArray, SymbolicArray]:
    """The lowest bit of the group."""
    groups = _groups(warp, membermask)
    leader = (
        SymbolicArray(warp.code, warp.code.call("llvm.cttz.v32i32", groups.type, f"{groups.type} {groups.value}", "i1 false"), U32) & 31
    )
    return leader, leader == lift(warp.code, isa.LANE, U32, warp.width)
