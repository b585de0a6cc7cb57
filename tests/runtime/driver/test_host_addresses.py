"""Where host memory lies does not matter: device addresses lie where no host has memory.

The executable of Debian's and Ubuntu's Python is not position independent, so its heap lies below 4 GiB.
"""

import ctypes
import mmap
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab import runtime
from warplab.runtime import cudart as rt
from warplab.runtime import driver as cu

from ..conftest import HEAD, Host, model_only

pytestmark = [model_only, pytest.mark.skipif(sys.platform != "linux", reason="maps memory at addresses as Linux does")]
ROOT = Path(__file__).parents[3]
FIRST_DEVICE = 1 << 38
LOW = 0x2000_0000  # where the memory of this test begins
BYTES = 1 << 20
SHARED_ANONYMOUS_FIXED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100000  # MAP_FIXED_NOREPLACE
Kind = rt.cudaMemcpyKind
Array = np.ndarray[Any, np.dtype[np.uint32]]

NARROW = """
.const .b32 c[4] = {11, 22, 33, 44};
.func (.param .b32 r) second(.param .b32 a[2])
{
    .reg .b32 %r<4>;
    .reg .b64 %p;
    mov.u32 %r1, a;
    ld.param.b32 %r2, [%r1+4];
    mov.u64 %p, a;
    ld.b32 %r3, [%p];
    add.u32 %r2, %r2, %r3;
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry narrow(.param .u64 out, .param .u32 x)
{
    .reg .b32 %r<9>;
    .reg .b64 %p;
    ld.param.u64 %p, [out];
    mov.u32 %r1, c;
    ld.const.b32 %r2, [%r1+8];
    mov.u32 %r3, out;
    ld.param.b32 %r4, [%r3+8];
    {
        .param .b32 a[2];
        .param .b32 r;
        st.param.b32 [a], 1;
        st.param.b32 [a+4], %r4;
        call (r), second, (a);
        ld.param.b32 %r5, [r];
    }
    st.global.b32 [%p], %r2;
    st.global.b32 [%p+4], %r4;
    st.global.b32 [%p+8], %r5;
    ret;
}
"""


