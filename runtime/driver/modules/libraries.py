"""The driver's calls about libraries: code that each context loads when it first needs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from warplab.interpreter.program import ManagedVariables

from ...device.context import DeviceContext
from ...device.machine import machine
from ...device.memory.allocations import SPACE
from ...device.modules.kernels import KernelHandle, LoadedModule
from ...device.modules.loading import parsed, sources
from ...errors import ApiError
from ..api import STATE, anything_of, api, current, forget, handle_of, integer, object_of, text
from ..tables.structs import CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule
from .modules import Logs, image_of, load, read_file


@dataclass(eq=False)
class Library:
    """Code that every context loads when it first needs it; what is wrong with it is told then."""

    image: bytes
    logs: Logs
    managed: ManagedVariables = field(default_factory=lambda: ManagedVariables(lambda: SPACE.host))
    loaded: dict[DeviceContext, LoadedModule] = field(default_factory=dict)
    kernels: dict[str, LibraryKernel] = field(default_factory=dict)
    alive: bool = True

    def module(self, c: DeviceContext | None = None) -> LoadedModule:
        """The library in a context."""
        c = current() if c is None else c
        found = self.loaded.get(c)
        if found is None or not found.loaded:
            found = self.loaded[c] = load(c, self.image, self.logs, self.managed)
        return found

    def entries(self) -> list[str]:
        """The names of the kernels; without a current context those that the first device would load."""
        if STATE.stack:
            return list(self.module().kernels)
        first = machine().devices[0]
        modules = [parsed(s.data, s.name, compiled=s.chosen) for s in sources(self.image, first.architecture, rules_only=first.rules_only)]
        return [name for m in modules for name, f in m.functions.items() if f.is_entry and f.is_defined]


@dataclass(eq=False)
class LibraryKernel:
    """A kernel of a library, not yet of a context."""

    library: Library
    name: str

    def here(self) -> KernelHandle:
        """The kernel in the current context."""
        if not self.library.alive:
            raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the library was unloaded")
        return self.library.module().kernel(self.name)


def kernel_of(handle: object) -> KernelHandle:
    """A kernel by the handle of a function or of a library's kernel."""
    found = anything_of(handle)
    if isinstance(found, LibraryKernel):
        return found.here()
    k = found if isinstance(found, KernelHandle) else object_of(handle, KernelHandle)
    if not k.module.loaded:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the kernel's module was unloaded")
    return k


def _library_kernel(library: Library, name: str) -> CUkernel:
    if STATE.stack:
        library.module().kernel(name)
    elif name not in (names := library.entries()):
        raise ApiError("CUDA_ERROR_NOT_FOUND", f"no entry is called {name}; there are {', '.join(names) or 'none'}")
    found = library.kernels.setdefault(name, LibraryKernel(library, name))
    return CUkernel(handle_of(found))


@api
def cuLibraryLoadData(
    code: object, jitOptions: Sequence[Any] | None, jitOptionsValues: Sequence[Any] | None, numJitOptions: object,
    libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object,
) -> CUlibrary:  # fmt: skip
    """A library from memory."""
    return CUlibrary(handle_of(Library(image_of(code), Logs(jitOptions, jitOptionsValues))))


@api
def cuLibraryLoadFromFile(
    fileName: object, jitOptions: Sequence[Any] | None, jitOptionsValues: Sequence[Any] | None, numJitOptions: object,
    libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object,
) -> CUlibrary:  # fmt: skip
    """A library from a file."""
    return CUlibrary(handle_of(Library(read_file(fileName), Logs(jitOptions, jitOptionsValues))))


@api
def cuLibraryUnload(library: object) -> None:
    """Unloads a library everywhere."""
    found = object_of(library, Library)
    for c, m in found.loaded.items():
        if m.loaded and c.alive:
            c.unload(m)
    found.managed.free()
    found.alive = False
    for k in found.kernels.values():
        forget(k)
    forget(found)


@api
def cuLibraryGetKernel(library: object, name: object) -> CUkernel:
    """A kernel by name."""
    return _library_kernel(object_of(library, Library), text(name))


@api
def cuLibraryGetKernelCount(lib: object) -> int:
    """How many kernels there are."""
    return len(object_of(lib, Library).entries())


@api
def cuLibraryEnumerateKernels(numKernels: object, lib: object) -> list[CUkernel]:
    """The first so many kernels."""
    found = object_of(lib, Library)
    return [_library_kernel(found, name) for name in found.entries()[: integer(numKernels)]]


@api
def cuLibraryGetModule(library: object) -> CUmodule:
    """The library as a module of the current context."""
    return CUmodule(handle_of(object_of(library, Library).module()))


@api
def cuLibraryGetGlobal(library: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a variable in the current context."""
    address, size = object_of(library, Library).module().variable(text(name))
    return CUdeviceptr(address), size


@api
def cuLibraryGetManaged(library: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a managed variable."""
    m = object_of(library, Library).module()
    v = m.program.variables.get(text(name))
    if v is None or not any("managed" in a for a in v.attributes):
        raise ApiError("CUDA_ERROR_NOT_FOUND", f"no managed variable is called {text(name)}")
    address, size = m.variable(text(name))
    return CUdeviceptr(address), size


@api
def cuKernelGetFunction(kernel: object) -> CUfunction:
    """A library's kernel as a function of the current context."""
    return CUfunction(handle_of(object_of(kernel, LibraryKernel).here()))


@api
def cuKernelGetLibrary(kernel: object) -> CUlibrary:
    """The kernel's library."""
    return CUlibrary(handle_of(object_of(kernel, LibraryKernel).library))
