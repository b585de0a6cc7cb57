"""Memory and events that processes share, by the driver's calls."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from warplab.runtime import driver

from .conftest import Host, model_only

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
