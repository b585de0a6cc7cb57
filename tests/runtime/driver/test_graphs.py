"""Graphs: what a stream was given while it was captured runs whenever the graph is launched, and not before."""

import ctypes
import threading

import numpy as np
import pytest

import warplab.runtime as w
from warplab.runtime import cudart as rt
from warplab.runtime import driver as cu
from warplab.runtime.driver.api import handle_of
from warplab.runtime.driver.graphs.resources import add_conditional
from warplab.runtime.errors import ApiError

from ..conftest import KERNELS, POINTER, U32, Host, model_only

CHUNK = 32 << 20  # of memory that a device keeps for graphs
MODE = cu.CUstreamCaptureMode


@pytest.fixture
def stream(host: Host) -> cu.CUstream:
    return host("cuStreamCreate", 1)


def begin(host: Host, stream: cu.CUstream, mode: str = "GLOBAL") -> None:
    host("cuStreamBeginCapture", stream, MODE[f"CU_STREAM_CAPTURE_MODE_{mode}"])


def test_a_graph_runs_when_it_is_launched(host: Host, stream: cu.CUstream) -> None:
    f, at, seen = host.function("add"), host.upload(np.ones(4, np.uint32)), list[int]()
    begin(host, stream)
    add = ((at, at, at, 4), (POINTER, POINTER, POINTER, U32))
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 4, 1, 1, 0, stream, add, 0) == "SUCCESS"
    host("cuMemsetD32Async", at + 4, 7, 1, stream)
    host("cuMemcpyDtoDAsync", at + 8, at, 8, stream)
    host("cuLaunchHostFunc", stream, lambda _: seen.append(1), 0)
    graph = host("cuStreamEndCapture", stream)
    assert host.download(at, np.zeros(4, np.uint32)).tolist() == [1, 1, 1, 1]
    nodes, count = host("cuGraphGetNodes", graph, 10)
    assert count == 4
    kinds = [host("cuGraphNodeGetType", n).name.removeprefix("CU_GRAPH_NODE_TYPE_") for n in nodes]
    assert kinds == ["KERNEL", "MEMSET", "MEMCPY", "HOST"]
    ready = host("cuGraphInstantiate", graph, 0)
    host("cuGraphDestroy", graph)
    for want in ([2, 7, 2, 7], [4, 7, 4, 7]):
        host("cuGraphLaunch", ready, stream)
        host("cuStreamSynchronize", stream)
        assert host.download(at, np.zeros(4, np.uint32)).tolist() == want
    assert seen == [1, 1]
    host("cuGraphExecDestroy", ready)
    assert host.code("cuGraphLaunch", ready, stream) == "INVALID_VALUE"


def test_what_a_launch_refuses_is_told_while_capturing(host: Host, stream: cu.CUstream) -> None:
    f = host.function("bounded")
    begin(host, stream)
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 129, 1, 1, 0, stream, ((0,), (POINTER,)), 0) == "INVALID_VALUE"
    host("cuStreamEndCapture", stream)


def test_a_fault_in_a_graph_drops_what_comes_behind_it(host: Host, stream: cu.CUstream) -> None:
    f, at = host.function("poke"), host.upload(np.zeros(1, np.uint32))
    begin(host, stream)
    assert host.code("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, stream, ((16, 1), (POINTER, U32)), 0) == "SUCCESS"
    host("cuMemsetD32Async", at, 5, 1, stream)
    ready = host("cuGraphInstantiate", host("cuStreamEndCapture", stream), 0)
    host("cuGraphLaunch", ready, stream)
    assert host.code("cuStreamSynchronize", stream) == "ILLEGAL_ADDRESS"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("cuStreamQuery", "STREAM_CAPTURE_UNSUPPORTED"), ("cuStreamSynchronize", "STREAM_CAPTURE_UNSUPPORTED"),
        ("cuCtxSynchronize", "STREAM_CAPTURE_UNSUPPORTED"), ("cuMemAlloc", "STREAM_CAPTURE_UNSUPPORTED"),
    ],
)  # fmt: skip
def test_what_spoils_a_capture(host: Host, stream: cu.CUstream, call: str, code: str) -> None:
    begin(host, stream)
    args = {"cuCtxSynchronize": (), "cuMemAlloc": (4,)}.get(call, (stream,))
    assert host.code(call, *args) == code
    assert host.code("cuMemsetD8Async", 4096, 0, 1, stream) == "STREAM_CAPTURE_INVALIDATED"
    assert host("cuStreamIsCapturing", stream).name.endswith("INVALIDATED")
    assert host.code("cuStreamEndCapture", stream) == "STREAM_CAPTURE_INVALIDATED"
    host("cuStreamSynchronize", stream)