@pytest.fixture(name="low", scope="module")
def low_memory() -> Iterator[Array]:
    """Host memory below 4 GiB."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    for at in range(LOW, 1 << 31, 16 * BYTES):
        if libc.mmap(at, BYTES, mmap.PROT_READ | mmap.PROT_WRITE, SHARED_ANONYMOUS_FIXED, -1, 0) == at:
            break
    else:
        pytest.skip("the system gives no memory below 4 GiB")
    yield np.ctypeslib.as_array((ctypes.c_uint32 * (BYTES // 4)).from_address(at))
    libc.munmap(at, BYTES)


def halves(low: Array, n: int = 256) -> tuple[Array, Array]:
    """Something to copy from, and room to copy it to."""
    source, target = low[:n], low[n : 2 * n]
    source[:], target[:] = np.arange(n) * 3 + 1, 0
    return source, target


def at(a: Array) -> int:
    return int(a.ctypes.data)


def driver_box(source: dict[str, Any], target: dict[str, Any], width: int, rows: int, deep: bool) -> Any:
    c = (cu.CUDA_MEMCPY3D if deep else cu.CUDA_MEMCPY2D)()
    for which, fields in (("src", source), ("dst", target)):
        for name, value in {"Pitch": width, **fields}.items():
            setattr(c, which + name, value)
    c.WidthInBytes, c.Height = width, rows
    if deep:
        c.Depth = 1
    return c


HOST, DEVICE, UNIFIED = (
    cu.CUmemorytype.CU_MEMORYTYPE_HOST,
    cu.CUmemorytype.CU_MEMORYTYPE_DEVICE,
    cu.CUmemorytype.CU_MEMORYTYPE_UNIFIED,
)


def boxes(host: Host, name: str, s: int, d: int, t: int, named: bool) -> None:
    """A rectangle or box to the device and back, the sides named or not."""
    deep, stream = "3D" in name, (0,) if name.endswith("Async") else ()
    here = {"MemoryType": HOST if named else UNIFIED}
    there = {"MemoryType": DEVICE if named else UNIFIED, "Device": d}
    field = "Host" if named else "Device"
    host(name, driver_box({**here, field: s}, there, 128, 8, deep), *stream)
    host(name, driver_box(there, {**here, field: t}, 128, 8, deep), *stream)


DRIVER_COPIES: dict[str, Any] = {
    "named": lambda h, s, d, t, n: (h("cuMemcpyHtoD", d, s, n), h("cuMemcpyDtoH", t, d, n)),
    "named, in a stream": lambda h, s, d, t, n: (h("cuMemcpyHtoDAsync", d, s, n, 0), h("cuMemcpyDtoHAsync", t, d, n, 0)),
    "not named": lambda h, s, d, t, n: (h("cuMemcpy", d, s, n), h("cuMemcpy", t, d, n)),
    "not named, in a stream": lambda h, s, d, t, n: (h("cuMemcpyAsync", d, s, n, 0), h("cuMemcpyAsync", t, d, n, 0)),
    "from host to host": lambda h, s, d, t, n: h("cuMemcpy", t, s, n),
    "several": lambda h, s, d, t, n: (
        h("cuMemcpyBatchAsync", [d], [s], [n], 1, [], [], 0, 0), h("cuMemcpyBatchAsync", [t], [d], [n], 1, [], [], 0, 0)
    ),
    **{
        f"{name}, {'named' if named else 'not named'}": lambda h, s, d, t, n, name=name, named=named: boxes(h, name, s, d, t, named)
        for name in ("cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy2DAsync", "cuMemcpy3D", "cuMemcpy3DAsync")
        for named in (True, False)
    },
}  # fmt: skip


@pytest.mark.parametrize("how", DRIVER_COPIES)
def test_the_drivers_copies(host: Host, low: Array, how: str) -> None:
    source, target = halves(low)
    d = int(host("cuMemAlloc", source.nbytes))
    assert d >= FIRST_DEVICE
    DRIVER_COPIES[how](host, at(source), d, at(target), source.nbytes)
    host("cuCtxSynchronize")
    assert (target == source).all()


def test_the_drivers_arrays(host: Host, low: Array) -> None:
    source, target = halves(low)
    shape = cu.CUDA_ARRAY_DESCRIPTOR()
    shape.Width, shape.NumChannels, shape.Format = 256, 1, cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32
    array = host("cuArrayCreate", shape)
    for to, back, more in (("cuMemcpyHtoA", "cuMemcpyAtoH", ()), ("cuMemcpyHtoAAsync", "cuMemcpyAtoHAsync", (0,))):
        target[:] = 0
        host(to, array, 0, at(source), 1024, *more)
        host(back, at(target), array, 0, 1024, *more)
        assert (target == source).all(), to


def good(result: tuple[Any, ...]) -> Any:
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]


def runtime_box(source: int, target: int, kind: Any) -> Any:
    p = rt.cudaMemcpy3DParms()
    for pitched, address in ((p.srcPtr, source), (p.dstPtr, target)):
        pitched.ptr, pitched.pitch, pitched.xsize, pitched.ysize = address, 128, 128, 8
    p.extent.width, p.extent.height, p.extent.depth, p.kind = 128, 8, 1, kind
    return p


RUNTIME_COPIES: dict[str, Any] = {
    "cudaMemcpy": lambda to, s, n, kind: rt.cudaMemcpy(to, s, n, kind),
    "cudaMemcpyAsync": lambda to, s, n, kind: rt.cudaMemcpyAsync(to, s, n, kind, 0),
    "cudaMemcpy2D": lambda to, s, n, kind: rt.cudaMemcpy2D(to, 128, s, 128, 128, 8, kind),
    "cudaMemcpy2DAsync": lambda to, s, n, kind: rt.cudaMemcpy2DAsync(to, 128, s, 128, 128, 8, kind, 0),
    "cudaMemcpy3D": lambda to, s, n, kind: rt.cudaMemcpy3D(runtime_box(s, to, kind)),
    "cudaMemcpy3DAsync": lambda to, s, n, kind: rt.cudaMemcpy3DAsync(runtime_box(s, to, kind), 0),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("call", RUNTIME_COPIES)
def test_the_runtimes_copies(host: Host, low: Array, call: str, named: bool) -> None:
    source, target = halves(low)
    d = good(rt.cudaMalloc(source.nbytes))
    assert d >= FIRST_DEVICE
    to, back = (Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost) if named else (Kind.cudaMemcpyDefault,) * 2
    good(RUNTIME_COPIES[call](d, at(source), source.nbytes, to))
    good(RUNTIME_COPIES[call](at(target), d, source.nbytes, back))
    good(rt.cudaDeviceSynchronize())
    assert (target == source).all()
    good(RUNTIME_COPIES[call](at(target), at(source) + 512, 512, Kind.cudaMemcpyHostToHost if named else Kind.cudaMemcpyDefault))
    good(rt.cudaFree(d))


def test_the_runtimes_arrays_and_symbols(host: Host, low: Array) -> None:
    source, target = halves(low)
    array = good(
        rt.cudaMallocArray(good(rt.cudaCreateChannelDesc(32, 0, 0, 0, rt.cudaChannelFormatKind.cudaChannelFormatKindUnsigned)), 32, 8, 0)
    )
    to, back = Kind.cudaMemcpyHostToDevice, Kind.cudaMemcpyDeviceToHost
    good(rt.cudaMemcpy2DToArray(array, 0, 0, at(source), 128, 128, 8, to))
    good(rt.cudaMemcpy2DFromArray(at(target), 128, array, 0, 0, 128, 8, back))
    assert (target == source).all()
    library = good(rt.cudaLibraryLoadData((HEAD + ".global .b32 place[4];").encode(), [], [], 0, [], [], 0))
    symbol, _ = good(rt.cudaLibraryGetGlobal(library, b"place"))
    assert symbol >= FIRST_DEVICE
    good(rt.cudaMemcpyToSymbol(symbol, at(source), 16, 0, to))
    good(rt.cudaMemcpyFromSymbol(at(target), symbol, 16, 0, back))
    assert (target[:4] == source[:4]).all()


def test_low_memory_that_is_registered_and_what_lies_around_it(host: Host, low: Array) -> None:
    source, target = halves(low)
    host("cuMemHostRegister", at(source) + 64, 64, 0)
    out = int(host("cuMemAlloc", 1024))
    host("cuMemcpyHtoD", out, at(source), 64)  # what lies in front of it is the host's alone
    host("cuMemcpy", out + 64, at(source) + 64, 64)
    host("cuMemcpyHtoD", out + 128, at(source) + 128, 896)
    host("cuMemcpyDtoH", at(target), out, 1024)
    assert (target == source).all()
    host("cuMemHostUnregister", at(source) + 64)
    assert host.code("cuPointerGetAttribute", cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at(source)) == "INVALID_VALUE"


def test_python_copies_from_low_memory(low: Array) -> None:
    source, target = halves(low)
    device = runtime.Device()
    device.set_current()
    buffer, stream = device.allocate(1024), device.create_stream()
    assert int(buffer.handle) >= FIRST_DEVICE
    for more in ({}, {"stream": stream}):
        target[:] = 0
        buffer.copy_from(source, **more)  # type: ignore[arg-type]
        buffer.copy_to(target, **more)  # type: ignore[arg-type]
        stream.sync()
        assert (target == source).all()
    buffer.close()


def test_each_memory_of_a_device_lies_above_the_hosts(host: Host) -> None:
    managed = int(host("cuMemAllocManaged", 64, 1))
    pinned = int(host("cuMemHostAlloc", 64, 0))
    assert ctypes.string_at(managed, 64) == ctypes.string_at(pinned, 64) == bytes(64)  # these are the host's own addresses
    pool = host("cuDeviceGetDefaultMemPool", 0)
    addresses = [
        host("cuMemAllocAsync", 64, 0), host("cuMemAllocFromPoolAsync", 64, pool, 0), host("cuMemAllocPitch", 64, 4, 4)[0],
        host("cuMemAddressReserve", 2 << 20, 0, 0, 0), host("cuModuleGetGlobal", host.load(HEAD + ".global .b32 g; .const .b32 c;"), b"c")[0],
    ]  # fmt: skip
    assert all(int(a) >= FIRST_DEVICE for a in addresses)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_registers_of_32_bits_address_constants_and_parameters(host: Host, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    monkeypatch.setenv("WARPLAB_ENGINE", engine)
    context = host("cuCtxCreate", None, 0, 0)
    out = int(host("cuMemAlloc", 12))
    f = host.function("narrow", HEAD + NARROW)
    with runtime.sanitizing("initcheck") if engine == "numpy" else nullcontext():
        host("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, 0, ((out, 55), (ctypes.c_uint64, ctypes.c_uint32)), 0)
        host("cuCtxSynchronize")
    found = np.zeros(3, np.uint32)
    host("cuMemcpyDtoH", found, out, 12)
    host("cuCtxDestroy", context)
    assert found.tolist() == [33, 55, 56]


def test_initcheck_bears_addresses_behind_which_nothing_lies(host: Host) -> None:
    host("cuMemAddressReserve", 2 << 20, 0, 0, 0)
    out = host("cuMemAlloc", 12)
    with runtime.sanitizing("initcheck"):
        host(
            "cuLaunchKernel",
            host.function("narrow", HEAD + NARROW),
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            0,
            ((int(out), 1), (ctypes.c_uint64, ctypes.c_uint32)),
            0,
        )
        host("cuCtxSynchronize")


# ---------------------------------------------------------------- the system's own Python

HOST_APIS = """
import ctypes, numpy as np
from warplab import runtime
from warplab.runtime import cudart as rt, driver as cu

