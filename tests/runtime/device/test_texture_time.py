"""How long fetches take: chains of them as they were recorded on an H100."""

from __future__ import annotations

import ctypes
import json
import statistics
from pathlib import Path

import numpy as np

from warplab.runtime import profiling

from ..conftest import POINTER, Host, driver
from ..driver.test_textures import descriptor, fill, of_array, of_line

RECORDED = Path(__file__).parents[2] / "interpreter" / "timing" / "recorded" / "textures.json"
SIDE, LINKS = 256, 16
PLACE = {
    "row": "mov.u32 %x, %lane; mov.u32 %y, %row;",
    "square": "and.b32 %x, %lane, 7; shr.u32 %y, %lane, 3; add.u32 %y, %y, %row;",
    "apart": "shl.b32 %x, %lane, 3; mad.lo.u32 %y, %lane, 7, %row; and.b32 %y, %y, 255;",
    "same": "mov.u32 %x, 0; mov.u32 %y, %row;",
}
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 t, .param .u32 turns, .param .u64 out)
{{
    .reg .b64 %t, %out;
    .reg .b32 %lane, %row, %x, %y, %k, %turns, %at;
    .reg .f32 %u, %v, %w, %f<4>;
    .reg .pred %p;
    ld.param.u64 %t, [t];
    ld.param.u32 %turns, [turns];
    ld.param.u64 %out, [out];
    mov.u32 %k, %tid.x;
    mad.wide.u32 %out, %k, 4, %out;
    and.b32 %lane, %k, 31;
    shr.u32 %row, %k, 5;
    shl.b32 %row, %row, 2;
    and.b32 %row, %row, 127;
    {place}
    cvt.rn.f32.u32 %u, %x;
    cvt.rn.f32.u32 %v, %y;
    add.f32 %u, %u, 0f3F000000;
    add.f32 %v, %v, 0f3F000000;
    mov.f32 %w, 0f3F000000;
    mov.u32 %k, 0;
again:
{links}
    add.u32 %k, %k, 1;
    setp.lt.u32 %p, %k, %turns;
    @%p bra again;
    cvt.rn.f32.u32 %w, %at;
    add.f32 %w, %w, %u;
    add.f32 %w, %w, %v;
    st.global.f32 [%out], %w;
    ret;
}}
"""
ONE = "tex.{0}.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [%t, {1}]; add.f32 %u, %u, %f0;"
FOUR = "{0}.2d.v4.f32.f32 {{%f0, %f1, %f2, %f3}}, [%t, {{%u, %v}}]; add.f32 %f0, %f0, %f1; add.f32 %u, %u, %f0; add.f32 %f2, %f2, %f3; add.f32 %v, %v, %f2;"
FETCHES = {
    "tex1Dfetch": "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%at}]; mov.b32 %x, %f0; add.u32 %at, %at, %x;",
    "tex2D": ONE.format("2d", "{%u, %v}"),
    "tex2D.v4": FOUR.format("tex"),
    "tex2Dgather": FOUR.format("tld4.r"),
    "tex3D": ONE.format("3d", "{%u, %v, %w, %w}"),
    "surf2Dread": "suld.b.2d.b32.trap %x, [%t, {%at, %row}]; add.u32 %at, %at, %x;",
}


def resource(host: Host, kind: str) -> int:
    """A texture, or surface, full of zeros."""
    what, _, mode = kind.partition(".")
    channels = 4 if "v4" in mode else 1
    t = driver.CUDA_TEXTURE_DESC()
    t.filterMode = driver.CUfilter_mode(int("linear" in mode))
    t.addressMode = [driver.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP] * 3
    if what == "tex1Dfetch":
        memory = host.upload(np.zeros(SIDE * SIDE, np.float32))
        return int(host("cuTexObjectCreate", of_line(int(memory), SIDE * SIDE * 4), t, None))
    depth = 4 if what == "tex3D" else 0
    array = host("cuArray3DCreate", descriptor(SIDE, SIDE, depth, channels=channels, flags=10 if depth == 0 and channels == 1 else 0))
    fill(host, array, np.zeros((max(1, depth), SIDE, SIDE * channels), np.float32))
    if what == "surf2Dread":
        return int(host("cuSurfObjectCreate", of_array(array)))
    return int(host("cuTexObjectCreate", of_array(array), t, None))


def cycles(host: Host, kind: str, shape: str, warps: int) -> float:
    """Of one fetch and what stands behind it, for all warps."""
    name = kind.removesuffix(".linear").removesuffix(".point")
    at = "mov.u32 %row, %y; shl.b32 %at, %x, 2;" if name == "surf2Dread" else "mad.lo.u32 %at, %y, 256, %x;"
    text = KERNEL.format(place=PLACE[shape] + at, links="\n".join([FETCHES[name]] * LINKS))
    f, t, out = host.function("k", text), resource(host, kind), host.upload(np.zeros(1024, np.float32))
    times = []
    with profiling(time=True) as p:
        for turns in (2, 6):
            assert host.launch(f, 1, warps * 32, (t, turns, out), (POINTER, ctypes.c_uint32, POINTER)) == "SUCCESS"
        host("cuCtxSynchronize")
    for launch in p.launches:
        assert launch.time is not None
        times.append(launch.time.cycles)
    return (times[1] - times[0]) / 4 / LINKS


def test_fetches_take_what_was_recorded(host: Host) -> None:
    """Within a twentieth in the median; where lanes touch a line each within a half, but for volumes, whose layout here has more lines."""
    errors = {
        (kind, shape, warps): cycles(host, kind, shape, warps) * links / ticks - 1
        for kind, shape, blocks, warps, ticks, links, _ in json.loads(RECORDED.read_text())
        if blocks == 1
        and warps != 8
        and shape in ("square", "apart")
        and kind.rpartition(".")[0] in ("", *FETCHES)
        and kind.partition(".")[0] in FETCHES
    }
    assert len(errors) == 36
    assert statistics.median(map(abs, errors.values())) < 0.05
    assert max(abs(e) for (_, shape, _), e in errors.items() if shape != "apart") < 0.2
    assert max(abs(e) for (kind, shape, _), e in errors.items() if not (shape == "apart" and kind.startswith("tex3D"))) < 0.4
