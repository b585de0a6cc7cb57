"""Surfaces (PTX ISA 9.7.13): suld, sust, sured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..facts import Demand, Need, facts, when
from ..notation import instruction
from ..ports import Array, Lanes
from ..textures import surfaces
from ..textures.resources import Image
from ..textures.surfaces import BytePlace
from ..types import TYPES
from .texture import HANDLES

SULD, SUST, SURED = "9.7.13.1", "9.7.13.2", "9.7.13.3"

facts("suld sust sured", demands=(*HANDLES, Demand(Need(3.0, 20), ".{word}", when("3d a1d a2d"))), unit="texture", handles=("surfref",))
facts("suld", leading="b", result_from_elsewhere=True)
facts("sust sured", leading="b p")

BYTES_AT_ONCE = 128  # of one warp; recorded for accesses of 1, 4 and 16 bytes
CLAMP = "trap clamp zero"
_DOMAIN = "Outside the surface .trap faults, .clamp takes the nearest place, .zero reads 0 and writes nothing."
_SURFACE: dict[str, Any] = {"geom": "1d 2d 3d a1d a2d", "clamp": CLAMP, "ptx": 1.5, "sm": 20}
_STORE: dict[str, Any] = {"cop": "wb cg cs wt", "section": SUST, **_SURFACE}


@dataclass(frozen=True, slots=True)
class _Users:
    """The lanes that reach one image: their numbers in the group's flat order, and their coordinates."""

    lanes: Lanes
    numbers: Array
    coordinates: Sequence[Array]

    def refuse(self, kind: str, wrong: Array, why: str) -> None:
        """A fault of those that are wrong, which names the coordinates of the first."""
        if wrong.any():
            mask = np.zeros(self.lanes.ctas().shape, np.bool_)
            mask.reshape(-1)[self.numbers[wrong]] = True
            first = np.argmin(np.where(wrong, self.numbers, mask.size))
            at = ", ".join(str(c.view(np.int32)[first]) for c in self.coordinates)
            self.lanes.refuse(kind, f"{{{at}}} {why}", mask, "surface")


def _reached(
    lanes: Lanes, kind: str, a: Sequence[Array], geom: str, clamp: str, size: int, order: Array | None = None, *, counts_bytes: bool = True
) -> Iterator[tuple[Image, Array, BytePlace]]:
    """Image after image, with the numbers of the lanes that reach it and where; size 0 stands for one texel.

    x counts bytes, or accesses of this size.  With .trap, a place outside is a fault; if x counts bytes, so is one that is not a multiple of the
    size, inside or outside.  Observers receive the access, whose kind is "ld", "st" or "red".
    """
    handle, *coordinates = a
    shape = lanes.ctas().shape
    here = np.ones(shape, np.bool_) if lanes.active is None else np.broadcast_to(lanes.active, shape)
    for resource, mask in lanes.resources(handle):
        if resource is None:
            continue
        image = resource.image
        uses = (here if mask is None else here & mask).reshape(-1)
        numbers = np.flatnonzero(uses) if order is None else order[uses[order]]
        users = _Users(lanes, numbers, _chosen(coordinates[: surfaces.COORDINATES[geom]], lanes, numbers))
        bytes = size or image.format.bytes
        where = surfaces.place(image, geom, users.coordinates, bytes, unit=1 if counts_bytes else bytes, clamps=clamp == "clamp")
        if clamp == "trap" and surfaces.reaches(geom, image):
            in_texels = not counts_bytes and bytes == image.format.bytes
            users.refuse("out-of-bounds", ~where.inside, f"lies outside the surface of {surfaces.extent(image, in_texels=in_texels)}")
        if counts_bytes:
            x = users.coordinates[geom.startswith("a")]
            users.refuse("misaligned", x % size != 0, f"is misaligned: x counts bytes, and {size} bytes begin at a multiple of {size}")
        lanes.surface_accessed(image, kind, where, bytes, numbers)
        yield image, numbers, where


def _chosen(values: Sequence[Array], lanes: Lanes, chosen: Array) -> list[Array]:
    shape = lanes.ctas().shape
    return [np.broadcast_to(v, shape).reshape(-1)[chosen] for v in values]


def _descending(lanes: Lanes, size: int) -> Array:
    """The lanes in the order of their stores: a warp stores 128 bytes at a time, from the highest lane of these to the lowest, which wins."""
    lane = np.broadcast_to(lanes.special("%laneid"), lanes.ctas().shape).reshape(-1).astype(np.int64)
    part = lane // min(BYTES_AT_ONCE // size, 32)
    first = np.flatnonzero((np.diff(lane, prepend=lane[:1]) <= 0) | (np.diff(part, prepend=part[:1]) != 0))
    last = np.append(first[1:], lane.size) - 1
    return np.repeat(first + last, last - first + 1) - np.arange(lane.size)


