"""Loading, modules, functions, libraries, linking."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..ptx import BOTH, CALLS_TWICE, HEAD, KERNELS, TWICE
from .notes import POINTER, U32, Notes, scenario


@scenario
def loading(t: Notes) -> None:
    cu = t.cu
    t.start()
    v = ".version 8.0\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}"
    texts = {
        "nothing": "", "words": "hello", "a comment": "// c\n" + KERNELS, "new version": ".version 9.9\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }", "sm_100": v.format("sm_100").replace("8.0", "8.7"),
        "sm_90a": v.format("sm_90a"), "sm_80": v.format("sm_80"), "sm_89": v.format("sm_89"), "sm_50": v.format("sm_50"), "sm_35": v.format("sm_35"), "sm_20": v.format("sm_20"), "sm_10": v.format("sm_10"), "bad instruction": HEAD + ".visible .entry k() { add.nonsense %r, %r, 1; ret; }",
        "unresolved function": HEAD + ".extern .func f();\n.visible .entry k() { call f; ret; }", "unresolved variable": HEAD + ".extern .global .u32 x;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [x]; ret; }",
        "unused extern": HEAD + ".extern .func f();\n.visible .entry k() { ret; }", "no kernels": HEAD + ".global .u32 x;", "unclosed": HEAD + ".visible .entry k() { ret;", "no target": ".version 8.0\n.visible .entry k() { ret; }",
        "too much shared": HEAD + ".visible .entry k() { .shared .b8 s[300000]; .reg .b64 %rd; mov.u64 %rd, s; ret; }", "shared above 48 K": HEAD + ".visible .entry k() { .shared .align 4 .b8 s[60000]; .reg .b32 %r; st.shared.u32 [s], 1; ret; }",
        "too much constant": HEAD + ".const .b8 c[70000];\n.visible .entry k() { ret; }", "parameters too large": HEAD + ".visible .entry k(.param .b8 p[5000]) { ret; }", "not ascii": HEAD + "// \xe9\n.visible .entry k() { ret; }",
        "debug": v.format("sm_90, debug"), "no address size": ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }", "32 bits": v.format("sm_90").replace("64", "32"),
    }  # fmt: skip
    for name, text in texts.items():
        t("cuModuleLoadData", text.encode() + b"\0", step=name)
    t("cuModuleLoad", b"/nowhere/at/all", step="no file")
    t("cuModuleLoadFatBinary", KERNELS.encode() + b"\0", step="text as fat binary")
    t("cuLibraryLoadFromFile", b"/nowhere/at/all", [], [], 0, [], [], 0, step="library of no file")
    t("cuLibraryLoadData", b"hello\0", [], [], 0, [], [], 0, step="library of words")
    t("cuLibraryLoadData", texts["bad instruction"].encode() + b"\0", [], [], 0, [], [], 0, step="library of a bad instruction")
    t("cuModuleGetLoadingMode")
    option = cu.CUjit_option
    for step, text in (("good", KERNELS), ("bad", texts["bad instruction"])):
        info, errors = bytearray(4000), bytearray(4000)
        t("cuModuleLoadDataEx", text.encode() + b"\0", 4, [option.CU_JIT_INFO_LOG_BUFFER, option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
          [info, 4000, errors, 4000], step=f"logs of {step}")  # fmt: skip
        t.note("error log is written", bool(errors.strip(b"\0")))
    t(
        "cuModuleLoadDataEx",
        KERNELS.encode() + b"\0",
        2,
        [option.CU_JIT_MAX_REGISTERS, option.CU_JIT_OPTIMIZATION_LEVEL],
        [32, 0],
        step="other options",
    )


@scenario
def modules(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    for name in (b"add", b"nothing", b"", b"counter"):
        t("cuModuleGetFunction", m, name, step=f"function {name.decode()}")
    for name in (b"counter", b"factor", b"both", b"nothing", b"", b"add"):
        found = t("cuModuleGetGlobal", m, name, step=f"global {name.decode()}", quiet=True)
        t.note("size", found[1] if found else None)
    t("cuModuleGetFunctionCount", m)
    t.note("functions", len(cu.cuModuleEnumerateFunctions(20, m)[1] or []))
    f = cu.cuModuleGetFunction(m, b"mixed")[1]
    for n in range(6):
        t("cuFuncGetParamInfo", f, n, step=f"param {n}")
    t("cuFuncGetParamCount", f)
    t("cuFuncGetName", f)
    t("cuFuncIsLoaded", f)
    t("cuFuncLoad", f)
    t("cuFuncIsLoaded", f)
    t.note("its module", int(cu.cuFuncGetModule(f)[1]) == int(m))
    t("cuModuleUnload", m)


ATTRIBUTES = ("MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS PTX_VERSION BINARY_VERSION CACHE_MODE_CA "
              "MAX_DYNAMIC_SHARED_SIZE_BYTES PREFERRED_SHARED_MEMORY_CARVEOUT CLUSTER_SIZE_MUST_BE_SET REQUIRED_CLUSTER_WIDTH "
              "REQUIRED_CLUSTER_HEIGHT REQUIRED_CLUSTER_DEPTH NON_PORTABLE_CLUSTER_SIZE_ALLOWED CLUSTER_SCHEDULING_POLICY_PREFERENCE")  # fmt: skip


@scenario
def functions(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    which = cu.CUfunction_attribute
    for name in ("add", "poke", "bounded", "fixed", "shared_size", "clustered", "ranked", "least", "local", "mixed", "barred"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for a in ATTRIBUTES.split():
            t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), f, step=f"{name} {a}")
    for name in ("shared_size", "clustered", "bounded"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for a in ATTRIBUTES.split():
            for value in (-2, -1, 0, 1, 2, 101, 48 << 10, 231424, 232448, 232449):
                t("cuFuncSetAttribute", f, getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), value, step=f"{name} {a} = {value}")
            t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), f, step="then")
    f = cu.cuModuleGetFunction(m, b"add")[1]
    for c in cu.CUfunc_cache:
        t("cuFuncSetCacheConfig", f, c)
    for c in cu.CUsharedconfig:
        t("cuFuncSetSharedMemConfig", f, c)


@scenario
def libraries(t: Notes) -> None:
    cu = t.cu
    t.start()
    code = cu.CUfunction_attribute
    library = t("cuLibraryLoadData", BOTH.encode() + b"\0", [], [], 0, [], [], 0)
    k = t("cuLibraryGetKernel", library, b"add")
    t("cuLibraryGetKernel", library, b"nothing", step="no kernel")
    t("cuLibraryGetKernelCount", library)
    t.note("kernels", len(cu.cuLibraryEnumerateKernels(3, library)[1]))
    t("cuLibraryGetModule", library)
    for name in (b"counter", b"factor", b"nothing", b"both"):
        for call in ("cuLibraryGetGlobal", "cuLibraryGetManaged"):
            found = t(call, library, name, step=f"{call} {name.decode()}", quiet=True)
            t.note("size", found[1] if found else None)
    t("cuKernelGetFunction", k)
    t("cuKernelGetName", k)
    t.note("library", int(cu.cuKernelGetLibrary(k)[1]) == int(library))
    t("cuKernelGetParamInfo", k, 3)
    t("cuKernelGetParamInfo", k, 4)
    t("cuKernelGetParamCount", k)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 9, step="of no device")
    t("cuKernelSetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100_000, k, 0)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k, 0)
    t("cuFuncGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cu.cuKernelGetFunction(k)[1])
    t("cuKernelSetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300_000, k, 0, step="too much")
    t("cuKernelSetCacheConfig", k, cu.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1, 0)
    t.launch(k, 1, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)))
    t("cuCtxSynchronize")
    t("cuLibraryUnload", library)


@scenario
def linking(t: Notes) -> None:
    cu = t.cu
    t.start()
    kinds = cu.CUjitInputType
    at = t.memory(64)

    def add(state: Any, text: str | bytes, step: str, kind: Any = kinds.CU_JIT_INPUT_PTX) -> None:
        raw = (text.encode() if isinstance(text, str) else text) + b"\0"
        t("cuLinkAddData", state, kind, raw, len(raw), b"input", 0, [], [], step=step)

    s = t("cuLinkCreate", 0, [], [])
    add(s, CALLS_TWICE, "caller")
    add(s, TWICE, "callee")
    image = t("cuLinkComplete", s, quiet=True)
    m = t("cuModuleLoadData", ctypes.string_at(int(image[0]), image[1]))
    t("cuLinkComplete", s, step="complete again", quiet=True)
    f = cu.cuModuleGetFunction(m, b"k")[1]
    t.launch(f, 1, 1, ((at,), (POINTER,)))
    out = np.zeros(1, np.uint32)
    t("cuMemcpyDtoH", out.ctypes.data, at, 4)
    t.note("result", int(out[0]))
    t("cuLinkDestroy", s)
    for step, texts in {"unresolved": (CALLS_TWICE,), "twice the same": (TWICE, TWICE), "nothing": (), "a bad one": (HEAD + ".visible .entry k() { nonsense; }",), "words": ("hello",), "newer target": (TWICE.replace("sm_90", "sm_100").replace("8.0", "8.7"),)}.items():  # fmt: skip
        log, option = bytearray(4000), cu.CUjit_option
        s = t(
            "cuLinkCreate",
            2,
            [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
            [log, 4000],
            step=f"{step}: create",
        )
        for text in texts:
            add(s, text, f"{step}: add")
        t("cuLinkComplete", s, step=f"{step}: complete", quiet=True)
        t.note(f"{step}: log is written", bool(log.strip(b"\0")))
    s = cu.cuLinkCreate(0, [], [])[1]
    add(s, b"\x7fELFrubbish" + bytes(80), "rubbish object", kinds.CU_JIT_INPUT_CUBIN)
    t("cuLinkAddFile", s, kinds.CU_JIT_INPUT_PTX, b"/nowhere", 0, [], [], step="no file")
