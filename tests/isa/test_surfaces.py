"""suld, sust and sured against the H200's results (tests/data/textures/surfaces.npz), and against one lane at a time.

surfaces.npz: `cases`, an instruction a line of JSON, lzma-packed; `inputs`, words of 32 bits, to which the cases point by position.  A case has
the array, the operands, and the CRC-32 of what suld gave (four words a lane) or of the array after sust and sured; or the fault.
"""

import json
import lzma
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.isa.textures.resources import Image, Surface, TexelFormat
from warplab.isa.textures.surfaces import BytePlace

from .surface_model import COORDINATES, MisalignedError, OutsideError, SurfaceModel
from .test_textures_recorded import image

Bits = NDArray[Any]
Bound = Callable[[str], Callable[..., Any]]
RECORDED = np.load(Path(__file__).parents[1] / "data" / "textures" / "surfaces.npz")
CASES = [json.loads(line) for line in lzma.decompress(RECORDED["cases"].tobytes()).decode().splitlines()]
few = settings(max_examples=12)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
TYPES = {
    "b8": np.uint8,
    "b16": np.uint16,
    "b32": np.uint32,
    "b64": np.uint64,
    "u32": np.uint32,
    "s32": np.int32,
    "u64": np.uint64,
    "s64": np.int64,
}


class RefusedError(Exception):
    """A fault that an instruction asks for: its kind."""


class Port:
    """Lanes whose handles are positions in a list of images; null stands for nothing."""

    def __init__(self, images: Sequence[Image], count: int, active: Bits | None = None) -> None:
        self.images, self.active = images, active
        self.shape = 1, count

    def ctas(self) -> Bits:
        return np.zeros(self.shape, np.int64)

    def special(self, name: str) -> Bits:
        assert name == "%laneid"
        return np.arange(self.shape[1], dtype=np.uint32)[None] % np.uint32(32)

    def resources(self, handle: Bits) -> list[tuple[Surface | None, Bits | None]]:
        if handle.size == 1:
            return [(self.one(int(handle[0, 0])), None)]
        return [(self.one(int(h)), handle == h) for h in np.unique(handle)]

    def one(self, handle: int) -> Surface | None:
        return Surface(self.images[handle - 1]) if handle else None

    def surface_accessed(self, image: Image, kind: str, where: BytePlace, size: int, numbers: Bits) -> None:
        """Nobody observes."""

    def refuse(self, kind: str, text: str, lanes: Bits, space: str) -> NoReturn:
        assert space == "surface" and lanes.shape == self.shape and text
        raise RefusedError(kind)


def words_of(spelling: str) -> tuple[list[str], str, int, Any]:
    """(words, geometry, elements, their dtype)."""
    words = spelling.split(".")
    count = next((int(w[1:]) for w in words if w in ("v2", "v4")), 1)
    return words, next(w for w in words if w in COORDINATES), count, TYPES[next(w for w in words if w in TYPES)]


def register_values(operands: Sequence[Bits], dtype: Any, count: int) -> list[Bits]:
    """Words of 32 bits as the elements of a type."""
    if np.dtype(dtype).itemsize == 8:
        return [np.stack(operands[2 * k : 2 * k + 2], axis=-1).view(dtype)[..., 0] for k in range(count)]
    return [o.astype(f"u{np.dtype(dtype).itemsize}").view(dtype) for o in operands[:count]]


def _value(spelling: str, *values: Bits) -> tuple[Any, ...]:
    """What follows the address."""
    return () if spelling.startswith("suld") else values if spelling.startswith("sured") else (values,)