def test_what_graphs_do_not_hold_says_so(host: Host, stream: cu.CUstream) -> None:
    event = host("cuEventCreate", 0)
    at = host.upload(np.zeros(2, np.uint32))
    begin(host, stream, "RELAXED")
    host("cuEventRecord", event, stream)
    host("cuMemAlloc", 4)
    assert host.code("cuStreamWriteValue32", stream, at, 1, 0) == "NOT_SUPPORTED"
    assert host.code("cuEventSynchronize", event) == "CAPTURED_EVENT"
    assert host.code("cuStreamEndCapture", stream) == "STREAM_CAPTURE_INVALIDATED"


def test_the_runtime_api_captures_too(host: Host) -> None:
    stream, at = rt.cudaStreamCreateWithFlags(1)[1], host.upload(np.zeros(2, np.uint32))
    mode = rt.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal
    assert rt.cudaStreamBeginCapture(stream, mode)[0] == 0
    assert rt.cudaMemsetAsync(at, 1, 8, stream)[0] == 0
    graph = rt.cudaStreamEndCapture(stream)[1]
    ready = rt.cudaGraphInstantiate(graph, 0)[1]
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [0, 0]
    assert rt.cudaGraphLaunch(ready, stream)[0] == rt.cudaStreamSynchronize(stream)[0] == 0
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [0x01010101] * 2
    assert [rt.cudaGraphExecDestroy(ready)[0], rt.cudaGraphDestroy(graph)[0]] == [0, 0]


def test_a_graph_builder_as_cuda_core_has_it(host: Host) -> None:
    device = w.Device(0)
    device.set_current()
    stream, builder = device.create_stream(), device.create_graph_builder()
    kernel, called = w.ObjectCode.from_ptx(KERNELS).get_kernel("add"), list[int]()
    array = w.to_device(np.ones(4, np.uint32))
    with pytest.raises(RuntimeError):
        builder.end_building()
    builder.begin_building()
    w.launch(builder, w.LaunchConfig(grid=1, block=4), kernel, array, array, array, np.uint32(4))
    builder.callback(lambda: called.append(1))
    graph = builder.end_building().complete()
    builder.close()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    assert array.copy_to_host().tolist() == [8] * 4
    assert called == [1, 1, 1]
    graph.close()
    assert (graph.is_closed, builder.is_closed) == (True, True)


def test_numbers_of_modes_are_those_of_the_enum() -> None:
    from warplab.runtime.python.devices import CAPTURE_MODES

    assert {n: MODE[f"CU_STREAM_CAPTURE_MODE_{n.upper()}"] for n in CAPTURE_MODES} == CAPTURE_MODES


def test_streams_join_a_capture_through_events(host: Host, stream: cu.CUstream) -> None:
    other, fork, join = host("cuStreamCreate", 1), host("cuEventCreate", 2), host("cuEventCreate", 2)
    at = host.upload(np.zeros(3, np.uint32))
    begin(host, stream)
    host("cuMemsetD32Async", at, 1, 1, stream)
    host("cuEventRecord", fork, stream)
    host("cuStreamWaitEvent", other, fork, 0)
    host("cuMemcpyDtoDAsync", at + 4, at, 4, other)
    host("cuMemsetD32Async", at + 8, 3, 1, stream)
    assert host("cuStreamIsCapturing", other).name.endswith("ACTIVE")
    host("cuEventRecord", join, other)
    host("cuStreamWaitEvent", stream, join, 0)
    assert host("cuStreamGetCaptureInfo", stream)[5] == 2, "behind both streams' work"
    assert host.code("cuStreamEndCapture", other) == "STREAM_CAPTURE_UNMATCHED"
    assert host.code("cuStreamEndCapture", stream) == "STREAM_CAPTURE_INVALIDATED"
    assert host("cuStreamIsCapturing", other).name.endswith("NONE")


