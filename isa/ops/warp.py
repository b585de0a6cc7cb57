"""Warp-wide communication (PTX ISA 9.7.10.5-6, 9.7.15.8-14): shuffles, votes, matches, reductions, election.

All arrays are (W, 32) or broadcast to it.  The lanes that work together are (W, n, 32) booleans: n is 1 where all lanes of a
warp name the same membermask, else 32, one set a lane.  Results are (W, n), so a warp-uniform result stays narrow.
"""

import numpy as np

from ..facts import Demand, Need, facts, when
from ..notation import instruction
from ..ports import Array, Mask, Warps
from ..primitives import primitive

LANE = np.arange(32, dtype=np.uint32)[None, :]
BIT = np.uint32(1) << LANE
FULL = 0xFFFFFFFF

# From PTX 6.4 on, these opcodes exist with .sync alone on targets from sm_70.


def _groups(warps: Warps, membermask: Array) -> Mask:
    """Which lanes each lane works with: those that execute and that its membermask names."""
    members = warps.members
    if membermask.shape[-1] > 1:
        # A lane that does not execute holds anything in its membermask.
        common = np.bitwise_or.reduce(np.where(members, membermask, np.uint32(0)), axis=-1, keepdims=True)
        if ((membermask != common) & members).any():
            own: Mask = members[:, None, :] & (membermask[:, :, None] & BIT != 0)
            return own
        membermask = common
    elif membermask.size == 1 and int(membermask.flat[0]) == FULL:
        return members[:, None, :]
    named: Mask = (members & (membermask & BIT != 0))[:, None, :]
    return named


def _wide(value: Array) -> Array:
    """A value of each lane, laid out against groups: (W, 32) to (W, 1, 32)."""
    return value[:, None, :]


def _bits(lanes: Mask) -> Array:
    """The 32 booleans of the last axis as one word."""
    packed = np.packbits(np.ascontiguousarray(np.broadcast_to(lanes, (*lanes.shape[:-1], 32))), axis=-1, bitorder="little")
    words: Array = packed.view("<u4")[..., 0]
    return words


SHFL_MODES = "up down bfly idx"
OWN_BIT = {"takes_bits": "a"}