# ---------------------------------------------------------------- recordings


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']}-{case['array']['format']}-{case['array']['channels']}")
def test_recorded(bound: Bound, case: dict[str, Any]) -> None:
    def operands(name: str) -> list[Bits]:
        return [RECORDED["inputs"][at : at + case["n"]][None] for at in case.get(name, [])]

    surface = image(case["array"])
    _, _, count, dtype = words_of(case["name"])
    address = np.full((1, 1), 1, np.uint64), *operands("coords")
    values = register_values(operands("values"), dtype, count) if "values" in case else []
    port = Port([surface], case["n"])
    if "fault" in case:
        with pytest.raises(RefusedError, match=case["fault"]):
            bound(case["name"])(port, address, *_value(case["name"], *values))
        return
    if case["name"].startswith("suld"):
        elements = bound(case["name"])(port, address)
        words = (
            [e.astype(np.uint32) for e in elements]
            if np.dtype(dtype).itemsize < 8
            else [e[..., None].view(np.uint32)[..., k] for e in elements for k in (0, 1)]
        )
        got = np.stack([*words, *[np.full((1, case["n"]), -1, np.int32).view(np.uint32)] * (4 - len(words))], axis=-1)
    else:
        bound(case["name"])(port, address, *_value(case["name"], *values))
        got = surface.levels[0]
    assert zlib.crc32(got.tobytes()) == case["crc"]


def test_the_recordings_hold_every_geometry_and_format() -> None:
    assert {words_of(case["name"])[1] for case in CASES} == set(COORDINATES)
    assert len({case["array"]["format"] for case in CASES if ".p." in case["name"]}) == 8


# ---------------------------------------------------------------- one lane at a time

