"""cuda.core: buffers, memory resources, views of arrays, tensor maps, textures; run as triton_tutorials.py is."""

import multiprocessing

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    MemoryResource,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
    Program,
    ProgramOptions,
    TensorMapDescriptorOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    launch,
)
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory, copy_batch

device = Device()
device.set_current()


@pytest.fixture
def stream():
    device.set_current()
    out = device.create_stream()
    yield out
    out.close()


def host(buffer, dtype=np.uint8):
    """The contents of a buffer that the host sees."""
    return np.from_dlpack(buffer).view(dtype)


def contents(buffer, stream, dtype=np.uint8):
    """The contents of any buffer."""
    copy = LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(copy, stream=stream)
    stream.sync()
    return host(copy, dtype).copy()


def resource(name):
    if name == "default":
        return device.memory_resource
    if name == "pool":
        return DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 21))
    if name == "pinned":
        return PinnedMemoryResource()
    if name == "old pinned":
        return LegacyPinnedMemoryResource()
    if name == "managed":
        return ManagedMemoryResource(ManagedMemoryResourceOptions(preferred_location=device.device_id, preferred_location_type="device"))
    return VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type=None))


@pytest.mark.parametrize("name", ["default", "pool", "pinned", "old pinned", "managed", "virtual"])
def test_a_resource_gives_memory(stream, name):
    mr = resource(name)
    buffer = mr.allocate(1024, stream=stream)
    assert buffer.size >= 1024 and buffer.memory_resource is mr and int(buffer.handle)
    assert buffer.is_device_accessible and buffer.is_host_accessible == mr.is_host_accessible == (
        name in ("pinned", "old pinned", "managed")
    )
    buffer.fill(7, stream=stream)
    buffer.fill(np.uint16(0x0102), stream=stream)
    other = device.allocate(buffer.size, stream=stream)
    other.copy_from(buffer, stream=stream)
    assert set(contents(other, stream, np.uint16)[:512].tolist()) == {0x0102}
    assert mr.is_device_accessible and (name == "old pinned" or buffer.device_id in (device.device_id, -1))
    for b in (buffer, other):
        b.close(stream)
        assert b.is_closed
    stream.sync()


