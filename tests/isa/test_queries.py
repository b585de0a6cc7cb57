"""txq, suq and istypep: the extents that the H200 gave, and the properties that the PTX manual names."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.isa.textures.resources import BORDER, LINEAR, MIRROR, WRAP, Image, Sampler, Surface, TexelFormat, Texture

Bits = NDArray[Any]
Bound = Callable[[str], Callable[..., Any]]
LAYERED, CUBE = 1, 4
HALF = TexelFormat("f", 16, 4)
Sizes = tuple[int, ...]


class Port:
    """One resource, or none, behind every handle; a variable of one kind has the handle 7."""

    active = None

    def __init__(self, resource: Texture | Surface | None, kind: str = "") -> None:
        self.resource, self.kind = resource, kind

    def resources(self, handle: Bits) -> list[tuple[Texture | Surface | None, Bits | None]]:
        return [(self.resource, None)]

    def is_variable(self, handle: Bits, kind: str) -> Bits:
        found: Bits = (handle == 7) & (kind == self.kind)
        return found


def image(width: int, height: int, depth: int, flags: int = 0, levels: int = 1) -> Image:
    layers = flags & (LAYERED | CUBE)
    texels = [
        np.zeros((max(depth if layers else depth >> k, 1), max(height >> k, 1), max(width >> k, 1), HALF.channels), HALF.dtype)
        for k in range(levels)
    ]
    return Image(HALF, width, height, depth, tuple(texels), layered=bool(flags & LAYERED), cube=bool(flags & CUBE))


def ask(bound: Bound, spelling: str, resource: Texture | Surface | None, *operands: Bits) -> list[int]:
    found = bound(spelling)(Port(resource), np.full((1, 1), 3, np.uint64), *operands)
    assert found.dtype == np.uint32
    return [int(n) for n in found[0]]


def extents(bound: Bound, opcode: str, resource: Texture | Surface) -> list[int]:
    return [ask(bound, f"{opcode}.{query}.b32", resource)[0] for query in ("width", "height", "depth")]


# What the H200 gave: how an array was made (width, height, depth or layers or faces, flags, levels), and its extents.
SURFACES: list[tuple[Sizes, Sizes]] = [
    ((6, 0, 0), (6, 0, 0)), ((20, 4, 0), (20, 4, 0)), ((16, 16, 16), (16, 16, 16)), ((9, 7, 4, LAYERED), (9, 7, 4)),
    ((4, 4, 12, LAYERED | CUBE), (4, 4, 12)), ((5, 5, 6, CUBE), (5, 5, 6)), ((12, 0, 4, LAYERED), (12, 4, 0)), ((9, 5, 4), (9, 5, 4)),
]  # fmt: skip
TEXTURES: list[tuple[Sizes, Sizes]] = [
    ((9, 7, 4, LAYERED), (9, 7, 4)), ((20, 0, 3, LAYERED), (20, 3, 0)), ((5, 5, 6, CUBE), (5, 5, 0)), ((12, 0, 0), (12, 1, 0)),
    ((10, 6, 0), (10, 6, 0)), ((9, 5, 4), (9, 5, 4)), ((4, 4, 12, LAYERED | CUBE), (4, 4, 2)),
]  # fmt: skip
LEVELS: list[tuple[Sizes, list[Sizes]]] = [  # of level 0 and on, as far as there are levels
    ((9, 0, 0), [(9, 1, 0)]), ((9, 0, 4, LAYERED), [(9, 4, 0)]), ((20, 12, 6, LAYERED), [(20, 12, 6)]), ((5, 5, 6, CUBE), [(5, 5, 0)]),
    ((16, 16, 16, 0, 3), [(16, 16, 16), (8, 8, 8), (4, 4, 4)]), ((16, 8, 0, 0, 5), [(16, 8, 0), (8, 4, 0), (4, 2, 0), (2, 1, 0), (1, 1, 0)]),
]  # fmt: skip
VARIABLES = [("texref", "texref", True), ("texref", "surfref", False), ("texref", "samplerref", False), ("surfref", "surfref", True),
             ("surfref", "texref", False), ("surfref", "samplerref", False)]  # fmt: skip


@pytest.mark.parametrize(("dims", "expected"), SURFACES)
def test_recorded_extents_of_surfaces(bound: Bound, dims: Sizes, expected: Sizes) -> None:
    assert extents(bound, "suq", Surface(image(*dims))) == list(expected)


@pytest.mark.parametrize(("dims", "expected"), TEXTURES)
def test_recorded_extents_of_textures(bound: Bound, dims: Sizes, expected: Sizes) -> None:
    assert extents(bound, "txq", Texture(image(*dims), Sampler())) == list(expected)


@pytest.mark.parametrize(("dims", "expected"), LEVELS)
def test_recorded_extents_of_levels(bound: Bound, dims: Sizes, expected: list[Sizes]) -> None:
    level = np.array([[2**32 - 1, *range(7)]], np.uint32)
    texture = Texture(image(*dims), Sampler())
    found = [ask(bound, f"txq.level.{query}.b32", texture, level) for query in ("width", "height", "depth")]
    assert list(zip(*found, strict=True)) == [(0, 0, 0), *expected, *[(0, 0, 0)] * (7 - len(expected))]


@pytest.mark.parametrize(("variable", "asked", "expected"), VARIABLES)
def test_recorded_kinds_of_variables(bound: Bound, variable: str, asked: str, expected: bool) -> None:
    """An object of the host is of no kind."""
    assert bound(f"istypep.{asked}")(Port(None, variable), np.array([[7, 3]], np.uint64)).tolist() == [[expected, False]]


def test_cubes_in_layers_count_as_depth(bound: Bound) -> None:
    assert extents(bound, "txq", Texture(image(4, 4, 12, LAYERED | CUBE), Sampler())) == [4, 4, 2]


def test_properties_of_textures_and_surfaces(bound: Bound) -> None:
    of = image(8, 8, 6, LAYERED, levels=3)
    texture = Texture(of, Sampler(address=(WRAP, MIRROR, BORDER), filter=LINEAR, normalized=True))
    answers = {
        "num_mipmap_levels": 3, "num_samples": 0, "array_size": 6, "normalized_coords": 1, "filter_mode": 1, "addr_mode_0": 0, "addr_mode_1": 1,
        "addr_mode_2": 4, "force_unnormalized_coords": 0, "channel_data_type": 16, "channel_order": 4,
    }  # fmt: skip
    for query, answer in answers.items():
        assert ask(bound, f"txq.{query}.b32", texture) == [answer]
    for query, answer in {"array_size": 6, "channel_data_type": 16, "channel_order": 4, "memory_layout": 0}.items():
        assert ask(bound, f"suq.{query}.b32", Surface(of)) == [answer]


@pytest.mark.parametrize("spelling", ["txq.width.b32", "txq.addr_mode_0.b32", "suq.height.b32"])
def test_what_nothing_is_bound_to_answers_zero(bound: Bound, spelling: str) -> None:
    assert ask(bound, spelling, None) == [0]
