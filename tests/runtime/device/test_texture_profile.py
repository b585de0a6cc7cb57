"""Texture fetches in a profile: the sectors that a warp touches in tiles of two dimensions, what it finds again, a picture of the texels."""

from typing import Any

import numpy as np
import pytest

from warplab.interpreter.profiler import AccessProfile, KernelProfile
from warplab.isa.textures.layout import TexelLayout
from warplab.isa.textures.resources import Image, TexelFormat
from warplab.runtime import profiling
from warplab.runtime.reports.page.html import page

from ..conftest import POINTER, Host, driver
from ..driver.test_textures import descriptor, of_array
from .test_texture_fetches import texture

SIDE = 64
KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t)
{
    .reg .b64 %t;
    .reg .b32 %i, %r;
    .reg .f32 %x, %y, %f<4>;
    ld.param.u64 %t, [t];
    mov.u32 %i, %tid.x;
    and.b32 %r, %i, COLUMNS;
    cvt.rn.f32.u32 %x, %r;
    shr.b32 %r, %i, SHIFT;
    cvt.rn.f32.u32 %y, %r;
    add.f32 %x, %x, 0f3F000000;
    add.f32 %y, %y, 0f3F000000;
    tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}];
    tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}];
    ret;
}
"""


def profile(host: Host, columns: int, *, filter: int = 0, lanes: int = 32) -> KernelProfile:
    """Of a warp that reads a block of so many columns of an image of singles, twice."""
    t = texture(host, np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE), filter=filter)
    text = KERNEL.replace("COLUMNS", str(columns - 1)).replace("SHIFT", str(columns.bit_length() - 1))
    f = host.function("k", text)
    with profiling() as p:
        assert host.launch(f, 1, lanes, (t,), (POINTER,)) == "SUCCESS"
        host("cuCtxSynchronize")
    (found,) = p.launches
    return found


def fetches(p: KernelProfile) -> list[AccessProfile]:
    return [a for a in p.accesses if a.space == "texture"]


@pytest.mark.parametrize(
    ("columns", "lanes", "filter", "sectors"),
    [
        (32, 32, 0, 8),  # a row: 128 bytes, 16 of each sector
        (8, 32, 0, 4),  # 8 x 4 texels: 32 bytes of four rows are a line of four sectors
        (4, 32, 0, 4),  # 4 x 8 texels: 16 bytes of eight rows
        (8, 16, 0, 2),
        (8, 32, 1, 9),  # a filter reads the neighbours on the right and below: 9 x 5 texels
    ],
)
def test_sectors_of_a_warp(host: Host, columns: int, lanes: int, filter: int, sectors: int) -> None:
    first, second = fetches(profile(host, columns, lanes=lanes, filter=filter))
    assert (first.requests, first.units, first.hits) == (1, sectors, 0)
    assert (second.requests, second.units, second.hits) == (1, sectors, sectors)


def test_counters_and_picture(host: Host) -> None:
    p = profile(host, 8)
    m = p.metrics
    assert m["l1tex__t_requests_pipe_tex_mem_texture.sum"] == 2
    assert m["l1tex__t_sectors_pipe_tex_mem_texture.sum"] == 8
    assert m["l1tex__t_sector_pipe_tex_mem_texture_op_tex_hit_rate.pct"] == 50
    assert m["lts__t_sectors_op_read.sum"] == 4
    seen = fetches(p)[0].texels
    assert seen is not None and (seen.width, seen.height, seen.level) == (SIDE, SIDE, 0)
    assert sorted(seen.cells) == sorted((x, y, 1) for x in range(8) for y in range(4))
    shown = page([p])
    assert "32 texels in 4 sectors" in shown and "(3, 2): read 1 time" in shown


SURFACE = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 s)
{
    .reg .b64 %s;
    .reg .b32 %i, %x, %y, %r<4>;
    ld.param.u64 %s, [s];
    mov.u32 %i, %tid.x;
    and.b32 %x, %i, 7;
    shr.b32 %y, %i, 3;
    mul.lo.u32 %x, %x, BYTES;
    ACCESS
    ret;
}
"""


@pytest.mark.parametrize(
    ("access", "bytes", "op", "sectors"),
    [
        ("suld.b.2d.b32.zero %r0, [%s, {%x, %y}];", 4, "ld", 4),  # 8 x 4 texels: a line
        ("sust.b.2d.v4.b32.zero [%s, {%x, %y}], {%i, %i, %i, %i};", 16, "st", 16),  # 32 x 4 texels
        ("sust.p.2d.b32.zero [%s, {%x, %y}], %i;", 1, "st", 4),
        ("sured.b.add.2d.u32.zero [%s, {%x, %y}], 1;", 4, "red", 4),
        ("suld.b.2d.b32.zero %r0, [%s, {%x, %i}];", 4, "ld", 16),  # a diagonal: two of its texels a sector
        ("sust.b.2d.b32.zero [%s, {-4, %y}], %i;", 4, "st", 0),  # outside
    ],
)
def test_surfaces_are_counted(host: Host, access: str, bytes: int, op: str, sectors: int) -> None:
    a = host("cuArray3DCreate", descriptor(SIDE, SIDE, format=driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32, flags=2))
    s = host("cuSurfObjectCreate", of_array(a))
    f = host.function("k", SURFACE.replace("ACCESS", access).replace("BYTES", str(bytes)))
    with profiling() as p:
        assert host.launch(f, 1, 32, (int(s),), (POINTER,)) == "SUCCESS"
        host("cuCtxSynchronize")
    m = p.launches[0].metrics
    assert m[f"l1tex__t_requests_pipe_tex_mem_surface_op_{op}.sum"] == (sectors > 0)
    assert m[f"l1tex__t_sectors_pipe_tex_mem_surface_op_{op}.sum"] == sectors
    assert m["lts__t_sectors_op_write.sum"] == (sectors if op == "st" else 0)
    if sectors:
        (seen,) = [a for a in p.launches[0].accesses if a.space == "surface"]
        assert seen.texels is not None and len(seen.texels.cells) == (128 if bytes == 16 else 32)
        assert ("written" if op == "st" else "updated" if op == "red" else "read") + " 1 time" in page(p.launches)


def place(image: Image, *at: int) -> int:
    level, z, y, x = (np.array([n]) for n in at)
    return int(TexelLayout(image).offsets(level, z, y, x)[0])


def test_tiles() -> None:
    f = TexelFormat("f", 32, 1)
    levels = tuple(np.zeros((2, n, n, 1), np.float32) for n in (32, 16))
    image = Image(f, 32, 32, 2, levels, layered=True)
    every = TexelLayout(image).offsets(*(a.ravel() for a in np.indices((1, 2, 32, 32))))
    assert sorted(every.tolist()) == list(range(0, 2 * 32 * 32 * 4, 4))
    assert place(image, 0, 0, 1, 0) == 16 and place(image, 0, 0, 0, 4) == 32 and place(image, 0, 0, 2, 0) == 64
    assert place(image, 0, 0, 0, 16) == 512 and place(image, 0, 0, 8, 0) == 1024 and place(image, 0, 1, 0, 0) == 4096
    assert place(image, 1, 0, 0, 0) == 8192
    line: Any = np.zeros((1, 1, 100, 1), np.float32)
    assert place(Image(f, 100, 0, 0, (line,), linear=True), 0, 0, 0, 37) == 148
    rows = np.ndarray((1, 4, 8, 1), np.float32, np.zeros(256, np.uint8), 0, (0, 64, 4, 4))
    assert place(Image(f, 8, 4, 0, (rows,), pitched=True), 0, 0, 3, 5) == 212
