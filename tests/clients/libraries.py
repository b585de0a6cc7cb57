"""What the programs that call NVIDIA's libraries of mathematics share: device memory as numpy arrays, and calls whose codes are checked."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

CUDART = ctypes.CDLL("libcudart.so.13")
TO_DEVICE, TO_HOST = 1, 2
Array = np.ndarray[Any, Any]


class DeviceArray:
    """An array in device memory, in the order of Fortran."""

    def __init__(self, values: Any) -> None:
        self.values: Array = np.asfortranarray(values)
        pointer = ctypes.c_void_p()
        assert CUDART.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(max(self.values.nbytes, 8))) == 0
        self.at = pointer.value or 0
        self._copy(self.at, self.values.ctypes.data, TO_DEVICE)

    def _copy(self, to: int, source: int, kind: int) -> None:
        assert CUDART.cudaMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(self.values.nbytes), kind) == 0

    def get(self) -> Array:
        """Its numbers now."""
        out = np.empty_like(self.values)
        self._copy(out.ctypes.data, self.at, TO_HOST)
        return out


class Library:
    """A library: `lib.cublasSgemm_v2(handle, 0, DeviceArray(...), 1.5)`, whose code must be zero."""

    def __init__(self, name: str) -> None:
        self.library = ctypes.CDLL(name)

    def __getattr__(self, name: str) -> Any:
        work = getattr(self.library, name)

        def call(*given: Any, code: int = 0) -> None:
            found = work(*map(_passed, given))
            assert found == code, f"{name} gives {found}, not {code}"

        return call


def _passed(x: Any) -> Any:
    if isinstance(x, DeviceArray):
        return ctypes.c_void_p(x.at)
    if isinstance(x, np.ndarray):
        return ctypes.c_void_p(x.ctypes.data)
    return ctypes.c_longlong(x) if isinstance(x, int) else x


def close(found: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    """Two arrays agree."""
    np.testing.assert_allclose(np.asarray(found, np.result_type(found, "f4")), wanted, rtol=tolerance, atol=tolerance)