def good(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]

good(cu.cuInit(0))
good(cu.cuCtxSetCurrent(good(cu.cuDevicePrimaryCtxRetain(0))))
for n in (64, 1024, 4096, 1 << 16):
    a, back = np.arange(n, dtype=np.uint32), np.zeros(n, np.uint32)
    at = good(cu.cuMemAlloc(a.nbytes))
    good(cu.cuMemcpyHtoD(at, a.ctypes.data, a.nbytes))
    good(cu.cuMemcpyDtoH(back.ctypes.data, at, a.nbytes))
    assert (back == a).all()
    at, back = good(rt.cudaMalloc(a.nbytes)), np.zeros(n, np.uint32)
    good(rt.cudaMemcpy(at, a.ctypes.data, a.nbytes, rt.cudaMemcpyKind.cudaMemcpyHostToDevice))
    good(rt.cudaMemcpy(back.ctypes.data, at, a.nbytes, rt.cudaMemcpyKind.cudaMemcpyDefault))
    assert (back == a).all()
    buffer, back = runtime.Device().allocate(a.nbytes), np.zeros(n, np.uint32)
    buffer.copy_from(a)
    buffer.copy_to(back)
    assert (back == a).all()
print("all copies are right")
"""

PROGRAM = """
import ctypes
cuda, context, at = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
for n in (64, 4096, 1 << 18):
    a, back = ctypes.create_string_buffer(bytes(i % 251 for i in range(n)), n), ctypes.create_string_buffer(n)
    assert cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(n)) == 0
    assert cuda.cuMemcpyHtoD_v2(at, a, ctypes.c_size_t(n)) == 0
    assert cuda.cuMemcpyDtoH_v2(back, at, ctypes.c_size_t(n)) == 0 and back.raw == a.raw
    assert cuda.cuMemcpy(at, back, ctypes.c_size_t(n)) == 0 and cuda.cuMemcpy(a, at, ctypes.c_size_t(n)) == 0 and back.raw == a.raw
print("all copies are right")
"""


@pytest.fixture(name="python", scope="module")
def system_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A virtual environment of the system's Python that sees this tree and the packages of the Python that runs the tests."""
    system = shutil.which("python3", path="/usr/bin")
    if system is None:
        pytest.skip("there is no /usr/bin/python3")
    said = subprocess.run([system, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True).stdout
    if said.strip() != str(sys.version_info[:2]):
        pytest.skip(f"the packages of Python {sys.version_info[:2]} do not serve the system's {said.strip()}")
    folder = tmp_path_factory.mktemp("system")
    subprocess.run([system, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    (packages,) = folder.glob("lib/python3*/site-packages")
    (packages / "tests.pth").write_text("\n".join(dict.fromkeys((str(ROOT / "tests" / "importroot"), *filter(None, map(str, sys.path))))))
    return str(folder / "bin" / "python")


def test_the_host_apis_in_the_systems_python(python: str) -> None:
    done = subprocess.run([python, "-c", HOST_APIS], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("all copies are right\n", 0), done.stderr


def test_exec_in_and_of_the_systems_python(python: str) -> None:
    command = [python, "-c", "from warplab.runtime.cli import main; main()", "exec", python, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("all copies are right\n", 0), done.stderr
