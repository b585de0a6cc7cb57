"""Variables that a module only declares: compiled alone, it has them itself, as ptxas says in a warning."""

from __future__ import annotations

import ctypes

import numpy as np

from ..conftest import Host
from ..ptx import HEAD

POINTER = ctypes.c_void_p
# threads pass their numbers on to their neighbours through one array, and add what another holds
TEXT = f"""{HEAD}
.extern .shared .align 4 .b8 first[128];
.extern .shared .align 4 .b8 second[128];
.extern .global .align 4 .u32 total;
.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<8>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, first;
    mov.u32 %r4, second;
    add.u32 %r3, %r3, %r2;
    add.u32 %r4, %r4, %r2;
    st.shared.u32 [%r3], %r1;
    mul.lo.u32 %r5, %r1, 100;
    st.shared.u32 [%r4], %r5;
    bar.sync 0;
    ld.shared.u32 %r6, [%r3];
    ld.shared.u32 %r7, [%r4];
    add.u32 %r6, %r6, %r7;
    cvt.u64.u32 %rd2, %r2;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r6;
    atom.global.add.u32 %r1, [total], 1;
    ret;
}}"""


def test_a_text_has_the_variables_that_it_declares(host: Host) -> None:
    module = host("cuModuleLoadData", TEXT.encode())
    f, at = host("cuModuleGetFunction", module, b"k"), host.upload(np.zeros(32, np.uint32))
    assert host.launch(f, 1, 32, (at,), (POINTER,)) == "SUCCESS"
    assert host.download(at, np.zeros(32, np.uint32)).tolist() == [101 * i for i in range(32)]
    assert host("cuFuncGetAttribute", host.cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) == 256
    total, size = host("cuModuleGetGlobal", module, b"total")
    assert size == 4 and host.download(total, np.zeros(1, np.uint32)).tolist() == [32]