SHAPES = {"1d": (7, 0, 0), "2d": (5, 3, 0), "3d": (4, 3, 2), "a1d": (6, 0, 3), "a2d": (5, 2, 3)}
BYTES = [f"{v}b{n}" for n in (8, 16, 32) for v in ("", "v2.", "v4.")] + ["b64", "v2.b64"]
UPDATES = [("b", "add", t) for t in ("u32", "s32", "u64")] + [("b", op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
UPDATES += [("b", op, "b32") for op in ("and", "or")] + [("p", op, "b32") for op in ("add", "min", "max", "and", "or")]
LANES = 70  # of three warps


def surfaces(rng: np.random.Generator, geometry: str, texel: TexelFormat) -> tuple[Image, SurfaceModel]:
    """A surface of random bytes, and the model of it."""
    width, height, depth = SHAPES[geometry]
    shape = max(depth, 1), max(height, 1), width, texel.channels
    contents = rng.integers(0, 256, int(np.prod(shape)) * texel.bits // 8, np.uint8)
    made = Image(texel, width, height, depth, (contents.copy().view(texel.dtype).reshape(shape),), layered=geometry[0] == "a")
    return made, SurfaceModel(bytearray(contents), (width, shape[1], shape[0]), texel.kind, texel.bits, texel.channels, geometry)


def coordinates(rng: np.random.Generator, geometry: str, step: int, model: SurfaceModel, *, inside: bool) -> list[Bits]:
    """Coordinates of LANES lanes, the first in multiples of a step, in and around a surface."""
    width, height, slices = model.sizes
    reach = width * (model.texel if step > 1 or model.texel == 1 else 1) // step
    out = 0 if inside else 2
    x = rng.integers(-out, reach + out, (1, LANES)) * step
    others = [rng.integers(-out, n + out, (1, LANES)) for n in (height, slices)]
    numbers = {
        "1d": [x],
        "2d": [x, others[0]],
        "3d": [x, *others, others[0]],
        "a1d": [others[1], x],
        "a2d": [others[1], x, others[0], others[0]],
    }
    return [n.astype(np.int32).view(np.uint32) for n in numbers[geometry]]


def signed(numbers: Sequence[Bits], lane: int) -> list[int]:
    return [int(n.view(np.int32)[0, lane]) for n in numbers]


def order(active: Bits, size: int) -> list[int]:
    """Lanes as they store: as many after each other as store 128 bytes, at most a warp; of these the highest first."""
    return sorted(np.flatnonzero(active[0]), key=lambda lane: (lane // min(128 // size, 32), -lane))


def any_format(rng: np.random.Generator) -> TexelFormat:
    return TexelFormat("us"[rng.integers(2)], int(rng.choice([8, 16, 32])), int(rng.choice([1, 2, 4])))


def wide_enough(size: int, rng: np.random.Generator) -> TexelFormat:
    """A format whose texels have no fewer bytes."""
    formats = [TexelFormat(k, b, c) for k in "us" for b in (8, 16, 32) for c in (1, 2, 4)]
    formats = [f for f in formats if f.bytes >= size]
    return formats[rng.integers(len(formats))]


@pytest.mark.parametrize("clamp", ["clamp", "zero", "trap"])
@pytest.mark.parametrize("geometry", COORDINATES)
@few
@given(seeds, st.sampled_from(BYTES))
def test_bytes_one_lane_at_a_time(bound: Bound, geometry: str, clamp: str, rng: np.random.Generator, kind: str) -> None:
    _, _, count, dtype = words_of(f"{geometry}.{kind}")
    size = np.dtype(dtype).itemsize * count
    of = geometry if clamp == "trap" or rng.random() < 0.6 else str(rng.choice(sorted(COORDINATES)))
    surface, model = surfaces(rng, of, wide_enough(size, rng) if clamp == "trap" else any_format(rng))
    where = coordinates(rng, geometry, size, model, inside=clamp == "trap")
    active = rng.random((1, LANES)) < 0.8
    port, address = Port([surface], LANES, active), (np.full((1, 1), 1, np.uint64), *where)
    places = {k: model.place(geometry, signed(where, k), size, clamp, True) for k in order(active, size)}
    found = bound(f"suld.b.{geometry}.{kind}.{clamp}")(port, address)
    for lane, at in places.items():
        assert b"".join(e[0, lane].tobytes() for e in found) == model.load(at, size)
    values = [rng.integers(0, 256, (1, LANES, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0] for _ in range(count)]
    bound(f"sust.b.{geometry}.{kind}.{clamp}")(port, address, tuple(values))
    for lane, at in places.items():
        model.store(at, b"".join(v[0, lane].tobytes() for v in values))
    assert surface.levels[0].tobytes() == model.contents


@pytest.mark.parametrize("clamp", ["clamp", "zero"])
@pytest.mark.parametrize("texel", [("u", 8), ("u", 16), ("u", 32), ("s", 8), ("s", 16), ("s", 32), ("f", 16), ("f", 32)])
@few
@given(seeds, st.sampled_from(sorted(COORDINATES)), st.sampled_from(["", "v2.", "v4."]), st.sampled_from([1, 2, 4]))
def test_texels_one_lane_at_a_time(
    bound: Bound, texel: tuple[str, int], clamp: str, rng: np.random.Generator, geometry: str, vec: str, channels: int
) -> None:
    surface, model = surfaces(rng, geometry, TexelFormat(*texel, channels))
    where = coordinates(rng, geometry, 1, model, inside=False)
    count = int(vec[1:2] or 1)
    drawn = rng.integers(0, 2**32, (count, 1, LANES), np.uint32)
    halves = rng.normal(0, 10, drawn.shape).astype(np.float32) * 10.0 ** rng.integers(-9, 6, drawn.shape)
    values = np.where(
        rng.random(drawn.shape) < 0.5, drawn >> rng.integers(0, 32, drawn.shape, np.uint32), halves.astype(np.float32).view(np.uint32)
    )
    with np.errstate(all="ignore"):
        bound(f"sust.p.{geometry}.{vec}b32.{clamp}")(Port([surface], LANES), (np.full((1, 1), 1, np.uint64), *where), tuple(values))
    for lane in order(np.ones((1, LANES), np.bool_), 4 * count):
        model.store(
            model.place(geometry, signed(where, lane), model.texel, clamp, False), model.texel_of([int(v[0, lane]) for v in values])
        )
    assert surface.levels[0].tobytes() == model.contents


@pytest.mark.parametrize("clamp", ["clamp", "zero"])
@pytest.mark.parametrize(("mode", "op", "type"), UPDATES)
@few
@given(seeds, st.sampled_from(["1d", "2d", "3d"]), st.sampled_from("us"))
def test_updates_one_lane_at_a_time(
    bound: Bound, mode: str, op: str, type: str, clamp: str, rng: np.random.Generator, geometry: str, kind: str
) -> None:
    dtype = np.dtype(TYPES[type])
    surface, model = surfaces(rng, geometry, replace(any_format(rng), kind=kind))
    where = coordinates(rng, geometry, 1 if mode == "p" else dtype.itemsize, model, inside=False)
    values = rng.integers(0, 256, (1, LANES, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    bound(f"sured.{mode}.{op}.{geometry}.{type}.{clamp}")(Port([surface], LANES), (np.full((1, 1), 1, np.uint64), *where), values)
    for lane in range(LANES):
        at = model.place(geometry, signed(where, lane), dtype.itemsize, clamp, mode == "b")
        model.reduce(at, op, values[0, lane].tobytes(), type[0] == "s" or (mode == "p" and kind == "s"))
    assert surface.levels[0].tobytes() == model.contents


@few
@given(seeds)
def test_handles_may_differ_by_lane(bound: Bound, rng: np.random.Generator) -> None:
    made = [surfaces(rng, "2d", TexelFormat("u", 32, 1)) for _ in range(2)]
    handle = rng.integers(0, 3, (1, LANES)).astype(np.uint64)
    where = coordinates(rng, "2d", 4, made[0][1], inside=False)
    (found,) = bound("suld.b.2d.b32.zero")(Port([image for image, _ in made], LANES), (handle, *where))
    for lane in range(LANES):
        at = made[0][1].place("2d", signed(where, lane), 4, "zero", True)
        expected = made[int(handle[0, lane]) - 1][1].load(at, 4) if handle[0, lane] else bytes(4)
        assert found[0, lane].tobytes() == expected


@pytest.mark.parametrize("spelling", ["suld.b.2d.b32", "sust.b.2d.b32", "sured.b.add.2d.u32", "suld.b.2d.v2.b32"])
@pytest.mark.parametrize("clamp", ["clamp", "zero", "trap"])
def test_an_access_begins_at_a_multiple_of_its_size(bound: Bound, spelling: str, clamp: str) -> None:
    surface, model = surfaces(np.random.default_rng(1), "2d", TexelFormat("u", 32, 2))
    _, _, count, dtype = words_of(spelling)
    x = 4 if count == 2 else 2
    with pytest.raises(MisalignedError):
        model.place("2d", [x, 0], 4 * count, clamp, True)
    address = tuple(np.full((1, 1), n, np.uint64) for n in (1, x, 0))
    value = np.zeros((1, 1), dtype)
    with pytest.raises(RefusedError, match="misaligned"):
        bound(f"{spelling}.{clamp}")(
            Port([surface], 3), address[:1] + tuple(a.astype(np.uint32) for a in address[1:]), *_value(spelling, value)
        )


@pytest.mark.parametrize("spelling", ["suld.b.2d.b32", "sust.b.2d.b32", "sust.p.2d.b32", "sured.b.add.2d.u32", "sured.p.add.2d.b32"])
@pytest.mark.parametrize("where", [(20, 0), (-4, 0), (0, 3), (0, -1)])
def test_trap_refuses_what_is_outside(bound: Bound, spelling: str, where: tuple[int, int]) -> None:
    surface, model = surfaces(np.random.default_rng(1), "2d", TexelFormat("u", 32, 1))
    before = surface.levels[0].tobytes()
    with pytest.raises(OutsideError):
        model.place("2d", where, 4, "trap", ".p." not in spelling)
    address = np.full((1, 1), 1, np.uint64), *(np.full((1, 1), n, np.int32).view(np.uint32) for n in where)
    value = np.zeros((1, 1), words_of(spelling)[3])
    with pytest.raises(RefusedError, match="out-of-bounds"):
        bound(f"{spelling}.trap")(Port([surface], 3), address, *_value(spelling, value))
    idle = Port([surface], 3, np.zeros((1, 3), np.bool_))
    bound(f"{spelling}.trap")(idle, address, *_value(spelling, value))  # no lane executes it
    assert surface.levels[0].tobytes() == before
