"""mma.sync with factors for blocks of A and B, as sm_120a and its family have it (PTX ISA 9.7.16.3, 9.7.16.5.14, 9.7.16.6.3).

The arithmetic is that of the recorded tensor cores; which lanes hold the factors is what the manual says.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from .. import fragments
from ..facts import Constant
from ..floats import tensor
from ..floats.tensor import Terms
from ..notation import instruction
from ..ports import Array, Warps
from .mma import DENSE, FAMILY, NARROW, SPARSE, Registers, accumulators, columns_of, elements, products, size

F = TypeVar("F", bound=Callable[..., Any])

# Rows and columns have their factors in one lane of each four; the thread-id moves on to another pair of lanes, or lane.
_ROW = np.arange(16)
_FIRST = {"a": 4 * (_ROW & 7) + (_ROW >> 3), "b": 4 * np.arange(8)}
_STEP = {"a": 2, "b": 1}


def _scales(side: str, data: Array, ids: Registers, kind: str, chunks: int) -> Terms:
    """The factors of a matrix, (chunks, rows of A or columns of B, warps); `ids` are the byte-id and the thread-id, the same for a warp."""
    count = max(x.shape[0] for x in (data, *ids))
    byte, thread = (np.broadcast_to(x, (count, 32))[:, :1].astype(np.intp) for x in ids)
    held = np.ascontiguousarray(np.broadcast_to(data, (count, 32))).view(np.uint8).reshape(count, 32, 4)
    lane = _FIRST[side] + _STEP[side] * thread & 31
    place = byte + np.arange(chunks) & 3
    found = held[np.arange(count)[:, None, None], lane[:, None], place[..., None]]
    return tensor.terms(found.transpose(1, 2, 0), kind)


def _scaled(
    a: Registers, b: Registers, c: Registers, factors: tuple[Array, Registers, Array, Registers], metadata: tuple[Array, int] | None,
    k: int, bits: int, kinds: tuple[str, str, str],
) -> Registers:  # fmt: skip
    """d = (a times its factors) * (b times its factors) + c, for a dense A or one with metadata."""
    x, y, z, w = factors
    kind_a, kind_b, kind = kinds
    chunks = 1 if bits == 8 else 4 if kind == "ue4m3" else 2
    read = elements if bits == 8 else tensor.terms
    stored = k if metadata is None else k // 2
    left = read(fragments.collect(a, fragments.transposed(fragments.layout_a(16, stored, bits))), kind_a)
    right = read(fragments.collect(b, fragments.layout_b(k, 8, bits)), kind_b)
    left = tensor.scaled(left, _scales("a", x, y, kind, chunks))
    right = tensor.scaled(right, _scales("b", z, w, kind, chunks))
    if metadata is not None:
        right = tensor.choose(columns_of(*metadata, k, bits), right)
    layout = fragments.layout_c(16, 8, 32)
    return fragments.spread(products(left, right, accumulators(c, layout), bits), layout)


_NIBBLES: dict[str, Any] = {"atype": "e2m1", "btype": "e2m1"}
# (words, the bytes that the first factor may stand in, types)
_KINDS: tuple[tuple[str, Sequence[int], dict[str, Any]], ...] = (
    ("mxf8f6f4.block_scale{.scale_vec::1X}", range(4), {"atype": NARROW, "btype": NARROW, "stype": "ue8m0"}),
    ("mxf4.block_scale{.scale_vec::2X}", (0, 2), {**_NIBBLES, "stype": "ue8m0"}),
    ("mxf4nvf4.block_scale.scale_vec::2X", (0, 2), {**_NIBBLES, "stype": "ue8m0"}),
    ("mxf4nvf4.block_scale.scale_vec::4X", (0,), {**_NIBBLES, "stype": "ue4m3"}),
)


def _selectors(bytes_: Sequence[int]) -> tuple[Constant, ...]:
    """What the byte-id and thread-id of A and of B may be; the selector of sparse metadata is 0."""
    threads = (Constant("y", range(2), element=1), Constant("w", range(4), element=1))
    return (*threads, *(Constant(ids, bytes_, element=0) for ids in "yw"), Constant("f", range(1)))


def _scaled_rows(head: str, k: int, operands: str, **sets: Any) -> Callable[[F], F]:
    """Decorates with a row of each kind; elements of 4 bits fill registers twice as densely as those in a byte, and k is twice as long."""

    def register(meaning: F) -> F:
        for kind, bytes_, types in _KINDS:
            nibbles = kind.startswith("mxf4")
            row = f"{head}.shape.row.col.kind::{kind}.dtype.atype.btype.ctype.stype  {operands}, x:b32~, y*2:u16, z:b32~, w*2:u16"
            own = {**FAMILY, **(sets if nibbles else {"section": sets["section"]})}
            own["facts"] = {"constants": _selectors(bytes_)}
            instruction(row, shape=f"m16n8k{2 * k if nibbles else k}", dtype="f32", ctype="f32", **own, **types)(meaning)
        return meaning

    return register


@_scaled_rows("mma.sync.aligned", 32, "d*4:f32, a*4:b32, b*2:b32, c*4:f32", section=DENSE)
def mma_scaled(
    warps: Warps, a: Registers, b: Registers, c: Registers, x: Array, y: Registers, z: Array, w: Registers, *,
    shape: str, atype: str, btype: str, stype: str, scale_vec_1X: bool = False, scale_vec_2X: bool = False,
) -> Registers:  # fmt: skip
    """d = (a, scaled by x) * (b, scaled by z) + c: a factor for each row of a, column of b and chunk of k; y and w select the bytes and lanes."""
    k = size(shape)[2]
    return _scaled(a, b, c, (x, y, z, w), None, k, 256 // k, (atype, btype, stype))


@_scaled_rows(
    "mma.sp::ordered_metadata.sync.aligned", 64, "d*4:f32, a*4:b32, b*4:b32, c*4:f32, e:b32~, #f", section=SPARSE, arch="a"
)  # fmt: skip
def mma_scaled_sparse(
    warps: Warps, a: Registers, b: Registers, c: Registers, e: Array, f: int, x: Array, y: Registers, z: Array, w: Registers, *,
    shape: str, atype: str, btype: str, stype: str, scale_vec_1X: bool = False, scale_vec_2X: bool = False,
) -> Registers:  # fmt: skip
    """As mma with factors, a being stored without half of its columns (4-bit elements: of its pairs of columns), which e names."""
    k = size(shape)[2]
    return _scaled(a, b, c, (x, y, z, w), (e, f), k, 512 // k, (atype, btype, stype))
