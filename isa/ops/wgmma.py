"""Warpgroup matrix multiply-and-add (PTX ISA 9.7.17): four warps multiply a 64-row A by a B that lies in shared memory.

A warp makes its own 16 rows of D, so a warpgroup's warps need not meet here: the operation is done at once, when a warp comes to
it, and the fences and waits have nothing left to wait for.
"""

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import fragments
from ..facts import Constant, facts
from ..floats import tensor
from ..floats.tensor import Terms
from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Warps
from ..shared_matrices import SharedMatrix
from .mma import BITS, FP8, Registers, columns_of, size

F = TypeVar("F", bound=Callable[..., Any])

MMA, SPARSE = "9.7.17.5.2", "9.7.17.6.2"
WIDTHS = tuple(range(8, 264, 8))
INTEGER_WIDTHS = (8, 24, *range(16, 64, 16), *range(64, 272, 16))

# ---------------------------------------------------------------- matrices in shared memory

SWIZZLE = {0: (16, 0), 1: (128, 7), 2: (64, 3), 3: (32, 1)}  # mode: bytes of a row of the pattern, which of its bits move


def pieces(descriptor: int, outer: int, inner: int, turned: bool) -> Addresses:
    """The shared addresses of the 16-byte pieces of the matrix that a descriptor describes; see SharedMatrix."""
    start, leading, stride = ((descriptor >> at & 0x3FFF) << 4 for at in (0, 16, 32))
    return SharedMatrix(start, leading, stride, descriptor >> 49 & 7, *SWIZZLE[descriptor >> 62]).pieces(outer, inner, turned)