def test_what_was_forked_is_joined_before_the_end(host: Host, stream: cu.CUstream) -> None:
    other, fork = host("cuStreamCreate", 1), host("cuEventCreate", 2)
    at = host.upload(np.zeros(2, np.uint32))
    begin(host, stream)
    host("cuEventRecord", fork, stream)
    host("cuStreamWaitEvent", other, fork, 0)
    host("cuMemsetD32Async", at, 1, 1, other)
    assert host.code("cuStreamEndCapture", stream) == "STREAM_CAPTURE_UNJOINED"
    assert host.code("cuStreamWaitEvent", other, fork, 0) == "CAPTURED_EVENT"


def memset(at: int, value: int) -> cu.CUDA_MEMSET_NODE_PARAMS:
    p = cu.CUDA_MEMSET_NODE_PARAMS()
    p.dst, p.value, p.elementSize, p.width, p.height = cu.CUdeviceptr(at), value, 4, 1, 1
    return p


def test_a_graph_is_built_node_by_node(host: Host, stream: cu.CUstream) -> None:
    at = host.upload(np.zeros(2, np.uint32))
    graph = host("cuGraphCreate", 0)
    context = host("cuCtxGetCurrent")
    last = host("cuGraphAddMemsetNode", graph, [], 0, memset(at, 9), context)
    first = host("cuGraphAddMemsetNode", graph, [], 0, memset(at, 5), context)
    middle = host("cuGraphAddEmptyNode", graph, [first], 1)
    host("cuGraphAddDependencies", graph, [middle], [last], None, 1)
    host("cuGraphAddDependencies", graph, [last], [first], None, 1)
    assert host.code("cuGraphInstantiate", graph, 0) == "INVALID_VALUE", "a circle is found when the graph is instantiated"
    host("cuGraphRemoveDependencies", graph, [last], [first], None, 1)
    assert host("cuGraphGetEdges", graph, 0)[3] == 2
    before, after, _, count = host("cuGraphGetEdges", graph, 5)
    assert (count, {(int(b), int(a)) for b, a in zip(before, after, strict=True)}) == (
        2,
        {(int(first), int(middle)), (int(middle), int(last))},
    )
    assert [int(n) for n in host("cuGraphNodeGetDependencies", last, 5)[0]] == [int(middle)]
    assert [int(n) for n in host("cuGraphNodeGetDependentNodes", first, 5)[0]] == [int(middle)]
    assert [int(n) for n in host("cuGraphGetRootNodes", graph, 5)[0]] == [int(first)]
    ready = host("cuGraphInstantiate", graph, 0)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [9, 0], "last comes last, although it was added first"
    host("cuGraphExecMemsetNodeSetParams", ready, last, memset(at + 4, 7), context)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [5, 7]
    host("cuGraphNodeSetEnabled", ready, last, 0)
    assert host("cuGraphNodeGetEnabled", ready, last) == 0
    host("cuMemsetD32", at, 0, 2)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [5, 0]
    copy = host("cuGraphClone", graph)
    twin = host("cuGraphNodeFindInClone", last, copy)
    host("cuGraphMemsetNodeSetParams", twin, memset(at, 77))
    host("cuGraphExecUpdate", ready, copy)
    host("cuGraphNodeSetEnabled", ready, last, 1)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [77, 0]
    host("cuGraphDestroyNode", twin)
    assert host.code("cuGraphExecUpdate", ready, copy) == "GRAPH_EXEC_UPDATE_FAILURE"
    parent = host("cuGraphCreate", 0)
    child = host("cuGraphAddChildGraphNode", parent, [], 0, graph)
    assert host("cuGraphGetNodes", host("cuGraphChildGraphNodeGetGraph", child), 0)[1] == 3
    host("cuGraphLaunch", host("cuGraphInstantiate", parent, 0), stream)
    assert host.download(at, np.zeros(2, np.uint32)).tolist() == [9, 0]


