"""Python's face: what cuda.core's programs do, and what is added to it."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import warplab.runtime as w
from warplab.assembler import check
from warplab.interpreter.faults import Fault
from warplab.runtime import driver

from ..conftest import HEAD, KERNELS, Host


@pytest.fixture
def device(host: Host) -> w.Device:
    """The first device, current and as new."""
    d = w.Device(0)
    d.set_current()
    return d


def kernel(name: str) -> w.Kernel:
    return w.ObjectCode.from_ptx(KERNELS).get_kernel(name)


def test_a_program_as_cuda_core_writes_it(device: w.Device) -> None:
    program = w.Program(KERNELS, "ptx", w.ProgramOptions(name="small"))
    k = program.compile("cubin").get_kernel("add")
    stream = device.create_stream()
    a, b = np.arange(500, dtype=np.uint32), np.full(500, 3, np.uint32)
    buffers = [device.allocate(2000, stream=stream) for _ in range(3)]
    for buffer, array in zip(buffers, (a, b), strict=False):
        buffer.copy_from(array, stream=stream)
    w.launch(stream, w.LaunchConfig(grid=8, block=64), k, *buffers, np.uint32(500))
    out = np.zeros_like(a)
    buffers[2].copy_to(out, stream=stream)
    stream.sync()
    assert (out == a + b).all()
    copy = buffers[2].copy_to(stream=stream)
    assert isinstance(copy, w.Buffer)
    assert (copy.copy_to_host(np.uint32) == out).all()
    for buffer in buffers:
        buffer.close(stream)
    assert buffers[0].is_closed


def test_a_kernel_called_with_arrays_copies_in_and_out(device: w.Device) -> None:
    a, b, c = np.arange(100, dtype=np.uint32), np.arange(100, dtype=np.uint32), np.zeros(100, np.uint32)
    kernel("add")[2, 64](a, b, c, 100)
    assert (c == 2 * a).all()
    a.flags.writeable = False
    kernel("add")[(2, 1), (64, 1, 1)](a, a, c, 50)
    assert (c[:50] == 2 * a[:50]).all()
    here = w.to_device(a)
    out = w.device_array(100, np.uint32)
    kernel("add")[2, 64](here, here, out, 100)
    assert (out.copy_to_host() == 2 * a).all()
    assert out.__cuda_array_interface__["shape"] == (100,)


def test_widths_of_scalars(device: w.Device) -> None:
    k, stream = kernel("poke"), device.default_stream
    out = w.device_array(1, np.uint32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, out, 7)
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, out, np.float32(1))
    assert out.copy_to_host()[0] == 0x3F800000
    with pytest.warns(UserWarning, match=r"argument 1 is a numpy float64 of 8 bytes, but parameter value is \.u32 of 4"):
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, out, np.float64(1))
    with pytest.warns(UserWarning, match="2 bytes"):
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, out, np.uint16(9))
    with pytest.raises(TypeError, match="to_device"):
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, np.zeros(1), 1)
    with pytest.raises(TypeError, match=r"has 2 parameters.*poke\(\.u64 at, \.u32 value\)"):
        w.launch(stream, w.LaunchConfig(grid=1, block=1), k, out)


def test_plain_numbers_take_the_parameters_type(device: w.Device) -> None:
    text = HEAD + (
        ".visible .entry k(.param .u64 p, .param .f32 x, .param .s16 y) { .reg .b64 %rd; .reg .f32 %f; .reg .b16 %h;\n"
        "ld.param.u64 %rd, [p]; ld.param.f32 %f, [x]; st.global.f32 [%rd], %f; ld.param.s16 %h, [y]; st.global.s16 [%rd+4], %h; ret; }"
    )
    k, out = w.ObjectCode.from_ptx(text).get_kernel("k"), np.zeros(2, np.float32)
    k[1, 1](out, 1.5, -2)
    assert out[0] == 1.5
    assert out[1:].view(np.int16)[0] == -2
    with pytest.raises(OverflowError, match="y"):
        k[1, 1](out, 1.5, 70000)


def test_a_fault_is_an_exception_with_the_report(device: w.Device) -> None:
    out = w.device_array(4, np.uint32)
    w.launch(device.default_stream, w.LaunchConfig(grid=1, block=1), kernel("poke"), out.buffer.handle + 16, 1)
    with pytest.raises(w.CUDAError, match="0 bytes after the 16-byte allocation") as e:
        device.sync()
    assert e.value.name == "CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(w.CUDAError, match=r"every call fails since launch \d+ of the context, kernel \w+, has failed: ") as again:
        device.allocate(4)
    assert again.value.cause is e.value.cause
    assert w.last_fault() is e.value.cause
    device.reset()
    device.sync()


def test_kernels_tell_about_themselves(device: w.Device) -> None:
    k = kernel("add")
    assert k.num_arguments == 4
    assert [tuple(a) for a in k.arguments_info] == [(0, 8), (8, 8), (16, 8), (24, 4)]
    assert k.attributes.max_threads_per_block == 1024
    assert kernel("bounded").attributes.max_threads_per_block == 128
    assert k.attributes.ptx_version == k.attributes.binary_version == 90
    assert k.occupancy.max_active_blocks_per_multiprocessor(1024, 0) == 2
    assert k.occupancy.max_potential_block_size(0, 0).max_block_size == 1024
    k.attributes.max_dynamic_shared_size_bytes = 100_000
    assert k.attributes.max_dynamic_shared_size_bytes == 100_000
    assert repr(k) == "<Kernel add(.u64 a, .u64 b, .u64 c, .u32 n)>"


def test_memory_resources(device: w.Device) -> None:
    stream = device.create_stream()
    own = w.DeviceMemoryResource(device, w.DeviceMemoryResourceOptions(max_size=4096))
    buffer = own.allocate(1024, stream=stream)
    assert own.attributes.used_mem_current == 1024
    with pytest.raises(w.CUDAError, match="OUT_OF_MEMORY"):
        own.allocate(4096, stream=stream)
    buffer.fill(np.uint16(0x1234), stream=stream)
    assert set(buffer.copy_to_host(np.uint16)) == {0x1234}
    buffer.close()
    for resource, managed in (
        (w.PinnedMemoryResource(), False),
        (w.ManagedMemoryResource(), True),
        (w.LegacyPinnedMemoryResource(), False),
    ):
        there = resource.allocate(64, stream=stream)
        view = np.from_dlpack(there)  # type: ignore[arg-type]
        view[:] = 5
        assert there.is_host_accessible
        assert there.is_device_accessible
        assert there.is_managed is managed
        w.launch(stream, w.LaunchConfig(grid=1, block=1), kernel("poke"), there, 77)
        stream.sync()
        assert view.view(np.uint32)[:2].tolist() == [77, 0x05050505]
        there.close(stream)
    with pytest.raises(BufferError):
        np.from_dlpack(device.allocate(4, stream=stream))  # type: ignore[arg-type]


def test_streams_and_events(device: w.Device) -> None:
    one, two = device.create_stream(), device.create_stream(options=w.StreamOptions(priority=-3))
    assert (one.is_nonblocking, two.priority) == (True, -3)
    timed = w.EventOptions(timing_enabled=True)
    start = one.record(options=timed)
    w.launch(one, w.LaunchConfig(grid=1, block=1), kernel("bounded"), 0)
    two.wait(one)
    end = two.record(options=timed)
    assert not end.is_done
    end.sync()
    assert end.is_done
    assert end - start > 0
    with pytest.raises(RuntimeError):
        _ = end - one.record()
    assert w.Stream.from_handle(one.handle) == one
    assert one.device is device
    one.close()
    assert one.is_closed


def test_linking(device: w.Device) -> None:
    one = HEAD + ".visible .global .align 4 .u32 shared_by_both = 11;"
    two = HEAD + (
        ".extern .global .align 4 .u32 shared_by_both;\n.visible .entry k(.param .u64 p) { .reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [p];\n"
        "ld.global.u32 %r, [shared_by_both]; st.global.u32 [%rd], %r; ret; }"
    )
    linker = w.Linker(w.ObjectCode.from_ptx(one), w.ObjectCode.from_ptx(two))
    out = np.zeros(1, np.uint32)
    linker.link("cubin").get_kernel("k")[1, 1](out)
    assert out[0] == 11
    assert "2 inputs linked" in linker.get_info_log()
    broken = w.Linker(w.ObjectCode.from_ptx(two))
    with pytest.raises(w.CUDAError):
        broken.link("cubin")
    assert "shared_by_both" in broken.get_error_log()


def test_what_is_wrong_with_a_program_is_said(device: w.Device) -> None:
    with pytest.raises(w.CUDAError, match="INVALID_PTX"):
        w.Program(HEAD + ".visible .entry k() { nonsense; }", "ptx").compile("cubin")
    with pytest.raises(NotImplementedError):
        w.Program("define void @k() { ret void }", "nvvm")


def test_devices_of_other_models_and_peers(host: Host) -> None:
    old = w.Device(arch="sm_35")
    assert old.arch == "35"
    assert w.Device(arch="sm_35") is old
    with pytest.raises(w.CUDAError, match="set_current"):
        old.create_stream()
    old.set_current()
    assert w.Device() is old
    assert old.properties.max_shared_memory_per_block == 49152
    assert old.properties.cooperative_launch is False
    text = KERNELS.replace("sm_90", "sm_35").replace("8.0", "4.0")
    out = np.zeros(1, np.uint32)
    text = text[: text.index(".visible .entry bounded")]
    w.ObjectCode.from_ptx(text).get_kernel("poke")[1, 1](out, 6)
    assert out[0] == 6
    w.Device(0).set_current()


def test_kernels_reach_a_peers_memory(host: Host) -> None:
    first, second = w.Device(0), w.Device(arch="sm_80")
    text = KERNELS.replace("sm_90", "sm_80")
    assert second.can_access_peer(first)
    first.set_current()
    there = w.to_device(np.arange(100, dtype=np.uint32))
    context = first.context
    second.set_current()
    k = w.ObjectCode.from_ptx(text[: text.index(".visible .entry bounded")]).get_kernel("add")
    here, out = w.to_device(np.full(100, 5, np.uint32)), w.device_array(100, np.uint32)
    config, stream = w.LaunchConfig(grid=2, block=64), second.default_stream
    w.launch(stream, config, k, here, here, out, 100)
    assert set(out.copy_to_host()) == {10}
    assert driver.cuCtxEnablePeerAccess(context.handle, 0)[0] == 0
    w.launch(stream, config, k, there, here, out, 100)
    w.launch(stream, config, k, there, here, there, 1)
    second.sync()
    assert (out.copy_to_host() == np.arange(100) + 5).all()
    assert there.copy_to_host()[:2].tolist() == [5, 1]
    assert driver.cuCtxDisablePeerAccess(context.handle)[0] == 0
    w.launch(stream, config, k, there, here, out, 100)
    with pytest.raises(w.CUDAError, match=r"ILLEGAL_ADDRESS[\s\S]*it is memory of device 0"):
        second.sync()
    second.reset()
    first.set_current()


def test_a_cluster_counts_the_grid_in_clusters() -> None:
    shape = w.LaunchConfig(grid=(2, 3), cluster=(4, 1), block=32).shape
    assert (shape.grid, shape.cluster) == ((8, 3, 1), (4, 1, 1))


def test_importing_the_host_is_cheap() -> None:
    code = "import sys, warplab.runtime; assert not {'numpy', 'lark'} & set(sys.modules)"
    path = os.pathsep.join([str(Path(w.__path__[0]).parents[1]), *sys.path])
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}).returncode == 0


def test_objects_show_what_they_are(device: w.Device) -> None:
    assert "multiprocessor_count=132" in repr(device.properties) and "of device 0" in repr(device.properties)
    kernel = w.Program(HEAD + ".visible .entry _Z3addPf(.param .u64 p) { ret; }", "ptx").compile("cubin").get_kernel("_Z3addPf")
    assert repr(kernel) == "<Kernel add(float*)>"
    assert "max_threads_per_block=1024" in repr(kernel.attributes) and "of add:" in repr(kernel.attributes)
    (found,) = (d for d in check(HEAD + ".visible .entry k() { bad; }", name="k.ptx") if d.severity == "error")
    assert repr(found) == "<error[unknown-instruction] k.ptx:4:23: no instruction is called bad>"
    assert repr(Fault("null", "null pointer", kernel="_Z3addPf", line=7)) == "<Fault null in add at line 7: null pointer>"


def test_parts_of_device_arrays(device: w.Device) -> None:
    host = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    x = w.to_device(host)
    for index in (0, -1, slice(None), slice(1, None), (1, slice(0, 2)), (0, 2), (1, 2, 3), (1, slice(None), slice(None)), slice(5, 9)):
        part = x[index]
        assert part.shape == host[index].shape and np.array_equal(part.copy_to_host(), host[index])
    x[1, 0] = 7
    x[0, 1:] = [[1], [2]]
    host[1, 0] = 7
    host[0, 1:] = [[1], [2]]
    assert np.array_equal(x.copy_to_host(), host)
    assert repr(x[0, 0]).endswith("of device 0: [0, 1, 2, 3]>") and repr(x[0, 0]).startswith("<int32[4] at 0x")
    for wrong in (2, (0, 0, 0, 0), slice(None, None, 2), (slice(None), 0)):
        with pytest.raises(IndexError):
            x[wrong]


def test_a_float_is_no_pointer(device: w.Device) -> None:
    kernel = w.Program(HEAD + ".visible .entry k(.param .u64 p, .param .f64 x) { ret; }", "ptx").compile("cubin").get_kernel("k")
    w.launch(device.default_stream, w.LaunchConfig(grid=1, block=1), kernel, 0, 1.5)
    with pytest.raises(TypeError, match=r"argument 0 is a Python float, but parameter p is \.u64"):
        w.launch(device.default_stream, w.LaunchConfig(grid=1, block=1), kernel, 1.5, 1.5)
