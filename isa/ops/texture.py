"""Reads of textures (PTX ISA 9.7.12.3-4): tex, tld4."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..facts import Demand, Need, facts
from ..notation import instruction
from ..ports import Array, Lanes
from ..textures.fetch import CHANNELS, NOTHING, Fetched, fetch, gather
from ..textures.lanes import Read, by_lanes, typed
from ..textures.request import Request
from ..textures.resources import Texture

TEX, TLD4 = "9.7.12.3", "9.7.12.4"

HANDLES = (
    Demand(Need(7.1, 60), "the predicate of {opcode}", kind="pair"),
    Demand(Need(3.1, 20), "a handle in a register", kind="handle register"),
)
facts("tex tld4", demands=HANDLES, unit="texture", handles=("texref",), keeps_predicate=True, result_from_elsewhere=True)
facts("tex", float_vectors=True)

FLOAT_GEOMETRY = "1d 2d 3d a1d a2d cube acube"
INTEGER_GEOMETRY = "1d 2d 3d a1d a2d 2dms a2dms"
_ARRAYS = Need(2.3, 20)
TEX_NEEDS = {
    **dict.fromkeys(("a1d", "a2d", "cube", "acube"), _ARRAYS),
    "2dms": Need(3.2, 30),
    "a2dms": Need(3.2, 30),
    "f16": Need(4.2, 53),
    "f16x2": Need(4.2, 53),
    "level": Need(2.1, 20),
    "grad": Need(2.1, 20),
    "base": Need(2.1, 20),
}
_SAMPLE = (
    "the element of the texture a at the coordinates c ([a, b, c]: through the sampler b), moved by g, compared with h; p = it is resident."
)


def tex(lanes: Lanes, a: Sequence[Array], g: Any = None, h: Any = None, *, geom: str, dtype: str, ctype: str, pair: bool = True) -> Any:
    """The least level that the sampler allows."""
    return _fetched(lanes, a, geom, dtype, ctype, pair, fetch, offset=g)


def tex_level(
    lanes: Lanes, a: Sequence[Array], e: Array, g: Any = None, h: Any = None, *, geom: str, dtype: str, ctype: str, pair: bool = True
) -> Any:
    """Level e."""
    return _fetched(lanes, a, geom, dtype, ctype, pair, fetch, offset=g, level=e)


def tex_grad(
    lanes: Lanes, a: Sequence[Array], e: Sequence[Array], f: Sequence[Array], g: Any = None, h: Any = None, *,
    geom: str, dtype: str, ctype: str, pair: bool = True,
) -> Any:  # fmt: skip
    """The level that the gradients e and f ask for."""
    return _fetched(lanes, a, geom, dtype, ctype, pair, fetch, offset=g, gradients=(e, f))


def tld4(lanes: Lanes, a: Sequence[Array], g: Any = None, h: Any = None, *, comp: str, geom: str, dtype: str, pair: bool = True) -> Any:
    """Four texels."""
    return _fetched(lanes, a, geom, dtype, "f32", pair, lambda t, r: gather(t, r, "rgba".index(comp)), offset=g)


COORDINATES = {"1d": 1, "a1d": 1, "2d": 2, "a2d": 2, "3d": 3, "cube": 3, "acube": 3, "2dms": 2, "a2dms": 2}


def _fetched(
    lanes: Lanes, a: Sequence[Array], geom: str, dtype: str, ctype: str, pair: bool, read: Read, *, offset: Any,
    level: Array | None = None, gradients: tuple[Sequence[Array], Sequence[Array]] | None = None,
) -> Any:  # fmt: skip
    """d, or d and p.  Depth textures, with which h would be compared, don't exist; a single register in place of g is h.

    With gradients, the bits of whole numbers are taken for floats.  Beside a sampler, lines read zeros, and whole numbers without a level
    are converted to floats.  What counts is the sampler of the texture.
    """
    handle, *parts = a
    independent = parts[0].dtype == np.uint64
    if independent:
        del parts[0]
    sample = parts.pop(0) if geom.endswith("ms") else None
    layer = parts.pop(0) if geom.startswith("a") else None
    coordinates = [c.view(np.float32 if ctype == "f32" or gradients else np.int32) for c in parts[: COORDINATES[geom]]]
    if independent and ctype == "s32" and level is None and not gradients and sample is None:
        coordinates = [c.astype(np.float32) for c in coordinates]
    if geom == "1d" and (independent or (gradients and ctype == "s32")):
        read = nothing
    request = Request(
        geom.removeprefix("a").removesuffix("ms"), coordinates, layer, level, gradients, offset if isinstance(offset, tuple) else (), sample
    )
    channels, resident = by_lanes(lanes, handle, request, read)
    d = typed(channels, dtype)
    return (d, resident) if pair else d


def nothing(_texture: Texture, _request: Request) -> Fetched:
    """Zeros."""
    return Fetched([NOTHING] * CHANNELS, [])


# (meaning, words before the geometry, operands behind the coordinates, geometries of coordinates in f32, in s32, what differs)
_GRADIENTS = "At the level that the gradients e and f ask for: d = "
_FETCHES = (
    (tex, "", "", FLOAT_GEOMETRY, INTEGER_GEOMETRY, "d = "),
    (tex, ".base", "", FLOAT_GEOMETRY, INTEGER_GEOMETRY, "At the coarsest level that there is: d = "),
    (tex_level, ".level", ", e:ctype", FLOAT_GEOMETRY, "1d 2d 3d a1d a2d", "At level e: d = "),
    (tex_grad, ".grad", ", e*1:f32, f*1:f32", "1d a1d", "1d a1d", _GRADIENTS),
    (tex_grad, ".grad", ", e*2:f32, f*2:f32", "2d a2d", "2d a2d", _GRADIENTS),
    (tex_grad, ".grad", ", e*4:f32, f*4:f32", "3d cube acube", "3d", _GRADIENTS),
)

for _meaning, _words, _more, _float, _integer, _says in _FETCHES:
    for _ctype, _geometry in (("f32", _float), ("s32", _integer)):
        for (_count, _dtype), _tail in itertools.product(
            ((4, "u32 s32 f16 f32"), (2, "f16x2")), ("{, g:s32}{, h:f32}", ", h:f32") if _ctype == "f32" else ("{, g:s32}",)
        ):
            instruction(
                f"tex{_words}.geom.v{_count}.dtype.ctype  d*{_count}:dtype[|p], [a, {{c}}]{_more}{_tail}",
                geom=_geometry,
                dtype=_dtype,
                ctype=_ctype,
                needs=TEX_NEEDS,
                section=TEX,
                doc=_says + _SAMPLE,
            )(_meaning)

for _tail in ("{, g:s32}{, h:f32}", ", h:f32"):
    instruction(
        "tld4.comp.geom.v4.dtype.ctype  d*4:dtype[|p], [a, {c}]" + _tail,
        comp="r g b a",
        geom="2d a2d cube acube",
        dtype="u32 s32 f32",
        ctype="f32",
        ptx=2.2,
        sm=20,
        needs=dict.fromkeys(("a2d", "cube", "acube"), Need(4.3, 30)),
        section=TLD4,
        doc="d = one component of the four texels that surround the coordinates c.",
    )(tld4)