def test_nodes_of_a_graph_within_a_graph_change_in_one_executable(host: Host, stream: cu.CUstream) -> None:
    at, context = host.upload(np.zeros(1, np.uint32)), host("cuCtxGetCurrent")
    graph, parent = host("cuGraphCreate", 0), host("cuGraphCreate", 0)
    host("cuGraphAddMemsetNode", graph, [], 0, memset(at, 5), context)
    child = host("cuGraphAddChildGraphNode", parent, [], 0, graph)
    (inner,), _ = host("cuGraphGetNodes", host("cuGraphChildGraphNodeGetGraph", child), 1)
    first, second = (host("cuGraphInstantiate", parent, 0) for _ in range(2))

    def result(executable: object) -> int:
        host("cuMemsetD32", at, 0, 1)
        host("cuGraphLaunch", executable, stream)
        return int(host.download(at, np.zeros(1, np.uint32))[0])

    host("cuGraphExecMemsetNodeSetParams", first, inner, memset(at, 6), context)
    host("cuGraphMemsetNodeSetParams", inner, memset(at, 7))
    assert (result(first), result(second), result(host("cuGraphInstantiate", parent, 0))) == (6, 5, 7)
    host("cuGraphNodeSetEnabled", first, inner, 0)
    assert [host("cuGraphNodeGetEnabled", x, inner) for x in (first, second)] == [0, 1]
    assert (result(first), result(second)) == (0, 5)
    host("cuGraphNodeSetEnabled", first, inner, 1)
    host("cuGraphExecChildGraphNodeSetParams", first, child, graph)
    host("cuGraphExecUpdate", second, parent)
    assert (result(first), result(second)) == (5, 7)
    assert host.code("cuGraphExecChildGraphNodeSetParams", first, child, parent) == "INVALID_VALUE"
    copy = host("cuGraphNodeFindInClone", child, host("cuGraphClone", parent))
    assert int(host("cuGraphChildGraphNodeGetGraph", copy)) != int(host("cuGraphChildGraphNodeGetGraph", child))


def test_what_was_captured_can_be_asked_for_and_changed(host: Host, stream: cu.CUstream) -> None:
    at, out = host.upload(np.zeros(4, np.uint32)), np.zeros(4, np.uint32)
    begin(host, stream)
    host("cuMemsetD32Async", at, 7, 4, stream)
    host("cuMemcpyDtoHAsync", out, at, 16, stream)
    rt.cudaMemcpyAsync(at, at + 8, 8, rt.cudaMemcpyKind.cudaMemcpyDeviceToDevice, stream)
    graph = host("cuStreamEndCapture", stream)
    (first, second, third), _ = host("cuGraphGetNodes", graph, 3)
    memset_, copy = host("cuGraphMemsetNodeGetParams", first), host("cuGraphMemcpyNodeGetParams", second)
    assert (int(memset_.dst), memset_.value, memset_.elementSize, memset_.width, memset_.height) == (at, 7, 4, 4, 1)
    assert (int(copy.srcDevice), int(copy.dstHost), copy.WidthInBytes, copy.Height, copy.Depth) == (at, out.ctypes.data, 16, 1, 1)
    error, row = rt.cudaGraphMemcpyNodeGetParams(third)
    assert (error, int(row.srcPtr.ptr), row.extent.width, row.kind) == (0, at + 8, 8, rt.cudaMemcpyKind.cudaMemcpyDeviceToDevice)
    ready = host("cuGraphInstantiate", graph, 0)
    memset_.value, copy.WidthInBytes = 9, 8
    host("cuGraphExecMemsetNodeSetParams", ready, first, memset_, host("cuCtxGetCurrent"))
    host("cuGraphExecMemcpyNodeSetParams", ready, second, copy, host("cuCtxGetCurrent"))
    host("cuGraphLaunch", ready, stream)
    assert out.tolist() == [9, 9, 0, 0]


def test_events_outside_of_a_capture(host: Host, stream: cu.CUstream) -> None:
    before, after = (host("cuEventCreate", 0) for _ in range(2))
    begin(host, stream)
    host("cuStreamWaitEvent", stream, before, 1)
    host("cuEventRecordWithFlags", after, stream, 1)
    graph = host("cuStreamEndCapture", stream)
    nodes, _ = host("cuGraphGetNodes", graph, 5)
    assert [int(host("cuGraphEventWaitNodeGetEvent", nodes[0])), int(host("cuGraphEventRecordNodeGetEvent", nodes[1]))] == [
        int(before), int(after),
    ]  # fmt: skip
    assert host.code("cuStreamWaitEvent", stream, before, 1) == "ILLEGAL_STATE"
    host("cuGraphLaunch", host("cuGraphInstantiate", graph, 0), stream)
    host("cuEventSynchronize", after)


