"""Kernels whose lanes go their own ways through memory: gathers, scatters and atomics in disorder, tables, lists, and what mixes them.

Each is a loop of few instructions around one access, so that nothing hides what an observer makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tests.interpreter.harness import Array, kernel

LANES = 1 << 14
TURNS = 16
FITS_L1, FITS_L2, LARGE = 1 << 16, 1 << 23, 1 << 26  # bytes

_HEAD = """.reg .b32 %r<32>; .reg .b64 %d<16>; .reg .f32 %f<4>; .reg .pred %p<4>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
ld.param.u64 %d1, [table]; ld.param.u64 %d2, [out]; ld.param.u32 %r5, [mask];
mul.lo.u32 %r6, %r4, 0x9E3779B1; mov.u32 %r7, 0; mov.u32 %r8, 0; """
_NEXT = "mad.lo.u32 %r6, %r6, 1664525, 1013904223; shr.u32 %r9, %r6, 9; xor.b32 %r9, %r9, %r6; and.b32 %r10, %r9, %r5; "
_TAIL = "mul.wide.u32 %d9, %r4, 4; add.u64 %d9, %d2, %d9; st.global.u32 [%d9], %r8; ret;"
_SHARED = "mov.u32 %r16, tile; mul.lo.u32 %r12, %r10, {w}; add.u32 %r12, %r12, %r16; "
_GLOBAL = "mul.wide.u32 %d3, %r10, {w}; add.u64 %d3, %d1, %d3; "


@dataclass(frozen=True, slots=True)
class Irregular:
    """One kernel over a table, whose index runs up to `mask`; results go to a second array."""

    name: str
    text: str
    table: Array
    mask: int
    blocks: int = LANES // 256
    threads: int = 256
    launches: int = 1


def _loop(body: str, turns: int = TURNS, step: str = _NEXT, before: str = "") -> str:
    end = f"add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, {turns}; @%p1 bra L;\n"
    return kernel("p table, p out, u32 mask", f"{_HEAD}\nL: {step}{body}\n{end}{_TAIL}", before)


def _global(name: str, width: int, size: int, access: str, **more: int) -> Irregular:
    return Irregular(name, _loop(_GLOBAL.format(w=width) + access), np.zeros(size // 4, np.uint32), size // width - 1, **more)


def _shared(name: str, width: int, access: str) -> Irregular:
    text = _loop(_SHARED.format(w=width) + access, before=".shared .align 16 .b8 tile[16384];")
    return Irregular(name, text, np.zeros(4, np.uint32), 16384 // width - 1)


def irregular() -> Iterator[Irregular]:
    """All of them."""
    rng = np.random.default_rng(1)
    load = "ld.global.u32 %r11, [%d3]; add.u32 %r8, %r8, %r11;"
    atom = "atom.global.add.u32 %r11, [%d3], %r9; add.u32 %r8, %r8, %r11;"
    for size, where in ((FITS_L1, "in L1"), (FITS_L2, "in L2"), (LARGE, "of 64 MB")):
        yield _global(f"gather {where}", 4, size, load)
        yield _global(f"scatter {where}", 4, size, "st.global.u32 [%d3], %r9;")
        yield _global(f"reduction {where}", 4, size, "red.global.add.u32 [%d3], %r9;")
        yield _global(f"atomic {where}", 4, size, atom)
    yield _global("gather of 8 bytes", 8, FITS_L2, "ld.global.u64 %d4, [%d3]; cvt.u32.u64 %r11, %d4; add.u32 %r8, %r8, %r11;")
    yield _global("gather of 16 bytes", 16, FITS_L2, "ld.global.v4.u32 {%r11,%r12,%r13,%r14}, [%d3]; add.u32 %r8, %r8, %r14;")
    yield _global("gather past L1", 4, FITS_L2, load.replace("global", "global.cg"))
    yield _global("guarded gather", 4, FITS_L2, "setp.lt.u32 %p2, %r9, 0xC0000000; @%p2 " + load)
    yield _global("histogram", 4, 1 << 12, "red.global.add.u32 [%d3], 1;")
    yield _global("gathers of one warp", 4, FITS_L1, load, blocks=1, threads=32, launches=10)
    yield _global("gathers of eight blocks", 4, FITS_L2, load, blocks=8, launches=2)
    fence, store = " fence.acq_rel.gpu;", " st.global.u32 [%d3], %r8;"
    yield _global("gathers and fences", 4, FITS_L2, load + fence)
    yield _global("gathers and fences of one warp", 4, FITS_L1, load + fence, blocks=1, threads=32, launches=4)
    yield _global("in place", 4, FITS_L2, load + store)
    yield _global("in place, 8 bytes", 8, FITS_L2, "ld.global.u64 %d4, [%d3]; add.u64 %d4, %d4, 1; st.global.u64 [%d3], %d4;")
    yield _global("in place, bytes", 1, FITS_L2, "ld.global.u8 %r11, [%d3]; add.u32 %r8, %r8, %r11; st.global.u8 [%d3], %r8;")
    stream = "mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d2, %d5; ld.global.L1::no_allocate.u32 %r12, [%d5]; add.u32 %r8, %r8, %r12; "
    yield _global("gathers beside loads that keep nothing", 4, FITS_L2, stream + load)
    own = " mul.wide.u32 %d5, %r4, 4; add.u64 %d5, %d2, %d5; st.global.u32 [%d5], %r8; ld.global.u32 %r12, [%d5]; add.u32 %r8, %r8, %r12;"
    yield _global("gathers beside accesses in order", 4, FITS_L2, load + own)
    other = " xor.b32 %r13, %r10, 85; mul.wide.u32 %d5, %r13, 4; add.u64 %d5, %d1, %d5; red.global.add.u32 [%d5], 1;"
    yield _global("gathers beside reductions", 4, FITS_L2, load + other)
    scattered = " xor.b32 %r13, %r10, 8191; mul.wide.u32 %d5, %r13, 4; add.u64 %d5, %d1, %d5; st.global.u32 [%d5], %r8;"
    yield _global("gathers beside scatters", 4, FITS_L2, load + scattered)
    yield _global("gathers beside reductions of the same", 4, FITS_L2, load + " red.global.min.u32 [%d3], %r9;")
    some = "setp.lt.u32 %p2, %r9, 0xC0000000; @%p2 "
    yield _global("guarded, in place", 4, FITS_L2, some + "ld.global.u32 %r11, [%d3]; @%p2 st.global.u32 [%d3], %r9;")
    yield _global("scatter of bytes", 1, FITS_L2, "st.global.u8 [%d3], %r9;")
    mine = " mul.wide.u32 %d5, %r4, {w}; add.u64 %d5, %d2, %d5; "
    pick = "setp.lt.u32 %p2, %r9, 0xC0000000; "
    yield _global("gathers beside guarded stores in order", 4, FITS_L2, load + mine.format(w=4) + pick + "@%p2 st.global.u32 [%d5], %r8;")
    sum_up = "@%p2 ld.global.u32 %r12, [%d5]; add.u32 %r12, %r12, %r11; @%p2 st.global.u32 [%d5], %r12;"
    yield _global("gathers summed up under a guard", 4, FITS_L2, load + mine.format(w=4) + pick + sum_up)
    branch = pick + "@!%p2 bra Z; st.global.u32 [%d5], %r8; Z:"
    yield _global("gathers beside stores on one side of a branch", 4, FITS_L2, load + mine.format(w=4) + branch)
    yield _global("gathers beside bytes in order", 4, FITS_L2, load + mine.format(w=1) + "st.global.u8 [%d5], %r8;")
    first = "and.b32 %r13, %r1, 31; setp.eq.u32 %p2, %r13, 0; "
    yield _global("gathers beside stores of first lanes", 4, FITS_L2, load + mine.format(w=4) + first + "@%p2 st.global.u32 [%d5], %r8;")
    flag = "ld.global.u8 %r11, [%d3]; setp.eq.u32 %p2, %r11, 0; @!%p2 bra Z; st.global.u8 [%d3], 1; Z:"
    yield _global("flags", 1, FITS_L2, flag)
    rows = _loop(_GLOBAL.format(w=4) + load).replace("L:", "shr.u32 %r14, %r6, 27; L:").replace(f"%r7, {TURNS};", "%r7, %r14;")
    yield Irregular("gathers by rows of different lengths", rows, np.zeros(FITS_L2 // 4, np.uint32), FITS_L2 // 4 - 1)
    long = _loop(_GLOBAL.format(w=4) + load + store, 70 * TURNS)
    yield Irregular("in place, many turns", long, np.zeros(FITS_L2 // 4, np.uint32), FITS_L2 // 4 - 1)
    tile = "mov.u32 %r16, tile; shl.b32 %r12, %r1, 2; add.u32 %r16, %r16, %r12; "
    copy = tile + "cp.async.ca.shared.global [%r16], [%d3], 4; cp.async.wait_all; ld.shared.u32 %r11, [%r16]; add.u32 %r8, %r8, %r11;"
    text = _loop(_GLOBAL.format(w=4) + copy, before=".shared .align 16 .b8 tile[1024];")
    yield Irregular("asynchronous gather", text, np.zeros(FITS_L2 // 4, np.uint32), FITS_L2 // 4 - 1)
    rows = "mul.wide.u32 %d3, %r4, {size}; add.u64 %d3, %d1, %d3; L:"
    walk = "ld.global.u32 %r11, [%d3]; add.u32 %r8, %r8, %r11; {store}add.u64 %d3, %d3, 4;"
    for name, size, store in (
        ("a row for each lane", 128, ""),
        ("a row for each lane, from the middle of a sector on", 100, ""),
        ("chunks summed up in place", 64, "st.global.u32 [%d3], %r8; "),
        ("chunks summed up elsewhere", 64, "add.u64 %d5, %d3, 1048576; st.global.u32 [%d5], %r8; "),
    ):
        text = _loop(walk.format(store=store), step="").replace("L:", rows.format(size=size), 1)
        yield Irregular(name, text, np.zeros(FITS_L2 // 4, np.uint32), 0)
    for name, offset in (("a row for each lane, stored and loaded", 0), ("a row for each lane, loaded beyond what is stored", 4)):
        both = f"st.global.u32 [%d3], %r8; ld.global.u32 %r11, [%d3+{offset}]; add.u32 %r8, %r8, %r11; add.u64 %d3, %d3, 4;"
        text = _loop(both, step="").replace("L:", rows.format(size=128), 1)
        yield Irregular(name, text, np.zeros(FITS_L2 // 4, np.uint32), 0)
    fields = "ld.global.u32 %r11, [%d3+4]; ld.global.u32 %r12, [%d3+28]; ld.global.u32 %r13, [%d3+52]; add.u32 %r8, %r11, %r12; "
    yield _global("fields of structures", 64, FITS_L2, fields + "st.global.u32 [%d3+8], %r8; st.global.u32 [%d3+40], %r13;")
    both = "st.global.u32 [%d3+4], %r9; ld.global.u32 %r11, [%d3+12]; add.u32 %r8, %r8, %r11;"
    for size, where in ((FITS_L1, "in L1"), (FITS_L2, "in L2")):
        yield _global(f"a field stored, another loaded {where}", 32, size, both)
    strided = _loop(_GLOBAL.format(w=4) + load, step="mad.lo.u32 %r10, %r4, 1024, %r7; ")
    yield Irregular("stride of 4 KB", strided, np.zeros(LARGE // 4, np.uint32), 0)
    walk = _loop(_GLOBAL.format(w=4) + "ld.global.u32 %r10, [%d3]; add.u32 %r8, %r8, %r10;", step="").replace(
        "L:", "and.b32 %r10, %r6, %r5; L:"
    )
    yield Irregular("linked list", walk, rng.permutation(1 << 18).astype(np.uint32), (1 << 18) - 1)
    probe = "atom.global.cas.b32 %r11, [%d3], 0, %r9; setp.eq.u32 %p2, %r11, 0; @%p2 bra D; add.u32 %r10, %r10, 1; and.b32 %r10, %r10, %r5; bra P; D:"
    yield Irregular("hash table", _loop("P: " + _GLOBAL.format(w=4) + probe, 4), np.zeros(1 << 18, np.uint32), (1 << 18) - 1)
    yield _shared("shared gather", 4, "ld.shared.u32 %r11, [%r12]; add.u32 %r8, %r8, %r11;")
    yield _shared("shared gather of 8 bytes", 8, "ld.shared.u64 %d4, [%r12]; cvt.u32.u64 %r11, %d4; add.u32 %r8, %r8, %r11;")
    yield _shared("shared scatter of 16 bytes", 16, "st.shared.v4.u32 [%r12], {%r9,%r9,%r9,%r9};")
    yield _shared("shared reduction", 4, "red.shared.add.u32 [%r12], %r9;")
    yield _shared("shared sum of floats", 4, "cvt.rn.f32.u32 %f1, %r9; red.shared.add.f32 [%r12], %f1;")
