"""Warp-level matrix instructions on opaque fragments: wmma.load, wmma.mma and wmma.store (PTX ISA 9.7.16.4).

Which lane holds what is read off the H200: fragments are those of mma.sync laid side by side, m8n32k16 is the transposed
m32n8k16, and the f16 operands repeat themselves until they fill eight registers.
"""

import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import fragments
from ..facts import Demand, Need, facts, when
from ..floats import tensor
from ..fragments import Layout
from ..notation import instruction
from ..ports import Array, Warps
from ..primitives import primitive
from .mma import BITS, ROUNDING, Registers, products, size

F = TypeVar("F", bound=Callable[..., Any])

LOAD, STORE, MMA = "9.7.16.4.3", "9.7.16.4.4", "9.7.16.4.5"
facts(
    "wmma",
    matrix_lanes=32,
    leading="load store mma a b c d",
    result_from_elsewhere=True,
    fragments={
        "": fragments.NUMBERS,
        "f16": fragments.PAIRS,
        **dict.fromkeys(("bf16", "tf32"), fragments.BITS),
        **dict.fromkeys(("s8", "u8"), fragments.INTEGERS),
        **dict.fromkeys(("s4", "u4", "b1"), fragments.WORDS),
    },
    demands=(
        Demand(
            Need(sm=0, before=6.3, ends=0), "", when(without="aligned"), message="wmma without .aligned ended with PTX 6.3",
            help="write .sync.aligned",
        ),
    ),
)  # fmt: skip

LAYOUT = "row col"
ALIGNED = {"aligned": Need(6.3, 70)}  # which was not written before, and has to be since
SATURATED = {**ALIGNED, "satfinite": Need(6.0, 70, before=6.5)}  # on f16
SPACES: dict[str, Any] = {"ss": "global shared shared::cta", "needs": {**ALIGNED, "shared::cta": Need(7.8)}}


@functools.cache
def fragment(role: str, shape: str, kind: str) -> Layout:
    """Where the elements of a fragment lie; `role` is a, b, c or d."""
    m, n, k = size(shape)
    bits = BITS[kind]
    wide = m == 8 and n == 32
    if role == "a":
        layout = fragments.layout_a(m, k, bits)
    elif role == "b":
        layout = fragments.transposed(fragments.layout_a(n, k, bits)) if wide else fragments.layout_b(k, n, bits)
    else:
        return fragments.transposed(fragments.layout_c(n, m, bits)) if wide else fragments.layout_c(m, n, bits)
    return fragments.repeated(layout, 8) if kind == "f16" else layout


def _registers(role: str, shape: str, kind: str) -> str:
    return f"*{fragment(role, shape, kind).registers}:{kind if kind in ('f32', 'f64', 's32') else 'b32'}"


# ---------------------------------------------------------------- memory


def access(roles: str, shapes: str, kinds: str, layouts: str = LAYOUT, **sets: Any) -> Callable[[F], F]:
    """Registers wmma.load (roles a, b, c) or wmma.store (role d) for shapes and types."""

    def register(meaning: F) -> F:
        for role, shape in itertools.product(roles.split(), shapes.split()):
            counts: dict[str, list[str]] = {}
            for kind in kinds.split():
                counts.setdefault(_registers(role, shape, kind), []).append(kind)
            for registers, same in counts.items():
                words = {"role": role, "layout": layouts, "shape": shape, "type": same, **SPACES, **sets}
                if role == "d":
                    row = f"wmma.store.role.sync{{.aligned}}.layout.shape{{.ss}}.type  [a], c{registers}{{, s:s32}}"
                    instruction(row, section=STORE, facts={"moves_memory": True, "takes_bits": "c"}, **words)(meaning)
                else:
                    row = f"wmma.load.role.sync{{.aligned}}.layout.shape{{.ss}}.type  d{registers}, [a]{{, s:s32}}"
                    instruction(row, section=LOAD, facts={"moves_memory": True}, **words)(meaning)
        return meaning

    return register


def _places(base: Array, s: Array | None, of: Layout, layout: str) -> tuple[Array, bool]:
    """The address of every element, (warps, 32, registers, elements), and whether a register's elements lie side by side."""
    row, column = (of.row, of.column) if layout == "row" else (of.column, of.row)
    row, column = (np.moveaxis(x, 0, 1) for x in (row, column))
    natural = of.columns if layout == "row" else of.rows
    stride = np.array([[natural]]) if s is None else s.astype(np.int64)
    offset = (row * stride[:, :, None, None] + column) * of.bits >> 3
    together = column.shape[2] > 1 and bool((row[..., 1:] == row[..., :-1]).all())
    return base[:, :, None, None] + offset.astype(np.uint64), together