def test_the_legacy_stream_spoils_the_capture_of_one_that_it_waits_for(host: Host, stream: cu.CUstream) -> None:
    waited, at = host("cuStreamCreate", 0), host.upload(np.zeros(1, np.uint32))
    for captured, codes in ((stream, ("SUCCESS", "SUCCESS")), (waited, ("STREAM_CAPTURE_IMPLICIT", "STREAM_CAPTURE_INVALIDATED"))):
        begin(host, captured, "RELAXED")
        assert host.code("cuMemsetD8Async", at, 1, 4, 0) == codes[0]
        assert host.code("cuStreamEndCapture", captured) == codes[1]


def test_a_thread_says_which_captures_forbid_it_what(host: Host, stream: cu.CUstream) -> None:
    def elsewhere(thread_mode: str) -> str:
        def allocate() -> None:
            host.cu.cuCtxSetCurrent(context)
            assert host("cuThreadExchangeStreamCaptureMode", MODE[f"CU_STREAM_CAPTURE_MODE_{thread_mode}"]) == MODE(0)
            codes.append(host.code("cuMemAlloc", 16))

        codes: list[str] = []
        context = host("cuCtxGetCurrent")
        thread = threading.Thread(target=allocate)
        thread.start()
        thread.join()
        return codes[0]

    forbidden = "STREAM_CAPTURE_UNSUPPORTED"
    for mode, own, codes in (
        ("GLOBAL", forbidden, {"GLOBAL": forbidden, "THREAD_LOCAL": "SUCCESS", "RELAXED": "SUCCESS"}),
        ("THREAD_LOCAL", forbidden, {"GLOBAL": "SUCCESS"}),
        ("RELAXED", "SUCCESS", {"GLOBAL": "SUCCESS"}),
    ):
        for thread_mode, code in codes.items():
            begin(host, stream, mode)
            assert elsewhere(thread_mode) == code
            assert host.code("cuMemAlloc", 16) == own
            host.code("cuStreamEndCapture", stream)
    begin(host, stream)
    assert host("cuThreadExchangeStreamCaptureMode", MODE.CU_STREAM_CAPTURE_MODE_RELAXED) == MODE(0)
    assert host.code("cuMemAlloc", 16) == "SUCCESS"
    assert host("cuThreadExchangeStreamCaptureMode", MODE.CU_STREAM_CAPTURE_MODE_GLOBAL) == MODE(2)
    host("cuStreamEndCapture", stream)


@pytest.mark.parametrize("depends", [True, False])
def test_racecheck_knows_what_nodes_depend_on(host: Host, stream: cu.CUstream, depends: bool) -> None:
    """Three nodes, of which the last two write one array; the next launch of the graph comes after them, a launch on another stream does not."""
    at = host.upload(np.ones(4, np.uint32))
    values = [np.array([at], np.uint64)] * 3 + [np.array([4], np.uint32)]
    table = np.array([v.ctypes.data for v in values], np.uint64)
    p = cu.CUDA_KERNEL_NODE_PARAMS()
    p.func = host.function("add")
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1
    p.blockDimX, p.kernelParams = 4, table.ctypes.data
    graph = host("cuGraphCreate", 0)
    first = host("cuGraphAddEmptyNode", graph, [], 0)
    second = host("cuGraphAddKernelNode", graph, [first], 1, p)
    host("cuGraphAddKernelNode", graph, *([[second], 1] if depends else [[first], 1]), p)
    ready = host("cuGraphInstantiate", graph, 0)
    with w.sanitizing("race") as sanitizer:
        host("cuGraphLaunch", ready, stream)
        host("cuGraphLaunch", ready, stream)
        assert bool(sanitizer.findings) != depends
        host(
            "cuLaunchKernel", p.func, 1, 1, 1, 4, 1, 1, 0, host("cuStreamCreate", 1), ((at, at, at, 4), (POINTER, POINTER, POINTER, U32)), 0
        )
    assert sanitizer.findings


