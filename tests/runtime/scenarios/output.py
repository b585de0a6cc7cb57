"""When the output of kernels is written, and what asserts say."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ptx import ASSERTS, KERNELS, PRINTS
from .notes import SCENARIOS, U32, Notes, scenario


def _captured(work: Callable[[], None], number: int = 1) -> str:
    """What a piece of work writes to a file descriptor."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        old = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            work()
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(old, number)
            os.close(old)
        file.seek(0)
        return file.read().decode(errors="replace")


def _flushes(call: str) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        cu = t.cu
        t.start()
        f, at = t.function("k", PRINTS), t.memory(64)
        s, e, m = cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1], t.module()
        g = cu.cuModuleGetFunction(m, b"fixed")[1]
        host = np.zeros(8, np.uint32)
        pinned = cu.cuMemAllocHost(64)[1]
        args: dict[str, tuple[Any, ...]] = {
            "cuCtxSynchronize": (), "cuStreamSynchronize": (s,), "cuStreamQuery": (s,), "cuEventRecord": (e, 0), "cuEventSynchronize": (e,), "cuEventQuery": (e,), "cuMemcpyHtoD": (at, host.ctypes.data, 8), "cuMemcpyDtoH": (host.ctypes.data, at, 8), "cuMemcpyDtoD": (at, at + 32, 8),
            "cuMemcpyHtoDAsync": (at, host.ctypes.data, 8, s), "cuMemcpyDtoHAsync": (host.ctypes.data, at, 8, s), "cuMemsetD8": (at, 0, 4), "cuModuleLoadData": (KERNELS.encode() + b"\0",), "cuModuleUnload": (m,), "cuMemAlloc": (64,), "cuMemFree": (at,), "cuLaunchKernel": (g, 1, 1, 1, 32, 2, 1, 0, s, 0, 0),
            "cuMemFreeHost": (pinned,), "cuMemHostAlloc": (64, 0), "cuMemGetInfo": (), "cuStreamDestroy": (s,), "cuDevicePrimaryCtxReset": (0,), "cuMemAllocManaged": (64, 1),
        }  # fmt: skip

        def before() -> None:
            t.launch(f, 1, 2, ((0,), (U32,)))
            t.pause(0.05)

        t.note("at the launch", _captured(before))
        if call == "cuEventSynchronize":
            cu.cuEventRecord(e, 0)
        t.note("then", _captured(lambda: t(call, *args[call], quiet=True)))

    return work


for _name in ("cuCtxSynchronize", "cuStreamSynchronize", "cuStreamQuery", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemsetD8", "cuModuleLoadData",
              "cuModuleUnload", "cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemFreeHost", "cuMemHostAlloc", "cuMemGetInfo", "cuStreamDestroy", "cuDevicePrimaryCtxReset", "cuMemAllocManaged"):  # fmt: skip
    SCENARIOS[f"printed_by_{_name}"] = _flushes(_name)


@scenario
def printed_over(t: Notes) -> None:
    """More output than the buffer holds: the oldest is gone."""
    t.start()
    t("cuCtxSetLimit", t.cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE, 1)
    t("cuCtxGetLimit", t.cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE)
    f = t.function("k", PRINTS)

    def work() -> None:
        for n in range(64):
            t.cu.cuLaunchKernel(f, 1, 1, 1, 1024, 1, 1, 0, 0, ((n * 1024,), (U32,)), 0)
        t.cu.cuCtxSynchronize()

    lines = _captured(work).splitlines()
    t.note("lines", len(lines))
    numbers = sorted(int(x.split()[1]) for x in lines if re.fullmatch(r"hi \d+", x))
    t.note("first, last", numbers[0] if numbers else None, numbers[-1] if numbers else None, len(numbers))


def _asserts(grid: int, block: int, step: int) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        t.start()
        f = t.function("k", ASSERTS)

        def launch() -> None:
            t.launch(f, grid, block, ((step,), (U32,)))
            t.pause(0.05)

        t.note("at the launch", _captured(launch, 2))
        lines = _captured(lambda: t("cuCtxSynchronize"), 2).splitlines()
        t.note("lines", len(lines), sorted(set(lines))[:3])
        t.note("threads", sorted(int(re.findall(r"thread: \[(\d+)", x)[0]) for x in lines if "thread: [" in x) if grid == 1 else "some")
        t.note("order", [int(re.findall(r"thread: \[(\d+)", x)[0]) for x in lines if "thread: [" in x][:8] if grid == 1 else "some")
        t("cuCtxSynchronize", step="again")

    return work


SCENARIOS["asserts_one"] = _asserts(1, 1, 1)
SCENARIOS["asserts_warp"] = _asserts(1, 32, 5)
SCENARIOS["asserts_block"] = _asserts(1, 128, 3)
SCENARIOS["asserts_grid"] = _asserts(4, 64, 7)
