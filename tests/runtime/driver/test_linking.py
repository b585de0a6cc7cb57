"""Links of several inputs: libraries, of which only what is missing is taken, and options that the image keeps."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from warplab.runtime.device.modules.archives import SECTION, fat_binaries
from warplab.runtime.device.modules.fatbin import CUBIN, FATBIN, HEADER, PTX
from warplab.runtime.errors import ApiError

from ..conftest import HEAD, POINTER, Host, model_only

TWICE = """.visible .func (.param .b32 r) NAME(.param .b32 x)
{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }
"""
CALLS = """.extern .func (.param .b32 r) NAME(.param .b32 x);
.visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [p];
{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21; call (b), NAME, (a); ld.param.b32 %r, [b]; }
st.global.u32 [%rd], %r; ret; }
"""


def fat_binary(text: str, machine_code: int = 90) -> bytes:
    """A fat binary with PTX for a newer device and machine code for this one, as those of libcudadevrt have."""
    raw = text.replace(HEAD, ".version 8.8\n.target sm_121\n.address_size 64\n").encode()
    raw += bytes(-len(raw) % 8)
    parts = ((PTX, 121, raw), (CUBIN, machine_code, b"\x7fELF    "))
    body = b"".join(struct.pack("<HH7I4Q", kind, 0x101, 64, len(part), 0, 0, 0, 0, sm, 0, 0, 0, 0) + part for kind, sm, part in parts)
    return HEADER.pack(FATBIN, 1, 16, len(body)) + body


def host_object(parts: dict[bytes, bytes]) -> bytes:
    """An object of a host compiler with some sections."""
    names = b"\0" + b"\0".join(parts) + b"\0.shstrtab\0"
    body, heads = b"", []
    for name, part in {b"": b"", **parts, b".shstrtab": names}.items():
        heads.append(SECTION.pack(names.index(name + b"\0"), 1, 0, 0, 64 + len(body), len(part)).ljust(64, b"\0"))
        body += part
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(heads), len(heads) - 1
    )
    return head + body + b"".join(heads)


def archive(*members: bytes) -> bytes:
    """A library of some members."""
    return b"!<arch>\n" + b"".join(f"{'m.o/':48}{len(m):<10}`\n".encode() + m + b"\n" * (len(m) % 2) for m in members)


def test_fat_binaries_of_libraries_and_objects_are_found() -> None:
    one, two = fat_binary(HEAD), fat_binary(HEAD + "// more")
    first, second = host_object({b".text": b"code", b".nv_fatbin": one}), host_object({b"__nv_relfatbin": two})
    assert fat_binaries(first) == [one]
    assert fat_binaries(archive(b"/0  ", first, second, b"rest")) == [one, two]
    assert fat_binaries(archive()) == []
    for wrong in (first[:100], archive(first[:-30])):
        with pytest.raises(ApiError, match="cut off"):
            fat_binaries(wrong)


def link(host: Host, inputs: list[tuple[str, bytes]], options: dict[str, int] | None = None) -> Any:
    """The module that some inputs make."""
    cu, options = host.cu, options or {}
    state = host("cuLinkCreate", len(options), [cu.CUjit_option[f"CU_JIT_{n}"] for n in options], list(options.values()))
    for kind, raw in inputs:
        host("cuLinkAddData", state, cu.CUjitInputType[f"CU_JIT_INPUT_{kind}"], raw, len(raw), b"input", 0, [], [])
    return host("cuModuleLoadData", host("cuLinkComplete", state)[0])


@model_only
def test_a_library_gives_what_is_missing_and_nothing_else(host: Host) -> None:
    inner = TWICE.replace("NAME", "inner")
    outer = CALLS.split("\n")[0].replace("NAME", "inner") + TWICE.replace("NAME", "outer").replace(
        "add.u32 %r, %r, %r;", "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r; call (b), inner, (a); ld.param.b32 %r, [b]; }"
    )
    clash = CALLS.replace("NAME", "inner")
    library = archive(*(host_object({b".nv_fatbin": fat_binary(HEAD + text)}) for text in (clash, inner, outer)))
    kernel = HEAD + CALLS.replace("NAME", "outer")
    module = link(host, [("LIBRARY", library), ("PTX", kernel.encode())])
    at = host.upload(np.zeros(1, np.uint32))
    assert host.launch(host("cuModuleGetFunction", module, b"k"), 1, 1, (at,), (POINTER,)) == "SUCCESS"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [42]


MANY = (
    ".reg .b32 %v<60>;"
    + "".join(f"ld.global.u32 %v{n}, [%rd + {4 * n}];" for n in range(60))
    + "".join(f"st.global.u32 [%rd + {4 * n}], %v{59 - n};" for n in range(60))
)


@pytest.mark.parametrize(("directive", "most"), [("", 32), (".maxnreg 40", 40), (".maxntid 1024", 64)])
def test_a_link_bounds_registers_unless_a_kernel_does(host: Host, directive: str, most: int) -> None:
    text = HEAD + f".visible .entry k(.param .u64 p) {directive} {{ .reg .b64 %rd; ld.param.u64 %rd, [p]; {MANY} ret; }}"
    function = host("cuModuleGetFunction", link(host, [("PTX", text.encode())], {"MAX_REGISTERS": 32}), b"k")
    registers = host.cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS
    assert host("cuFuncGetAttribute", registers, function) <= most
    free = host("cuModuleGetFunction", link(host, [("PTX", text.encode())]), b"k")
    assert host("cuFuncGetAttribute", registers, free) > (32 if not directive else 0)


GRID = """.extern .func (.param .b64 r) __cuda_syscall_CGS_get_intrinsic_handle(.param .b32 scope);
.extern .func (.param .b32 r) __cuda_syscall_CGS_sync(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) __cuda_syscall_CGS_get_size(.param .b64 threads, .param .b64 grids, .param .b64 handle);
.extern .func (.param .b32 r) __cuda_syscall_CGS_get_rank(.param .b64 rank, .param .b64 grid, .param .b64 handle);
.extern .func (.param .b32 r) cnpGetLastError();
.visible .entry k(.param .u64 p) { .reg .b32 %r, %c; .reg .b64 %p, %h, %a; .local .b32 got[4]; .reg .pred %q;
ld.param.u64 %p, [p]; cvta.to.global.u64 %p, %p; cvta.local.u64 %a, got;
{ .param .b32 s; .param .b64 h; st.param.b32 [s], 1; call (h), __cuda_syscall_CGS_get_intrinsic_handle, (s); ld.param.b64 %h, [h]; }
{ .param .b64 x; .param .b64 y; .param .b64 h; .param .b32 c; st.param.b64 [h], %h; st.param.b64 [y], %a; add.u64 %a, %a, 4; st.param.b64 [x], %a;
  call (c), __cuda_syscall_CGS_get_rank, (x, y, h); add.u64 %a, %a, 4; st.param.b64 [x], %a; add.u64 %a, %a, 4; st.param.b64 [y], %a;
  call (c), __cuda_syscall_CGS_get_size, (x, y, h); }
ld.local.u32 %r, [got + 4]; ld.local.u32 %c, [got + 8]; add.u32 %c, %c, -1; setp.ne.u32 %q, %r, %c;
@!%q atom.global.add.u32 %r, [%p], 5;  // the last thread counts what all read after the grid has met
{ .param .b64 h; .param .b32 f; .param .b32 c; st.param.b64 [h], %h; st.param.b32 [f], 0; call (c), __cuda_syscall_CGS_sync, (h, f);
  ld.param.b32 %c, [c]; call (c), __cuda_syscall_CGS_sync, (h, f); }
ld.volatile.global.u32 %r, [%p]; add.u32 %r, %r, %c; atom.global.add.u32 %r, [%p + 4], %r; ret; }
"""


@model_only
@pytest.mark.parametrize("cooperative", [True, False])
def test_grids_meet_by_what_libcudadevrt_calls(host: Host, cooperative: bool) -> None:
    f = host("cuModuleGetFunction", host("cuModuleLoadData", (HEAD + GRID).encode()), b"k")
    at = host.upload(np.zeros(2, np.uint32))
    if cooperative:
        assert host.code("cuLaunchCooperativeKernel", f, 3, 2, 1, 4, 2, 2, 0, 0, ((at,), (POINTER,))) == "SUCCESS"
    else:  # a call of its own says that the grid can't meet
        assert host.launch(f, 1, 1, (at,), (POINTER,)) == "SUCCESS"
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == ([5, 5 * 96] if cooperative else [5, 5 + 1])


@model_only
def test_a_fat_binary_without_code_for_the_device_has_no_image_for_it(host: Host) -> None:
    image = fat_binary(HEAD + ".visible .entry k() { ret; }", machine_code=100)
    assert host.code("cuModuleLoadData", image) == "NO_BINARY_FOR_GPU"
    assert host.code("cuModuleLoadData", fat_binary(HEAD + ".visible .entry k() { ret; }", machine_code=86)) == "NO_BINARY_FOR_GPU"
    assert host.code("cuModuleLoadData", fat_binary(HEAD + ".visible .entry k() { ret; }")) == "SUCCESS"