def test_a_launch_in_a_graph_has_its_own_parameters(host: Host, stream: cu.CUstream) -> None:
    at = host.upload(np.ones(4, np.uint32))
    values = [np.array([at], np.uint64)] * 3 + [np.array([4], np.uint32)]
    table = np.array([v.ctypes.data for v in values], np.uint64)
    p = cu.CUDA_KERNEL_NODE_PARAMS()
    p.func = host.function("add")
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1
    p.blockDimX, p.kernelParams = 4, table.ctypes.data
    graph = host("cuGraphCreate", 0)
    node = host("cuGraphAddKernelNode", graph, [], 0, p)
    values[3][0] = 0
    ready = host("cuGraphInstantiate", graph, 0)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(4, np.uint32)).tolist() == [2] * 4
    again = host("cuGraphKernelNodeGetParams", node)
    again.blockDimX = 2
    host("cuGraphExecKernelNodeSetParams", ready, node, again)
    host("cuGraphLaunch", ready, stream)
    assert host.download(at, np.zeros(4, np.uint32)).tolist() == [4, 4, 2, 2]


def test_graphs_count_the_users_of_objects_and_own_memory(host: Host) -> None:
    import ctypes

    seen: list[int] = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: seen.append(int(p or 0)))
    made = host("cuUserObjectCreate", 77, ctypes.cast(destroy, ctypes.c_void_p).value, 2, 1)
    graph = host("cuGraphCreate", 0)
    host("cuGraphRetainUserObject", graph, made, 1, 1)
    copy, x = host("cuGraphClone", graph), host("cuGraphInstantiate", graph, 0)
    host("cuUserObjectRelease", made, 1)
    for call, what in (("cuGraphDestroy", graph), ("cuGraphDestroy", copy), ("cuGraphExecDestroy", x)):
        assert seen == []
        host(call, what)
    assert seen == [77]
    assert host.code("cuUserObjectCreate", 1, 0, 1, 1) == "INVALID_VALUE"

    graph = host("cuGraphCreate", 0)
    p = host.cu.CUDA_MEM_ALLOC_NODE_PARAMS()
    p.poolProps.location.type = host.cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    p.bytesize = 64
    first = host("cuGraphAddMemAllocNode", graph, None, 0, p)
    assert host("cuDeviceGetGraphMemAttribute", 0, 0) == 0
    x = host("cuGraphInstantiate", graph, 0)
    host("cuGraphLaunch", x, 0)
    assert host("cuDeviceGetGraphMemAttribute", 0, 0) == CHUNK
    host("cuMemFree", p.dptr)
    host("cuDeviceGraphMemTrim", 0)
    assert host("cuDeviceGetGraphMemAttribute", 0, 0) == 0
    assert host.cu.cuGraphAddMemFreeNode(graph, [first], 1, 0x1000)[0] == 1
    host("cuGraphAddMemFreeNode", graph, [first], 1, p.dptr)
    x = host("cuGraphInstantiate", graph, 0)
    host("cuGraphLaunch", x, 0)
    assert [host("cuDeviceGetGraphMemAttribute", 0, n) for n in (0, 2)] == [CHUNK, CHUNK], "its memory is mapped for the next launch"
    host("cuGraphExecDestroy", x)
    assert [host("cuDeviceGetGraphMemAttribute", 0, n) for n in (0, 2)] == [0, CHUNK]


