"""Tensor copies and tensor maps (PTX ISA 9.7.10.25-27, 9.7.15.16).

They are assembled, verified and printed, not executed: what a tensor map holds is the driver's own.
"""

from typing import Any

from ..facts import Constant, facts, when
from ..notation import Need, accepted

_TX = "mbarrier::complete_tx::bytes"
COPY, REDUCE, PREFETCH = "9.7.10.25.5.2", "9.7.10.25.5.3", "9.7.10.25.5.4"
DIMS = "1d 2d 3d 4d 5d"
IM2COL_DIMS = "3d 4d 5d"
FAMILY = Need(8.6, 100, "af")
_HINTS = (("", ""), (".L2::cache_hint", ", g:b64"))

_LOAD = "Copies a box of the tensor that the map b describes, at coordinates c, to a in shared memory; the mbarrier d counts the bytes."
# (mode, operands it adds, dimensions)
_MODES = (
    ("{.tile}", "", DIMS), (".tile::gather4", "", "2d"), (".im2colw", ", e*2:u16", IM2COL_DIMS),
    *((".im2col", f", e*{n}:u16", f"{n + 2}d") for n in (1, 2, 3)),  # an offset for each dimension of the image
)  # fmt: skip
_WIDE: dict[str, Any] = {"im2colw": "im2col::w im2col::w::128"}

for _mode, _info, _dims in _MODES:
    _new = _mode in (".tile::gather4", ".im2colw")
    _sets: dict[str, Any] = _WIDE if _mode == ".im2colw" else {}
    for _hint, _policy in _HINTS:
        for _cast, _mask in (("", ""), (".multicast::cluster", ", f:u16")):
            _row = f"cp.async.bulk.tensor.dim.shared::cluster.global{_mode}.{_TX}{_cast}{{.group}}{_hint}"
            accepted(
                f"{_row}  [a], [b, {{c}}], [d]{_info}{_mask}{_policy}",
                doc=_LOAD,
                ptx=8.6 if _new else 8.0,
                sm=100 if _new else 90,
                arch="a" if _new else "",
                needs={"cta_group::1": FAMILY, "cta_group::2": FAMILY},
                section=COPY,
                dim=_dims,
                group="cta_group::1 cta_group::2",
                **_sets,
            )
        _row = f"cp.async.bulk.tensor.dim.shared::cta.global{_mode}.{_TX}{_hint}"
        accepted(
            f"{_row}  [a], [b, {{c}}], [d]{_info}{_policy}",
            doc=_LOAD,
            ptx=8.6,
            sm=100 if _new else 90,
            section=COPY,
            dim=_dims,
            **_sets,
        )
        accepted(
            f"cp.async.bulk.prefetch.tensor.dim.L2.global{_mode}{_hint}  [b, {{c}}]{_info}{_policy}",
            ptx=8.6 if _new else 8.0,
            sm=100 if _new else 90,
            arch="a" if _new else "",
            section=PREFETCH,
            dim=_dims,
            **_sets,
            doc="Brings a box of the tensor that the map b describes, at coordinates c, into L2.",
        )

for _mode, _dims, _arch in (("{.tile}", DIMS, ""), (".im2col_no_offs", IM2COL_DIMS, ""), (".tile::scatter4", "2d", "a")):
    for _hint, _policy in _HINTS:
        _row = f"cp.async.bulk.tensor.dim.global.shared::cta{_mode}.bulk_group{_hint}"
        accepted(
            f"{_row}  [b, {{c}}], [a]{_policy}",
            ptx=8.6 if _arch else 8.0,
            sm=100 if _arch else 90,
            arch=_arch,
            section=COPY,
            dim=_dims,
            doc="Copies a box from a in shared memory to the tensor that the map b describes, at coordinates c.",
        )
        if not _arch:
            _row = f"cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{_mode}.bulk_group{_hint}"
            accepted(
                f"{_row}  [b, {{c}}], [a]{_policy}",
                ptx=8.0,
                sm=90,
                section=REDUCE,
                dim=_dims,
                op="add min max inc dec and or xor",
                doc="As cp.async.bulk.tensor, but each element of the tensor becomes itself op what is copied.",
            )

# Of tensormap.replace: the largest number of a dimension, or of a kind.
_NUMBERS = {
    "box_dim": 4, "global_dim": 4, "global_stride": 4, "element_stride": 4, "elemtype": 15, "interleave_layout": 2, "swizzle_mode": 3,
    "fill_mode": 1, "swizzle_atomicity": 3,
}  # fmt: skip
facts(
    "tensormap",
    leading="replace cp_fenceproxy",
    spaces_in_order=True,
    word_addresses=when(without="cp_fenceproxy"),
    constants=(
        Constant("n", (128,), when("cp_fenceproxy")),
        *(Constant("n", range(largest + 1), when(field)) for field, largest in _NUMBERS.items()),
    ),
)
_MAP: dict[str, Any] = {
    "ss": "global shared::cta", "ptx": 8.3, "sm": 90, "arch": "af", "section": "9.7.10.26.1",
    "doc": "Replaces one field of the tensor map at a with b.",
}  # fmt: skip
accepted("tensormap.replace.tile.global_address{.ss}.b1024.b64  [a], b", **_MAP)
accepted("tensormap.replace.tile.rank{.ss}.b1024.b32  [a], b", **_MAP)
accepted("tensormap.replace.tile.global_stride{.ss}.b1024.b64  [a], #n, b", **_MAP)
accepted("tensormap.replace.tile.field{.ss}.b1024.b32  [a], #n, b", field="box_dim global_dim element_stride", **_MAP)
_CHOICES = "elemtype interleave_layout swizzle_mode fill_mode swizzle_atomicity"
accepted("tensormap.replace.tile.field{.ss}.b1024.b32  [a], #n", field=_CHOICES, needs={"swizzle_atomicity": FAMILY}, **_MAP)
accepted(
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned  [a], [b], #n",
    ptx=8.3,
    sm=90,
    scope="cta cluster gpu sys",
    section="9.7.15.16",
    doc="Copies the tensor map at b in shared memory to a, and orders later uses of it behind that.",
)
