"""`.pragma "used_bytes_mask"`: a load reads the bytes that are used, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from ..conftest import HEAD as OLDER
from ..conftest import POINTER, Host, model_only

HEAD = OLDER.replace(".version 8.0", ".version 8.3")

ELEMENTS = {"u8": (4, "b16"), "u16": (4, "b16"), "u32": (4, "b32"), "f32": (2, "f32"), "u64": (2, "b64")}


def kernel(type: str, mask: str, guard: str = "") -> str:
    """Loads a vector of which some bytes are used, and stores its elements, each beside the others."""
    count, register = ELEMENTS[type]
    bytes = int(type[1:]) // 8
    stores = "".join(f"st.global.{type} [%rd2+{k * bytes}], %e{k};\n" for k in range(count))
    names = ", ".join(f"%e{k}" for k in range(count))
    return HEAD + (
        f".visible .entry k(.param .u64 in, .param .u64 out) {{ .reg .b64 %rd<3>; .reg .{register} %e<4>; .reg .pred %p;\n"
        f"ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; setp.ne.u64 %p, %rd1, 0;\n"
        f'{mask}\n{guard} ld.global.v{count}.{type} {{{names}}}, [%rd1];\n{stores} ret; }}'
    )  # fmt: skip


@pytest.mark.parametrize("type", ELEMENTS)
@pytest.mark.parametrize("guard", ["", "@%p"])
def test_only_the_used_elements_are_read(host: Host, type: str, guard: str) -> None:
    count, _ = ELEMENTS[type]
    dtype = np.dtype(f"u{int(type[1:]) // 8}")
    x = np.arange(1, count + 1).astype(dtype)
    source = host.upload(x)
    for used in range(1, 1 << count):
        mask = sum(((1 << dtype.itemsize) - 1) << k * dtype.itemsize for k in range(count) if used >> k & 1)
        out = host.upload(np.zeros_like(x))
        text = kernel(type, f'.pragma "used_bytes_mask {mask if used % 2 else hex(mask)}";', guard)
        assert host.launch(host.function("k", text), 1, 1, (source, out), (POINTER, POINTER)) == "SUCCESS"
        found = host.download(out, x)
        assert [found[k] for k in range(count) if used >> k & 1] == [x[k] for k in range(count) if used >> k & 1]


@model_only
def test_unused_bytes_may_lie_outside_of_an_allocation(host: Host) -> None:
    source, out = host.upload(np.array([1, 2, 3], np.uint32)), host.upload(np.zeros(4, np.uint32))
    good = host.function("k", kernel("u32", '.pragma "used_bytes_mask 0xfff";'))
    assert host.launch(good, 1, 1, (source, out), (POINTER, POINTER)) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == "SUCCESS"
    assert host.download(out, np.zeros(4, np.uint32))[:3].tolist() == [1, 2, 3]
    for mask in ('.pragma "used_bytes_mask 0xffff";', '.pragma "nounroll";', ""):
        host.launch(host.function("k", kernel("u32", mask)), 1, 1, (source, out), (POINTER, POINTER))
        assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
        host("cuDevicePrimaryCtxReset", 0)
        host("cuCtxSetCurrent", host("cuDevicePrimaryCtxRetain", 0))
        source, out = host.upload(np.array([1, 2, 3], np.uint32)), host.upload(np.zeros(4, np.uint32))


def test_a_load_that_overwrites_its_address(host: Host) -> None:
    text = HEAD + (
        ".visible .entry k(.param .u64 in, .param .u64 out) { .reg .b64 %rd<4>; ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
        'mov.u64 %rd3, 0;\n.pragma "used_bytes_mask 0xff00";\nld.global.v2.u64 {%rd3, %rd1}, [%rd1]; st.global.u64 [%rd2], %rd1; ret; }'
    )
    source, out = host.upload(np.array([1, 2], np.uint64)), host.upload(np.zeros(1, np.uint64))
    assert host.launch(host.function("k", text), 1, 1, (source, out), (POINTER, POINTER)) == "SUCCESS"
    assert host.download(out, np.zeros(1, np.uint64))[0] == 2
