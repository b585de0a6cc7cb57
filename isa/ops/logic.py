"""Logic, shifts and byte permutation (PTX ISA 9.7.9 and 9.7.10.7).

lop3's 256 tables are turned into chains of numpy operations once each; shifts by one amount for all lanes, the usual case, need no
look at the single amounts.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..facts import ALWAYS, facts
from ..notation import instruction
from ..ports import Array, Mask
from ..primitives import look_up

facts("and or xor not", sign_free=ALWAYS, bit_by_bit=True)
facts("and", updates_as="and")
facts("or", updates_as="or")
facts("xor", updates_as="xor")
facts("shl", sign_free=ALWAYS)
facts("shl shr", takes_bits="a", shifts_by="b")

BITS = "b16 b32 b64"
COMBINE: dict[str, Callable[[Array, Array], Array]] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}


@instruction("and.type  d, a, b", type=BITS, section="9.7.9.1")
@instruction("and.pred  p, {!}a, {!}b", section="9.7.9.1")
def and_(a: Array, b: Array) -> Array:
    """d = a & b."""
    return a & b


@instruction("or.type  d, a, b", type=BITS, section="9.7.9.2")
@instruction("or.pred  p, {!}a, {!}b", section="9.7.9.2")
def or_(a: Array, b: Array) -> Array:
    """d = a | b."""
    return a | b


@instruction("xor.type  d, a, b", type=BITS, section="9.7.9.3")
@instruction("xor.pred  p, {!}a, {!}b", section="9.7.9.3")
def xor(a: Array, b: Array) -> Array:
    """d = a ^ b."""
    return a ^ b


@instruction("not.type  d, a", type=BITS, section="9.7.9.4")
@instruction("not.pred  p, {!}a", section="9.7.9.4")
def not_(a: Array) -> Array:
    """d = ~a."""
    return ~a


@instruction("cnot.type  d, a", type=BITS, section="9.7.9.5")
def cnot(a: Array) -> Array:
    """d = 1 if a is 0, else 0."""
    d: Array = (a == 0).astype(a.dtype)
    return d


# ---------------------------------------------------------------- lop3

A, B, C = 0xF0, 0xCC, 0xAA  # the manual's tables of the operands themselves


class Step(NamedTuple):
    """One operation of a chain: the table that it makes, and of what (the second operand of a complement is unused)."""

    result: int
    operation: Callable[..., Array]
    left: int
    right: int


@functools.cache
def _shortest() -> dict[int, Step]:
    """The last operation of a shortest chain for each of the 256 tables but the operands' own and the constants."""
    best: dict[int, Step] = {}
    cost = {A: 0, B: 0, C: 0, 0x00: 0, 0xFF: 0}
    for total in range(1, 9):
        fresh: dict[int, Step] = {}
        for x in [x for x in cost if cost[x] == total - 1]:
            fresh.setdefault(~x & 0xFF, Step(~x & 0xFF, np.bitwise_not, x, x))
        for x, y in ((x, y) for x in cost for y in cost if x < y and cost[x] + cost[y] == total - 1):
            for value, operation in ((x & y, np.bitwise_and), (x | y, np.bitwise_or), (x ^ y, np.bitwise_xor)):
                fresh.setdefault(value, Step(value, operation, x, y))
        for value, step in fresh.items():
            if value not in cost:
                cost[value], best[value] = total, step
        if len(cost) == 256:
            break
    return best


@functools.cache
def chain(table: int) -> tuple[Step, ...]:
    """The operations that make a table from those of a, b and c, each intermediate result once."""
    steps: dict[int, Step] = {}

    def visit(value: int) -> None:
        step = _shortest().get(value)
        if step is not None and value not in steps:
            visit(step.left)
            visit(step.right)
            steps[value] = step

    visit(table)
    return tuple(steps.values())


facts("lop3", keeps_predicate=True, bit_by_bit=True)


@instruction("lop3.b32  d, a, b, c, #immLut", ptx=4.3, sm=50, section="9.7.9.6")
def lop3(a: Array, b: Array, c: Array, immLut: int) -> Array:
    """d = the function of a, b and c that immLut tabulates: 0xf0, 0xcc and 0xaa combined as the operands are to be."""
    table = immLut & 0xFF
    if table in (0x00, 0xFF):
        return np.full((1, 1), 0xFFFFFFFF if table else 0, np.uint32)
    values = {A: a, B: b, C: c}
    for result, operation, left, right in chain(table):
        values[result] = operation(values[left]) if operation is np.bitwise_not else operation(values[left], values[right])
    return values[table]


@instruction("lop3.bool.b32  d|p, a, b, c, #immLut, {!}q", bool="and or", ptx=8.2, sm=70, section="9.7.9.6")
def lop3_bool(a: Array, b: Array, c: Array, immLut: int, q: Mask, *, bool: str) -> tuple[Array, Mask]:
    """d = the function of a, b and c that immLut tabulates; p = (d != 0) bool q."""
    d = lop3(a, b, c, immLut)
    return d, COMBINE[bool](d != 0, q)


# ---------------------------------------------------------------- shifts


