"""Textures against a model that reads one lane at a time; how many passes over its lanes a fetch takes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.isa.textures import cubes
from warplab.isa.textures.fetch import fetch
from warplab.isa.textures.request import Request
from warplab.isa.textures.resources import Image, Sampler, TexelFormat, Texture

from . import texture_model as model

Array = NDArray[Any]
FORMATS = st.sampled_from([TexelFormat(kind, size, n) for kind in "us" for size in (8, 16, 32) for n in (1, 2, 4)] + [
    TexelFormat("f", size, n) for size in (16, 32) for n in (1, 4)
])  # fmt: skip
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
HALVES = st.floats(width=16)


def contents(f: TexelFormat, shape: tuple[int, ...], seed: int, numbers: list[float]) -> Array:
    """Texels: any bits, or floats that were drawn."""
    rng = np.random.default_rng(seed)
    if f.kind == "f":
        return rng.choice(np.array(numbers, np.float32).astype(f.dtype), shape)
    found: Array = rng.integers(0, 256, (*shape[:-1], f.bytes), dtype=np.uint8).view(f.dtype)
    return found


@st.composite
def textures(draw: st.DrawFn) -> tuple[Texture, int]:
    """A texture, and how many dimensions it is read by."""
    dims = draw(st.integers(1, 3))
    size = [draw(st.integers(1, 9)) for _ in range(3)]
    layered = dims < 3 and draw(st.booleans())
    f = draw(FORMATS)
    numbers = draw(st.lists(HALVES if f.bits == 16 else st.floats(width=32), min_size=2, max_size=6))
    levels = []
    for k in range(draw(st.integers(1, 3))):
        w, h, d = (max(n >> k, 1) for n in size)
        levels.append(contents(f, (d if dims == 3 else size[2] if layered else 1, h if dims > 1 else 1, w, f.channels), k, numbers))
    modes = st.sampled_from(("wrap", "clamp", "mirror", "border"))
    filters = st.sampled_from(("point", "linear"))
    ends = draw(st.tuples(st.floats(0, 3), st.floats(0, 3)))
    sampler = Sampler(
        (draw(modes), draw(modes), draw(modes)), draw(filters), draw(filters), draw(st.booleans()), draw(st.booleans()),
        bias=draw(st.floats(-2, 2)), clamp=(min(ends), max(ends)), border=draw(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)),
    )  # fmt: skip
    depth = size[2] if layered or dims == 3 else 0
    return Texture(Image(f, size[0], size[1] if dims > 1 else 0, depth, tuple(levels), layered), sampler), dims


COORDINATES = st.one_of(st.floats(-2, 2, width=32), st.floats(-20, 20, width=32), st.floats(width=32), st.integers(-9, 9).map(float))


@settings(max_examples=150)
@given(textures(), st.data())
def test_a_fetch_is_what_each_lane_alone_would_read(given_: tuple[Texture, int], data: st.DataObject) -> None:
    texture, dims = given_
    n = 6
    points = [data.draw(st.lists(COORDINATES, min_size=n, max_size=n)) for _ in range(dims)]
    layer = data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    level = data.draw(st.one_of(st.none(), st.lists(st.floats(-3, 5, width=32), min_size=n, max_size=n)))
    request = Request(
        f"{dims}d", [np.array(p, np.float32) for p in points], np.array(layer, np.uint32) if texture.image.layered else None,
        None if level is None else np.array(level, np.float32),
    )  # fmt: skip
    with np.errstate(all="ignore"):
        found = [np.broadcast_to(c, (n,)).tolist() for c in fetch(texture, request).channels]
    for lane in range(n):
        point = [p[lane] for p in points]
        expected = model.fetch(texture.image, texture.sampler, dims, point, layer[lane], None if level is None else level[lane])
        got = [c[lane] for c in found]
        assert [is_nan(x) or x for x in got] == [is_nan(x) or x for x in expected], (point, got, expected)


def is_nan(word: int) -> bool:
    """Payloads get lost in Python's floats."""
    return word & 0x7FFFFFFF > 0x7F800000