def suld(lanes: Lanes, a: Sequence[Array], *, geom: str, type: str, clamp: str, cop: str = "", vec: str = "v1") -> tuple[Array, ...]:
    """d = the bytes of the surface a at b."""
    dtype, count = TYPES[type].dtype, int(vec[1:])
    d = np.zeros((count, *lanes.ctas().shape), dtype)
    for image, chosen, where in _reached(lanes, "ld", a, geom, clamp, dtype.itemsize * count):
        d.reshape(count, -1)[:, chosen] = surfaces.read(image, where, dtype.itemsize * count).view(dtype).T
    return tuple(d)


def sust_b(
    lanes: Lanes, a: Sequence[Array], c: Sequence[Array], *, geom: str, type: str, clamp: str, cop: str = "", vec: str = "v1"
) -> None:
    """The bytes of the surface a at b = c."""
    size = TYPES[type].dtype.itemsize * len(c)
    for image, chosen, where in _reached(lanes, "st", a, geom, clamp, size, _descending(lanes, size)):
        values = np.stack(_chosen(c, lanes, chosen), axis=-1)
        surfaces.write(image, where, values.view(np.uint8).reshape(-1, size))


def sust_p(
    lanes: Lanes, a: Sequence[Array], c: Sequence[Array], *, geom: str, type: str, clamp: str, cop: str = "", vec: str = "v1"
) -> None:
    """The element of the surface a at b = c, converted to the surface's format."""
    for image, chosen, where in _reached(lanes, "st", a, geom, clamp, 0, _descending(lanes, 4 * len(c)), counts_bytes=False):
        surfaces.write(image, where, surfaces.converted(_chosen(c, lanes, chosen), image.format))


for _type, _vec in (("b8 b16 b32", "v2 v4"), ("b64", "v2")):
    instruction(
        "suld.b.geom{.cop}{.vec}.type.clamp  d.vec:type+, [a, {b}]",
        cop="ca cg cs cv",
        vec=_vec,
        type=_type,
        section=SULD,
        doc=f"{suld.__doc__} {_DOMAIN}",
        **_SURFACE,
    )(suld)
    instruction(
        "sust.b.geom{.cop}{.vec}.type.clamp  [a, {b}], c.vec:type+", vec=_vec, type=_type, doc=f"{sust_b.__doc__} {_DOMAIN}", **_STORE
    )(sust_b)
instruction(
    "sust.p.geom{.cop}{.vec}.type.clamp  [a, {b}], c.vec:type+", vec="v2 v4", type="b32", doc=f"{sust_p.__doc__} {_DOMAIN}", **_STORE
)(sust_p)


def sured_b(lanes: Lanes, a: Sequence[Array], c: Array, *, op: str, geom: str, type: str, clamp: str) -> None:
    """The bytes of the surface a at b become themselves op c, at once."""
    for image, chosen, where in _reached(lanes, "red", a, geom, clamp, TYPES[type].dtype.itemsize):
        surfaces.reduce(image, where, op, _chosen([c], lanes, chosen)[0])


def sured_p(lanes: Lanes, a: Sequence[Array], c: Array, *, op: str, geom: str, type: str, clamp: str) -> None:
    """The element of the surface a at b, which counts elements of the type, is replaced by (element op c), at once; it is signed if the surface's format is."""
    for image, chosen, where in _reached(lanes, "red", a, geom, clamp, TYPES[type].dtype.itemsize, counts_bytes=False):
        (value,) = _chosen([c], lanes, chosen)
        signed = image.format.kind == "s"
        surfaces.reduce(image, where, op, value.view(f"i{value.dtype.itemsize}") if signed else value)


_UPDATES = (
    (sured_b, "b", "add", "u32 s32 u64"),
    (sured_b, "b", "min max", "u32 s32 u64 s64"),
    (sured_b, "b", "and or", "b32"),
    (sured_p, "p", "add", "b32"),
    (sured_p, "p", "min max", "b32 b64"),
    (sured_p, "p", "and or", "b32"),
)
for _meaning, _mode, _op, _type in _UPDATES:
    instruction(
        f"sured.{_mode}.op.geom.type.clamp  [a, {{b}}], c:type+",
        op=_op,
        geom="1d 2d 3d",
        type=_type,
        clamp=CLAMP,
        ptx=2.0,
        sm=20,
        needs={"s64": Need(8.1, 50), "b64": Need(8.1, 50)},
        section=SURED,
        doc=f"{_meaning.__doc__} {_DOMAIN}",
    )(_meaning)
