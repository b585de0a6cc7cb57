"""Programs that were built with CUDA 12, whose runtime has other parameters and smaller structures."""

from __future__ import annotations

import sys

from .conftest import Run

PROGRAM = r"""
import ctypes as C, struct
rt = C.CDLL("libcudart.so.12")
def call(name, *arguments):
    code = getattr(rt, name)(*arguments)
    assert code == 0, (name, code)
pointer = lambda: C.c_void_p()
u64, size, location = C.c_uint64, C.c_size_t, C.c_uint64(1)  # a location by value: type 1, a device, number 0

class Guarded:
    def __init__(self, size):
        self.size, self.raw = size, C.create_string_buffer(b"\x5a" * (size + 128), size + 128)
    def __enter__(self):
        return self.raw
    def __exit__(self, *_):
        assert self.raw.raw[self.size:] == b"\x5a" * 128, "more was written than the structure has"
    def at(self, kind, offset):
        return struct.unpack_from(kind, self.raw, offset)[0]

version = C.c_int()
call("cudaRuntimeGetVersion", C.byref(version))
assert version.value // 1000 == 12
for name in ("cudaGetDeviceProperties_v2", "cudaGetDeviceProperties"):
    with (p := Guarded(1032)) as raw:
        call(name, raw, 0)
    assert raw.value == b"NVIDIA H200"
    clock, major, minor, count, parts = (p.at("i", at) for at in (348, 360, 364, 388, 396))
    assert (clock, major, minor, count) == (1980000, 9, 0, 132), (clock, major, minor, count)

memory, device = pointer(), pointer()
call("cudaMallocManaged", C.byref(memory), size(4096), 1)
call("cudaMalloc", C.byref(device), size(64))
with (p := Guarded(24)) as raw:
    call("cudaPointerGetAttributes", raw, device)
assert (p.at("i", 0), p.at("Q", 8)) == (2, device.value)
call("cudaMemAdvise", memory, size(4096), 1, -1)
call("cudaMemAdvise_v2", memory, size(4096), 5, location)
call("cudaMemPrefetchAsync", memory, size(4096), 0, None)
call("cudaMemPrefetchAsync_v2", memory, size(4096), location, 0, None)

graph, nodes = pointer(), [pointer() for _ in range(3)]
call("cudaGraphCreate", C.byref(graph), 0)
for n in nodes:
    call("cudaGraphAddEmptyNode", C.byref(n), graph, None, size(0))
edge = C.create_string_buffer(8)
call("cudaGraphAddDependencies", graph, C.byref(nodes[0]), C.byref(nodes[1]), size(1))
call("cudaGraphAddDependencies_v2", graph, C.byref(nodes[1]), C.byref(nodes[2]), edge, size(1))
before, after, count = (C.c_void_p * 4)(), (C.c_void_p * 4)(), size(4)
call("cudaGraphGetEdges", graph, before, after, C.byref(count))
assert (count.value, before[:2], after[:2]) == (2, [n.value for n in nodes[:2]], [n.value for n in nodes[1:]])
count.value = 4
call("cudaGraphGetEdges_v2", graph, before, after, C.create_string_buffer(32), C.byref(count))
assert count.value == 2
for name, node, other in (("cudaGraphNodeGetDependencies", 2, 1), ("cudaGraphNodeGetDependentNodes", 0, 1)):
    count.value = 4
    call(name, nodes[node], before, C.byref(count))
    assert (count.value, before[0]) == (1, nodes[other].value)
    before[0], count.value = 0, 4
    call(f"{name}_v2", nodes[node], before, None, C.byref(count))  # without the edges' data
    assert (count.value, before[0]) == (1, nodes[other].value)
call("cudaGraphRemoveDependencies", graph, C.byref(nodes[0]), C.byref(nodes[1]), size(1))

stream, status, number = pointer(), C.c_int(), u64()
call("cudaStreamCreate", C.byref(stream))
call("cudaStreamBeginCapture", stream, 0)
call("cudaMemsetAsync", device, 0, size(16), stream)
call("cudaStreamGetCaptureInfo", stream, C.byref(status), C.byref(number))
assert status.value == 1
tails = pointer()
call("cudaStreamGetCaptureInfo_v2", stream, C.byref(status), C.byref(number), C.byref(graph), C.byref(tails), C.byref(count))
assert count.value == 1
call("cudaStreamUpdateCaptureDependencies", stream, tails, size(1), 1)
call("cudaStreamEndCapture", stream, C.byref(graph))

array, texture = pointer(), u64()
channels, resource = struct.pack("5i", 32, 0, 0, 0, 2), Guarded(64)
call("cudaMallocArray", C.byref(array), channels, size(16), size(16), 0)
call("cudaCreateTextureObject", C.byref(texture), struct.pack("i4xQ48x", 0, array.value), bytes(80), None)
with resource as raw:
    call("cudaGetTextureObjectResourceDesc", raw, texture)
assert resource.at("Q", 8) == array.value
call("cudaThreadSynchronize")
at, found = pointer(), C.c_int()
call("cudaGetDriverEntryPoint", b"cuMemPrefetchAsync", C.byref(at), u64(0), C.byref(found))
assert at.value == C.cast(rt.cuMemPrefetchAsync_v2, C.c_void_p).value
"""


def test_calls_of_cuda_12_have_its_parameters(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, "-c", PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")