def test_the_most_memory_that_graphs_used_is_kept_until_it_is_reset(host: Host) -> None:
    cu = host.cu
    which, p = cu.CUgraphMem_attribute, cu.CUDA_MEM_ALLOC_NODE_PARAMS()
    p.poolProps.location.type, p.bytesize = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 4096

    def bytes_of(name: str) -> int:
        return int(host("cuDeviceGetGraphMemAttribute", 0, which[f"CU_GRAPH_MEM_ATTR_{name}"]))

    for name in ("USED_MEM_HIGH", "RESERVED_MEM_HIGH"):
        host("cuDeviceSetGraphMemAttribute", 0, which[f"CU_GRAPH_MEM_ATTR_{name}"], 0)
    before = bytes_of("USED_MEM_CURRENT")
    graph = host("cuGraphCreate", 0)
    node = host("cuGraphAddMemAllocNode", graph, [], 0, p)
    host("cuGraphAddMemFreeNode", graph, [node], 1, p.dptr)
    x = host("cuGraphInstantiate", graph, 0)
    host("cuGraphLaunch", x, 0)
    host("cuCtxSynchronize")
    assert bytes_of("USED_MEM_CURRENT") == before + CHUNK
    host("cuGraphExecDestroy", x)
    assert bytes_of("USED_MEM_CURRENT") == before
    assert bytes_of("USED_MEM_HIGH") >= 4096
    assert bytes_of("RESERVED_MEM_HIGH") >= bytes_of("RESERVED_MEM_CURRENT") >= 4096
    host("cuDeviceSetGraphMemAttribute", 0, which.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, 0)
    assert bytes_of("USED_MEM_HIGH") == before
    assert host.code("cuDeviceSetGraphMemAttribute", 0, which.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, 0) == "INVALID_VALUE"


@model_only
def test_an_object_that_a_graph_has_released_ends_once(host: Host) -> None:
    ended: list[int] = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ended.append)
    graph, move = host("cuGraphCreate", 0), 1
    one = host("cuUserObjectCreate", 5, ctypes.cast(destroy, ctypes.c_void_p).value, 1, 1)
    host("cuGraphRetainUserObject", graph, one, 1, move)
    host("cuGraphReleaseUserObject", graph, one, 1)
    assert ended == [5]
    host("cuGraphExecDestroy", host("cuGraphInstantiate", graph, 0))
    host("cuGraphDestroy", graph)
    assert ended == [5]


def test_nodes_are_found_in_the_copy_that_a_node_holds(host: Host) -> None:
    inner, outer = host("cuGraphCreate", 0), host("cuGraphCreate", 0)
    first = host("cuGraphAddEmptyNode", inner, [], 0)
    copy = host("cuGraphChildGraphNodeGetGraph", host("cuGraphAddChildGraphNode", outer, [], 0, inner))
    found = host("cuGraphNodeFindInClone", first, copy)
    assert int(found) != int(first)
    assert [int(n) for n in host("cuGraphGetNodes", copy, 1)[0]] == [int(found)]


def test_a_node_knows_its_graph_and_has_a_number_there(host: Host) -> None:
    graph = host("cuGraphCreate", 0)
    nodes = [host("cuGraphAddEmptyNode", graph, [], 0) for _ in range(3)]
    assert {int(host("cuGraphNodeGetContainingGraph", n)) for n in nodes} == {int(graph)}
    assert len({host("cuGraphNodeGetLocalId", n) for n in nodes}) == 3
    host("cuGraphDestroyNode", nodes[0])
    copy = host("cuGraphNodeFindInClone", nodes[2], host("cuGraphClone", graph))
    assert host("cuGraphNodeGetLocalId", copy) == host("cuGraphNodeGetLocalId", nodes[2])
    assert rt.cudaGraphNodeGetLocalId(nodes[1])[1] == host("cuGraphNodeGetLocalId", nodes[1])
    assert int(rt.cudaGraphNodeGetContainingGraph(nodes[1])[1]) == int(graph)


def test_a_graph_that_allocates_keeps_its_form(host: Host) -> None:
    graph, p = host("cuGraphCreate", 0), cu.CUDA_MEM_ALLOC_NODE_PARAMS()
    p.poolProps.location.type, p.bytesize = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 512
    first = host("cuGraphAddMemAllocNode", graph, [], 0, p)
    found = host("cuGraphMemAllocNodeGetParams", first)
    assert (int(found.dptr), found.bytesize, found.poolProps.location.id) == (int(p.dptr), 512, 0)
    assert rt.cudaGraphMemAllocNodeGetParams(first)[1].dptr == int(p.dptr)
    behind = host("cuGraphAddEmptyNode", graph, [first], 1)
    for node in (first, behind):
        assert host.code("cuGraphDestroyNode", node) == "INVALID_VALUE"
    assert host.code("cuGraphRemoveDependencies", graph, [first], [behind], None, 1) == "INVALID_VALUE"
    assert host("cuGraphGetNodes", graph, 4)[1] == 2