@access("a b c", "m16n16k16 m8n32k16 m32n8k16", "f16", ptx=6.0, sm=70)
@access("a b", "m16n16k16 m8n32k16 m32n8k16", "s8 u8", ptx=6.3, sm=72)
@access("a b", "m16n16k16 m8n32k16 m32n8k16", "bf16", ptx=7.0, sm=80)
@access("a b", "m16n16k8", "tf32", ptx=7.0, sm=80)
@access("a b c", "m8n8k4", "f64", ptx=7.0, sm=80)
@access("a", "m8n8k32", "s4 u4", "row", ptx=6.3, sm=75)
@access("b", "m8n8k32", "s4 u4", "col", ptx=6.3, sm=75)
@access("a", "m8n8k128", "b1", "row", ptx=6.3, sm=75)
@access("b", "m8n8k128", "b1", "col", ptx=6.3, sm=75)
@access("c", "m16n16k16 m8n32k16 m32n8k16", "f32", ptx=6.0, sm=70)
@access("c", "m16n16k16 m8n32k16 m32n8k16", "s32", ptx=6.3, sm=72)
@access("c", "m8n8k32 m8n8k128", "f32 s32", ptx=6.3, sm=75)
@access("c", "m16n16k8", "f32", ptx=7.0, sm=80)
@primitive
def wmma_load(
    warps: Warps, a: Array, s: Array | None = None, *, role: str, layout: str, shape: str, type: str, ss: str = "generic"
) -> Registers:
    """d = the fragment of the matrix at a, whose rows (.col: columns) are s elements apart, by default as many as one has."""
    of = fragment(role, shape, type)
    places, together = _places(a, s, of, layout)
    unit = "f64" if of.bits == 64 else "f32" if type == "f32" else "s32" if type == "s32" else "b32"
    once = distinct(role, shape, type)
    if of.bits >= 32 or together or of.bits < 8:
        words = [warps.load(ss, places[:, :, r, 0], unit)[0] for r in range(once)]
    else:
        words = []
        for r in range(once):
            word = np.zeros(1, np.uint32)
            for e in range(32 // of.bits):
                part = warps.load(ss, places[:, :, r, e], f"b{of.bits}")[0]
                word = word | part.astype(np.uint32) << np.uint32(of.bits * e)
            words.append(word)
    return tuple(words * (of.registers // once))


@functools.cache
def distinct(role: str, shape: str, kind: str) -> int:
    """How many registers of a fragment are not repetitions."""
    of = fragment(role, shape, kind)
    return of.rows * of.columns * of.bits // 32 // (64 if of.bits == 64 else 32)


@access("d", "m16n16k16 m8n32k16 m32n8k16", "f16 f32", ptx=6.0, sm=70)
@access("d", "m16n16k16 m8n32k16 m32n8k16", "s32", ptx=6.3, sm=72)
@access("d", "m8n8k32 m8n8k128", "f32 s32", ptx=6.3, sm=75)
@access("d", "m16n16k8", "f32", ptx=7.0, sm=80)
@access("d", "m8n8k4", "f64", ptx=7.0, sm=80)
@primitive
def wmma_store(
    warps: Warps, a: Array, c: Registers, s: Array | None = None, *, role: str, layout: str, shape: str, type: str, ss: str = "generic"
) -> None:
    """Stores the fragment c as the matrix at a, whose rows (.col: columns) are s elements apart."""
    of = fragment(role, shape, type)
    places, together = _places(a, s, of, layout)
    for r, word in enumerate(c):
        if of.bits == 16 and not together:
            for e in range(2):
                warps.store(ss, places[:, :, r, e], "b16", [(word >> np.uint32(16 * e)).astype(np.uint16)])
        else:
            warps.store(ss, places[:, :, r, 0], type if type != "f16" else "b32", [word])


# ---------------------------------------------------------------- arithmetic


_FACTORS: dict[str, Any] = {
    "fragments": {
        "": fragments.NUMBERS,
        **dict.fromkeys(("f16", "bf16", "tf32"), fragments.PAIRS),
        **dict.fromkeys(fragments.INTEGER_TYPES, fragments.INTEGERS),
    }
}


def multiply(
    shapes: str, kinds: str, accumulators: str, extra: str = "", layouts: str = "", needs: dict[str, Need] = ALIGNED, **sets: Any
) -> Callable[[F], F]:
    """Registers wmma.mma for some shapes: rows "d c" of accumulator types, and input types of which A and B have the same."""

    def register(meaning: F) -> F:
        alayout, blayout = layouts.split() if layouts else (LAYOUT, LAYOUT)
        for shape, kind in itertools.product(shapes.split(), kinds.split()):
            a, b = _registers("a", shape, kind), _registers("b", shape, kind)
            for accumulator in accumulators.split():
                dtype, _, ctype = accumulator.partition("/")
                ctype = ctype or dtype
                d, c = _registers("d", shape, dtype), _registers("c", shape, ctype)
                inputs = "" if kind == "f16" else ".atype.btype"
                words: dict[str, Any] = {} if kind == "f16" else {"atype": kind, "btype": kind}
                words |= {"alayout": alayout, "blayout": blayout, "shape": shape, "dtype": dtype, "ctype": ctype, "needs": needs}
                row = f"wmma.mma.sync{{.aligned}}.alayout.blayout.shape{extra}.dtype{inputs}.ctype  d{d}, a{a}, b{b}, c{c}"
                instruction(row, section=MMA, facts=_FACTORS, **words, **sets)(meaning)
        return meaning

    return register


def _matrices(a: Registers, b: Registers, shape: str, kind: str) -> tuple[Array, Array]:
    return fragments.collect(a, fragment("a", shape, kind)), fragments.collect(b, fragment("b", shape, kind))


@multiply("m16n16k16", "f16", "f16 f32 f16/f32 f32/f16", "{.satfinite}", needs=SATURATED, ptx=6.0, sm=70)
@multiply("m8n32k16 m32n8k16", "f16", "f16 f32 f16/f32 f32/f16", "{.satfinite}", needs=SATURATED, ptx=6.1, sm=70)
@multiply("m16n16k16 m8n32k16 m32n8k16", "bf16", "f32", ptx=7.0, sm=80)
@multiply("m16n16k8", "tf32", "f32", ptx=7.0, sm=80)
@primitive
def wmma(
    warps: Warps, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, dtype: str, ctype: str,
    atype: str = "f16", btype: str = "f16", satfinite: bool = False,
) -> Registers:  # fmt: skip
    """d = a * b + c, added as mma.sync adds; a c of f16 under a d of f32 is widened before, a c of f32 under a d of f16 narrowed after.

    .satfinite replaces an infinity by the largest number of its sign, and NaN by 0.
    """
    x = tensor.terms(fragments.collect(a, fragments.transposed(fragment("a", shape, atype))), atype)
    y = tensor.terms(fragments.collect(b, fragment("b", shape, atype)), atype)
    z = fragments.collect(c, fragment("c", shape, ctype)).view(np.float16 if ctype == "f16" else np.float32)
    wide = "f32" in (dtype, ctype)
    d = z.astype(np.float32) if wide else z
    step = 4 if atype == "tf32" else 16  # an m16n16k8 on tf32 is made of m16n8k4
    for k in range(0, size(shape)[2], step):
        d = products(x[k : k + step], y[k : k + step], d, BITS[atype])
    if dtype == "f16" and wide:
        d = tensor.to_f16(d.astype(np.float64))
    if satfinite:
        most = float(np.finfo(np.float16 if dtype == "f16" else np.float32).max)
        d = np.where(np.isnan(d), np.zeros_like(d), np.clip(d, -most, most))
    return fragments.spread(d, fragment("d", shape, dtype))


@multiply("m8n8k4", "f64", "f64", "{.rnd}", rnd=ROUNDING, ptx=7.0, sm=80)
@primitive
def wmma_f64(
    warps: Warps, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, rnd: str = "rn"
) -> Registers:
    """d = a * b + c as a chain of fma, which begins with c and the first column of a."""
    x, y = _matrices(a, b, shape, "f64")
    return fragments.spread(tensor.fma_chain(x, y, fragments.collect(c, fragment("c", shape, "f64")), rnd), fragment("d", shape, "f64"))


@multiply("m16n16k16 m8n32k16 m32n8k16", "s8 u8", "s32", "{.satfinite}", ptx=6.3, sm=72)
@multiply("m8n8k32", "s4 u4", "s32", "{.satfinite}", "row col", ptx=6.3, sm=75)
@primitive
def wmma_integer(
    warps: Warps, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, atype: str, btype: str,
    satfinite: bool = False,
) -> Registers:  # fmt: skip
    """d = a * b + c modulo 2**32; .satfinite clamps the sum to the range of .s32."""
    x, y = (tensor.signed(v, atype) for v in _matrices(a, b, shape, atype))
    z = fragments.collect(c, fragment("c", shape, "s32")).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.dot(x, y), z, satfinite), fragment("d", shape, "s32"))


@multiply("m8n8k128", "b1", "s32", ".op.popc", "row col", op="xor", ptx=6.3, sm=75)
@multiply("m8n8k128", "b1", "s32", ".op.popc", "row col", op="and", ptx=7.1, sm=80)
@primitive
def wmma_bits(warps: Warps, a: Registers, b: Registers, c: Registers, *, alayout: str, blayout: str, shape: str, op: str) -> Registers:
    """d = c + the number of ones in (row of a) op (column of b)."""
    x, y = (v.astype(np.float32) for v in _matrices(a, b, shape, "b1"))
    z = fragments.collect(c, fragment("c", shape, "s32")).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.count_ones(x, y, op), z, False), fragment("d", shape, "s32"))
