"""Records cycles of small loops on a GPU: `python3 -m tests.hardware.timing.pipes OUT.json`.

A kind is a link of PTX that stands many times in a loop, each link behind the one before; %clock64 is read around it. `points` holds
[blocks, warps of a block, cycles of the slowest warp, links of a warp, links per cycle and multiprocessor].
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..driver import Driver

LINKS, TURNS = 16, 32
POINTS = [(1, 1), (1, 4), (1, 8), (1, 16), (1, 32), (132, 1), (132, 8), (132, 32)]
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.global .align 128 .b8 memory[33554432];
.func (.reg .b32 %o) callee(.reg .b32 %i) {{
add.u32 %o, %i, 7;
ret;
}}
.global .u64 pointer = callee;
.visible .entry timed(.param .u64 out, .param .u32 turns)
{{
.reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<16>; .reg .f64 %g<16>; .reg .pred %p<4>; .reg .b64 %t<4>; .reg .b64 %a<8>;
.shared .align 128 .b8 shared[33024];
.local .align 16 .b8 local[256];
ld.param.u64 %d0, [out];
ld.param.u32 %r14, [turns];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 31;
mov.u32 %r2, %ctaid.x;
shr.u32 %r3, %r0, 5;
mov.u32 %r4, 0;
mov.u64 %a0, memory;
mov.u32 %r5, shared;
mov.u64 %a5, local;
cvt.rn.f32.u32 %f0, %r1;
mov.f32 %f1, 0f3f800001;
mov.f32 %f2, %f0;
cvt.f64.f32 %g0, %f0;
mov.f64 %g1, 0d3ff0000000000001;
mov.u32 %r6, %r1;
mov.u32 %r7, %r1;
ld.volatile.shared.u32 %r8, [%r5];
{before}
mov.u32 %r9, 0;
bar.sync 0;
WARM:
mov.u64 %t0, %clock64;
mov.u32 %r10, 0;
.pragma "nounroll";
TURN:
{links}
add.u32 %r10, %r10, 1;
setp.lt.u32 %p0, %r10, %r14;
@%p0 bra TURN;
mov.u64 %t1, %clock64;
add.u32 %r9, %r9, 1;
setp.lt.u32 %p0, %r9, 2;
@%p0 bra WARM;
sub.u64 %t1, %t1, %t0;
cvt.rzi.u32.f32 %r20, %f0;
cvt.rzi.u32.f32 %r21, %f2;
cvt.rzi.u32.f64 %r22, %g0;
add.u32 %r4, %r4, %r20;
add.u32 %r4, %r4, %r21;
add.u32 %r4, %r4, %r22;
add.u32 %r4, %r4, %r6;
add.u32 %r4, %r4, %r7;
mov.u32 %r11, %ntid.x;
mad.lo.u32 %r11, %r2, %r11, %r0;
mad.wide.u32 %d0, %r11, 8, %d0;
setp.eq.u32 %p0, %r4, 0x7FFFFF01;
@%p0 add.u64 %t1, %t1, 1;
st.global.u64 [%d0], %t1;
ret;
}}
"""
PIPES = {
    "fma.f32": "fma.rn.f32 %f0, %f0, %f1, %f1;",
    "add.f32": "add.rn.f32 %f2, %f2, %f1;",
    "prmt": "prmt.b32 %r6, %r6, %r8, 0x1234;",
    "imad": "mad.lo.u32 %r7, %r7, %r8, %r8;",
    "ex2": "ex2.approx.ftz.f32 %f2, %f2;",
    "fma.f64": "fma.rn.f64 %g0, %g0, %g1, %g1;",
    "popc": "popc.b32 %r7, %r7;",
    "shfl": "shfl.sync.bfly.b32 %r7, %r7, 1, 31, -1;",
    "lds": "ld.volatile.shared.u32 %r12, [%r5]; add.u32 %r7, %r7, %r12;",
}