def partner(b: Array, c: Array, mode: str) -> tuple[Array, Mask]:
    """The lane that each lane reads, and whether it lies in the segment; a lane without a partner reads itself."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    first = LANE & segment
    last = (first | clamp & ~segment).view(np.int32)
    lane, distance = LANE.view(np.int32), b.view(np.int32)
    match mode:
        case "up":
            source = lane - distance
        case "down":
            source = lane + distance
        case "bfly":
            source = lane ^ distance
        case _:
            source = (first | b & ~segment).view(np.int32)
    inside = source >= last if mode == "up" else source <= last
    return np.where(inside, source, lane), inside


facts(
    "shfl vote",
    demands=(
        Demand(
            Need(sm=0, before=6.4, ends=70), "", when(without="sync"),
            message="{opcode} without .sync ended with PTX 6.4 on sm_70 and later", help="write {opcode}.sync",
        ),
    ),
)  # fmt: skip


facts("vote", monotone=when("all any"))
facts("redux", monotone=when("and or"))
facts("shfl", keeps_result=True, result_from_elsewhere=True, takes_bits="a")


@instruction("shfl.sync.mode.b32  d[|p], a, b, c, membermask:u32", mode=SHFL_MODES, ptx=6.0, sm=30, section="9.7.10.6")
@instruction("shfl.mode.b32  d[|p], a, b, c", mode=SHFL_MODES, ptx=3.0, sm=30, section="9.7.10.5")
@primitive
def shfl(warps: Warps, a: Array, b: Array, c: Array, membermask: Array | None = None, *, mode: str) -> tuple[Array, Mask]:
    """d = a of lane j; p = "j lies in the segment that c describes"; where it does not, j is the lane itself.

    c[12:8] are the lane bits that a segment fixes, c[4:0] its last (.up: first) lane; j is lane - b, lane + b, lane ^ b or
    the segment's lane b.  A lane that does not execute is read as 0.
    """
    source, inside = partner(np.ascontiguousarray(b), np.ascontiguousarray(c), mode)
    if not warps.members.all():
        a = np.where(warps.members, a, a.dtype.type(0))
    if a.shape[-1] == 1:
        return a, inside
    if len(source) == 1:
        return np.take(a, source[0], axis=-1), inside
    return np.take_along_axis(np.broadcast_to(a, source.shape) if len(a) == 1 else a, source, axis=-1), inside


@instruction("vote.sync.mode.pred  p, {!}a, membermask:u32", mode="all any uni", ptx=6.0, sm=30, section="9.7.15.9")
@instruction("vote.mode.pred  p, {!}a", mode="all any uni", ptx=1.2, sm=12, section="9.7.15.8")
@primitive
def vote(warps: Warps, a: Mask, membermask: Array | None = None, *, mode: str) -> Mask:
    """p = "a holds in all (.all), in any (.any), in all or none (.uni) of the lanes"."""
    group = warps.members[:, None, :] if membermask is None else _groups(warps, membermask)
    value = _wide(a)
    holds, fails = np.count_nonzero(group & value, axis=-1), np.count_nonzero(group & ~value, axis=-1)
    result: Mask = {"any": holds > 0, "all": fails == 0, "uni": (fails == 0) | (holds == 0)}[mode]
    return result


@instruction("vote.sync.ballot.b32  d, {!}a, membermask:u32", facts=OWN_BIT, ptx=6.0, sm=30, section="9.7.15.9")
@instruction("vote.ballot.b32  d, {!}a", facts=OWN_BIT, ptx=2.0, sm=20, section="9.7.15.8")
@primitive
def ballot(warps: Warps, a: Mask, membermask: Array | None = None) -> Array:
    """Bit i of d = a of lane i, 0 for lanes that take no part."""
    group = warps.members[:, None, :] if membermask is None else _groups(warps, membermask)
    return _bits(group & _wide(a))


@instruction("match.any.sync.type  d:u32, a, membermask:u32", type="b32 b64", ptx=6.0, sm=70, section="9.7.15.10")
@primitive
def match_any(warps: Warps, a: Array, membermask: Array) -> Array:
    """Bit i of d = "lane i participates and has the same a"."""
    return _bits(_groups(warps, membermask) & (a[:, :, None] == _wide(a)))


@instruction(
    "match.all.sync.type  d:u32[|p], a, membermask:u32", type="b32 b64", ptx=6.0, sm=70, section="9.7.15.10", facts={"discards": True}
)
@primitive
def match_all(warps: Warps, a: Array, membermask: Array) -> tuple[Array, Mask]:
    """p = "all lanes have the same a"; d = the participating lanes if so, else 0."""
    group = _groups(warps, membermask)
    a = np.broadcast_to(a, warps.members.shape)
    first = np.take_along_axis(a, group.argmax(axis=-1), axis=-1)
    same: Mask = ~(group & (_wide(a) != first[:, :, None])).any(axis=-1)
    return np.where(same, _bits(group), np.uint32(0)), same


@instruction("activemask.b32  d", ptx=6.2, sm=30, section="9.7.15.11")
@primitive
def activemask(warps: Warps) -> Array:
    """Bit i of d = "lane i executes this instruction together with me"."""
    return _bits(warps.members)[:, None]


_REDUCE: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


@instruction("redux.sync.op.u32  d:u32, a:u32, membermask:u32", op="add min max", ptx=7.0, sm=80, section="9.7.15.12")
@instruction("redux.sync.op.s32  d:s32, a:s32, membermask:u32", op="add min max", ptx=7.0, sm=80, section="9.7.15.12")
@instruction("redux.sync.op.b32  d:u32, a:u32, membermask:u32", op="and or xor", ptx=7.0, sm=80, section="9.7.15.12")
@primitive
def redux(warps: Warps, a: Array, membermask: Array, *, op: str) -> Array:
    """d = the sum, minimum, maximum, conjunction, ... of a over the lanes of membermask."""
    info = np.iinfo(a.dtype)
    neutral = a.dtype.type({"min": info.max, "max": info.min, "and": info.max}.get(op, 0))
    held = np.where(_groups(warps, membermask), _wide(a), neutral)
    reduced: Array = _REDUCE[op].reduce(held, axis=-1, dtype=a.dtype)
    return reduced


@instruction("redux.sync.op{.abs}{.NaN}.f32  d, a, membermask:u32", op="min max", ptx=8.6, sm=100, arch="f1", section="9.7.15.12")
def redux_f32(warps: Warps, a: Array, membermask: Array, *, op: str, abs: bool = False, NaN: bool = False) -> Array:
    """d = the least or largest a (.abs: |a|) over the lanes of membermask; NaNs lose, with .NaN they win; -0 < +0."""
    group = _groups(warps, membermask)
    bits = _wide(np.ascontiguousarray(a).view(np.int32))
    magnitude = bits & np.int32(0x7FFFFFFF)
    nan = magnitude > 0x7F800000
    # Flipping a negative number's magnitude bits makes floats order as integers do.
    key = magnitude if abs else np.where(bits < 0, bits ^ np.int32(0x7FFFFFFF), bits)
    info = np.iinfo(np.int32)
    held = np.where(group & ~nan, key, np.int32(info.max if op == "min" else info.min))
    best = _REDUCE[op].reduce(held, axis=-1)
    best = np.where(best < 0, best ^ np.int32(0x7FFFFFFF), best)
    none = (group & nan).any(axis=-1) if NaN else ~(group & ~nan).any(axis=-1)
    return np.where(none, np.int32(0x7FFFFFFF), best).view(np.float32)


facts("elect", keeps_predicate=True)


@instruction("elect.sync  d:u32|p, membermask:u32", ptx=8.0, sm=90, section="9.7.15.14")
@primitive
def elect(warps: Warps, membermask: Array) -> tuple[Array, Mask]:
    """d = the lowest lane of membermask, p = "that is me"."""
    leader = _groups(warps, membermask).argmax(axis=-1).astype(np.uint32)
    return leader, leader == LANE
