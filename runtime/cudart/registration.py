"""What the host code that nvcc makes tells the runtime before main: fat binaries, and which function or variable of the host stands for
which kernel or variable of a device.  Nothing is loaded until it is first used.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from .. import driver
from ..device.memory.host import host
from ..device.modules.fatbin import image_at
from ..driver.api import results_of
from ..driver.modules.libraries import kernel_of
from ..errors import ApiError
from .api import call, context

_handles = itertools.count(0x20_0000_0000, 0x10)


@dataclass(eq=False)
class Binary:
    """A fat binary that the program registered."""

    wrapper: int
    library: int = 0  # the driver's handle, once something of it was used
    managed: dict[int, str] = field(default_factory=dict)  # the address of a pointer that the host has: the variable
    placed: bool = False  # do these pointers hold their addresses?
    known_by: list[int] = field(default_factory=list)  # the functions and variables of the host that stand for something of it

    def load(self) -> int:
        """The library's handle."""
        if not self.library:
            image = image_at(self.wrapper, lambda at, size: host().read(at, size).tobytes())
            self.library = int(results_of(driver.cuLibraryLoadData, image, None, None, 0, None, None, 0))
        return self.library


class Registry:
    """All that was registered."""

    def __init__(self) -> None:
        self.binaries: dict[int, Binary] = {}
        self.functions: dict[int, tuple[Binary, str]] = {}
        self.variables: dict[int, tuple[Binary, str]] = {}
        self._kernels: dict[int, int] = {}

    def add(self, wrapper: int) -> int:
        """Registers a fat binary; gives what stands for it."""
        handle = next(_handles)
        self.binaries[handle] = Binary(wrapper)
        return handle

    def remove(self, handle: int) -> None:
        """Forgets a fat binary and all that belongs to it."""
        found = self.binaries.pop(handle, None)
        for key in found.known_by if found is not None else ():
            for table in (self.functions, self.variables):
                if key in table and table[key][0] is found:
                    del table[key]
                    self._kernels.pop(key, None)

    def add_function(self, handle: int, host_function: int, name: str) -> None:
        """A function of the host stands for a kernel."""
        binary = self.binaries[handle]
        binary.known_by.append(host_function)
        self.functions[host_function] = binary, name

    def add_variable(self, handle: int, host_variable: int, name: str) -> Binary:
        """A variable of the host stands for one of the device."""
        binary = self.binaries[handle]
        binary.known_by.append(host_variable)
        self.variables[host_variable] = binary, name
        return binary

    def place_managed(self, handle: int) -> None:
        """Tells the host where the managed variables of a binary are.  From then on a variable's own address stands for it, too."""
        binary = self.binaries[handle]
        if binary.placed:
            return
        binary.placed = True
        for pointer, name in binary.managed.items():
            address = int(call(driver.cuLibraryGetManaged, binary.load(), name.encode())[0])
            host().write(pointer, np.frombuffer(address.to_bytes(8, "little"), np.uint8))
            self.add_variable(handle, address, name)

    def forget_loaded(self) -> None:
        """Nothing that was registered is loaded: the process is a new one."""
        self._kernels.clear()
        for b in self.binaries.values():
            b.library, b.placed = 0, False

    def kernel(self, function: int) -> int:
        """The handle of the kernel for which a function of the host stands; anything else is a handle itself."""
        found = self._kernels.get(function)
        if found is None:
            if not function:
                raise ApiError("cudaErrorInvalidDeviceFunction", "null stands for no kernel")
            if function not in self.functions:
                kernel_of(function)
                return function
            binary, name = self.functions[function]
            try:
                found = self._kernels[function] = int(call(driver.cuLibraryGetKernel, binary.load(), name.encode()))
            except ApiError as e:
                raise ApiError("cudaErrorInvalidDeviceFunction", e.message) if e.name == "CUDA_ERROR_NOT_FOUND" else e from None
        return found

    def function(self, handle: int) -> int:
        """The function of the host that stands for a kernel; the handle itself where none does."""
        return next((f for f, own in self._kernels.items() if kernel_of(own) is kernel_of(handle)), handle)

    def variable(self, symbol: int) -> tuple[int, int]:
        """(address, size) of the variable for which one of the host's stands."""
        context()
        if symbol not in self.variables:
            raise ApiError("cudaErrorInvalidSymbol", f"{symbol:#x} stands for no variable")
        binary, name = self.variables[symbol]
        address, size = call(driver.cuLibraryGetGlobal, binary.load(), name.encode())
        return int(address), int(size)


REGISTRY = Registry()