def lines(n: int) -> Iterator[tuple[str, str, str]]:
    """Names, preparations and links of all kinds."""
    spread = "shr.u32 %r15, %r0, 5; mul.lo.u32 %r15, %r15, 8192; mad.lo.u32 %r15, %r2, 65536, %r15; and.b32 %r15, %r15, 16777215;"
    for stride in (0, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 65536):
        at = f"mul.wide.u32 %a1, %r1, {stride}; add.u64 %a1, %a1, %a0;"
        yield f"red.stride.{stride}", at, "red.global.add.u32 [%a1], %r8;"
        yield f"red.own.stride.{stride}", f"{at} {spread} cvt.u64.u32 %a2, %r15; add.u64 %a1, %a1, %a2;", "red.global.add.u32 [%a1], %r8;"
        yield f"atom.stride.{stride}", at, "atom.global.add.u32 %r12, [%a1], %r8; add.u32 %r7, %r7, %r12;"
    for words in (1, 2, 4, 8, 16, 32):
        at = f"rem.u32 %r15, %r1, {words};"
        yield f"red.words.{words}", f"{at} mul.wide.u32 %a1, %r15, 4; add.u64 %a1, %a1, %a0;", "red.global.add.u32 [%a1], %r8;"
        yield f"red.lines.{words}", f"{at} mul.wide.u32 %a1, %r15, 128; add.u64 %a1, %a1, %a0;", "red.global.add.u32 [%a1], %r8;"
        yield f"red.f32.words.{words}", f"{at} mul.wide.u32 %a1, %r15, 4; add.u64 %a1, %a1, %a0;", "red.global.add.f32 [%a1], %f1;"
        shared = f"{at} mad.lo.u32 %r15, %r15, {{}}, %r5;"
        yield f"red.shared.words.{words}", shared.format(4), "red.shared.add.u32 [%r15], %r8;"
        yield f"red.shared.banks.{words}", shared.format(128), "red.shared.add.u32 [%r15], %r8;"
        yield f"red.shared.f32.words.{words}", shared.format(4), "red.shared.add.f32 [%r15], %f1;"
        yield f"atom.shared.words.{words}", shared.format(4), "atom.shared.add.u32 %r12, [%r15], %r8; add.u32 %r7, %r7, %r12;"
    names = list(PIPES)
    for i, one in enumerate(names):
        yield f"alone.{one}", "", PIPES[one]
        for two in names[i + 1 :]:
            if PIPES[one].split()[1] != PIPES[two].split()[1]:
                yield f"pair.{one}.{two}", "", f"{PIPES[one]} {PIPES[two]}"
    yield "guarded", "", "setp.ne.u32 %p1, %r7, 77; @%p1 add.u32 %r7, %r7, %r8;"
    yield "guarded.off", "", "setp.eq.u32 %p1, %r7, 77777; @%p1 add.u32 %r7, %r7, %r8; add.u32 %r7, %r7, 2;"
    yield "call", "P: .callprototype (.reg .b32 _) _ (.reg .b32 _); ld.global.u64 %a6, [pointer];", "call (%r7), %a6, (%r7), P;"
    yield (
        "local",
        "",
        "and.b32 %r15, %r7, 60; cvt.u64.u32 %a2, %r15; add.u64 %a2, %a2, %a5; st.local.u32 [%a2], %r7; ld.local.u32 %r7, [%a2];",
    )
    yield (
        "branch.taken",
        "",
        f"setp.ne.u32 %p1, %r7, 77777; @%p1 bra L{n}; st.volatile.shared.u32 [%r5], %r7; bar.sync 1; L{n}: add.u32 %r7, %r7, %r8;",
    )
    yield (
        "branch.halves",
        "",
        f"xor.b32 %r15, %r1, {n % 16 + 1}; setp.lt.u32 %p1, %r15, 16; @%p1 bra L{n}; st.volatile.shared.u32 [%r5], %r7; L{n}: bar.warp.sync -1;",
    )
    table = ", ".join(f"B{n}_{k}" for k in range(4))
    arms = " ".join(f"B{n}_{k}: mad.lo.u32 %r7, %r7, {k + 3}, {k}; bra E{n};" for k in range(4))
    yield "indirect", "", f"and.b32 %r15, %r7, 3; T{n}: .branchtargets {table}; brx.idx.uni %r15, T{n}; {arms} E{n}:"
    yield "st.global", "mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a1, %a0;", "st.volatile.global.u32 [%a1], %r7;"
    yield "fence.gpu", "", "fence.acq_rel.gpu;"
    yield "vote.all", "", "setp.ne.u32 %p1, %r7, 77; vote.sync.all.pred %p2, %p1, -1; selp.u32 %r7, 1, 2, %p2;"
    yield "elect", "", "elect.sync %r12|%p1, -1; selp.u32 %r13, 1, 2, %p1; add.u32 %r7, %r7, %r13;"


def main(out: str) -> None:
    """Times every kind at every point."""
    d = Driver()
    room, records = d.upload(np.zeros(132 * 1024, np.uint64)), {}
    count = len(list(lines(0)))
    for k in range(count):
        name, before, _ = list(lines(0))[k]
        links = "\n".join(list(lines(n))[k][2] for n in range(LINKS))
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        text = KERNEL.format(before=before, links=links)
        if d.library.cuModuleLoadData(ctypes.byref(module), text.encode() + b"\0"):
            print("does not load:", name)
            continue
        d.call("cuModuleGetFunction", ctypes.byref(function), module, b"timed")
        turns = ctypes.c_uint32(TURNS)
        given = (ctypes.c_void_p * 2)(ctypes.addressof(room), ctypes.addressof(turns))
        points = []
        for blocks, warps in POINTS:
            best = 0
            for _ in range(3):
                d.call("cuLaunchKernel", function, blocks, 1, 1, warps * 32, 1, 1, 0, None, given, None)
                d.call("cuCtxSynchronize")
                times = np.zeros(blocks * warps * 32, np.uint64)
                d.call("cuMemcpyDtoH_v2", times.ctypes.data_as(ctypes.c_void_p), room, ctypes.c_size_t(times.nbytes))
                cycles = int(np.median(times.reshape(blocks, -1).max(1)))
                best = min(best or cycles, cycles)
            points.append([blocks, warps, best, LINKS * TURNS, round(LINKS * TURNS * warps / best, 4)])
        records[name] = {"op": list(lines(0))[k][2], "latency": round(points[0][2] / (LINKS * TURNS), 2), "points": points}
        d.call("cuModuleUnload", module)
    Path(out).write_text("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(r)}" for n, r in records.items()) + "\n}\n")
    print(len(records), "kinds")


if __name__ == "__main__":
    main(sys.argv[1])
