"""The calls of a GPU's own driver that the recording scripts need; numpy is all that they want beside it."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Driver:
    """The few calls of the CUDA driver that this needs."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """One driver call; any error ends the program."""
        status = getattr(self.library, name)(*arguments)
        if status:
            raise SystemExit(f"{name}: error {status}")

    def upload(self, data: Array) -> ctypes.c_uint64:
        """A copy of an array on the device."""
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(data.nbytes, 16)))
        self.call("cuMemcpyHtoD_v2", pointer, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))
        return pointer