# ---------------------------------------------------------------- passes

LANES = 4096
VIEWS = {"broadcast_arrays", "broadcast_to", "moveaxis", "reshape", "shape"}
PASSES: list[str] = []


def counted(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(counted(y) for y in x)
    return x.view(Counted) if type(x) is np.ndarray else x


class Counted(np.ndarray[Any, Any]):
    """An array that notes each operation that makes an array of all lanes."""

    inside = 0

    def _note(self, name: str, result: Any) -> Any:
        if not Counted.inside and np.size(result) >= LANES:
            PASSES.append(name)
        return counted(result)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [np.asarray(x) if isinstance(x, Counted) else x for x in inputs]
        if out is not None:
            options["out"] = tuple(np.asarray(x) for x in out)
        return self._note(ufunc.__name__, getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        Counted.inside += 1
        try:
            result = super().__array_function__(function, types, args, kwargs)
        finally:
            Counted.inside -= 1
        return counted(result) if function.__name__ in VIEWS else self._note(function.__name__, result)

    def __getitem__(self, key: Any) -> Any:
        result = super().__getitem__(key)
        return self._note("take", result) if isinstance(result, np.ndarray) and result.base is None else result

    def astype(self, *args: Any, **kwargs: Any) -> Any:
        return self._note("astype", super().astype(*args, **kwargs))


@pytest.mark.parametrize("kind", ["f", "u"])
@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("modes", [("clamp",) * 3, ("wrap",) * 3, ("mirror",) * 3, ("border",) * 3, ("wrap", "clamp", "clamp")])
def test_a_bilinear_fetch_takes_at_most_sixty_passes(kind: str, channels: int, normalized: bool, modes: tuple[str, str, str]) -> None:
    f = TexelFormat(kind, 32 if kind == "f" else 8, channels)
    texels = contents(f, (1, 64, 64, channels), 1, [0.5, 1.5, -3.0]).view(Counted)
    texture = Texture(Image(f, 64, 64, 0, (texels,)), Sampler(modes, "linear", normalized=normalized))
    rng = np.random.default_rng(2)
    PASSES.clear()
    with np.errstate(all="ignore"):
        fetch(texture, Request("2d", [rng.random(LANES).astype(np.float32).view(Counted) for _ in "xy"]))
    assert 20 < len(PASSES) <= 60, PASSES


# ---------------------------------------------------------------- cube maps


def centre(face: int, row: int, column: int, size: int) -> tuple[float, ...]:
    """The middle of a texel on a cube of side 2, by the table of the CUDA programming guide."""
    s, t = (2 * column + 1) / size - 1, (2 * row + 1) / size - 1
    return ((1, -t, -s), (-1, -t, s), (s, 1, t), (s, -1, -t), (s, -t, 1), (-s, -t, -1))[face]


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_beyond_an_edge_lies_the_nearest_texel_of_another_face(size: int) -> None:
    texels = [(f, r, c) for f in range(6) for r in range(size) for c in range(size)]
    middles = np.array([centre(*texel, size) for texel in texels])
    for face in range(6):
        for k in range(size):
            for row, column in ((-1, k), (size, k), (k, -1), (k, size)):
                near = [cubes.across_edges(np.array([face]), np.array([row]), np.array([column]), size)[i].item() for i in range(4)]
                point = np.array(centre(face, row, column, size))
                others = [n for n, texel in enumerate(texels) if texel[0] != face]
                nearest = min(others, key=lambda n: float(((middles[n] - point) ** 2).sum()))
                assert (*near[:3], near[3]) == (*texels[nearest], False)


def test_a_direction_meets_the_texel_it_points_at() -> None:
    size = 8
    for face in range(6):
        for row in range(size):
            for column in range(size):
                direction = [np.array([x * 3.0], np.float32) for x in centre(face, row, column, size)]
                found, (s, t) = cubes.projected(direction)
                assert (found.item(), int(t.item() * size), int(s.item() * size)) == (face, row, column)
    corner = cubes.across_edges(np.array([0]), np.array([-1]), np.array([size]), size)
    assert corner[3].item()
