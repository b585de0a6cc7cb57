"""Shared memory that the system keeps: a program that asks where it lies finds it beside its own."""

import numpy as np
import pytest

from ..harness import Machine, kernel

WHERE = "mov.u32 %r, %reserved_smem_offset_1;"
# What an H200 says of a block with 20 static and 300 dynamic bytes.
RECORDED = {
    "reserved_smem_offset_begin": 0, "reserved_smem_offset_end": 288, "reserved_smem_offset_cap": 1024, "reserved_smem_offset_0": 0,
    "reserved_smem_offset_1": 0, "total_smem_size": 384, "aggr_smem_size": 1356, "dynamic_smem_size": 300,
}  # fmt: skip
STATIC, DYNAMIC = 1024, 1056  # where the two begin there


def test_sizes_and_places_as_an_h200_tells_them() -> None:
    names = [f"mov.u32 %v, %{name}; st.u32 [%to], %v; add.u64 %to, %to, 4;" for name in RECORDED]
    places = "mov.u32 %v, own; st.u32 [%to], %v; mov.u32 %v, more; st.u32 [%to+4], %v; ret;"
    body = f".reg .u32 %v; .reg .u64 %to; .shared .align 4 .b8 own[20]; ld.param.u64 %to, [to]; {''.join(names)} {places}"
    text = kernel("p to", body, ".extern .shared .align 16 .b8 more[];").replace(".version 8.0", ".version 8.1")
    machine = Machine(text)
    out = machine.upload(np.zeros(len(RECORDED) + 2, np.uint32))
    machine.launch(1, 1, [out], shared=300)
    assert machine.download(out).tolist() == [*RECORDED.values(), STATIC, DYNAMIC]


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("own", ["", ".shared .align 8 .b8 own[64];"])
def test_blocks_keep_state_there_beside_their_own(called: bool, own: str) -> None:
    before = f".func (.reg .u32 o) where () {{ .reg .u32 %r; {WHERE} mov.u32 o, %r; ret; }}"
    ask = "call (%r), where;" if called else WHERE
    mine = "mov.u32 %a, own; st.shared.u32 [%a], 77;" if own else ""
    body = f"""{own} .reg .u32 %r, %a, %c, %t, %v; .reg .u64 %to; ld.param.u64 %to, [to]; mov.u32 %c, %ctaid.x; mov.u32 %t, %tid.x;
    {ask} mad.lo.u32 %v, %c, 100, %t; mad.lo.u32 %r, %t, 4, %r; st.shared.u32 [%r], %v; {mine}
    bar.sync 0; xor.b32 %t, %t, 1; mul.lo.u32 %a, %t, 4; {ask} add.u32 %r, %r, %a; ld.shared.u32 %v, [%r];
    mad.lo.u32 %t, %c, 8, %t; mad.wide.u32 %to, %t, 4, %to; st.u32 [%to], %v; ret;"""
    machine = Machine(kernel("p to", body, before if called else ""))
    out = machine.upload(np.zeros(16, np.uint32))
    machine.launch(2, 8, [out])
    assert machine.download(out).tolist() == [*range(8), *range(100, 108)]
