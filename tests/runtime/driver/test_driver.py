"""The driver API: calls, codes, and what CUDA says happens when."""

import ctypes
import importlib
import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ..conftest import DRIVER, HEAD, KERNELS, MODEL, POINTER, U32, Host, model_only
from ..conftest import driver as cu

LIMIT = cu.CUlimit
ATTRIBUTE = cu.CUdevice_attribute
FUNCTION = cu.CUfunction_attribute
MIB = 1 << 20


def add(host: Host, n: int, params: object, extra: object = 0) -> str:
    return host.code("cuLaunchKernel", host.function("add"), -(-n // 64), 1, 1, 64, 1, 1, 0, 0, params, extra)


def core_context() -> Any:
    """The model's own current context."""
    return importlib.import_module("warplab.runtime.driver.api").current()


def fault_says(words: str) -> bool:
    """Is that what the model knows of the last fault?  A driver knows only a code."""
    return DRIVER != MODEL or words in str(importlib.import_module("warplab.runtime").last_fault())


# ---------------------------------------------------------------- the four ways of passing parameters


def test_parameters_by_pointers_tuples_and_buffer(host: Host) -> None:
    a, b = np.arange(100, dtype=np.uint32), np.full(100, 7, np.uint32)
    for way in ("pointers", "array of pointers", "tuples", "handles", "extra"):
        at = [host.upload(a), host.upload(b), host.upload(np.zeros_like(a))]
        keep = [ctypes.c_uint64(x) for x in at] + [ctypes.c_uint32(100)]
        table = (ctypes.c_void_p * 4)(*[ctypes.addressof(k) for k in keep])
        raw = ctypes.create_string_buffer(struct.pack("<QQQI", *at, 100), 28)
        size = ctypes.c_size_t(28)
        words = (ctypes.c_void_p * 5)(
            cu.CU_LAUNCH_PARAM_BUFFER_POINTER,
            ctypes.addressof(raw),
            cu.CU_LAUNCH_PARAM_BUFFER_SIZE,
            ctypes.addressof(size),
            cu.CU_LAUNCH_PARAM_END,
        )
        params: object = {
            "pointers": ctypes.addressof(table),
            "array of pointers": np.array([ctypes.addressof(k) for k in keep], np.uint64),
            "tuples": ((*at, 100), (POINTER, POINTER, POINTER, U32)),
            "handles": ((*map(cu.CUdeviceptr, at), 100), (None, None, None, U32)),
            "extra": 0,
        }[way]
        assert add(host, 100, params, ctypes.addressof(words) if way == "extra" else 0) == "SUCCESS", way
        host("cuCtxSynchronize")
        assert (host.download(at[2], a) == a + b).all(), way


def test_parameters_that_do_not_fit(host: Host) -> None:
    f = host.function("add")
    assert host.launch(f, 1, 1, (1, 2), (POINTER, POINTER)) == "INVALID_VALUE"
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) == "INVALID_VALUE"
    raw, size = ctypes.create_string_buffer(32), ctypes.c_size_t(8)
    words = (ctypes.c_void_p * 5)(1, ctypes.addressof(raw), 2, ctypes.addressof(size), 0)
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(words)) == "SUCCESS", "the rest is zero"
    size.value = 32
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, 0, 0, ctypes.addressof(words)) == "LAUNCH_OUT_OF_RESOURCES"


@pytest.mark.parametrize(
    ("size", "target", "wanted"), [(4096, "sm_90", "SUCCESS"), (32764, "sm_90", "SUCCESS"), (4096, "sm_60", "SUCCESS")]
)
def test_parameter_size(host: Host, size: int, target: str, wanted: str) -> None:
    text = f".version 8.1\n.target {target}\n.address_size 64\n.visible .entry k(.param .align 4 .b8 p[{size}]) {{ ret; }}"
    f = host.function("k", text)
    raw = (ctypes.c_char * size)()
    table = (ctypes.c_void_p * 1)(ctypes.addressof(raw))
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, 0, ctypes.addressof(table), 0) == wanted


# ---------------------------------------------------------------- what a launch refuses


@pytest.mark.parametrize(
    ("name", "grid", "block", "shared", "code"),
    [
        ("bounded", (1, 1, 1), (129, 1, 1), 0, "INVALID_VALUE"),
        ("bounded", (1, 1, 1), (128, 1, 1), 0, "SUCCESS"),
        ("bounded", (1, 1, 1), (1025, 1, 1), 0, "INVALID_VALUE"),
        ("bounded", (0, 1, 1), (32, 1, 1), 0, "INVALID_VALUE"),
        ("bounded", (1, 65536, 1), (1, 1, 1), 0, "INVALID_VALUE"),
        ("bounded", (1, 1, 1), (1, 1, 65), 0, "INVALID_VALUE"),
        ("bounded", (1, 1, 1), (32, 1, 1), 49153, "INVALID_VALUE"),
        ("bounded", (1, 1, 1), (32, 1, 1), 49152, "SUCCESS"),
        ("fixed", (1, 1, 1), (64, 1, 1), 0, "INVALID_VALUE"),
        ("fixed", (1, 1, 1), (32, 2, 1), 0, "SUCCESS"),
    ],
)
def test_launch_errors_come_at_the_launch(
    host: Host, name: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared: int, code: str
) -> None:
    params = ((0,), (POINTER,)) if name == "bounded" else ((), ())
    assert host.code("cuLaunchKernel", host.function(name), *grid, *block, shared, 0, params, 0) == code
    assert host.code("cuCtxSynchronize") == "SUCCESS"


def test_dynamic_shared_memory_needs_the_attribute(host: Host) -> None:
    f, out = host.function("shared_size"), host.upload(np.zeros(2, np.uint32))
    assert host("cuFuncGetAttribute", FUNCTION.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f) == 1024
    assert host("cuFuncGetAttribute", FUNCTION.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f) == 49152 - 1024
    assert host.launch(f, 1, 1, (out,), (POINTER,), 50000) == "INVALID_VALUE"
    which = FUNCTION.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert host.code("cuFuncSetAttribute", f, which, 232448) == "INVALID_VALUE"
    host("cuFuncSetAttribute", f, which, 232448 - 1024)
    assert host.launch(f, 1, 1, (out,), (POINTER,), 231424) == "SUCCESS"
    total, start = host.download(out, np.zeros(2, np.uint32)).tolist()
    assert total == 232448
    assert start % 1024 == 0 < start, "dynamic memory lies behind the static"
    host("cuFuncSetAttribute", f, which, 40000)
    assert host.launch(f, 1, 1, (out,), (POINTER,), 231424) == "INVALID_VALUE", "the launch was possible before"


