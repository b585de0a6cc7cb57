"""CUDA's own texture and surface functions, as nvcc compiles them, against one lane at a time (tests/isa's models)."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.isa.textures.resources import CLAMP, LINEAR, WRAP, Image, Sampler, TexelFormat

from ...isa.surface_model import SurfaceModel
from ...isa.texture_model import fetch
from ..conftest import POINTER, Host, driver
from ..driver.test_textures import descriptor, fill, of_array, of_line, of_mipmap

cu: Any = driver
Floats = NDArray[np.float32]
SOURCE = Path(__file__).parents[1] / "kernels" / "textures.cu"
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
LANES, CHANNELS = 48, 4
FLOAT4, UINT2 = TexelFormat("f", 32, 4), TexelFormat("u", 32, 2)
PLANE = 8, 4, 0
# For each face (+x -x +y -y +z -z) the direction to its point (s, t), both from -1 to 1.
DIRECTIONS = (
    lambda s, t: (1, -t, -s), lambda s, t: (-1, -t, s), lambda s, t: (s, 1, t), lambda s, t: (s, -1, -t), lambda s, t: (s, -t, 1),
    lambda s, t: (-s, -t, -1),
)  # fmt: skip


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> str:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    out = tmp_path_factory.mktemp("nvcc") / "textures.ptx"
    subprocess.run([nvcc, "-ptx", "-arch=sm_90", str(SOURCE), "-o", str(out)], check=True, capture_output=True, timeout=300)
    return out.read_text()


def texels(shape: tuple[int, int, int], seed: int) -> Floats:
    width, height, depth = shape
    size = max(depth, 1), max(height, 1), width, CHANNELS
    return np.random.default_rng(seed).normal(size=size).astype(np.float32)


def coordinates(low: float, high: float) -> Floats:
    """Four coordinates a lane, from a little below the first texel to a little beyond the last."""
    return np.random.default_rng(7).uniform(low, high, (LANES, 4)).astype(np.float32)


def bits(host: Host, ptx: str, entry: str, handle: int, at: NDArray[Any]) -> list[list[int]]:
    """The bits of what each lane reads."""
    out = host.upload(np.zeros((LANES, CHANNELS), np.uint32))
    assert host.launch(host.function(entry, ptx), 1, LANES, (handle, host.upload(at), out), (POINTER,) * 3) == "SUCCESS"
    host("cuCtxSynchronize")
    found: list[list[int]] = host.download(out, np.zeros((LANES, CHANNELS), np.uint32)).tolist()
    return found


def texture(host: Host, resource: Any, s: Sampler) -> int:
    t = cu.CUDA_TEXTURE_DESC()
    modes = {WRAP: 0, CLAMP: 1}
    t.addressMode = [cu.CUaddress_mode(modes[m]) for m in s.address]
    t.filterMode = cu.CUfilter_mode(int(s.filter == LINEAR))
    t.mipmapFilterMode = cu.CUfilter_mode(int(s.mip_filter == LINEAR))
    t.flags = 2 * s.normalized
    t.minMipmapLevelClamp, t.maxMipmapLevelClamp = s.clamp
    return int(host("cuTexObjectCreate", resource, t, None))


def array(host: Host, shape: tuple[int, int, int], contents: NDArray[Any], flags: int = 0, format: Any = None) -> Any:
    kind = cu.CUarray_format.CU_AD_FORMAT_FLOAT if format is None else format
    a = host("cuArray3DCreate", descriptor(*shape, format=kind, channels=contents.shape[3], flags=flags))
    fill(host, a, contents.reshape(*contents.shape[:2], -1))
    return a


@pytest.mark.parametrize(
    ("entry", "dims", "shape", "flags"),
    [
        ("line", 1, (9, 0, 0), 0), ("plane", 2, PLANE, 0), ("volume", 3, (5, 4, 3), 0), ("line_layered", 1, (9, 0, 3), LAYERED),
        ("plane_layered", 2, (6, 4, 3), LAYERED),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "sampler",
    [Sampler(), Sampler(filter=LINEAR), Sampler((WRAP,) * 3, LINEAR, normalized=True), Sampler(normalized=True)],
    ids=["point", "linear", "wrapped", "normalized"],
)
def test_filtered(host: Host, ptx: str, entry: str, dims: int, shape: tuple[int, int, int], flags: int, sampler: Sampler) -> None:
    contents = texels(shape, 1)
    image = Image(FLOAT4, *shape, (contents,), layered=bool(flags))
    handle = texture(host, of_array(array(host, shape, contents, flags)), sampler)
    at = coordinates(-1.5, 2.5) if sampler.normalized else coordinates(-2, 11)
    at[:, 3] = np.arange(LANES) % 5  # layers, of which the last ones do not exist
    expected = [fetch(image, sampler, dims, [float(c) for c in p[:dims]], int(p[3]) if flags else 0) for p in at]
    assert bits(host, ptx, entry, handle, at) == expected


Shape = tuple[int, int, int]


def level_of(shape: Shape, k: int, entry: str) -> Shape:
    """The extent of a level; layers stay as they are."""
    width, height, depth = (n and max(n >> k, 1) for n in shape)
    return width, height, shape[2] if "layered" in entry else depth


@pytest.mark.parametrize(
    ("entry", "dims", "shape"),
    [
        ("line_lod", 1, (16, 0, 0)), ("plane_lod", 2, (8, 4, 0)), ("volume_lod", 3, (8, 8, 4)), ("line_layered_lod", 1, (16, 0, 3)),
        ("plane_layered_lod", 2, (8, 4, 3)),
    ],
)  # fmt: skip
def test_levels(host: Host, ptx: str, entry: str, dims: int, shape: tuple[int, int, int]) -> None:
    sampler = Sampler((WRAP,) * 3, LINEAR, LINEAR, normalized=True, clamp=(0.0, 9.0))
    layered = "layered" in entry
    levels = [texels(level_of(shape, k, entry), k) for k in range(3)]
    mipmap = _mipmap(host, shape, levels, LAYERED * layered)
    at = coordinates(-1, 2)
    if layered:
        at[:, 2] = np.arange(LANES) % 5
    at[:, 3] = np.linspace(-1, 4, LANES)
    image = Image(FLOAT4, *shape, tuple(levels), layered=layered)
    expected = [fetch(image, sampler, dims, [float(c) for c in p[:dims]], int(p[2]) if layered else 0, float(p[3])) for p in at]
    assert bits(host, ptx, entry, texture(host, of_mipmap(mipmap), sampler), at) == expected


def _mipmap(host: Host, shape: Shape, levels: list[Floats], flags: int) -> Any:
    mipmap = host("cuMipmappedArrayCreate", descriptor(*shape, channels=CHANNELS, flags=flags), len(levels))
    for k, contents in enumerate(levels):
        fill(host, host("cuMipmappedArrayGetLevel", mipmap, k), contents.reshape(*contents.shape[:2], -1))
    return mipmap


@pytest.mark.parametrize(
    ("entry", "shape", "size"),
    [
        ("line_grad", (32, 0, 0), 32), ("plane_grad", (32, 16, 0), 32), ("volume_grad", (8, 16, 32), 32),
        ("line_layered_grad", (32, 0, 2), 32), ("plane_layered_grad", (32, 16, 2), 32),
    ],
)  # fmt: skip
def test_a_gradient_of_two_texels_asks_for_the_first_level(
    host: Host, ptx: str, entry: str, shape: tuple[int, int, int], size: int
) -> None:
    levels = [np.full_like(texels(level_of(shape, k, entry), 0), k) for k in range(4)]
    handle = texture(
        host, of_mipmap(_mipmap(host, shape, levels, LAYERED * ("layered" in entry))), Sampler(normalized=True, clamp=(0.0, 9.0))
    )
    at = coordinates(0, 1)
    wanted = np.arange(LANES) % 6
    at[:, 3] = 2.0**wanted / size
    found = np.array(bits(host, ptx, entry, handle, at), np.uint32).view(np.float32)
    assert (found == np.minimum(wanted, 3)[:, None]).all()


def test_fetches_of_a_line_of_memory(host: Host, ptx: str) -> None:
    contents = texels((20, 0, 0), 3)
    at = np.repeat(np.arange(LANES, dtype=np.float32)[:, None] - 8, 4, axis=1)
    handle = texture(host, of_line(host.upload(contents), contents.nbytes, channels=CHANNELS), Sampler())
    expected = [contents[0, 0, i].view(np.uint32).tolist() if 0 <= i < 20 else [0] * 4 for i in range(-8, LANES - 8)]
    assert bits(host, ptx, "fetch", handle, at) == expected


def test_gathers_one_component_of_four_texels(host: Host, ptx: str) -> None:
    contents = texels(PLANE, 4)
    at = coordinates(0, 9)
    handle = texture(host, of_array(array(host, PLANE, contents, GATHER)), Sampler())
    expected = []
    for p in at:
        i, j = (int(np.floor(256 * float(c) - 128 + 0.5)) >> 8 for c in p[:2])
        x, y = ([min(max(n + k, 0), size - 1) for k in (0, 1)] for n, size in ((i, 8), (j, 4)))
        expected.append([int(contents[0, y[b], x[a], 1].view(np.uint32)) for a, b in ((0, 1), (1, 1), (1, 0), (0, 0))])
    assert bits(host, ptx, "gather", handle, at) == expected


@pytest.mark.parametrize(("entry", "cubes"), [("cube", 1), ("cube_layered", 3)])
def test_a_direction_meets_its_face(host: Host, ptx: str, entry: str, cubes: int) -> None:
    size = 4
    shape = size, size, 6 * cubes
    contents = texels(shape, 5)
    flags = CUBE | (LAYERED if cubes > 1 else 0)
    handle = texture(host, of_array(array(host, shape, contents, flags)), Sampler(normalized=True))
    at, expected = np.zeros((LANES, 4), np.float32), []
    for lane, rng in enumerate(np.random.default_rng(6).spawn(LANES)):
        face, i, j, cube = lane % 6, *rng.integers(size, size=2), rng.integers(cubes)
        s, t = (2 * (n + rng.uniform(0.1, 0.9)) / size - 1 for n in (i, j))
        at[lane] = *np.array(DIRECTIONS[face](s, t)) * rng.uniform(0.1, 9), cube
        expected.append(contents[6 * cube + face, j, i].view(np.uint32).tolist())
    assert bits(host, ptx, entry, handle, at) == expected


SURFACES = {
    "line": ("1d", (9, 0, 0), 0), "plane": ("2d", (7, 5, 0), 0), "plane_clamp": ("2d", (7, 5, 0), 0), "volume": ("3d", (5, 4, 3), 0),
    "line_layered": ("a1d", (9, 0, 3), LAYERED), "plane_layered": ("a2d", (6, 4, 3), LAYERED), "cube": ("a2d", (4, 4, 6), CUBE),
    "cube_layered": ("a2d", (4, 4, 12), CUBE | LAYERED),
}  # fmt: skip


@pytest.mark.parametrize("name", SURFACES)
def test_surfaces(host: Host, ptx: str, name: str) -> None:
    geometry, shape, flags = SURFACES[name]
    rng = np.random.default_rng(8)
    width, height, slices = shape[0], max(shape[1], 1), max(shape[2], 1)
    contents = rng.integers(0, 2**32, (slices, height, width, 2), np.uint32)
    a = array(host, shape, contents, flags | SURFACE, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32)
    handle = int(host("cuSurfObjectCreate", of_array(a)))
    model = SurfaceModel(bytearray(contents.tobytes()), (width, height, slices), "u", 32, 2, geometry)
    at = rng.integers(-2, np.array([width, height, slices, slices]) + 2, (LANES, 4)).astype(np.int32)
    values = rng.integers(0, 2**32, (LANES, 2), np.uint32)
    places = []
    for x, y, z, w in at.tolist():
        numbers = {"1d": [x * 8], "2d": [x * 8, y], "3d": [x * 8, y, z], "a1d": [w, x * 8], "a2d": [w, x * 8, y]}[geometry]
        places.append(model.place(geometry, numbers, 8, "clamp" if "clamp" in name else "zero", True))
    found = host.upload(np.full((LANES, 2), 9, np.uint32))
    assert host.launch(host.function("read_" + name, ptx), 1, LANES, (handle, host.upload(at), found), (POINTER,) * 3) == "SUCCESS"
    assert host.download(found, values).tobytes() == b"".join(model.load(place, 8) for place in places)
    arguments = handle, host.upload(at), host.upload(values)
    assert host.launch(host.function("write_" + name, ptx), 1, LANES, arguments, (POINTER,) * 3) == "SUCCESS"
    for lane in sorted(range(LANES), key=lambda lane: (lane // 16, -lane)):  # 128 bytes at a time
        model.store(places[lane], values[lane].tobytes())
    fill(host, a, got := np.zeros((slices, height, width * 2), np.uint32), back=True)
    assert got.tobytes() == model.contents


@pytest.mark.parametrize("entry", ["read_plane_trap", "write_plane_trap"])
def test_trap_is_the_default_and_a_fault(host: Host, ptx: str, entry: str) -> None:
    a = array(host, PLANE, np.zeros((1, 4, 8, 2), np.uint32), SURFACE, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32)
    handle = int(host("cuSurfObjectCreate", of_array(a)))
    at = np.zeros((LANES, 4), np.int32)
    at[40, 0] = 8
    arguments = handle, host.upload(at), host.upload(np.zeros((LANES, 2), np.uint32))
    assert host.launch(host.function(entry, ptx), 1, LANES, arguments, (POINTER,) * 3) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
