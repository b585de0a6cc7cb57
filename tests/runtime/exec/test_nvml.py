"""NVML under `warplab exec`: the same devices as CUDA's calls give."""

from __future__ import annotations

import sys

from .conftest import Run

SCRIPT = r"""
import ctypes
L, cu = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.CDLL("libcuda.so.1")
n, h, other, text = ctypes.c_uint(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(96)
assert L.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 1, "not before nvmlInit"
assert L.nvmlInit_v2() == 0 and L.nvmlDeviceGetCount_v2(ctypes.byref(n)) == 0 and n.value == 2
assert L.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(h)) == 0 and L.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(other)) == 2
name = ctypes.create_string_buffer(96)
assert cu.cuInit(0) == cu.cuDeviceGetName(name, 96, 1) == 0
assert L.nvmlDeviceGetName(h, text, 96) == 0 and text.value == name.value and L.nvmlDeviceGetName(h, text, 4) == 7
assert L.nvmlDeviceGetUUID(h, text, 96) == 0
raw = (ctypes.c_uint8 * 16)()
assert cu.cuDeviceGetUuid(raw, 1) == 0
assert text.value.decode().removeprefix("GPU-").replace("-", "") == bytes(raw).hex()
assert L.nvmlDeviceGetHandleByUUID(text, ctypes.byref(other)) == 0 and other.value == h.value
assert L.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(other)) == 6 and L.nvmlDeviceGetName(None, text, 96) == 2
memory, second = (ctypes.c_uint64 * 3)(), (ctypes.c_uint64 * 5)()
c, at = ctypes.c_void_p(), ctypes.c_uint64()
assert cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 1) == 0 and cu.cuCtxSetCurrent(c) == 0 and cu.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(1 << 20)) == 0
assert L.nvmlDeviceGetMemoryInfo(h, memory) == 0 and memory[0] == 4 << 30 and memory[2] == 1 << 20 and memory[0] == memory[1] + memory[2], list(memory)
assert L.nvmlDeviceGetMemoryInfo_v2(h, second) == 25
second[0] = 40 | 2 << 24
assert L.nvmlDeviceGetMemoryInfo_v2(h, second) == 0 and list(second[1:]) == [memory[0], 0, memory[1], memory[2]]
major, minor, driver, cuda = ctypes.c_int(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
assert L.nvmlDeviceGetCudaComputeCapability(h, ctypes.byref(major), ctypes.byref(minor)) == 0 and (major.value, minor.value) == (8, 0)
assert L.nvmlSystemGetCudaDriverVersion(ctypes.byref(driver)) == cu.cuDriverGetVersion(ctypes.byref(cuda)) == 0 and driver.value == cuda.value
L.nvmlErrorString.restype = ctypes.c_char_p
assert L.nvmlErrorString(2) == b"Invalid Argument" and L.nvmlSystemGetDriverVersion(text, 96) == 0
assert L.nvmlDeviceGetTemperature(h, 0, ctypes.byref(n)) == 3, "not supported"
assert L.nvmlShutdown() == 0 and L.nvmlShutdown() == 1
print("fine")
"""


def test_devices_their_names_identifiers_and_memory(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, "-c", SCRIPT, WARPLAB_DEVICES="sm_90,sm_80:4G")
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)


def test_graphics_calls_exist_and_are_refused(warplab_exec: Run) -> None:
    script = """
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
at, found = ctypes.c_void_p(), ctypes.c_int()
assert cu.cuInit(0) == 0 and cu.cuGraphicsGLRegisterImage(ctypes.byref(at), 1, 0x0DE1, 0) == cu.cuVDPAUGetDevice(ctypes.byref(at), 0, None) == 801
assert cu.cuGetProcAddress_v2(b"cuGraphicsGLRegisterImage", ctypes.byref(at), 13000, ctypes.c_uint64(0), ctypes.byref(found)) == 0 and at.value
"""
    done = warplab_exec(sys.executable, "-c", script)
    assert done.returncode == 0, done.stderr
    assert "cuGraphicsGLRegisterImage is not supported" in done.stderr
