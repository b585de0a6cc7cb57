"""What a launch costs before and behind its kernel, in calls of Python functions: they are as many on every machine."""

import ctypes
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

from warplab.runtime.driver.api import current

from ..conftest import Host, model_only

MOST = 150


@model_only
@pytest.mark.parametrize("engine", ["native", "auto"])
def test_a_launch_makes_few_calls(host: Host, engine: str) -> None:
    current().options.engine, current().options.threads = "native", 1
    f, n = host.function("add"), 1 << 12
    calls: list[str] = []

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    for _ in range(3):
        arrays = [np.arange(n, dtype=np.uint32), np.full(n, 7, np.uint32), np.zeros(n, np.uint32)]
        at = [host.upload(a) for a in arrays]  # the kernel finds other allocations than before
        keep = [*map(ctypes.c_uint64, at), ctypes.c_uint32(n)]
        table = (ctypes.c_void_p * 4)(*[ctypes.addressof(k) for k in keep])
        before = sys.getprofile()
        calls.clear()
        sys.setprofile(count)
        try:
            host("cuLaunchKernel", f, n // 64, 1, 1, 64, 1, 1, 0, 0, ctypes.addressof(table), 0)
            host("cuCtxSynchronize")
        finally:
            sys.setprofile(before)
        assert (host.download(at[2], arrays[2]) == arrays[0] + 7).all()
        current().options.engine = engine  # the code is there
    assert len(calls) <= MOST, calls
    assert current().used.numpy_blocks == 0