@model_only
def test_an_update_takes_the_conditions_and_the_objects_of_the_new_graph(host: Host) -> None:
    at, ended = host.upload(np.zeros(1, np.uint32)), list[int]()
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ended.append)

    def made(default: int) -> cu.CUgraph:
        graph = host("cuGraphCreate", 0)
        handle = host("cuGraphConditionalHandleCreate", graph, 0, default, 1)
        _, (body,) = add_conditional(graph, [], 0, int(handle), 0, 1)
        m = cu.CUDA_MEMSET_NODE_PARAMS()
        m.dst, m.value, m.elementSize, m.width, m.height = at, 7, 4, 1, 1
        host("cuGraphAddMemsetNode", handle_of(body), [], 0, m, 0)
        one = host("cuUserObjectCreate", default + 5, ctypes.cast(destroy, ctypes.c_void_p).value, 1, 1)
        host("cuGraphRetainUserObject", graph, one, 1, 1)
        return graph

    off, on = made(0), made(1)
    x = host("cuGraphInstantiate", off, 0)
    host("cuGraphDestroy", off)
    host("cuGraphLaunch", x, 0)
    assert host.download(at, np.zeros(1, np.uint32))[0] == 0 and ended == []
    host("cuGraphExecUpdate", x, on)
    assert ended == [5], "the executable no longer uses the object of the graph that was destroyed"
    host("cuGraphLaunch", x, 0)
    assert host.download(at, np.zeros(1, np.uint32))[0] == 7
    host("cuGraphDestroy", on)
    assert ended == [5]
    host("cuGraphExecDestroy", x)
    assert ended == [5, 6]


@model_only
def test_objects_of_a_graph_within_a_graph_end_with_it(host: Host) -> None:
    ended: list[int] = []
    destroy = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(ended.append)
    inner, outer = host("cuGraphCreate", 0), host("cuGraphCreate", 0)
    one = host("cuUserObjectCreate", 9, ctypes.cast(destroy, ctypes.c_void_p).value, 1, 1)
    host("cuGraphRetainUserObject", inner, one, 1, 1)
    host("cuGraphAddChildGraphNode", outer, [], 0, inner)
    host("cuGraphDestroy", inner)
    assert ended == []
    host("cuGraphDestroy", outer)
    assert ended == [9]


@model_only
def test_a_condition_belongs_to_its_graph(host: Host) -> None:
    graph, other = host("cuGraphCreate", 0), host("cuGraphCreate", 0)
    handle = int(host("cuGraphConditionalHandleCreate", graph, 0, 1, 1))
    with pytest.raises(ApiError, match="not a handle of a condition of this graph, nor"):
        add_conditional(other, [], 0, handle, 0, 1)
    assert add_conditional(graph, [], 0, handle, 0, 1)
    assert rt.cudaGraphConditionalHandleCreate_v2(graph, 0, 1, 1)[0] == 0


def test_the_number_that_tools_know_a_node_by_is_of_the_whole_process(host: Host) -> None:
    graphs = [host("cuGraphCreate", 0) for _ in range(2)]
    nodes = [host("cuGraphAddEmptyNode", graph, [], 0) for graph in graphs for _ in range(2)]
    assert len({host("cuGraphNodeGetToolsId", n) for n in nodes}) == 4
    assert rt.cudaGraphNodeGetToolsId(nodes[1])[1] == host("cuGraphNodeGetToolsId", nodes[1])


def test_the_legacy_default_stream_is_not_asked_while_a_stream_that_waits_for_it_is_captured(host: Host) -> None:
    """As CUDA's manual has it: the capture goes on."""
    for flags, code in ((0, "STREAM_CAPTURE_IMPLICIT"), (1, "SUCCESS")):
        stream = host("cuStreamCreate", flags)
        host("cuStreamBeginCapture", stream, cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)
        assert [host.code(f"cuStream{call}", 0) for call in ("IsCapturing", "GetCaptureInfo")] == [code, code]
        assert host("cuStreamIsCapturing", stream).name.endswith("ACTIVE")
        host("cuStreamEndCapture", stream)
        assert host("cuStreamIsCapturing", 0).name.endswith("NONE")