@pytest.mark.parametrize("value", [3, b"\x04", np.uint8(5), np.uint16(600), np.uint32(70000), b"\1\2\3\4"])
def test_fills(stream, value):
    buffer = device.allocate(64, stream=stream)
    buffer.fill(value, stream=stream)
    raw = value if isinstance(value, bytes) else bytes([value]) if isinstance(value, int) else value.tobytes()
    assert contents(buffer, stream).tobytes() == raw * (64 // len(raw))
    with pytest.raises((ValueError, OverflowError)):
        buffer.fill(256, stream=stream)


def test_copies_refuse_other_sizes(stream):
    one, two = (device.allocate(n, stream=stream) for n in (64, 32))
    with pytest.raises(ValueError):
        one.copy_to(two, stream=stream)
    assert one.copy_to(stream=stream).size == 64


def test_buffers_over_memory_of_others(stream):
    own = np.zeros(20, np.uint8)
    outside = Buffer.from_handle(own.ctypes.data, 20, owner=own)
    assert outside.is_host_accessible and not outside.is_device_accessible and outside.device_id == -1
    (at,) = driver.cuMemAlloc(256)[1:]
    inside = Buffer.from_handle(int(at), 256)
    assert inside.is_device_accessible and not inside.is_host_accessible and inside.device_id == device.device_id
    driver.cuMemHostRegister(own.ctypes.data, 20, 0)
    registered = Buffer.from_handle(own.ctypes.data, 20, owner=own)
    assert registered.is_host_accessible and registered.is_device_accessible
    driver.cuMemHostUnregister(own.ctypes.data)
    (at,) = driver.cuMemAllocManaged(256, 1)[1:]
    managed = Buffer.from_handle(int(at), 256)
    assert managed.is_host_accessible and managed.is_device_accessible and managed.is_managed


def test_a_resource_of_ones_own(stream):
    class Counted(MemoryResource):
        alive = 0

        def allocate(self, size, *, stream):
            self.alive += 1
            return Buffer.from_handle(int(driver.cuMemAlloc(size)[1]), size, mr=self)

        def deallocate(self, ptr, size, *, stream):
            self.alive -= 1
            driver.cuMemFree(ptr)

        is_device_accessible, is_host_accessible, device_id = True, False, 0

    mr = Counted()
    device.memory_resource = mr
    try:
        buffer = device.allocate(128, stream=stream)
        assert mr.alive == 1
        buffer.close(stream)
        assert mr.alive == 0
    finally:
        device.memory_resource = DeviceMemoryResource(device)


def test_what_a_pool_says(stream):
    mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 22))
    a = mr.attributes
    for name in ("reuse_follow_event_dependencies", "reuse_allow_opportunistic", "reuse_allow_internal_dependencies"):
        assert getattr(a, name) is True
    before = a.used_mem_current
    buffer = mr.allocate(1 << 20, stream=stream)
    assert a.used_mem_current >= before + (1 << 20) and a.used_mem_high >= a.used_mem_current and a.reserved_mem_current >= 1 << 20
    assert a.reserved_mem_high > 0 and a.release_threshold >= 0 and int(mr.handle) and not mr.is_ipc_enabled and not mr.is_mapped
    assert not list(mr.peer_accessible_by)
    buffer.close(stream)
    stream.sync()
    with pytest.raises(Exception, match="OUT_OF_MEMORY"):
        mr.allocate(1 << 40, stream=stream)
    mr.close()
    assert mr.is_closed


def test_virtual_memory_grows(stream):
    mr = resource("virtual")
    buffer = mr.allocate(2 << 20, stream=stream)
    buffer.fill(9, stream=stream)
    bigger = mr.modify_allocation(buffer, 4 << 20)
    assert bigger.size >= 4 << 20
    assert set(contents(bigger, stream)[: 2 << 20].tolist()) == {9}


def test_views(stream):
    buffer = device.allocate(240, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (3, 4), dtype=np.dtype(np.float32), strides=(5, 1))
    assert view.shape == (3, 4) and view.strides == (5, 1) and view.is_device_accessible and view.device_id == device.device_id
    array = np.arange(12, dtype=np.int32).reshape(3, 4)
    for one in (
        StridedMemoryView.from_any_interface(array, -1),
        StridedMemoryView.from_dlpack(array, -1),
        StridedMemoryView.from_array_interface(array),
    ):
        assert one.ptr == array.ctypes.data and one.shape == (3, 4) and one.dtype == array.dtype and not one.is_device_accessible

    interface = {"shape": (5,), "typestr": "<f4", "data": (int(buffer.handle), False), "version": 3, "strides": None, "stream": None}
    of_cuda = type("OfCuda", (), {"__cuda_array_interface__": interface})()
    one = StridedMemoryView.from_cuda_array_interface(of_cuda, stream_ptr=int(stream.handle))
    assert one.ptr == int(buffer.handle) and one.shape == (5,) and one.is_device_accessible

    @args_viewable_as_strided_memory((0,))
    def taking(x):
        return x.view(-1).shape

    assert taking(array) == (3, 4)


def test_dlpack(stream):
    buffer = device.allocate(64, stream=stream)
    assert buffer.__dlpack_device__() == (2, device.device_id) and "dltensor" in repr(buffer.__dlpack__())
    seen = LegacyPinnedMemoryResource().allocate(64, stream=stream)
    assert seen.__dlpack_device__()[0] == 3
    view = host(seen)
    view[:] = range(64)
    assert contents(seen, stream).tolist() == list(range(64))


