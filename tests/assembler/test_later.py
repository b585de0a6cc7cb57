"""Bodies that are read when something looks at them: the same module in the end, and only what is looked at before."""

from __future__ import annotations

import numpy as np
import pytest

from warplab.assembler.diagnostics import PtxError
from warplab.assembler.ir import Module
from warplab.assembler.link import link_modules
from warplab.assembler.objects import assemble, load, write_object
from warplab.assembler.parse import parse
from warplab.assembler.printer import print_module
from warplab.runtime import driver
from warplab.runtime.device.modules import loading
from warplab.runtime.device.modules.fatbin import FATBIN, HEADER, PTX
from warplab.runtime.driver.api import results_of

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TEXT = (
    HEAD
    + """
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.extern .func nobody();
.global .align 4 .u32 table[2] = {1, 2};
.func (.param .b32 out) twice(.param .b32 in)
{ .reg .u32 %r<3>; ld.param.u32 %r1, [in]; add.u32 %r2, %r1, %r1; st.param.u32 [out], %r2; ret; }
.visible .entry first(.param .u64 p)
{
	.reg .u32 %r<4>; .reg .u64 %rd<2>;
	.shared .align 4 .b8 room[64];
	ld.param.u64 %rd1, [p];
	{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21; call (b), twice, (a); ld.param.b32 %r1, [b]; }
	st.global.u32 [%rd1], %r1;
	bra $done;
$done:
	ret;
}
.visible .entry keeps(.param .u64 p)
{ .global .u32 own; .reg .u32 %r<2>; .reg .u64 %rd<2>; ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [own]; st.global.u32 [%rd1], %r1; ret; }
.visible .entry last(.param .u64 p)
{ .pragma "nounroll"; .reg .v4 .f32 %v; .reg .u64 %rd<2>; ld.param.u64 %rd1, [p]; ld.global.v4.f32 %v, [%rd1]; ret; }
"""
)


def unread(module: Module) -> list[str]:
    """The kernels that nobody has looked at."""
    return [f.name for f in module.functions.values() if f.unread is not None]


def test_the_module_is_the_same_in_the_end() -> None:
    module = load(TEXT, in_parts=True)
    assert unread(module) == ["first", "last"], "the other entry declares a variable, which is placed when the module is loaded"
    assert module.functions["last"].registers
    assert unread(module) == ["first"]
    assert print_module(module) == print_module(parse(TEXT))
    assert unread(module) == []


def test_an_object_file_is_read_in_parts_too() -> None:
    module = load(assemble(TEXT), in_parts=True)
    assert unread(module) == ["first", "last"]
    assert print_module(module) == print_module(parse(TEXT))


def test_a_kernel_of_an_object_file_that_is_not_legal_is_told_when_something_looks_at_it() -> None:
    data = write_object(parse(TEXT.replace("ld.global.v4.f32", "ld.global.v4.f64")))
    results_of(driver.cuInit, 0)
    results_of(driver.cuCtxSetCurrent, results_of(driver.cuDevicePrimaryCtxRetain, 0))
    kernel = results_of(driver.cuModuleGetFunction, results_of(driver.cuModuleLoadData, data), b"last")
    for _ in range(2):
        assert driver.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel)[0].name == "CUDA_ERROR_INVALID_PTX"


def test_linking_looks_at_none() -> None:
    module = load(TEXT, in_parts=True)
    assert list(link_modules([module]).kernels) == ["first", "keeps", "last"]
    assert unread(module) == ["first", "last"]
    calls = TEXT.replace("bra $done;", "call nobody;")
    with pytest.raises(PtxError, match="nobody"):
        link_modules([load(calls, in_parts=True)])


@pytest.mark.parametrize(("old", "new"), [("bra $done", "bra $gone"), ("add.u32 %r2, %r1, %r1", "add.u32 %r2, %r1, %r3"), ("ld.global.v4.f32", "ld.global.v4.f64")])  # fmt: skip
def test_errors_come_when_the_body_is_read(old: str, new: str) -> None:
    def read() -> None:
        for f in load(TEXT.replace(old, new), in_parts=True).functions.values():
            for _ in range(2):
                assert f.body is not None or f.name in ("vprintf", "nobody")

    with pytest.raises(PtxError) as whole:
        load(TEXT.replace(old, new))
    with pytest.raises(PtxError) as parts:
        read()
    assert parts.value.diagnostics == whole.value.diagnostics


def test_a_failed_read_fails_again() -> None:
    f = load(TEXT.replace("bra $done", "bra $gone"), in_parts=True).functions["first"]
    for _ in range(2):
        with pytest.raises(PtxError, match=r"\$gone"):
            assert f.body


@pytest.mark.parametrize("text", ['.section .note { "a{b" }', "{", HEAD, ""])
def test_what_is_unusual_is_read_at_once(text: str) -> None:
    odd = (
        TEXT.replace('"nounroll"', '"a { brace"')
        if "section" in text
        else TEXT.replace(".version 8.0", ".version 1.3")
        if text == HEAD
        else text
    )
    try:
        whole = print_module(parse(odd))
    except PtxError as e:
        with pytest.raises(PtxError) as parts:
            load(odd, in_parts=True)
        assert parts.value.diagnostics == e.diagnostics
    else:
        module = load(odd, in_parts=True)
        assert unread(module) == []
        assert print_module(module) == whole


def fat_binary(text: str) -> bytes:
    """One that holds this PTX."""
    raw = text.encode()
    entry = np.zeros(64, np.uint8)
    entry[:8].view(np.uint16)[:] = PTX, 0x101, 64, 0
    entry[8:12].view(np.uint32)[:] = len(raw)
    entry[28:32].view(np.uint32)[:] = 80
    return HEADER.pack(FATBIN, 1, HEADER.size, 64 + len(raw)) + entry.tobytes() + raw


def test_a_launch_reads_its_kernel_only(monkeypatch: pytest.MonkeyPatch) -> None:
    results_of(driver.cuInit, 0)
    context = results_of(driver.cuDevicePrimaryCtxRetain, 0)
    results_of(driver.cuCtxSetCurrent, context)
    monkeypatch.setattr(loading, "LARGE", 100)
    text = TEXT + "// this very text\n"
    library = results_of(driver.cuLibraryLoadData, fat_binary(text), None, None, 0, None, None, 0)
    kernel = results_of(driver.cuKernelGetFunction, results_of(driver.cuLibraryGetKernel, library, b"first"))
    module = loading.parsed(text, "<image>")
    assert unread(module) == ["first", "last"]
    at = results_of(driver.cuMemAlloc, 4)
    results_of(driver.cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, 0, ((at,), (None,)), 0)
    out = np.zeros(1, np.uint32)
    results_of(driver.cuMemcpyDtoH, out, at, 4)
    assert out[0] == 42
    assert unread(module) == ["last"]
    results_of(driver.cuDevicePrimaryCtxRelease, 0)
