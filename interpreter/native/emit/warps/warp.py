"""Cross-lane instructions of compiled code, whose vectors are whole warps.

Each entry stands beside the meaning in isa/ops/warp.py that it equals.  Lanes of a warp that name different membermasks are left to that meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from warplab.isa.ops import warp as isa

from ...trace.symbol import SymbolicArray, lift
from ...trace.ufuncs import select
from .rules import Warp, rule

U32 = np.dtype(np.uint32)
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


def _group(warp: Warp, membermask: Any = None) -> str:
    """The lanes that work together: those that execute and that the membermask names."""
    if membermask is None or warp.constant(membermask) == isa.FULL:
        return warp.members
    code = warp.code
    m = lift(code, membermask, U32, warp.width)
    held = select(flags(warp, warp.members), m, lift(code, 0, U32, warp.width))
    common = code.call("llvm.vector.reduce.or.v32i32", "i32", f"{held.type} {held.value}")
    differs = _bits(warp, m != _one(warp, common))
    warp.refuse(code.emit(f"and i32 {differs}, {warp.members}"))
    return code.emit(f"and i32 {common}, {warp.members}")


def _is(warp: Warp, comparison: str, a: str, b: str) -> SymbolicArray:
    return _one(warp, warp.code.emit(f"icmp {comparison} i32 {a}, {b}"), np.bool_)


# ---------------------------------------------------------------- instructions


@rule(isa.shfl)
def shfl(warp: Warp, a: SymbolicArray, b: Any, c: Any, membermask: Any = None, *, mode: str) -> tuple[SymbolicArray, Any]:
    """Lanes that are known beforehand are a fixed permutation."""
    code = warp.code
    a = select(flags(warp, warp.members), lift(code, a, a.dtype, warp.width), lift(code, 0, a.dtype, warp.width))
    fixed = [warp.constant(x) for x in (b, c)]
    if None not in fixed and warp.members == "%bits":  # with a guard, LLVM confuses that of a lane with that of the lane it reads
        b, c = (np.full((1, 1), x, np.uint32) for x in fixed)
        lanes, holds = isa.partner(b, c, mode)
        return a.shuffled(np.broadcast_to(lanes, (1, 32))[0].tolist()), lift(
            code, np.broadcast_to(holds, (1, 32)), np.dtype(np.bool_), warp.width
        )
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
    group = _group(warp, membermask)
    holds = warp.code.emit(f"and i32 {group}, {_bits(warp, a)}")
    some, all_ = _is(warp, "ne", holds, "0"), _is(warp, "eq", holds, group)
    return {"any": some, "all": all_}[mode] if mode != "uni" else all_ | ~some


@rule(isa.ballot)
def ballot(warp: Warp, a: SymbolicArray, membermask: Any = None) -> SymbolicArray:
    """The flags themselves."""
    return _one(warp, warp.code.emit(f"and i32 {_group(warp, membermask)}, {_bits(warp, a)}"))


@rule(isa.activemask)
def activemask(warp: Warp) -> SymbolicArray:
    """The lanes that take part."""
    return _one(warp, warp.members)


@rule(isa.match_all)
def match_all(warp: Warp, a: SymbolicArray, membermask: Any) -> tuple[SymbolicArray, SymbolicArray]:
    """All lanes of the group against its first."""
    group, code = _group(warp, membermask), warp.code
    bits = lift(code, a, a.dtype, warp.width).view(f"u{a.itemsize}")
    first = code.call("llvm.cttz.i32", "i32", f"i32 {group}", "i1 false")
    low = code.emit(f"and i32 {first}, 31")
    one = code.emit(f"extractelement {bits.type} {bits.value}, i32 {low}")
    differs = code.emit(f"and i32 {_bits(warp, bits != _one(warp, one, bits.dtype))}, {group}")
    same = _is(warp, "eq", differs, "0")
    return select(same, _one(warp, group), lift(code, 0, U32, warp.width)), same


@rule(isa.match_any)
def match_any(warp: Warp, a: SymbolicArray, membermask: Any) -> Any:
    """One comparison for each lane, and its bit in those that are equal."""
    group, code = _group(warp, membermask), warp.code
    bits = lift(code, a, a.dtype, warp.width).view(f"u{a.itemsize}")
    out: Any = lift(code, 0, U32, warp.width)
    for lane in range(32):
        equal = bits == bits.shuffled([lane] * 32)
        out = out | select(equal, lift(code, 1 << lane, U32, warp.width), lift(code, 0, U32, warp.width))
    return out & _one(warp, group)


@rule(isa.redux)
def redux(warp: Warp, a: SymbolicArray, membermask: Any, *, op: str) -> SymbolicArray:
    """A reduction of the vector."""
    group, code = _group(warp, membermask), warp.code
    info = np.iinfo(a.dtype)
    neutral = {"min": info.max, "max": info.min, "and": info.max if a.dtype.kind == "u" else -1}.get(op, 0)
    held = select(flags(warp, group), lift(code, a, a.dtype, warp.width), lift(code, neutral, a.dtype, warp.width))
    name = f"{'s' if a.dtype.kind == 'i' else 'u'}{op}" if op in ("min", "max") else op
    return _one(warp, code.call(f"llvm.vector.reduce.{name}.v32i32", "i32", f"{held.type} {held.value}"), a.dtype)


@rule(isa.elect)
def elect(warp: Warp, membermask: Any) -> tuple[SymbolicArray, SymbolicArray]:
    """The lowest bit of the group."""
    first = warp.code.call("llvm.cttz.i32", "i32", f"i32 {_group(warp, membermask)}", "i1 false")
    leader = _one(warp, warp.code.emit(f"and i32 {first}, 31"))
    return leader, leader == lift(warp.code, isa.LANE, U32, warp.width)