def _read(warps: Warps, addresses: Addresses) -> Array:
    """The 16-byte pieces at (warps, pieces) shared addresses, as (warps, pieces, 16) bytes; each lane fetches one at a time."""
    count = addresses.shape[1]
    out = np.empty((addresses.shape[0], -(-count // 32) * 32, 2), np.uint64)
    for first in range(0, count, 32):
        lanes = np.minimum(np.arange(first, first + 32), count - 1)
        found = warps.load("shared", addresses[:, lanes], "b64", 2)
        out[:, first : first + 32, 0], out[:, first : first + 32, 1] = found
    return out.view(np.uint8)[:, :count]


def _elements(raw: Array, outer: int, inner: int, bits: int, turned: bool) -> Array:
    """The matrix (m or n, k, warps) of its pieces' bytes."""
    raw = raw.reshape(-1, outer, inner, 16)
    if turned:
        matrix = np.moveaxis(raw.view(f"u{bits // 8}"), 3, 2).reshape(raw.shape[0], -1, inner)
    else:
        rows = raw.reshape(raw.shape[0], outer, -1)
        matrix = np.unpackbits(rows, axis=-1, bitorder="little") if bits == 1 else rows.view(f"u{bits // 8}")
    return np.moveaxis(matrix, 0, -1)


def _shared(warps: Warps, descriptors: Array, rows: int, k: int, bits: int, turned: bool, own_rows: bool) -> Array:
    """A matrix of which `rows` rows (for B: columns) lie in shared memory; of A each warp takes its own 16."""
    outer, inner = (rows // 8, k) if turned else (rows, k * bits // 128)
    descriptors = np.broadcast_to(descriptors, warps.members.shape)[:, 0]
    different, which = np.unique(descriptors, return_inverse=True)
    places = np.stack([pieces(int(d), outer, inner, turned) for d in different])[which]
    if own_rows:
        number = np.broadcast_to(warps.special("%warpid"), warps.members.shape)[:, 0] & 3
        outer //= 4
        places = places.reshape(len(places), 4, outer, inner)[np.arange(len(places)), number]
    return _elements(_read(warps, places.reshape(len(places), -1)), outer, inner, bits, turned)


def _operands(
    warps: Warps, a: Array | Registers, b: Array, shape: str, kind: str, sparse: bool, turned: tuple[int, int]
) -> tuple[Array, Array]:
    """A of each warp, (16, stored k, warps), and B, (k, n, warps), as bit patterns."""
    _, n, k = size(shape)
    stored = k // 2 if sparse else k
    if isinstance(a, tuple):
        x = fragments.collect([v.astype(np.uint32) for v in a], fragments.layout_a(16, stored, BITS[kind]))
    else:
        x = _shared(warps, a, 64, stored, BITS[kind], bool(turned[0]), True)
    y = _shared(warps, b, n, k, BITS[kind], bool(turned[1]), False)
    return x, np.ascontiguousarray(np.moveaxis(y, 0, 1))


# ---------------------------------------------------------------- rows


facts(
    "wgmma",
    matrix_lanes=128,  # of a warpgroup
    unit="tensor",
    leading="fence commit_group wait_group mma_async",
    reads_destination=True,
    result_from_elsewhere=True,
    fragments={
        "": fragments.NUMBERS,
        **dict.fromkeys(("f16", "e4m3", "e5m2"), fragments.PAIRS),
        **dict.fromkeys(("bf16", "tf32"), fragments.BITS),
        **dict.fromkeys(fragments.INTEGER_TYPES, fragments.WORDS),
    },
)
_SIGN, _TURNED = (-1, 1), (0, 1)
_SCALES = (Constant("x", _SIGN), Constant("y", _SIGN), Constant("u", _TURNED), Constant("v", _TURNED))


def forms(
    k: int, inputs: str, accumulators: str, widths: tuple[int, ...], constants: str = "", extra: str = "", ptx: float = 8.0
) -> Callable[[F], F]:
    """Registers wgmma.mma_async for all widths of D: dense, and with a sparse A twice as long; A in shared memory, and in registers."""
    sparsities = (False,) if inputs == "b1" else (False, True)

    selector = Constant("f", range(2 if inputs in ("f16", "bf16", "tf32") else 1))
    facts_of = {True: {"constants": (selector, *_SCALES)}, False: {"constants": (Constant("s", (0, 1)), *_SCALES)}}

    def register(meaning: F) -> F:
        for accumulator, n in itertools.product(accumulators.split(), widths):
            bits = BITS[accumulator]
            d = f"d*{n * bits // 64}:{'b32' if bits == 16 else accumulator}"
            for sparse in sparsities:
                shape = f"m64n{n}k{2 * k if sparse else k}"
                words: dict[str, Any] = {"shape": shape, "dtype": accumulator, "atype": inputs, "btype": inputs}
                head = f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.shape{extra}.dtype.atype.btype"
                middle = "b:b64, e:b32, #f" if sparse else "b:b64"
                for a, given in (("a:b64", constants), ("a*4:b32", constants.removesuffix(", #v"))):
                    need: dict[str, Any] = {"ptx": max(ptx, 8.2) if sparse else ptx, "sm": 90, "arch": "a"}
                    row = f"{head}  {d}, {a}, {middle}, {{!}}s{given}"
                    instruction(row, section=SPARSE if sparse else MMA, facts=facts_of[sparse], **need, **words)(meaning)
        return meaning

    return register


@forms(16, "f16", "f32 f16", WIDTHS, ", #x, #y, #u, #v")
@forms(16, "bf16", "f32", WIDTHS, ", #x, #y, #u, #v")
@forms(8, "tf32", "f32", WIDTHS, ", #x, #y")
@forms(32, FP8, "f32 f16", WIDTHS, ", #x, #y")
def wgmma(
    warps: Warps, d: Registers, a: Array | Registers, b: Array, *rest: Any, shape: str, dtype: str, atype: str, btype: str, sp: bool = False
) -> Registers:
    """d = a * b + d, or a * b where the predicate s is false.

    #x and #y of -1 negate a and b; #u and #v transpose them in shared memory (an a in registers has no #u).  Sums are made as by
    mma, but fp8 terms are cut to 13 bits below the largest, and so is a sum of type .f32.
    """
    (e, f), (s, x, y, *turned) = (rest[:2], rest[2:]) if sp else ((None, 0), rest)
    turned = [0] * (2 - len(turned)) + turned
    bits_a, bits_b = _operands(warps, a, b, shape, atype, sp, (turned[0], turned[1]))
    ta, tb = tensor.terms(np.moveaxis(bits_a, 1, 0), atype), tensor.terms(bits_b, btype)
    ta, tb = Terms(ta.value * x, ta.exponent), Terms(tb.value * y, tb.exponent)
    if sp:
        tb = tensor.choose(columns_of(e, f, size(shape)[2], BITS[atype]), tb)
    layout = fragments.layout_c(16, size(shape)[1], BITS[dtype])
    total = tensor.add_products(ta, tb, tensor.terms(_accumulator(warps, d, s, layout), dtype), 13 if atype in FP8 else 25)
    if dtype == "f16":
        return fragments.spread(tensor.to_f16(total), layout)
    r = tensor.to_f32(total)
    if atype in FP8:
        r = np.where(np.isnan(r), r, (r.view(np.uint32) & np.uint32(0xFFFFFC00)).view(np.float32))
    return fragments.spread(r, layout)


def _accumulator(warps: Warps, d: Registers, s: Array, layout: fragments.Layout) -> Array:
    """D as it was, or zeros where the predicate says so."""
    keep = np.broadcast_to(s, warps.members.shape)[:, 0]
    matrix = fragments.collect(d, layout)
    return matrix if keep.all() else np.where(keep, matrix, matrix.dtype.type(0))


@forms(32, "s8 u8", "s32", INTEGER_WIDTHS, "", "{.satfinite}", ptx=8.4)
@forms(32, "u8", "s32", INTEGER_WIDTHS, "", "{.satfinite}")
@forms(32, "s8", "s32", INTEGER_WIDTHS, "", "{.satfinite}")
def wgmma_integer(
    warps: Warps, d: Registers, a: Array | Registers, b: Array, *rest: Any, shape: str, atype: str, btype: str, sp: bool = False,
    satfinite: bool = False,
) -> Registers:  # fmt: skip
    """d = a * b + d modulo 2**32, or a * b where the predicate s is false; .satfinite clamps the sum to the range of .s32."""
    _, n, k = size(shape)
    bits_a, bits_b = _operands(warps, a, b, shape, atype, sp, (0, 0))
    x, y = tensor.signed(bits_a, atype), tensor.signed(bits_b, btype)
    if sp:
        x = tensor.expand(columns_of(rest[0], rest[1], k, BITS[atype]), x, k)
    layout = fragments.layout_c(16, n, 32)
    z = _accumulator(warps, d, rest[-1], layout).view(np.int32)
    return fragments.spread(tensor.add_integers(tensor.dot(x, y), z, satfinite), layout)


@forms(256, "b1", "s32", INTEGER_WIDTHS, "", ".and.popc")
def wgmma_bits(warps: Warps, d: Registers, a: Array | Registers, b: Array, s: Array, *, shape: str) -> Registers:
    """d = the number of ones in (row of a) and (column of b), plus d where the predicate s is true."""
    bits_a, bits_b = _operands(warps, a, b, shape, "b1", False, (0, 0))
    layout = fragments.layout_c(16, size(shape)[1], 32)
    ones = tensor.count_ones(bits_a.astype(np.float32), bits_b.astype(np.float32), "and")
    return fragments.spread(tensor.add_integers(ones, _accumulator(warps, d, s, layout).view(np.int32), False), layout)


# ---------------------------------------------------------------- order


@instruction("wgmma.fence.sync.aligned", ptx=8.0, sm=90, arch="a", section="9.7.17.7.1")
def wgmma_fence(lanes: Lanes) -> None:
    """Orders accesses to registers and shared memory before the wgmma.mma_async that follow."""


@instruction("wgmma.commit_group.sync.aligned", ptx=8.0, sm=90, arch="a", section="9.7.17.7.2")
def wgmma_commit_group(lanes: Lanes) -> None:
    """Makes one group of the wgmma.mma_async since the last one."""


@instruction("wgmma.wait_group.sync.aligned  #n", ptx=8.0, sm=90, arch="a", section="9.7.17.7.3")
def wgmma_wait_group(lanes: Lanes, n: int) -> None:
    """Waits until at most n groups are unfinished; they are all done as soon as they are issued."""