@model_only
def test_an_estimate_of_registers_refuses_no_launch(host: Host) -> None:
    n = 90
    loads = "\n".join(f"ld.volatile.global.u32 %r{i}, [%rd+{4 * i}];" for i in range(n))
    stores = "\n".join(f"st.volatile.global.u32 [%rd+{4 * i}], %r{n - 1 - i};" for i in range(n))
    text = f"{HEAD}.visible .entry k(.param .u64 p) {{ .reg .b32 %r<{n}>; .reg .b64 %rd; ld.param.u64 %rd, [p];\n{loads}\n{stores}\nret; }}"
    f, at = host.function("k", text), host.upload(np.zeros(n, np.uint32))
    assert host("cuFuncGetAttribute", FUNCTION.CU_FUNC_ATTRIBUTE_NUM_REGS, f) > 64
    assert host.launch(f, 1, 1024, (at,), (POINTER,)) == "SUCCESS"
    assert host("cuOccupancyMaxActiveBlocksPerMultiprocessor", f, 1024, 0) == 1
    assert host("cuOccupancyMaxActiveBlocksPerMultiprocessor", f, 512, 0) == 1


def test_cooperative_launches_must_be_resident(host: Host) -> None:
    f = host.function("bounded")
    args = (f, 132 * 32 + 1, 1, 1, 32, 1, 1, 0, 0, ((0,), (POINTER,)))
    assert host.code("cuLaunchCooperativeKernel", *args) == "COOPERATIVE_LAUNCH_TOO_LARGE"
    assert host.code("cuLaunchCooperativeKernel", f, 4, 1, 1, 32, 1, 1, 0, 0, ((0,), (POINTER,))) == "SUCCESS"


def test_launch_configuration_with_a_cluster(host: Host) -> None:
    text = f"{HEAD}.visible .entry k(.param .u64 p) {{ .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;\n"
    text += "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r2, %cluster_ctarank; st.global.u32 [%rd1], %r2; ret; }"
    f, at = host.function("k", text), host.upload(np.zeros(8, np.uint32))
    config, attribute = cu.CUlaunchConfig(), cu.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX, config.blockDimY, config.blockDimZ = 8, 1, 1, 1, 1, 1
    attribute.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    d = attribute.value.clusterDim
    d.x, d.y, d.z = 4, 1, 1
    config.attrs, config.numAttrs = [attribute], 1
    assert host.code("cuLaunchKernelEx", config, f, ((at,), (POINTER,)), 0) == "SUCCESS"
    assert host.download(at, np.zeros(8, np.uint32)).tolist() == [0, 1, 2, 3] * 2
    d.x = 3
    config.attrs = [attribute]
    assert host.code("cuLaunchKernelEx", config, f, ((at,), (POINTER,)), 0) == "INVALID_CLUSTER_SIZE"
    assert host.code("cuOccupancyMaxPotentialClusterSize", f, config) == "INVALID_CLUSTER_SIZE"
    config.numAttrs = 0
    assert host("cuOccupancyMaxPotentialClusterSize", f, config) == 8
    assert host("cuOccupancyMaxActiveClusters", f, config) == 132 * 8, "without one, clusters have one block"


# ---------------------------------------------------------------- faults


def test_a_fault_is_told_when_the_host_waits_and_sticks_until_reset(host: Host) -> None:
    f, at = host.function("poke"), host.upload(np.zeros(4, np.uint32))
    assert host.launch(f, 1, 1, (0x10, 1), (POINTER, U32)) == "SUCCESS"
    assert host.launch(f, 1, 1, (at, 1), (POINTER, U32)) == "SUCCESS", "work behind a fault is taken, and dropped"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert host.code("cuMemAlloc", 4) == "ILLEGAL_ADDRESS"
    assert host.launch(f, 1, 1, (at, 1), (POINTER, U32)) == "ILLEGAL_ADDRESS"
    assert fault_says("null pointer: 4-byte write at address 0x10")
    if DRIVER != MODEL:
        return  # an H200's driver gives the process no new context
    host("cuDevicePrimaryCtxReset", 0)
    assert host.code("cuCtxSynchronize") == "CONTEXT_IS_DESTROYED"
    host("cuCtxSetCurrent", host("cuDevicePrimaryCtxRetain", 0))
    host("cuMemAlloc", 4)


@pytest.mark.parametrize(
    ("offset", "code"),
    [
        pytest.param(16, "ILLEGAL_ADDRESS", marks=model_only),  # a device's pages are larger than an allocation
        pytest.param(-4, "ILLEGAL_ADDRESS", marks=model_only),
        (1 << 40, "ILLEGAL_ADDRESS"),
        (2, "MISALIGNED_ADDRESS"),
        (12, "SUCCESS"),
    ],
)
def test_codes_of_faults(host: Host, offset: int, code: str) -> None:
    at = host.upload(np.zeros(4, np.uint32))
    host.launch(host.function("poke"), 1, 1, (at + offset, 1), (POINTER, U32))
    assert host.code("cuCtxSynchronize") == code


