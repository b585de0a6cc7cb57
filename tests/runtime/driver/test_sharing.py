"""Memory and events that processes share, by the driver's calls."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from warplab.runtime import driver

from ..conftest import Host, model_only

if sys.platform != "linux":
    pytest.skip("memory is shared on Linux alone", allow_module_level=True)

OTHER = """
import sys
import numpy as np
from warplab.runtime import driver
def ok(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else None
ok(driver.cuInit(0))
ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
ok(driver.cuMemAlloc(100))
handle = driver.CUipcMemHandle()
handle.reserved = bytes.fromhex(sys.argv[1])
p = ok(driver.cuIpcOpenMemHandle(handle, 1))
assert int(ok(driver.cuIpcOpenMemHandle(handle, 1))) == int(p)
got = np.zeros(5000, np.uint8)
ok(driver.cuMemcpyDtoH(got, p, 5000))
assert (got == 7).all()
ok(driver.cuMemsetD8(int(p) + 10, 9, 4000))
event = driver.CUipcEventHandle()
event.reserved = bytes.fromhex(sys.argv[2])
ok(driver.cuStreamWaitEvent(0, ok(driver.cuIpcOpenEventHandle(event)), 0))
ok(driver.cuIpcCloseMemHandle(p))
ok(driver.cuIpcCloseMemHandle(p))
assert driver.cuIpcCloseMemHandle(p)[0] == 1
assert driver.cuMemcpyDtoH(got, p, 1)[0] == 1
"""


def ok(result: tuple[object, ...]) -> object:
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else None


@model_only
def test_another_process_writes_an_allocation(host: Host) -> None:
    before, p, after = (int(ok(driver.cuMemAlloc(5000))) for _ in range(3))  # type: ignore[call-overload]
    for at, value in ((before, 1), (p, 7), (after, 2)):
        ok(driver.cuMemsetD8(at, value, 5000))
    handle, event = ok(driver.cuIpcGetMemHandle(p)), ok(driver.cuEventCreate(6))
    words = [bytes(h.reserved).hex() for h in (handle, ok(driver.cuIpcGetEventHandle(event)))]  # type: ignore[attr-defined]
    done = subprocess.run(
        [sys.executable, "-c", OTHER, *words], capture_output=True, text=True, env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    )
    assert done.returncode == 0, done.stderr
    got = np.zeros(5000, np.uint8)
    ok(driver.cuMemcpyDtoH(got, p, 5000))
    assert (got[:10] == 7).all() and (got[10:4010] == 9).all() and (got[4010:] == 7).all()
    for at, value in ((before, 1), (after, 2)):
        ok(driver.cuMemcpyDtoH(got, at, 5000))
        assert (got == value).all()
    assert driver.cuIpcOpenMemHandle(handle, 1)[0] == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT
    assert driver.cuIpcOpenMemHandle(driver.CUipcMemHandle(), 1)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert driver.cuIpcGetMemHandle(ok(driver.cuMemAllocManaged(64, 1)))[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert driver.cuIpcGetEventHandle(ok(driver.cuEventCreate(2)))[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    for at in (before, p, after):
        ok(driver.cuMemFree(at))


IMPORTER = """
import sys
import numpy as np
from warplab.runtime import driver
def ok(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else None
ok(driver.cuInit(0))
ok(driver.cuCtxSetCurrent(ok(driver.cuDevicePrimaryCtxRetain(0))))
handle = ok(driver.cuMemImportFromShareableHandle(int(sys.argv[1]), 1))
size = 2 << 20
p = ok(driver.cuMemAddressReserve(size, 0, 0, 0))
ok(driver.cuMemMap(p, size, 0, handle, 0))
access = driver.CUmemAccessDesc()
access.location.type, access.location.id, access.flags = 1, 0, 3
ok(driver.cuMemSetAccess(p, size, [access], 1))
got = np.zeros(size, np.uint8)
ok(driver.cuMemcpyDtoH(got, p, size))
assert (got == 7).all()
ok(driver.cuMemsetD8(int(p) + 10, 9, 4000))
"""


@model_only
def test_another_process_maps_physical_memory_that_it_got_as_a_file(host: Host) -> None:
    size = 2 << 20
    properties, access = driver.CUmemAllocationProp(), driver.CUmemAccessDesc()
    properties.type = driver.CUmemAllocationType(1)
    properties.requestedHandleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    properties.location.type = access.location.type = driver.CUmemLocationType(1)
    access.flags = driver.CUmemAccess_flags(3)
    memory = ok(driver.cuMemCreate(size, properties, 0))
    p = int(ok(driver.cuMemAddressReserve(size, 0, 0, 0)))  # type: ignore[call-overload]
    ok(driver.cuMemMap(p, size, 0, memory, 0))
    ok(driver.cuMemSetAccess(p, size, [access], 1))
    ok(driver.cuMemsetD8(p, 7, size))
    files = [ok(driver.cuMemExportToShareableHandle(memory, 1, 0)) for _ in range(2)]
    os.close(files[0])  # type: ignore[arg-type]
    assert driver.cuMemExportToShareableHandle(memory, 8, 0)[0] == driver.CUresult.CUDA_ERROR_NOT_SUPPORTED
    with open(os.devnull, "rb") as other:
        assert driver.cuMemImportFromShareableHandle(other.fileno(), 1)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    done = subprocess.run(
        [sys.executable, "-c", IMPORTER, str(files[1])], capture_output=True, text=True, pass_fds=files[1:],  # type: ignore[arg-type]
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    os.close(files[1])  # type: ignore[arg-type]
    got = np.zeros(size, np.uint8)
    ok(driver.cuMemcpyDtoH(got, p, size))
    assert (got[:10] == 7).all() and (got[10:4010] == 9).all() and (got[4010:] == 7).all()
    ok(driver.cuMemUnmap(p, size))
    ok(driver.cuMemAddressFree(p, size))
    ok(driver.cuMemRelease(memory))
