"""suld, sust, sured, suq and istypep in kernels: guards, the order of stores, handles that differ by lane, and variables."""

import ctypes
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from warplab.runtime.driver.api import STATE

from ..conftest import POINTER, Host, driver
from ..driver.test_textures import descriptor, fill, of_array

cu: Any = driver
Words = NDArray[np.uint32]
WIDTH, ROWS, LANES = 8, 4, 96
U32 = cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32
KERNEL = """.version 8.6
.target sm_90
.address_size 64
.global .surfref target;
.visible .entry k(.param .u64 t, .param .u64 u, .param .u64 d)
{
    .reg .pred %p;
    .reg .b64 %t, %u, %h, %d;
    .reg .b32 %i, %x, %y, %r, %one;
    .reg .b16 %b;
    ld.param.u64 %t, [t];
    ld.param.u64 %u, [u];
    ld.param.u64 %d, [d];
    mov.u32 %i, %tid.x;
    mad.wide.u32 %d, %i, 4, %d;
    and.b32 %x, %i, 7;
    shl.b32 %x, %x, 2;
    mov.b32 %y, 1;
    mov.b32 %one, 1;
    mov.b32 %r, 99;
    and.b32 %r, %i, 1;
    setp.eq.u32 %p, %r, 1;
    mov.b32 %r, 99;
    BODY
    st.global.b32 [%d], %r;
    ret;
}
"""
CONTENTS = np.arange(WIDTH * ROWS, dtype=np.uint32).reshape(1, ROWS, WIDTH) + 1000


