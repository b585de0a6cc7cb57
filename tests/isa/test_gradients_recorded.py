"""Levels of gradients and footprints of anisotropic filtering, as an H100 has them (tests/hardware/record_gradients.cu).

A part of the file is one configuration: a texture, and lanes with coordinates and two gradients.  Each level of a texture whose levels were
recorded holds its number.  Of a footprint, every texel's weight was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.isa.textures.fetch import fetch
from warplab.isa.textures.request import Request
from warplab.isa.textures.resources import CLAMP, LINEAR, POINT, WRAP, Image, Sampler, TexelFormat, Texture

DATA = Path(__file__).parents[1] / "data" / "textures" / "gradients.npz"
GEOMETRIES = ("2d", "3d", "cube")
FACES = 6


def extents(head: NDArray[Any], level: int) -> tuple[int, int, int]:
    """Slices, rows and columns of a level."""
    geometry, width, height = GEOMETRIES[head[0]], int(head[1]), int(head[2])
    rows = width if geometry == "cube" else height
    slices = FACES if geometry == "cube" else max(width >> level, 1) if geometry == "3d" else 1
    return slices, max(rows >> level, 1), max(width >> level, 1)


def texture(head: NDArray[Any], clamps: NDArray[Any], levels: list[NDArray[Any]], *, blends_evenly: bool) -> Texture:
    """The texture of a configuration."""
    cube = GEOMETRIES[head[0]] == "cube"
    slices, rows, columns = extents(head, 0)
    image = Image(TexelFormat("f", 32, 1), columns, rows, 0 if GEOMETRIES[head[0]] == "2d" else slices, tuple(levels), cube=cube)
    return Texture(
        image,
        Sampler(
            (CLAMP if cube else WRAP,) * 3, POINT if blends_evenly else LINEAR, LINEAR, True, bias=head[7] / 1000,
            clamp=(float(clamps[0]), float(clamps[1])), anisotropy=int(head[4]), blends_evenly=blends_evenly,
        ),
    )  # fmt: skip


def fetched(head: NDArray[Any], inputs: NDArray[Any], where: Texture) -> NDArray[Any]:
    """What each lane reads."""
    geometry = GEOMETRIES[head[0]]
    axes = 2 if geometry == "2d" else 3
    point, first, second = ([np.ascontiguousarray(inputs[:, 3 * v + k]) for k in range(axes)] for v in range(3))
    channel = fetch(where, Request(geometry, point, gradients=(first, second))).channels[0]
    return np.broadcast_to(np.asarray(channel).view(np.float32), len(inputs))


def parts(kind: str) -> Iterator[Any]:
    """The configurations whose levels, or footprints, were recorded."""
    with np.load(DATA) as data:
        for k, head in enumerate(data[f"{kind}-heads"]):
            named = f"{GEOMETRIES[head[0]]}-{head[1]}x{head[2]}-{head[4]}-{k}"
            yield pytest.param(head, data[f"{kind}-clamps"][k], data[f"{kind}-inputs-{k}"], data[f"{kind}-{k}"], id=named)


@pytest.mark.parametrize(("head", "clamps", "inputs", "recorded"), list(parts("levels")))
def test_levels_are_the_recorded_ones(head: Any, clamps: Any, inputs: Any, recorded: Any) -> None:
    levels = [np.full((*extents(head, k), 1), k, np.float32) for k in range(head[3])]
    found = fetched(head, inputs, texture(head, clamps, levels, blends_evenly=True))
    assert (np.rint(found * 256) == recorded).all()


@pytest.mark.parametrize(("head", "clamps", "inputs", "recorded"), list(parts("footprints")))
def test_footprints_are_the_recorded_ones(head: Any, clamps: Any, inputs: Any, recorded: Any) -> None:
    """Texels of twelve binary digits, so that the sum of a footprint is exact."""
    sizes = [extents(head, k) for k in range(head[3])]
    starts = np.cumsum([0, *(int(np.prod(s)) for s in sizes)])
    for seed in range(2):
        texels = np.random.default_rng(seed).integers(1, 4096, int(starts[-1]))
        levels = [
            texels[start : start + int(np.prod(s))].astype(np.float32).reshape(*s, 1) for start, s in zip(starts, sizes, strict=False)
        ]
        expected = np.zeros(len(inputs))
        np.add.at(expected, recorded["lane"], recorded["weight"] * texels[recorded["texel"]] / 4096)
        assert (fetched(head, inputs, texture(head, clamps, levels, blends_evenly=False)) == expected).all()
