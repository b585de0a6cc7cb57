"""Fixtures for the host's tests: a fresh primary context.

WARPLAB_DRIVER=cuda.bindings.driver runs the tests of the driver API against that package instead, on a machine with a GPU.
"""

import ctypes
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from .chromium import browser
from .ptx import HEAD, KERNELS

MODEL = "warplab.runtime.driver"
DRIVER = os.environ.get("WARPLAB_DRIVER", MODEL)
driver: Any = importlib.import_module(DRIVER)
model_only = pytest.mark.skipif(DRIVER != MODEL, reason="asks for what only warplab has")


def forget_contexts() -> None:
    """No context is current any more."""
    if DRIVER == MODEL:
        importlib.import_module("warplab.runtime.driver.api").STATE.stack.clear()
    else:
        driver.cuCtxSetCurrent(0)


class Host:
    """Driver calls that must succeed."""

    cu = driver

    def __call__(self, name: str, *args: object) -> Any:
        code, *results = getattr(driver, name)(*args)
        assert code == 0, f"{name}: {code!r}"
        return results[0] if len(results) == 1 else tuple(results)

    def code(self, name: str, *args: object) -> str:
        """What a call says."""
        return str(getattr(driver, name)(*args)[0].name).removeprefix("CUDA_ERROR_").removeprefix("CUDA_")

    def load(self, text: str = KERNELS) -> Any:
        """A module."""
        return self("cuModuleLoadData", text.encode())

    def function(self, name: str, text: str = KERNELS) -> Any:
        """A kernel of a module."""
        return self("cuModuleGetFunction", self.load(text), name.encode())

    def upload(self, array: np.ndarray[Any, Any]) -> int:
        """A copy of an array on the device."""
        at = int(self("cuMemAlloc", max(array.nbytes, 1)))
        self("cuMemcpyHtoD", at, array, array.nbytes)
        return at

    def download(self, address: object, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What stands in device memory."""
        out = np.empty_like(like)
        self("cuMemcpyDtoH", out, address, out.nbytes)
        return out

    def launch(
        self, function: object, grid: int, block: int, values: tuple[object, ...], types: tuple[object, ...], shared: int = 0
    ) -> str:
        """Launches with the bindings' tuples; gives the code."""
        return self.code("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, shared, 0, (values, types), 0)


@contextmanager
def context() -> Iterator[Host]:
    """A current context as new."""
    g = Host()
    g("cuInit", 0)
    g("cuDevicePrimaryCtxReset", 0)
    g("cuCtxSetCurrent", g("cuDevicePrimaryCtxRetain", 0))
    yield g
    g("cuDevicePrimaryCtxReset", 0)
    g("cuDevicePrimaryCtxRelease", 0)
    forget_contexts()


@pytest.fixture
def host() -> Iterator[Host]:
    """The same for a test."""
    with context() as g:
        yield g


POINTER, U32 = ctypes.c_void_p, ctypes.c_uint32
__all__ = ["DRIVER", "HEAD", "KERNELS", "MODEL", "POINTER", "U32", "Host", "browser", "driver", "model_only"]