COPY = r"""
struct alignas(64) CUtensorMap { char raw[128]; };
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap map, float *out, int x, int y) {
    __shared__ alignas(128) float tile[64];
    __shared__ alignas(8) unsigned long long bar;
    unsigned b = __cvta_generic_to_shared(&bar), t = __cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(t), "l"(&map), "r"(x), "r"(y), "r"(b) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L; }" :: "r"(b) : "memory");
    out[threadIdx.x] = tile[threadIdx.x];
}
"""


def test_tensor_maps(stream):
    if device.compute_capability < (9, 0):
        pytest.skip("tensor maps need sm_90")
    pinned = LegacyPinnedMemoryResource()
    source, out = pinned.allocate(32 * 16 * 4, stream=stream), pinned.allocate(256, stream=stream)
    numbers = host(source, np.float32)
    numbers[:] = range(32 * 16)
    data = device.allocate(source.size, stream=stream)
    data.copy_from(source, stream=stream)
    view = StridedMemoryView.from_buffer(data, (16, 32), dtype=np.dtype(np.float32))
    map = view.as_tensor_map(options=TensorMapDescriptorOptions((8, 8)))
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(COPY, "c++", options).compile("cubin").get_kernel("copy")
    launch(stream, LaunchConfig(grid=1, block=64), kernel, map, out, np.int32(8), np.int32(4))
    stream.sync()
    assert np.array_equal(host(out, np.float32).reshape(8, 8), np.arange(512).reshape(16, 32)[4:12, 8:16])
    more = device.allocate(source.size, stream=stream)
    more.fill(0, stream=stream)
    map.replace_address(StridedMemoryView.from_buffer(more, (16, 32), dtype=np.dtype(np.float32)))
    launch(stream, LaunchConfig(grid=1, block=64), kernel, map, out, np.int32(8), np.int32(4))
    stream.sync()
    assert not host(out, np.float32).any()


def test_advice_prefetches_and_discards_of_managed_memory(stream):
    from cuda.core import Host
    from cuda.core import utils as managed

    buffer = resource("managed").allocate(1 << 16, stream=stream)
    buffer.prefetch(device, stream=stream)
    buffer.prefetch(Host(), stream=stream)
    buffer.read_mostly = True
    assert buffer.read_mostly
    buffer.read_mostly = False
    buffer.preferred_location = device
    assert buffer.preferred_location == device
    assert hasattr(managed, "StridedMemoryView")
    buffer.fill(1, stream=stream)
    stream.sync()
    assert host(buffer)[5] == 1


def child(descriptor, mr, queue):
    own = Device()
    own.set_current()
    stream = own.create_stream()
    buffer = Buffer.from_ipc_descriptor(mr, descriptor, stream=stream)
    buffer.fill(6, stream=stream)
    stream.sync()
    queue.put(buffer.size)


def test_memory_of_pools_between_processes(stream):
    try:
        mr = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 21, ipc_enabled=True))
    except Exception as e:
        pytest.skip(f"no pools of several processes: {str(e)[:60]}")
    buffer = mr.allocate(64, stream=stream)
    stream.sync()
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(buffer.ipc_descriptor, mr, queue))
    process.start()
    assert queue.get(timeout=60) == 64
    process.join()
    assert set(contents(buffer, stream).tolist()) == {6}


def test_pinned_pools_with_options(stream):
    mr = PinnedMemoryResource(PinnedMemoryResourceOptions(max_size=1 << 20))
    buffer = mr.allocate(4096, stream=stream)
    stream.sync()
    host(buffer)[:] = 3
    assert set(contents(buffer, stream).tolist()) == {3}


def test_batches_of_copies(stream):
    sources = [device.allocate(64, stream=stream) for _ in range(3)]
    targets = [device.allocate(64, stream=stream) for _ in range(3)]
    for n, s in enumerate(sources):
        s.fill(n + 1, stream=stream)
    copy_batch(stream, sources, targets)
    assert [contents(t, stream)[0] for t in targets] == [1, 2, 3]
