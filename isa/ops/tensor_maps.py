"""Tensor maps changed by kernels: tensormap.replace and tensormap.cp_fenceproxy (PTX ISA 9.7.10.26-27, 9.7.15.16)."""

from typing import Any

import numpy as np

from ..facts import Constant, Need, facts, when
from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Warps
from ..tensor_map.descriptor import FIELDS, MapField, replaced

FAMILY = Need(8.6, 100, "af")
BYTES = 128
_HALF = 64  # bytes that one access moves, and to which a map is aligned

# The largest number of a dimension, or of a kind.
_NUMBERS = {
    "box_dim": 4, "global_dim": 4, "global_stride": 4, "element_stride": 4, "elemtype": 15, "interleave_layout": 2, "swizzle_mode": 4,
    "fill_mode": 1, "swizzle_atomicity": 3,
}  # fmt: skip
_WIDE_SWIZZLE = Need(8.8, 103, "a")  # of 96 bytes
facts(
    "tensormap",
    leading="replace cp_fenceproxy",
    spaces_in_order=True,
    ordered="global shared::cta",
    word_addresses=when(without="cp_fenceproxy"),
    unit="tensor",
    constants=(
        Constant("n", (BYTES,), when("cp_fenceproxy")),
        *(Constant("n", range(largest + 1), when(field)) for field, largest in _NUMBERS.items()),
        Constant("n", range(13), when("elemtype"), unless=FAMILY),  # the later types have 4 or 6 bits
        Constant("n", range(4), when("swizzle_mode"), unless=_WIDE_SWIZZLE),
    ),
)
_MAP: dict[str, Any] = {"ss": "global shared::cta", "ptx": 8.3, "sm": 90, "arch": "af", "section": "9.7.10.26.1"}


def _replace(lanes: Lanes, ss: str, a: Addresses, field: MapField, value: Array) -> None:
    """Writes one field of the maps at a."""
    at = a + np.uint64(8 * field.word)
    lanes.load(ss, a, "b64", _HALF // 8)  # the map lies at a multiple of 64
    (word,) = lanes.load(ss, at, "b64")
    lanes.store(ss, at, "b64", (replaced(word, field, value.astype(np.uint64)),))


@instruction("tensormap.replace.tile.global_address{.ss}.b1024.b64  [a], b", **_MAP)
def replace_address(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic") -> None:
    """The tensor of the map at a begins at b."""
    _replace(lanes, ss, a, FIELDS["global_address"][0], b)


@instruction("tensormap.replace.tile.rank{.ss}.b1024.b32  [a], b", **_MAP)
def replace_rank(lanes: Lanes, a: Addresses, b: Array, *, ss: str = "generic") -> None:
    """The rank of the map at a = b + 1."""
    _replace(lanes, ss, a, FIELDS["rank"][0], b)


@instruction("tensormap.replace.tile.field{.ss}.b1024.b32  [a], #n, b", field="box_dim global_dim element_stride", **_MAP)
@instruction("tensormap.replace.tile.global_stride{.ss}.b1024.b64  [a], #n, b", **_MAP)
def replace_size(lanes: Lanes, a: Addresses, n: int, b: Array, *, field: str = "global_stride", ss: str = "generic") -> None:
    """A size of dimension n of the map at a = b; strides are in bytes, n = 0 is that of dimension 1."""
    if n < len(FIELDS[field]):
        _replace(lanes, ss, a, FIELDS[field][n], b)


_CHOICES = "elemtype interleave_layout swizzle_mode fill_mode swizzle_atomicity"


@instruction("tensormap.replace.tile.field{.ss}.b1024.b32  [a], #n", field=_CHOICES, needs={"swizzle_atomicity": FAMILY}, **_MAP)
def replace_kind(lanes: Lanes, a: Addresses, n: int, *, field: str, ss: str = "generic") -> None:
    """The kind of elements, interleave, swizzle, fill or atom of the map at a = n."""
    _replace(lanes, ss, a, FIELDS[field][0], np.full((1, 1), n, np.uint64))


@instruction("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [a], [b], #n",
             ptx=8.3, sm=90, scope="cta cluster gpu sys", section="9.7.15.16")  # fmt: skip
def cp_fenceproxy(warps: Warps, a: Addresses, b: Addresses, n: int, *, scope: str) -> None:
    """The tensor map at a = that at b in shared memory, which later uses of it see; one lane of the warp copies."""
    first = warps.members & (np.cumsum(warps.members, axis=1) == 1)
    with warps.only(first):
        for half in range(0, n, _HALF):
            at = np.uint64(half)
            warps.store("global", a + at, "b64", warps.load("shared::cta", b + at, "b64", _HALF // 8))
