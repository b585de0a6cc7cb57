"""Streams, events, host functions, capture, and handles of what is gone."""

from __future__ import annotations

import ctypes

import numpy as np

from ..ptx import ends_with
from .notes import NONE, POINTER, U32, Notes, scenario


@scenario
def streams(t: Notes) -> None:
    cu = t.cu
    t.start()
    for flags in (0, 1, 2):
        t("cuStreamCreate", flags, step=f"create {flags}")
    for p in (0, -1, -5, -6, 1, 100):
        s = t("cuStreamCreateWithPriority", 1, p, step=f"priority {p}")
        t("cuStreamGetPriority", s)
    for name, s in (("new", cu.cuStreamCreate(1)[1]), ("null", 0), ("legacy", cu.CUstream(1)), ("per thread", cu.CUstream(2))):
        for call in (
            "cuStreamGetFlags",
            "cuStreamGetPriority",
            "cuStreamIsCapturing",
            "cuStreamQuery",
            "cuStreamSynchronize",
            "cuStreamGetCtx",
            "cuStreamGetDevice",
        ):
            t(call, s, step=f"{name} {call}")
        t("cuStreamGetId", s, step=f"{name} id", quiet=True)
        for a in ("PRIORITY", "MEM_SYNC_DOMAIN"):
            v = t("cuStreamGetAttribute", s, getattr(cu.CUstreamAttrID, f"CU_LAUNCH_ATTRIBUTE_{a}"), step=f"{name} {a}", quiet=True)
            if v is not None:
                t.note("value", v.priority if a == "PRIORITY" else v.memSyncDomain)
    t.note("legacy id is null's", int(cu.cuStreamGetId(0)[1]) == int(cu.cuStreamGetId(cu.CUstream(1))[1]))
    s, e = cu.cuStreamCreate(0)[1], cu.cuEventCreate(0)[1]
    t("cuStreamWaitEvent", s, e, 0, step="wait for an event that was never recorded")
    t("cuStreamWaitEvent", s, e, 2, step="bad flags")
    v = cu.CUlaunchAttributeValue()
    v.syncPolicy = cu.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    t("cuStreamSetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, v)
    v = t("cuStreamGetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, quiet=True)
    t.note("policy", v.syncPolicy)
    t("cuStreamCopyAttributes", cu.cuStreamCreate(0)[1], s)
    t("cuStreamSetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, v, step="an attribute of launches")
    at = t.memory(64)
    t("cuStreamWriteValue32", s, at, 7, 0)
    t("cuStreamWaitValue32", s, at, 7, 1)
    t("cuStreamWriteValue64", s, at + 8, 9, 0)
    t("cuStreamWaitValue64", s, at + 8, 8, 0)
    t("cuStreamWriteValue32", s, at + 2, 7, 0, step="write misaligned")
    t("cuStreamWriteValue32", s, 0, 7, 0, step="write null")
    t("cuStreamSynchronize", s)
    out = np.zeros(4, np.uint32)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 16)
    t.note("written", [int(x) for x in out])
    t("cuStreamDestroy", s)
    t("cuStreamDestroy", 0, step="destroy null")
    t("cuStreamDestroy", cu.CUstream(1), step="destroy legacy")
    t("cuThreadExchangeStreamCaptureMode", cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    t("cuThreadExchangeStreamCaptureMode", cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)


@scenario
def null_source(t: Notes) -> None:
    t.start()
    t("cuMemcpyHtoD", t.memory(64), 0, 4)


@scenario
def null_rows(t: Notes) -> None:
    t.start()
    c = t.cu.CUDA_MEMCPY2D()
    c.srcMemoryType, c.dstMemoryType = t.cu.CUmemorytype.CU_MEMORYTYPE_HOST, t.cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    c.dstDevice, c.srcPitch, c.dstPitch, c.WidthInBytes, c.Height = t.cu.CUdeviceptr(t.memory(64)), 8, 8, 8, 2
    t("cuMemcpy2D", c)


@scenario
def no_parameters(t: Notes) -> None:
    t.start()
    t.launch(t.function("add"), 1, 32, 0)


@scenario
def rubbish_object(t: Notes) -> None:
    t.start()
    t("cuModuleLoadData", b"\x7fELFrubbish" + bytes(4000))


@scenario
def gone_event(t: Notes) -> None:
    t.start()
    e = t.cu.cuEventCreate(0)[1]
    t.cu.cuEventDestroy(e)
    t("cuEventSynchronize", e)


@scenario
def gone_module(t: Notes) -> None:
    t.start()
    m = t.module()
    t("cuModuleUnload", m)
    t("cuModuleUnload", m)


@scenario
def gone_function(t: Notes) -> None:
    t.start()
    m = t.module()
    f = t.cu.cuModuleGetFunction(m, b"fixed")[1]
    t("cuModuleUnload", m)
    t.launch(f, 1, (32, 2), NONE)


@scenario
def events(t: Notes) -> None:
    cu = t.cu
    c = t.start()
    for flags in (0, 1, 2, 3, 4, 6, 8):
        t("cuEventCreate", flags, step=f"create {flags}")
    a, b, silent = (cu.cuEventCreate(f)[1] for f in (0, 0, 2))
    s = cu.cuStreamCreate(0)[1]
    t("cuEventQuery", a, step="query, never recorded")
    t("cuEventSynchronize", a, step="wait, never recorded")
    t("cuEventElapsedTime", a, b, step="elapsed, never recorded", quiet=True)
    t("cuEventRecord", a, s)
    t("cuEventElapsedTime", a, b, step="elapsed, one recorded", quiet=True)
    t("cuEventRecord", b, 0)
    t("cuEventRecord", silent, 0)
    t("cuEventRecordWithFlags", b, 0, 1, step="record external")
    t("cuEventRecordWithFlags", b, 0, 2, step="record, bad flags")
    cu.cuCtxSynchronize()
    t("cuEventQuery", a)
    t.note("positive", t("cuEventElapsedTime", a, b, quiet=True) > 0)
    t("cuEventElapsedTime", a, a, step="elapsed, itself")
    t("cuEventElapsedTime", a, silent, step="elapsed, without timing", quiet=True)
    t("cuCtxRecordEvent", c, a)
    t("cuCtxWaitEvent", c, a)
    other = cu.cuCtxCreate(None, 0, 0)[1]
    t("cuEventRecord", a, 0, step="record in another context")
    t("cuEventQuery", a, step="query in another context")
    t("cuStreamWaitEvent", 0, a, 0, step="wait in another context")
    t("cuEventSynchronize", a, step="synchronize in another context")
    mine = cu.cuEventCreate(0)[1]
    cu.cuEventRecord(mine, 0)
    cu.cuCtxSynchronize()
    t("cuEventElapsedTime", a, mine, step="elapsed across contexts", quiet=True)
    del other


@scenario
def other_context(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    f, s = cu.cuModuleGetFunction(m, b"fixed")[1], cu.cuStreamCreate(0)[1]
    cu.cuCtxCreate(None, 0, 0)
    t.launch(f, 1, (32, 2), NONE, step="function of the other, null stream")
    t.launch(f, 1, (32, 2), NONE, stream=s, step="function and stream of the other")
    own = t.function("fixed")
    t.launch(own, 1, (32, 2), NONE, stream=s, step="own function, stream of the other")
    t("cuStreamSynchronize", s)
    t("cuModuleGetGlobal", m, b"counter", quiet=True)
    t("cuMemAllocAsync", 64, s, quiet=True)
    t("cuModuleUnload", m)


@scenario
def host_functions(t: Notes) -> None:
    t.start()
    seen: list[int] = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    call = kind(lambda data: seen.append(int(data or 0)))
    at = ctypes.cast(call, ctypes.c_void_p).value
    t("cuLaunchHostFunc", 0, at, 5)
    t("cuStreamSynchronize", 0)
    t.note("seen", seen)
    full = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    other = full(lambda stream, code, data: seen.append(code * 1000 + int(data or 0)))
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 7, 0)
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 7, 1, step="flags")
    t("cuStreamSynchronize", 0)
    t.note("seen", seen)
    f = t.function("k", ends_with("trap;"))
    t.launch(f, 1, 1, ((0,), (POINTER,)))
    t("cuLaunchHostFunc", 0, at, 6, step="behind a trap")
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 8, 0, step="callback behind a trap")
    t("cuStreamSynchronize", 0)
    t.pause(0.2)
    t.note("seen", seen)


@scenario
def capture(t: Notes) -> None:
    cu = t.cu
    t.start()
    f, at = t.function("poke"), t.memory(64)
    modes = cu.CUstreamCaptureMode
    t("cuStreamBeginCapture", 0, modes.CU_STREAM_CAPTURE_MODE_GLOBAL, step="capture the null stream")
    s, e = cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1]
    t("cuStreamEndCapture", s, step="end without a begin")
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuStreamIsCapturing", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL, step="begin twice")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), stream=s)
    t("cuMemsetD32Async", at + 4, 6, 2, s)
    t("cuMemcpyDtoDAsync", at + 16, at, 8, s)
    t("cuEventRecord", e, s)
    t("cuEventQuery", e, step="query a captured event")
    graph = t("cuStreamEndCapture", s)
    t("cuStreamIsCapturing", s)
    out = np.zeros(16, np.uint32)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 64)
    t.note("nothing has run", [int(x) for x in out])
    nodes = cu.cuGraphGetNodes(graph, 20)
    t.note("nodes", nodes[0], nodes[2] if len(nodes) > 2 else None)
    kinds = [cu.cuGraphNodeGetType(n)[1] for n in (nodes[1] or [])[: nodes[2] or 0]]
    t.note("kinds", sorted(k.name for k in kinds))
    x = t("cuGraphInstantiate", graph, 0)
    for _ in range(2):
        t("cuGraphLaunch", x, s)
    t("cuStreamSynchronize", s)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 64)
    t.note("now it has", [int(v) for v in out])
    t("cuGraphExecDestroy", x)
    t("cuGraphDestroy", graph)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuStreamSynchronize", s, step="synchronize while capturing")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), stream=s, step="launch after that")
    t("cuStreamIsCapturing", s)
    t("cuStreamEndCapture", s)
    t("cuStreamIsCapturing", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuMemAlloc", 64, step="alloc while capturing")
    t("cuStreamEndCapture", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_RELAXED)
    t("cuMemAlloc", 64, step="alloc while capturing, relaxed")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), step="launch elsewhere")
    t("cuCtxSynchronize", step="context synchronize while capturing")
    t("cuStreamEndCapture", s)
