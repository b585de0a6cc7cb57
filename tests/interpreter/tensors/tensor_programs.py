"""Programs that fill tensor memory and shared memory from images, execute something on them, and read all of tensor memory back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..harness import Machine

Words = NDArray[np.uint32]
LANES, COLUMNS, SHARED = 128, 512, 32768
PART = ", ".join(f"%v{i}" for i in range(128))


def program(one: str = "", warps: str = "", group: int = 1, version: str = "8.8", target: str = "sm_100a") -> str:
    """`one` is executed by the first thread of each CTA pair or CTA, `warps` by all threads; %a0 to %a11 are the arguments.

    All columns are allocated, from 0 on; %image is the address of the CTA's image of shared memory, %out0 that of its results.
    """
    loads, stores = [], []
    for part in range(COLUMNS // 128):
        loads += [f"ld.global.v4.b32 {{%v{i}, %v{i + 1}, %v{i + 2}, %v{i + 3}}}, [%in+{512 * part + 4 * i}];" for i in range(0, 128, 4)] + [
            f"add.u32 %at, %quarter, {128 * part};",
            f"tcgen05.st.sync.aligned.32x32b.x128.b32 [%at], {{{PART}}};",
        ]
        stores += [f"add.u32 %at, %quarter, {128 * part};", f"tcgen05.ld.sync.aligned.32x32b.x128.b32 {{{PART}}}, [%at];"] + [
            f"st.global.v4.b32 [%out+{512 * part + 4 * i}], {{%v{i}, %v{i + 1}, %v{i + 2}, %v{i + 3}}};" for i in range(0, 128, 4)
        ]
    meet = "bar.sync 0;" if group == 1 else "barrier.cluster.arrive; barrier.cluster.wait;"
    first = "" if group == 1 else "mov.u32 %r1, %cluster_ctarank; or.b32 %r0, %r0, %r1;"
    new = "\n    "
    return f""".version {version}
.target {target}
.address_size 64
.shared .align 1024 .b8 image[{SHARED}];
.shared .align 8 .b64 done;
.shared .align 4 .b32 slot;
.visible .entry test(.param .u64 before, .param .u64 shared, .param .u64 after, .param .u64 arguments)
{{
    .reg .b32 %r<16>, %v<128>, %w<16>, %at, %quarter, %t;
    .reg .b64 %a<12>, %d<8>, %in, %out, %from, %image, %out0;
    .reg .pred %p<8>, %others, %true, %false;
    ld.param.u64 %in, [before];
    ld.param.u64 %from, [shared];
    ld.param.u64 %out, [after];
    ld.param.u64 %d0, [arguments];
    {new.join(f"ld.global.b64 %a{i}, [%d0+{8 * i}]; cvt.u32.u64 %w{i}, %a{i};" for i in range(12))}
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.wide.u32 %in, %r2, {LANES * COLUMNS * 4}, %in;
    mad.wide.u32 %out0, %r2, {LANES * COLUMNS * 4}, %out;
    mad.wide.u32 %from, %r2, {SHARED}, %from;
    mad.wide.u32 %in, %r0, {COLUMNS * 4}, %in;
    mad.wide.u32 %out, %r0, {COLUMNS * 4}, %out0;
    and.b32 %quarter, %r0, 0x60;
    shl.b32 %quarter, %quarter, 16;
    setp.eq.u32 %true, %r0, %r0;
    setp.ne.u32 %false, %r0, %r0;
    mov.u32 %r3, image;
    cvt.u64.u32 %image, %r3;
    // shared memory: each thread brings {SHARED // LANES} bytes
    mad.wide.u32 %d1, %r0, {SHARED // LANES}, %from;
    mad.lo.u32 %r4, %r0, {SHARED // LANES}, %r3;
    mov.u32 %r5, 0;
FILL:
    ld.global.v4.b32 {{%r6, %r7, %r8, %r9}}, [%d1];
    st.shared.v4.b32 [%r4], {{%r6, %r7, %r8, %r9}};
    add.u64 %d1, %d1, 16;
    add.u32 %r4, %r4, 16;
    add.u32 %r5, %r5, 16;
    setp.lt.u32 %p0, %r5, {SHARED // LANES};
    @%p0 bra FILL;
    mov.u32 %r10, done;
    setp.ge.u32 %p1, %r0, 32;
    setp.ne.u32 %p2, %r0, 0;
    @%p1 bra ALLOCATED;
    mov.u32 %r11, slot;
    tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [%r11], {COLUMNS};
    @%p2 bra ALLOCATED;
    mbarrier.init.shared.b64 [%r10], 1;
ALLOCATED:
    {meet}
    mov.u32 %r11, slot;
    ld.shared.b32 %t, [%r11];
    {new.join(loads)}
    tcgen05.wait::st.sync.aligned;
    tcgen05.fence::before_thread_sync;
    {meet}
    tcgen05.fence::after_thread_sync;
    {warps}
    {first}
    setp.ne.u32 %others, %r0, 0;
    @%others bra DONE;
    {one}
    tcgen05.commit.cta_group::{group}.mbarrier::arrive::one.shared::cluster.b64 [%r10];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p3, [%r10], 0;
    @!%p3 bra WAIT;
DONE:
    {meet}
    tcgen05.fence::after_thread_sync;
    {new.join(stores)}
    tcgen05.wait::ld.sync.aligned;
    {meet}
    @%p1 bra END;
    tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;
    tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 %t, {COLUMNS};
END:
    ret;
}}
"""


def run(text: str, tensor: Words, shared: NDArray[np.uint8], arguments: Sequence[int] = (), **options: Any) -> Words:
    """Tensor memory, (CTAs, lanes, columns), after the program."""
    machine = Machine(text, "sm_100a")
    given = np.array([*arguments, *[0] * (12 - len(arguments))], np.uint64)
    places = [machine.upload(x) for x in (tensor.astype(np.uint32), shared.astype(np.uint8), np.zeros_like(tensor, np.uint32), given)]
    ctas = len(tensor)
    machine.launch(ctas, 128, places, cluster=(ctas, 1, 1) if ctas > 1 else None, **options)
    return machine.download(places[2]).reshape(tensor.shape)


def matrix_descriptor(start: int, leading: int, stride: int, mode: int = 0) -> int:
    """Of a matrix in shared memory, from addresses and strides in bytes."""
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | mode << 61