def test_use_after_free_and_double_free(host: Host) -> None:
    f, at = host.function("poke"), host.upload(np.zeros(4, np.uint32))
    host("cuMemFree", at)
    assert host.code("cuMemFree", at) == "INVALID_VALUE"
    assert host.code("cuMemcpyHtoD", at, np.zeros(4, np.uint32), 16) == "INVALID_VALUE"
    host.launch(f, 1, 1, (at, 1), (POINTER, U32))
    assert host.code("cuStreamSynchronize", 0) == "ILLEGAL_ADDRESS"
    assert fault_says("use after free")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("trap;", "LAUNCH_FAILED"),
        pytest.param("L: bra L;", "LAUNCH_TIMEOUT", marks=model_only),
        ("ld.volatile.global.u32 %r, [%rd];", "ILLEGAL_ADDRESS"),
        ("mov.u32 %r, s; add.u32 %r, %r, 65536; st.volatile.shared.u32 [%r], 1;", "ILLEGAL_ADDRESS"),
        ("mov.u32 %r, s; add.u32 %r, %r, 16777216; st.volatile.shared.u32 [%r], 1;", "ILLEGAL_INSTRUCTION"),
        ("mov.u32 %r, s; sub.u32 %r, %r, 1028; ld.volatile.shared.u32 %r, [%r];", "ILLEGAL_INSTRUCTION"),
        ("mov.u32 %r, s; mapa.shared::cluster.u32 %r, %r, 3; ld.volatile.shared::cluster.u32 %r, [%r];", "ILLEGAL_INSTRUCTION"),
        ("mov.u64 %rd, s; cvta.shared.u64 %rd, %rd; st.volatile.global.u32 [%rd], 1;", "INVALID_ADDRESS_SPACE"),
        ("mov.u64 %rd, l; cvta.local.u64 %rd, %rd; ld.volatile.global.u32 %r, [%rd];", "INVALID_ADDRESS_SPACE"),
        ("mov.u32 %r, 1; call (%r), deep, (%r);", "ILLEGAL_ADDRESS"),
        (
            """mbarrier.init.shared.b64 [b], 1; mbarrier.arrive.expect_tx.shared.b64 _, [b], 16; mov.u64 %rd, g;
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd+8], 16, [b];""",
            "LAUNCH_FAILED",
        ),
    ],
)
def test_other_ends(host: Host, body: str, code: str) -> None:
    own = ".shared .align 16 .b8 s[64]; .shared .b64 b; .local .b32 l;"
    before = """.global .align 16 .b8 g[64]; .func (.reg .b32 o) deep (.reg .b32 n)
    { .local .b32 l[1024]; .reg .b32 %r; add.u32 %r, n, 1; st.local.u32 [l], %r; call (o), deep, (%r);
    ld.local.u32 %r, [l]; add.u32 o, o, %r; ret; }"""
    f = host.function("k", f"{HEAD}{before} .visible .entry k() {{ {own} .reg .b32 %r; .reg .b64 %rd; mov.u64 %rd, 0; {body} ret; }}")
    if DRIVER == MODEL:
        core_context().options.max_steps = 10_000
    assert host.launch(f, 1, 32, (), ()) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == code