class Surfaces:
    """Two arrays as surfaces, and the kernel's lanes over them."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.arrays = [host("cuArray3DCreate", descriptor(WIDTH, ROWS, format=U32, flags=2)) for _ in range(2)]
        for k, a in enumerate(self.arrays):
            fill(host, a, CONTENTS + np.uint32(10000 * k))
        self.handles = [int(host("cuSurfObjectCreate", of_array(a))) for a in self.arrays]

    def run(self, body: str, *handles: int) -> Words:
        """What each lane has in %r."""
        d = self.host.upload(np.zeros(LANES, np.uint32))
        f = self.host.function("k", KERNEL.replace("BODY", body))
        assert self.host.launch(f, 1, LANES, (*(handles or self.handles), d), (POINTER,) * 3) == "SUCCESS"
        self.host("cuCtxSynchronize")
        return self.host.download(d, np.zeros(LANES, np.uint32))

    def row(self, array: int = 0) -> list[int]:
        """Row 1 of an array."""
        fill(self.host, self.arrays[array], got := np.zeros_like(CONTENTS), back=True)
        assert (got[0, [0, 2, 3]] == CONTENTS[0, [0, 2, 3]] + 10000 * array).all()
        found: list[int] = got[0, 1].tolist()
        return found


@pytest.fixture
def surfaces(host: Host) -> Surfaces:
    return Surfaces(host)


ROW = CONTENTS[0, 1].tolist()
LANE = np.arange(LANES)


def test_a_guard_keeps_what_a_lane_has(surfaces: Surfaces) -> None:
    found = surfaces.run("@%p suld.b.2d.b32.trap %r, [%t, {%x, %y}];")
    assert (found == np.where(LANE % 2, CONTENTS[0, 1][LANE % 8], 99)).all()
    found = surfaces.run("@%p bra SKIP; mov.b32 %y, 9; SKIP: suld.b.2d.b32.zero %r, [%t, {%x, %y}];")
    assert (found == np.where(LANE % 2, CONTENTS[0, 1][LANE % 8], 0)).all()


def test_bytes_are_widened_to_their_register(surfaces: Surfaces) -> None:
    found = surfaces.run("mov.b16 %b, -1; suld.b.2d.b8.clamp %b, [%t, {%x, %y}]; cvt.u32.u16 %r, %b;")
    assert (found == CONTENTS[0, 1][LANE % 8] % 256).all()


def test_of_a_warp_the_lowest_lane_wins_and_of_warps_the_last(surfaces: Surfaces) -> None:
    surfaces.run("sust.b.2d.b32.trap [%t, {%x, %y}], %i;")
    assert surfaces.row() == list(range(64, 72))
    surfaces.run("@%p sust.p.2d.b32.zero [%t, {%one, %y}], %i;")
    assert surfaces.row() == [64, 65, *range(66, 72)]
    surfaces.run("shr.u32 %x, %x, 2; setp.lt.u32 %p, %i, 40; @%p sust.p.2d.b32.zero [%t, {%x, %y}], %i;")
    assert surfaces.row() == list(range(32, 40))


def test_every_lane_counts(surfaces: Surfaces) -> None:
    surfaces.run("sured.b.add.2d.u32.trap [%t, {%x, %y}], %one; sured.p.max.2d.b32.zero [%u, {%one, %y}], 20000;")
    assert surfaces.row() == [n + LANES // WIDTH for n in ROW]
    assert surfaces.row(1) == [ROW[0] + 10000, 20000, *(n + 10000 for n in ROW[2:])]


def test_handles_differ_by_lane(surfaces: Surfaces) -> None:
    choose = "selp.b64 %h, %t, %u, %p; "
    found = surfaces.run(choose + "suld.b.2d.b32.clamp %r, [%h, {%x, %y}];")
    assert (found == CONTENTS[0, 1][LANE % 8] + np.where(LANE % 2, 0, 10000)).all()
    surfaces.run(choose + "sust.b.2d.b32.zero [%h, {%x, %y}], %one;")
    assert surfaces.row() == [1 if k % 2 else n for k, n in enumerate(ROW)]
    found = surfaces.run(choose + "suq.height.b32 %r, [%h];", surfaces.handles[0], 0)
    assert (found == np.where(LANE % 2, ROWS, 0)).all()


def test_tex_through_the_handle_of_a_surface_reads_texels(surfaces: Surfaces) -> None:
    """As the H200 does; beyond the edge there are zeros, and a null handle reads zeros."""
    fetch = "tex.2d.v4.u32.s32 {%r, %one, %x, %one}, [%t, {%r, %y}];"
    found = surfaces.run("mov.b32 %r, %i; " + fetch)
    assert (found == np.where(LANE < WIDTH, CONTENTS[0, 1][LANE % 8], 0)).all()
    assert not surfaces.run("mov.b32 %r, 1; " + fetch, 0, 0).any()


def test_a_variable_is_nothing_until_it_is_bound(host: Host, surfaces: Surfaces) -> None:
    body = (
        "sust.b.2d.b32.trap [target, {%x, %y}], %one; suld.b.2d.b32.trap %r, [target, {%x, %y}]; mov.u64 %h, target; "
        "istypep.surfref %p, %h; @!%p mov.b32 %r, 7; istypep.surfref %p, %t; @%p mov.b32 %r, 8;"
    )
    assert not surfaces.run(body).any()
    module = host.load(KERNEL.replace("BODY", body))
    host("cuSurfRefSetArray", host("cuModuleGetSurfRef", module, b"target"), surfaces.arrays[0], 0)
    d = host.upload(np.zeros(LANES, np.uint32))
    assert host.launch(host("cuModuleGetFunction", module, b"k"), 1, LANES, (*surfaces.handles, d), (POINTER,) * 3) == "SUCCESS"
    assert (host.download(d, np.zeros(LANES, np.uint32)) == 1).all()
    assert surfaces.row() == [1] * WIDTH


@pytest.mark.parametrize("access", ["suld.b.1d.b32.trap %r, [%t, {%x}]", "suld.b.3d.b32.trap %r, [%t, {%x, %y, %y, %y}]"])
def test_another_geometry_reads_zeros(surfaces: Surfaces, access: str) -> None:
    assert not surfaces.run(access + ";").any()


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (
            "suld.b.2d.b32.trap %r, [%t, {%x, %i}];",
            "ILLEGAL_ADDRESS",
            "{16, 4} lies outside the surface of 32 bytes (8 texels of 4) x 4 rows",
        ),
        ("sust.p.2d.b32.trap [%t, {%i, %y}], %one;", "ILLEGAL_ADDRESS", "{8, 1} lies outside the surface of 8 texels x 4 rows"),
        ("sured.b.add.2d.u32.clamp [%t, {%i, %y}], %one;", "MISALIGNED_ADDRESS", "{1, 1} is misaligned"),
    ],
)
def test_faults_name_the_first_lane_and_the_extent(host: Host, surfaces: Surfaces, body: str, code: str, words: str) -> None:
    f, d = host.function("k", KERNEL.replace("BODY", body)), host.upload(np.zeros(LANES, np.uint32))
    assert host.launch(f, 1, LANES, (*surfaces.handles, d), (POINTER,) * 3) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == code
    assert words in str(STATE.stack[-1].fault)


@pytest.mark.parametrize(
    ("query", "loads"),
    [
        ("suq.channel_order", "NOT_SUPPORTED"),
        ("suq.memory_layout", "NOT_SUPPORTED"),
        ("txq.num_mipmap_levels", "SUCCESS"),
        ("txq.width", ""),
    ],
)
def test_queries_that_the_driver_does_not_compile(host: Host, query: str, loads: str) -> None:
    """As on the H200: of surfaces the module is refused, of textures its entries are not found."""
    text = ctypes.create_string_buffer(KERNEL.replace("BODY", f"{query}.b32 %r, [%t];").encode())
    code, module = cu.cuModuleLoadData(ctypes.addressof(text))
    assert code.name.removeprefix("CUDA_").removeprefix("ERROR_") == (loads or "SUCCESS")
    if not code:
        found, _ = cu.cuModuleGetFunction(module, b"k")
        assert found.name == ("CUDA_ERROR_NOT_FOUND" if loads else "CUDA_SUCCESS")
        host("cuModuleUnload", module)
