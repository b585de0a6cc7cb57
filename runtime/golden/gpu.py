"""The same runs on a real device, through cuda.bindings: how goldens are recorded, and how warplab is held against hardware."""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device.modules.kernels import KernelHandle, LaunchShape, LoadedModule
from ..errors import ApiError, UsageError
from ..run.runner import Runner
from ..run.runspec import RunSpec

Bytes = NDArray[np.uint8]


class GpuRunner(Runner):
    """A Runner whose memory and launches are a device's; parameters, buffers and checks stay those of Runner."""

    def __init__(self, texts: Sequence[bytes], names: Sequence[str], spec: RunSpec, folder: Path | None) -> None:
        if spec.textures or spec.surfaces:
            raise UsageError("--gpu: --tex and --surf are made on the model alone")
        super().__init__(texts, names, replace(spec, device_rules_only=True), folder)  # the driver judges the target
        self.context = _DeviceContext(self.context, self.module, texts)  # type: ignore[assignment]


class _DeviceContext:
    """What Runner asks of a Context, answered by a device."""

    def __init__(self, model: Any, module: LoadedModule, texts: Sequence[bytes]) -> None:
        try:
            self.driver = importlib.import_module("cuda.bindings.driver")
        except ImportError:
            raise UsageError("--gpu needs the package cuda-python (cuda.bindings) and a device") from None
        self.model = model
        self.places: dict[int, int] = {}  # address of a variable in the model: on the device
        self.failed = False
        self._call("cuInit", 0)
        device = self._call("cuDeviceGet", 0)
        self.primary = self._call("cuDevicePrimaryCtxRetain", device)
        self._call("cuCtxSetCurrent", self.primary)
        self.module = self._load(texts)
        for name, v in module.program.variables.items():
            if v.space in ("global", "const"):
                status, address, _ = self.driver.cuModuleGetGlobal(self.module, name.encode())
                if int(status) == 0:
                    self.places[module.variable(name)[0]] = int(address)

    def _load(self, texts: Sequence[bytes]) -> Any:
        if len(texts) == 1:
            return self._call("cuModuleLoadData", texts[0].rstrip(b"\0") + b"\0")
        link = self._call("cuLinkCreate", 0, [], [])
        ptx = self.driver.CUjitInputType.CU_JIT_INPUT_PTX
        for n, text in enumerate(texts):
            data = text.rstrip(b"\0") + b"\0"
            self._call("cuLinkAddData", link, ptx, data, len(data), f"module{n}".encode(), 0, [], [])
        image, _ = self._call("cuLinkComplete", link)
        return self._call("cuModuleLoadData", image)

    def _call(self, name: str, *args: Any) -> Any:
        status, *rest = getattr(self.driver, name)(*args)
        if int(status) != 0:
            text = status.name
            raise ApiError(text, f"{name}: {text}")
        return rest[0] if len(rest) == 1 else tuple(rest)

    # ------------------------------------------------------------ what Runner asks

    def allocate(self, size: int) -> int:
        return int(self._call("cuMemAlloc", size))

    def bytes_at(self, address: int, size: int) -> Bytes:
        return _DeviceBytes.of(self, self.places.get(address, address), size)

    def launch(self, handle: KernelHandle, shape: LaunchShape, parameters: bytes) -> None:
        d = self.driver
        function = self._call("cuModuleGetFunction", self.module, handle.name.encode())
        if shape.dynamic_shared > 48 << 10:
            attribute = d.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", function, attribute, shape.dynamic_shared)
        blocks = [np.frombuffer(parameters[o : o + v.size], np.uint8).copy() for v, o in handle.kernel.parameters]
        pointers = np.array([b.ctypes.data for b in blocks], np.uint64)
        self._call("cuLaunchKernelEx", shape.config(d), function, pointers.ctypes.data, 0)

    def synchronize(self) -> None:
        try:
            self._call("cuCtxSynchronize")
        except ApiError:
            self.failed = True  # nothing can be read from here on
            raise

    def read(self, address: int, size: int) -> Bytes:
        out = np.zeros(size, np.uint8)
        if size and not self.failed:
            self._call("cuMemcpyDtoH", out.ctypes.data, address, size)
        return out

    def write(self, address: int, data: Bytes) -> None:
        raw = np.ascontiguousarray(data)
        if raw.size:
            self._call("cuMemcpyHtoD", address, raw.ctypes.data, raw.nbytes)


class _DeviceBytes(np.ndarray[Any, np.dtype[np.uint8]]):
    """A copy of device memory that goes back to the device when it is assigned to."""

    owner: _DeviceContext
    address: int

    @classmethod
    def of(cls, device: _DeviceContext, address: int, size: int) -> _DeviceBytes:
        """The bytes at an address."""
        out = device.read(address, size).view(cls)
        out.owner, out.address = device, address
        return out

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        self.owner.write(self.address, np.asarray(self))


class DeviceOutput:
    """What kernels print goes to the process's descriptor 1: it is led into a file for a while."""

    def __enter__(self) -> DeviceOutput:
        sys.stdout.flush()
        self.file = tempfile.TemporaryFile()
        self.kept = os.dup(1), os.dup(2)
        os.dup2(self.file.fileno(), 1)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        os.close(quiet)
        return self

    def __exit__(self, *error: object) -> None:
        ctypes.CDLL(None).fflush(None)
        for kept, descriptor in zip(self.kept, (1, 2), strict=True):
            os.dup2(kept, descriptor)
            os.close(kept)

    def text(self) -> str:
        """All that was printed."""
        self.file.seek(0)
        return self.file.read().decode(errors="replace")