def test_assert_writes_to_stderr(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD + (
        '.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n'
        '.global .align 1 .b8 what[7] = {120, 32, 62, 32, 51, 0, 0};\n.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n'
        '.global .align 1 .b8 where[9] = {118, 111, 105, 100, 32, 107, 40, 41, 0};\n'
        ".visible .entry k() { .reg .b64 %rd<4>; .reg .b32 %r;\nmov.u64 %rd1, what; mov.u64 %rd2, file; mov.u64 %rd3, where;\n"
        "cvta.global.u64 %rd1, %rd1; cvta.global.u64 %rd2, %rd2; cvta.global.u64 %rd3, %rd3;\n"
        "{ .param .b64 p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
        "st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2; st.param.b32 [p2], 12; st.param.b64 [p3], %rd3; st.param.b64 [p4], 1;\n"
        "call.uni __assertfail, (p0, p1, p2, p3, p4); }\nret; }"
    )  # fmt: skip
    host.launch(host.function("k", text), 1, 1, (), ())
    assert host.code("cuCtxSynchronize") == "ASSERT"
    assert "a.cu:12: void k(): block: [0,0,0], thread: [0,0,0] Assertion `x > 3` failed." in capfd.readouterr().err


# ---------------------------------------------------------------- modules


def test_modules_symbols_and_what_is_wrong_with_them(host: Host) -> None:
    m = host.load()
    at, size = host("cuModuleGetGlobal", m, b"counter")
    assert (size, host.download(at, np.zeros(1, np.uint32)).tolist()) == (4, [5])
    at, size = host("cuModuleGetGlobal", m, b"factor")
    assert (size, host.download(at, np.zeros(1)).tolist()) == (8, [2.5])
    assert host.code("cuModuleGetGlobal", m, b"nothing") == "NOT_FOUND"
    assert host.code("cuModuleGetFunction", m, b"nothing") == "NOT_FOUND"
    assert host("cuModuleGetFunctionCount", m) == 5
    assert [host("cuFuncGetName", f) for f in host("cuModuleEnumerateFunctions", 2, m)] == [b"add", b"poke"]
    f = host("cuModuleGetFunction", m, b"add")
    assert [host("cuFuncGetParamInfo", f, i) for i in range(4)] == [(0, 8), (8, 8), (16, 8), (24, 4)]
    assert host.code("cuFuncGetParamInfo", f, 4) == "INVALID_VALUE"
    host("cuModuleUnload", m)
    assert host.code("cuModuleUnload", m) == "INVALID_HANDLE"
    assert host.launch(f, 1, 1, (0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)) == "INVALID_HANDLE"


def test_managed_variables_are_the_hosts_too(host: Host) -> None:
    text = HEAD + (
        ".visible .global .attribute(.managed) .align 4 .u32 both = 40;\n"
        ".visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [both]; add.u32 %r, %r, 2; st.global.u32 [both], %r; ret; }"
    )
    library = host("cuLibraryLoadData", text.encode(), [], [], 0, [], [], 0)
    at, size = host("cuLibraryGetManaged", library, b"both")
    seen = ctypes.c_uint32.from_address(int(at))
    assert (size, seen.value) == (4, 40)
    assert host.launch(host("cuLibraryGetKernel", library, b"k"), 1, 1, (), ()) == "SUCCESS"
    host("cuCtxSynchronize")
    assert seen.value == 42
    assert host.code("cuLibraryGetManaged", host("cuLibraryLoadData", KERNELS.encode(), [], [], 0, [], [], 0), b"counter") == "NOT_FOUND"


def test_variables_that_do_not_fit(host: Host) -> None:
    assert host.code("cuModuleLoadData", (HEAD + ".global .b8 huge[999999999999];").encode()) == "OUT_OF_MEMORY"


def test_load_log_holds_the_diagnostics(host: Host) -> None:
    log, option = bytearray(2000), cu.CUjit_option
    names = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    text = HEAD + ".visible .entry k() { .reg .b32 %r; add.nonsense %r, %r, 1; ret; }"
    assert host.code("cuModuleLoadDataEx", text.encode(), 2, names, [log, 2000]) == "INVALID_PTX"
    assert "nonsense" in log.split(b"\0")[0].decode()
    assert host.code("cuModuleLoadData", b"") == "INVALID_IMAGE"
    assert host.code("cuModuleLoadData", b"\x7fELFrubbish") == "INVALID_IMAGE"
    assert host.code("cuModuleLoadData", b"hello") == "INVALID_IMAGE"
    assert host.code("cuModuleLoadData", b"// new\n.version 10.0\n.target sm_90\n") == "UNSUPPORTED_PTX_VERSION"
    assert host.code("cuModuleLoadData", b".version 8.7\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }") == "INVALID_PTX"
    assert host.code("cuModuleLoadData", (HEAD + ".extern .func f();\n.visible .entry k() { call f; ret; }").encode()) == "INVALID_PTX"


def test_linking_two_texts(host: Host) -> None:
    one = (
        HEAD
        + ".visible .func (.param .b32 r) twice(.param .b32 x)\n"
        + "{ .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }"
    )
    two = HEAD + (
        ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
        ".visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [p];\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21;"
        "call (b), twice, (a); ld.param.b32 %r, [b]; } st.global.u32 [%rd], %r; ret; }"
    )
    ptx = cu.CUjitInputType.CU_JIT_INPUT_PTX
    state = host("cuLinkCreate", 0, [], [])
    host("cuLinkAddData", state, ptx, two.encode(), len(two), b"two", 0, [], [])
    assert host.code("cuLinkComplete", state) == "INVALID_SOURCE"
    host("cuLinkDestroy", state)
    state = host("cuLinkCreate", 0, [], [])
    host("cuLinkAddData", state, ptx, two.encode(), len(two), b"two", 0, [], [])
    host("cuLinkAddData", state, ptx, one.encode(), len(one), b"one", 0, [], [])
    image, size = host("cuLinkComplete", state)
    kept = ctypes.string_at(image, size)
    host("cuLinkDestroy", state)
    f, at = host("cuModuleGetFunction", host("cuModuleLoadData", kept), b"k"), host.upload(np.zeros(1, np.uint32))
    assert host.launch(f, 1, 1, (at,), (POINTER,)) == "SUCCESS"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [42]


def test_libraries_load_in_each_context(host: Host) -> None:
    library = host("cuLibraryLoadData", KERNELS.encode(), [], [], 0, [], [], 0)
    kernel = host("cuLibraryGetKernel", library, b"poke")
    assert host("cuLibraryGetKernelCount", library) == 5
    at = host.upload(np.zeros(1, np.uint32))
    assert host.launch(kernel, 1, 1, (at, 9), (POINTER, U32)) == "SUCCESS"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [9]
    other = host("cuCtxCreate", None, 0, 0)
    there = host.upload(np.zeros(1, np.uint32))
    assert host.launch(kernel, 1, 1, (there, 8), (POINTER, U32)) == "SUCCESS"
    assert host.download(there, np.zeros(1, np.uint32)).tolist() == [8]
    host("cuCtxDestroy", other)
    host("cuLibraryUnload", library)
    assert host.launch(kernel, 1, 1, (at, 9), (POINTER, U32)) == "INVALID_HANDLE"


def test_a_library_tells_its_kernels_without_a_current_context(host: Host) -> None:
    mine = host("cuCtxPopCurrent")
    library = host("cuLibraryLoadData", KERNELS.encode(), [], [], 0, [], [], 0)
    assert host("cuLibraryGetKernelCount", library) == 5
    kernel = host("cuLibraryGetKernel", library, b"poke")
    assert host.code("cuLibraryGetKernel", library, b"nothing") == "NOT_FOUND"
    assert host.code("cuKernelGetFunction", kernel) == "INVALID_CONTEXT"
    host("cuCtxPushCurrent", mine)
    at = host.upload(np.zeros(1, np.uint32))
    assert host.launch(kernel, 1, 1, (at, 9), (POINTER, U32)) == "SUCCESS"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [9]


@model_only
def test_the_same_text_is_read_once(host: Host) -> None:
    first, second = (core_context().load([KERNELS]) for _ in range(2))
    assert first.modules[0] is second.modules[0]
    assert first.variable("counter") != second.variable("counter"), "each load has variables of its own"


# ---------------------------------------------------------------- memory


def test_copies_in_all_directions(host: Host) -> None:
    data = np.arange(64, dtype=np.uint32)
    a, b = host.upload(data), host("cuMemAlloc", 256)
    assert int(a) % 256 == int(b) % 256 == 0
    host("cuMemcpyDtoD", b, a, 256)
    assert (host.download(b, data) == data).all()
    host("cuMemcpyDtoD", int(b) + 4, b, 128)
    assert host.download(b, data)[:3].tolist() == [0, 0, 1]
    host("cuMemsetD32", b, 0xDEADBEEF, 64)
    host("cuMemsetD16", b, 0x1234, 2)
    host("cuMemsetD8", b, 0x55, 1)
    assert host.download(b, data)[:2].tolist() == [0x12341255, 0xDEADBEEF]
    out = bytearray(8)
    host("cuMemcpyDtoHAsync", out, a, 8, 0)
    assert out == data[:2].tobytes()
    host("cuMemcpy", b, data.ctypes.data, 256)
    assert (host.download(b, data) == data).all()
    for wrong in (("cuMemcpyHtoD", b, data, 1 << 30), ("cuMemcpyDtoH", out, 0, 4), ("cuMemsetD32", int(b) + 2, 0, 1), ("cuMemAlloc", 0)):
        assert host.code(*wrong) == "INVALID_VALUE", wrong


def test_rows_with_a_pitch(host: Host) -> None:
    at, pitch = host("cuMemAllocPitch", 100, 7, 4)
    assert pitch == 512
    host("cuMemsetD2D8", at, pitch, 0xEE, 100, 7)
    data = np.arange(700, dtype=np.uint8).reshape(7, 100)
    c, kinds = cu.CUDA_MEMCPY2D(), cu.CUmemorytype
    c.srcMemoryType, c.srcHost, c.srcPitch, c.dstMemoryType = kinds.CU_MEMORYTYPE_HOST, data, 100, kinds.CU_MEMORYTYPE_DEVICE
    c.dstDevice, c.dstPitch, c.WidthInBytes, c.Height, c.srcY, c.srcXInBytes = at, pitch, 50, 3, 2, 10
    host("cuMemcpy2D", c)
    want = np.full((7, 100), 0xEE, np.uint8)
    want[:3, :50] = data[2:5, 10:60]
    got = host.download(at, np.zeros((6 * 512 + 100), np.uint8))
    rows = np.stack([got[y * 512 : y * 512 + 100] for y in range(7)])
    assert (rows == want).all()


def test_arrays_hold_boxes(host: Host) -> None:
    d = cu.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels = 5, 4, 3, cu.CUarray_format.CU_AD_FORMAT_FLOAT, 2
    array = host("cuArray3DCreate", d)
    assert host("cuArray3DGetDescriptor", array).Height == 4
    data = np.arange(5 * 4 * 3 * 2, dtype=np.float32)
    out = np.zeros_like(data)
    for way in ("in", "out"):
        c = cu.CUDA_MEMCPY3D()
        near, far = ("src", "dst") if way == "in" else ("dst", "src")
        setattr(c, near + "MemoryType", cu.CUmemorytype.CU_MEMORYTYPE_HOST)
        setattr(c, near + "Host", data if way == "in" else out)
        setattr(c, near + "Pitch", 40)
        setattr(c, near + "Height", 4)
        setattr(c, far + "MemoryType", cu.CUmemorytype.CU_MEMORYTYPE_ARRAY)
        setattr(c, far + "Array", array)
        c.WidthInBytes, c.Height, c.Depth = 40, 4, 3
        host("cuMemcpy3D", c)
    assert (out == data).all()
    host("cuArrayDestroy", array)
    assert host.code("cuArrayGetDescriptor", array) == "INVALID_HANDLE"


def test_pinned_managed_and_registered_memory_have_one_address(host: Host) -> None:
    f = host.function("poke")
    own = np.zeros(4, np.uint32)
    host("cuMemHostRegister", own.ctypes.data, own.nbytes, 0)
    pinned, managed = host("cuMemHostAlloc", 16, 2), int(host("cuMemAllocManaged", 16, 1))
    for n, at in enumerate((own.ctypes.data, pinned, managed)):
        assert int(host("cuMemHostGetDevicePointer", at, 0)) == at if at != managed else True
        assert host.launch(f, 1, 1, (at + 4, n + 1), (POINTER, U32)) == "SUCCESS"
        host("cuCtxSynchronize")
        assert list((ctypes.c_uint32 * 4).from_address(at)) == [0, n + 1, 0, 0]
    assert own.tolist() == [0, 1, 0, 0]
    kind = cu.CUpointer_attribute
    assert host("cuPointerGetAttribute", kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pinned) == cu.CUmemorytype.CU_MEMORYTYPE_HOST
    assert host("cuPointerGetAttribute", kind.CU_POINTER_ATTRIBUTE_IS_MANAGED, managed) is True
    assert host.code("cuMemHostRegister", own.ctypes.data, 4, 0) == "HOST_MEMORY_ALREADY_REGISTERED"
    host("cuMemHostUnregister", own.ctypes.data)
    assert host.code("cuMemHostUnregister", own.ctypes.data) == "HOST_MEMORY_NOT_REGISTERED"
    host("cuMemFreeHost", pinned)
    host("cuMemFree", managed)
    assert host.code("cuPointerGetAttribute", kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, own.ctypes.data) == "INVALID_VALUE"


def test_pointer_attributes_of_device_memory(host: Host) -> None:
    at, kind = host.upload(np.zeros(100, np.uint8)), cu.CUpointer_attribute
    ask = [kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kind.CU_POINTER_ATTRIBUTE_RANGE_SIZE, kind.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
    assert host("cuPointerGetAttributes", 3, ask, at + 5) == [2, 100, 0]
    start, size = host("cuMemGetAddressRange", at + 5)
    assert (int(start), size) == (at, 100)
    assert host.code("cuPointerGetAttribute", kind.CU_POINTER_ATTRIBUTE_HOST_POINTER, at) == "INVALID_VALUE"


def test_a_null_function_has_no_name(host: Host) -> None:
    assert [host.code(name, 0) for name in ("cuFuncGetName", "cuKernelGetName")] == ["INVALID_VALUE"] * 2


def test_memory_runs_out(host: Host) -> None:
    free, total = host("cuMemGetInfo")
    assert host("cuDeviceTotalMem", 0) == total >= free
    assert host.code("cuMemAlloc", total + 1) == "OUT_OF_MEMORY"
    a = host("cuMemAlloc", 1 << 20)
    assert host("cuMemGetInfo")[0] == free - (1 << 20)
    host("cuMemFree", a)


def test_pools_and_allocations_in_order(host: Host) -> None:
    s, which = host("cuStreamCreate", 1), cu.CUmemPool_attribute
    pool = host("cuDeviceGetMemPool", 0)
    used = host("cuMemPoolGetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)
    at = host("cuMemAllocAsync", 1000, s)
    assert host("cuMemPoolGetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == used + 1000
    host("cuMemsetD8Async", at, 3, 1000, s)
    assert (host.download(at, np.zeros(1000, np.uint8)) == 3).all()
    host("cuMemFreeAsync", at, s)
    assert host("cuMemPoolGetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == used
    assert host.code("cuMemFreeAsync", at, s) == "INVALID_VALUE"
    assert host.code("cuMemPoolDestroy", pool) == "INVALID_VALUE"


# ---------------------------------------------------------------- streams and events


# What is asked right after a piece of work, as an H200 answered: the stream that has it, a second one, one that heeds no other, the default stream.
ASKED = {
    "nothing": (0, 0, 0, 0),
    "a launch": (1, 0, 0, 1),
    "a launch in the default stream": (0, 0, 0, 1),
    "a copy": (1, 0, 0, 1),
    "memory that is set": (1, 0, 0, 1),
    "a host function": (1, 0, 0, 1),
    "an event of another stream": (1, 1, 0, 1),
    "a launch; the host waits for the default stream": (0, 0, 0, 0),
    "a launch; the host waits for the second stream": (1, 0, 0, 1),
}


@pytest.mark.parametrize("what", ASKED)
def test_right_after_its_work_a_stream_is_not_ready(host: Host, what: str) -> None:
    f, at, pinned, large = (
        host.function("poke"),
        host.upload(np.zeros(1, np.uint32)),
        host("cuMemHostAlloc", MIB, 0),
        host("cuMemAlloc", MIB),
    )
    one, two, free, event = host("cuStreamCreate", 0), host("cuStreamCreate", 0), host("cuStreamCreate", 1), host("cuEventCreate", 0)

    def launches(stream: object) -> None:
        for _ in range(3):
            host("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, stream, ((at, 1), (POINTER, U32)), 0)

    def an_event() -> None:
        launches(one)
        host("cuEventRecord", event, one)
        host("cuStreamWaitEvent", two, event, 0)

    def waited_for(stream: object) -> None:
        launches(one)
        host("cuStreamSynchronize", stream)

    give: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "a launch": lambda: launches(one),
        "a launch in the default stream": lambda: launches(0),
        "a copy": lambda: host("cuMemcpyHtoDAsync", large, pinned, MIB, one),
        "memory that is set": lambda: host("cuMemsetD8Async", large, 0, MIB, one),
        "a host function": lambda: host("cuLaunchHostFunc", one, lambda _: None, 0),
        "an event of another stream": an_event,
        "a launch; the host waits for the default stream": lambda: waited_for(0),
        "a launch; the host waits for the second stream": lambda: waited_for(two),
    }
    for stream, busy in zip((one, two, free, 0), ASKED[what], strict=True):
        host("cuCtxSynchronize")
        give[what]()
        assert host.code("cuStreamQuery", stream) == ("NOT_READY" if busy else "SUCCESS")


def test_who_asks_for_an_event_in_a_loop_gets_an_answer(host: Host) -> None:
    f, at, s = host.function("poke"), host.upload(np.zeros(1, np.uint32)), host("cuStreamCreate", 0)
    begin, end = host("cuEventCreate", 0), host("cuEventCreate", 0)
    host("cuEventRecord", begin, s)
    host("cuEventSynchronize", begin)
    host("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, ((at, 1), (POINTER, U32)), 0)
    host("cuEventRecord", end, s)
    assert host.code("cuEventElapsedTime", begin, end) == "NOT_READY"
    codes: list[str] = []
    while not codes or codes[-1] != "SUCCESS":
        codes.append(host.code("cuEventQuery", end))
    assert 1 <= codes.count("NOT_READY") < 10
    assert host("cuEventElapsedTime", begin, end) > 0


def test_streams_events_and_their_order(host: Host) -> None:
    f, at = host.function("poke"), host.upload(np.zeros(1, np.uint32))
    one, two = host("cuStreamCreate", 0), host("cuStreamCreateWithPriority", 1, -99)
    assert host("cuStreamGetPriority", two) == -5
    assert (host("cuStreamGetFlags", one), host("cuStreamGetFlags", two)) == (0, 1)
    first, second, silent = host("cuEventCreate", 0), host("cuEventCreate", 0), host("cuEventCreate", 2)
    assert host.code("cuEventQuery", first) == "SUCCESS"
    assert host.code("cuEventElapsedTime", first, second) == "INVALID_HANDLE"
    host("cuEventRecord", first, one)
    for n, s in ((1, one), (2, two), (3, 0), (4, cu.CU_STREAM_LEGACY), (5, cu.CU_STREAM_PER_THREAD)):
        assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, ((at, n), (POINTER, U32)), 0) == "SUCCESS"
    host("cuEventRecord", second, two)
    host("cuStreamWaitEvent", one, second, 0)
    host("cuEventSynchronize", second)
    assert host("cuEventElapsedTime", first, second) > 0
    assert host.code("cuEventElapsedTime", first, silent) == "INVALID_HANDLE"
    assert host.download(at, np.zeros(1, np.uint32)).tolist() == [5]
    assert host.code("cuStreamQuery", one) == "SUCCESS"
    host("cuStreamDestroy", one)
    assert host.code("cuStreamSynchronize", one) == "INVALID_HANDLE"


def test_host_functions_run_in_the_streams_order(host: Host) -> None:
    f, at = host.function("poke"), int(host("cuMemAllocManaged", 4, 1))
    seen: list[tuple[int, object]] = []
    host.launch(f, 1, 1, (at, 77), (POINTER, U32))
    host("cuLaunchHostFunc", 0, lambda data: seen.append((ctypes.c_uint32.from_address(at).value, data)), "mine")
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: seen.append((0, data)))
    host("cuLaunchHostFunc", 0, ctypes.cast(callback, ctypes.c_void_p).value, 5)
    host("cuStreamSynchronize", 0)
    assert seen == [(77, "mine"), (0, 5)]


def test_each_thread_has_its_own_current_context(host: Host) -> None:
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(host.code("cuCtxSynchronize")))
    thread.start()
    thread.join()
    assert seen == ["INVALID_CONTEXT"]


# ---------------------------------------------------------------- contexts, limits, devices


def test_contexts_stack_and_own_their_memory(host: Host) -> None:
    primary = host("cuCtxGetCurrent")
    mine = host("cuCtxCreate", None, 0, 0)
    assert host("cuCtxGetCurrent") == mine != primary
    at = host("cuMemAlloc", 64)
    assert host("cuCtxPopCurrent") == mine
    assert host("cuCtxGetCurrent") == primary
    host("cuCtxDestroy", mine)
    assert host.code("cuMemFree", at) == "INVALID_VALUE"
    assert host.code("cuCtxDestroy", primary) == "INVALID_CONTEXT"
    assert host("cuDevicePrimaryCtxGetState", 0)[1] == 1


@pytest.mark.parametrize(
    ("name", "value", "becomes"),
    [
        ("STACK_SIZE", None, 1024), ("STACK_SIZE", 0, 0), ("STACK_SIZE", 1, 16), ("STACK_SIZE", 1025, 1040), ("STACK_SIZE", 2000, 2000),
        ("PRINTF_FIFO_SIZE", None, 8650752), ("PRINTF_FIFO_SIZE", 1000, 524288), ("PRINTF_FIFO_SIZE", 2097152, 2097152),
        ("MALLOC_HEAP_SIZE", None, 8388608), ("MALLOC_HEAP_SIZE", 1, 4194304), ("MALLOC_HEAP_SIZE", 5000000, 5046272),
        ("DEV_RUNTIME_PENDING_LAUNCH_COUNT", None, 2048), ("PERSISTING_L2_CACHE_SIZE", None, 11796480),
    ],
)  # fmt: skip
def test_limits_as_the_h200_has_them(host: Host, name: str, value: int | None, becomes: int) -> None:
    which = getattr(LIMIT, f"CU_LIMIT_{name}")
    if value is not None:
        host("cuCtxSetLimit", which, value)
    assert host("cuCtxGetLimit", which) == becomes


def test_limits_that_can_not_be(host: Host) -> None:
    assert host.code("cuCtxSetLimit", LIMIT.CU_LIMIT_STACK_SIZE, 524288) == "INVALID_VALUE"
    assert host.code("cuCtxSetLimit", 99, 1) == "INVALID_VALUE"
    assert host.code("cuCtxGetLimit", LIMIT.CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH) == "UNSUPPORTED_LIMIT"


def test_device_attributes(host: Host) -> None:
    assert host("cuDeviceGetCount") >= 1
    assert host("cuDeviceGetName", 50, 0) == b"NVIDIA H200"
    assert host("cuDeviceGetAttribute", ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) == 132
    assert host("cuDeviceComputeCapability", 0) == (9, 0)
    for a in ATTRIBUTE:
        if a is not ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MAX:
            assert isinstance(host("cuDeviceGetAttribute", a, 0), int), a
    assert host.code("cuDeviceGet", 99) == "INVALID_DEVICE"
    assert host.code("cuDeviceGetAttribute", 9999, 0) == "INVALID_VALUE"
    assert int(host("cuDeviceGetByPCIBusId", host("cuDeviceGetPCIBusId", 20, 0))) == 0


def test_occupancy(host: Host) -> None:
    f = host.function("bounded")
    ask = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    assert [host(ask, f, n, 0) for n in (1, 32, 65, 128, 256, 1025)] == [32, 32, 21, 16, 8, 0], "the bound on the block does not count"
    assert host("cuOccupancyMaxPotentialBlockSize", f, 0, 0, 0) == (132 * 16, 128)
    assert host("cuOccupancyMaxPotentialBlockSize", f, lambda threads: threads * 1024, 0, 0)[1] == 32
    assert host("cuOccupancyAvailableDynamicSMemPerBlock", f, 2, 64) == 49152, "no more than the function allows"
    assert host("cuOccupancyAvailableDynamicSMemPerBlock", f, 8, 64) == 233472 // 8


@model_only
def test_what_is_not_supported_says_so(host: Host) -> None:
    assert cu.cuGraphicsUnregisterResource(0) == (cu.CUresult.CUDA_ERROR_NOT_SUPPORTED,)
    with pytest.raises(TypeError):
        cu.cuGraphicsUnregisterResource()
    with pytest.raises(AttributeError):
        _ = cu.cuNoSuchCall


def test_error_names_and_strings() -> None:
    assert cu.cuGetErrorName(700) == (0, b"CUDA_ERROR_ILLEGAL_ADDRESS")
    assert cu.cuGetErrorString(cu.CUresult.CUDA_ERROR_INVALID_VALUE) == (0, b"invalid argument")
    assert cu.cuGetErrorName(12345)[0] == cu.CUresult.CUDA_ERROR_INVALID_VALUE


def test_output_is_flushed_when_the_host_waits(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD + (
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 form[8] = {104, 105, 32, 37, 100, 10, 0, 0};\n"
        ".visible .entry k() { .local .align 8 .b8 args[8];"
        " .reg .b64 %rd<3>; .reg .b32 %r;\nmov.u64 %rd1, form; cvta.global.u64 %rd1, %rd1;\n"
        "mov.u64 %rd2, args; cvta.local.u64 %rd2, %rd2; mov.u32 %r, %tid.x; st.local.u32 [args], %r;\n"
        "{ .param .b64 p; .param .b64 q; .param .b32 s; st.param.b64 [p], %rd1; st.param.b64 [q], %rd2;"
        "call (s), vprintf, (p, q); }\nret; }"
    )
    assert host.launch(host.function("k", text), 1, 3, (), ()) == "SUCCESS"
    assert capfd.readouterr().out == ""
    host("cuCtxSynchronize")
    assert capfd.readouterr().out == "hi 0\nhi 1\nhi 2\n"


@model_only
def test_a_launch_that_finds_no_memory_says_so() -> None:
    runtime, kernels = (importlib.import_module(f"warplab.runtime.device.{n}") for n in ("context", "modules.kernels"))
    # the address of a parameter is taken, so that the parameters stand in memory
    text = f"{HEAD}.visible .entry k(.param .align 8 .b8 p[8]) {{ .reg .b64 %rd<3>; mov.b64 %rd1, p; cvta.param.u64 %rd1, %rd1; ld.u64 %rd2, [%rd1]; ret; }}"
    for shape in (kernels.LaunchShape((1, 1, 1), (1, 1, 1), cooperative=True), kernels.LaunchShape((1, 1, 1), (1, 1, 1))):
        context = runtime.DeviceContext("sm_90", memory=1 << 16)
        handle = context.load([text]).kernel("k")
        context.allocate(context.free_memory)
        with pytest.raises(Exception, match="CUDA_ERROR_OUT_OF_MEMORY"):
            context.launch(handle, shape, bytes(8))
            context.synchronize()
        context.close()


def test_addresses_of_parameters_fit_32_bits(host: Host) -> None:
    text = HEAD + (
        ".visible .entry k(.param .u64 out, .param .u64 first, .param .u64 s) { .reg .b64 %rd<5>; .reg .b32 %r; mov.b32 %r, s; cvt.u64.u32 %rd1, %r;"
        " cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, s; cvta.param.u64 %rd2, %rd2; sub.u64 %rd2, %rd1, %rd2; ld.u64 %rd3, [%rd1];"
        " ld.param.u64 %rd4, [out]; st.global.u64 [%rd4], %rd2; st.global.u64 [%rd4+8], %rd3; ret; }"
    )
    out = host.upload(np.full(2, 99, np.uint64))
    assert host.launch(host.function("k", text), 1, 2, (out, 5, 42), (POINTER, POINTER, POINTER)) == "SUCCESS"
    assert host.download(out, np.zeros(2, np.uint64)).tolist() == [0, 42]


def test_what_a_kernel_allocates_is_its_own(host: Host) -> None:
    text = HEAD + (
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
        ".visible .entry get(.param .u64 out) { .reg .b64 %rd<3>;\n{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64;"
        " call.uni (r), malloc, (n); ld.param.b64 %rd1, [r]; }\nst.u32 [%rd1], 7; ld.param.u64 %rd2, [out]; st.global.u64 [%rd2], %rd1; ret; }\n"
        ".visible .entry use(.param .u64 at, .param .u64 out) { .reg .b64 %rd<3>; .reg .b32 %r; ld.param.u64 %rd1, [at]; ld.u32 %r, [%rd1];"
        " ld.param.u64 %rd2, [out]; st.global.u32 [%rd2], %r; { .param .b64 p; st.param.b64 [p], %rd1; call.uni free, (p); } ret; }"
    )
    m, out = host.load(text), host.upload(np.zeros(1, np.uint64))
    get, use = (host("cuModuleGetFunction", m, n) for n in (b"get", b"use"))
    assert host.launch(get, 1, 1, (out,), (POINTER,)) == "SUCCESS"
    at = int(host.download(out, np.zeros(1, np.uint64))[0])
    assert host.code("cuMemcpyDtoH", np.zeros(1, np.uint32), at, 4) == "INVALID_VALUE"
    assert host.code("cuMemFree", at) == "INVALID_VALUE"
    assert host.launch(use, 1, 1, (at, out), (POINTER, POINTER)) == "SUCCESS"
    assert host.download(out, np.zeros(1, np.uint32)).tolist() == [7]


@model_only
def test_managed_memory_is_prefetched_in_batches(host: Host) -> None:
    first, second = (int(host("cuMemAllocManaged", 4096, 1)) for _ in range(2))
    where = [host.cu.CUmemLocation(), host.cu.CUmemLocation()]
    where[0].type = host.cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    where[1].type = host.cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
    given = [first, second], [4096, 4096], 2
    host("cuMemPrefetchBatchAsync", *given, where, [0, 1], 2, 0, 0)
    last = host.cu.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION
    assert [host("cuMemRangeGetAttribute", 4, last, p, 4096) for p in (first, second)] == [0, -1]
    host("cuMemDiscardAndPrefetchBatchAsync", *given, where, [0], 1, 0, 0)
    assert host("cuMemRangeGetAttribute", 4, last, second, 4096) == 0
    host("cuMemDiscardBatchAsync", *given, 0, 0)
    for wrong in ([1], [0, 0], [0, 2]):
        assert host.code("cuMemPrefetchBatchAsync", *given, where, wrong, len(wrong), 0, 0) == "INVALID_VALUE"
    assert host.code("cuMemDiscardBatchAsync", [first], [4096], 2, 0, 0) == "INVALID_VALUE"


def test_the_host_and_managed_memory_have_pools_of_their_own(host: Host) -> None:
    kinds, places = cu.CUmemAllocationType, cu.CUmemLocationType
    where = cu.CUmemLocation()
    where.type = places.CU_MEM_LOCATION_TYPE_HOST
    pinned, managed = kinds.CU_MEM_ALLOCATION_TYPE_PINNED, kinds.CU_MEM_ALLOCATION_TYPE_MANAGED
    for kind, told in ((pinned, cu.CUmemorytype.CU_MEMORYTYPE_HOST), (managed, None)):
        pool = host("cuMemGetMemPool", where, kind)
        assert int(pool) == int(host("cuMemGetDefaultMemPool", where, kind)) == int(host("cuMemGetMemPool", where, kind))
        at = host("cuMemAllocFromPoolAsync", 64, pool, 0)
        if told is not None:
            assert host("cuPointerGetAttribute", cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == told
        host("cuMemFreeAsync", at, 0)
        assert host.code("cuMemPoolDestroy", pool) == "INVALID_VALUE"
    where.type = places.CU_MEM_LOCATION_TYPE_INVALID
    assert host.code("cuMemGetMemPool", where, pinned) == "INVALID_VALUE"


def test_where_managed_memory_is_to_be(host: Host) -> None:
    attributes, places = cu.CUmem_range_attribute, cu.CUmemLocationType
    at, where = host("cuMemAllocManaged", 4096, 1), cu.CUmemLocation()

    def located(what: str) -> tuple[int, int]:
        kind, number = (getattr(attributes, f"CU_MEM_RANGE_ATTRIBUTE_{what}_LOCATION_{part}") for part in ("TYPE", "ID"))
        return host("cuMemRangeGetAttribute", 4, kind, at, 4096), host("cuMemRangeGetAttribute", 4, number, at, 4096)

    assert located("PREFERRED")[0] == located("LAST_PREFETCH")[0] == places.CU_MEM_LOCATION_TYPE_INVALID
    where.type = places.CU_MEM_LOCATION_TYPE_HOST
    host("cuMemAdvise", at, 4096, cu.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, where)
    assert located("PREFERRED")[0] == places.CU_MEM_LOCATION_TYPE_HOST
    where.type, where.id = places.CU_MEM_LOCATION_TYPE_DEVICE, 0
    host("cuMemPrefetchAsync", at, 4096, where, 0, 0)
    assert located("LAST_PREFETCH") == (places.CU_MEM_LOCATION_TYPE_DEVICE, 0)


def test_the_host_is_the_last_of_those_that_access_a_range(host: Host) -> None:
    at = host("cuMemAllocManaged", 4096, 1)
    where = cu.CUmemLocation()
    for kind in ("HOST", "DEVICE"):
        where.type = cu.CUmemLocationType[f"CU_MEM_LOCATION_TYPE_{kind}"]
        host("cuMemAdvise", at, 4096, cu.CUmem_advise.CU_MEM_ADVISE_SET_ACCESSED_BY, where)
    by = cu.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
    assert host("cuMemRangeGetAttribute", 12, by, at, 4096) == [0, -1, -2]


def test_managed_memory_has_sync_memops_until_it_is_set(host: Host) -> None:
    at, which = host("cuMemAllocManaged", 4096, 1), cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    found = [host("cuPointerGetAttribute", which, at)]
    for value in (False, True):
        host("cuPointerSetAttribute", value, which, at)
        found.append(host("cuPointerGetAttribute", which, at))
    assert found == [True, False, True]