def _amount(a: Array, b: Array) -> Array:
    """The shift amount in the dtype of a; numpy shifts by the width and above as PTX does, by sign or zeros."""
    if a.itemsize == 4:
        return b.view(a.dtype)  # above 2**31 a negative amount, which numpy takes for a large one
    return np.minimum(b, np.uint32(64)).astype(a.dtype)


@instruction("shl.type  d, a, b:u32", type=BITS, section="9.7.9.8")
def shl(a: Array, b: Array) -> Array:
    """d = a << b; amounts of the width and above give 0."""
    return a << _amount(a, b)


@instruction("shr.type  d, a, b:u32", type="b16 b32 b64 u16 u32 u64 s16 s32 s64", section="9.7.9.9")
def shr(a: Array, b: Array) -> Array:
    """d = a >> b, filling with the sign of a where the type is signed; amounts of the width and above leave nothing but that."""
    return a >> _amount(a, b)


facts("shf", leading="l r", takes_bits="a b", shifts_by="c")
facts("prmt", takes_bits="a b")


@instruction("shf.l.mode.b32  d, a, b, c:u32", mode="clamp wrap", ptx=3.1, sm=32, section="9.7.9.7")
def shf_l(a: Array, b: Array, c: Array, *, mode: str) -> Array:
    """d = the upper half of the 64 bits (b, a) shifted left by c, which counts modulo 32 with .wrap and at most to 32 with .clamp."""
    n = c & np.uint32(31) if mode == "wrap" else np.minimum(c, np.uint32(32))
    return (b << n) | (a >> (np.uint32(32) - n))


@instruction("shf.r.mode.b32  d, a, b, c:u32", mode="clamp wrap", ptx=3.1, sm=32, section="9.7.9.7")
def shf_r(a: Array, b: Array, c: Array, *, mode: str) -> Array:
    """d = the lower half of the 64 bits (b, a) shifted right by c, which counts modulo 32 with .wrap and at most to 32 with .clamp."""
    n = c & np.uint32(31) if mode == "wrap" else np.minimum(c, np.uint32(32))
    return (a >> n) | (b << (np.uint32(32) - n))


# ---------------------------------------------------------------- prmt

# The four selectors of each mode for c = 0, 1, 2, 3, lowest byte in the lowest digit.
MODES = {
    "f4e": (0x3210, 0x4321, 0x5432, 0x6543),
    "b4e": (0x5670, 0x6701, 0x7012, 0x0123),
    "rc8": (0x0000, 0x1111, 0x2222, 0x3333),
    "ecl": (0x3210, 0x3211, 0x3222, 0x3333),
    "ecr": (0x0000, 0x1110, 0x2210, 0x3210),
    "rc16": (0x1010, 0x3232, 0x1010, 0x3232),
}


def _permuted(a: Array, b: Array, selectors: int) -> Array:
    """prmt by one selector for all lanes: each byte is cut out, and neighbours that move together move at once."""
    moves: dict[tuple[bool, int, bool], int] = {}  # (of b, distance upward in bits, sign instead of the byte): mask of the result
    for byte in range(4):
        selector = selectors >> 4 * byte & 15
        move = (selector & 4 != 0, 8 * (byte - (selector & 3)), selector > 7)
        moves[move] = moves.get(move, 0) | 0xFF << 8 * byte
    d: Array | None = None
    for (of_b, distance, sign), mask in moves.items():
        x = b if of_b else a
        if sign:
            x = ((x & np.uint32(0x80808080)) >> np.uint32(7)) * np.uint32(255)
        if distance:
            x = x << np.uint32(distance) if distance > 0 else x >> np.uint32(-distance)
        if mask != 0xFFFFFFFF:
            x = x & np.uint32(mask)
        d = x if d is None else d | x
    assert d is not None
    return d


@instruction("prmt.b32{.mode}  d, a, b, c", mode=MODES, ptx=2.0, sm=20, section="9.7.10.7")
def prmt(a: Array, b: Array, c: Array, *, mode: str = "") -> Array:
    """d = four of the eight bytes (b, a), chosen by the digits of c (8 added: only the byte's sign), or by a mode and the low bits of c."""
    if c.size == 1:
        chosen = int(c.flat[0])
        return _permuted(a, b, MODES[mode][chosen & 3] if mode else chosen)
    selectors = look_up(c & np.uint32(3), np.array(MODES[mode], np.uint32)) if mode else c
    one, signs = np.uint32(1), bool((selectors & np.uint32(0x8888)).any())
    differing = a ^ b
    d = np.zeros((1, 1), np.uint32)
    for byte in range(4):
        selector = selectors >> np.uint32(4 * byte)
        word = a ^ (differing & -((selector >> np.uint32(2)) & one))
        x = (word >> ((selector & np.uint32(3)) << np.uint32(3))) & np.uint32(0xFF)
        if signs:
            x = x ^ ((x ^ ((x >> np.uint32(7)) * np.uint32(0xFF))) & -((selector >> np.uint32(3)) & one))
        d = d | (x << np.uint32(8 * byte))
    return d
