"""Arrays in device memory for kernels of Triton, through the driver alone."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")
NAMES = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "int64": "i64", "int32": "i32", "int8": "i8"}


class ElementType(str):
    """The name of a type, as Triton spells it, and its size."""

    itemsize: int


def succeed(code: int) -> None:
    assert code == 0, f"the driver says {code}"


class DeviceArray:
    """A copy of an array in device memory, which is never freed."""

    def __init__(self, a: np.ndarray[Any, Any]) -> None:
        self.like = np.ascontiguousarray(a)
        self.shape = self.like.shape
        self.dtype = ElementType(NAMES[self.like.dtype.name])
        self.dtype.itemsize = self.like.itemsize
        at, size = ctypes.c_uint64(), ctypes.c_size_t(self.like.nbytes)
        succeed(cuda.cuMemAlloc_v2(ctypes.byref(at), size))
        self.at = at.value
        succeed(cuda.cuMemcpyHtoD_v2(at, ctypes.c_void_p(self.like.ctypes.data), size))

    def data_ptr(self) -> int:
        return self.at

    def stride(self, axis: int) -> int:
        return self.like.strides[axis] // self.like.itemsize

    def get(self) -> np.ndarray[Any, Any]:
        """What it holds now."""
        out = np.empty_like(self.like)
        succeed(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), ctypes.c_uint64(self.at), ctypes.c_size_t(out.nbytes)))
        return out


def begin() -> None:
    """Makes a context current."""
    context = ctypes.c_void_p()
    succeed(cuda.cuInit(0))
    succeed(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    succeed(cuda.cuCtxSetCurrent(context))


RANDOM = np.random.default_rng(1)


def normal(*shape: int, dtype: str = "float32") -> DeviceArray:
    """Random numbers around zero."""
    return DeviceArray(RANDOM.standard_normal(shape).astype(dtype))


def zeros(*shape: int, dtype: str = "float32") -> DeviceArray:
    return DeviceArray(np.zeros(shape, dtype))
