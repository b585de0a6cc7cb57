"""The driver's calls about code: modules, libraries and their kernels, linking, function attributes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warplab.assembler.ir import Module
from warplab.isa.profiles import target_capability

from ..context import Context
from ..errors import ApiError, invalid, unsupported
from ..kernels import KernelHandle, LoadedModule
from ..loading import Source, image_at, link, linked_image, parsed, sources
from .api import api, current, device_of, forget, handle_of, integer, kernel_of, member, object_of, text
from .enums import (
    CUclusterSchedulingPolicy,
    CUfunc_cache,
    CUfunction_attribute,
    CUfunctionLoadingState,
    CUjit_option,
    CUjitInputType,
    CUmoduleLoadingMode,
    CUsharedconfig,
)
from .layout import address_of
from .structs import CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUlinkState, CUmodule

FunctionAttribute = CUfunction_attribute


class Logs:
    """The buffers that the options of a load name, filled when it is over."""

    def __init__(self, options: Sequence[Any] | None, values: Sequence[Any] | None) -> None:
        self.found = {integer(o): v for o, v in zip(options or (), values or (), strict=False)}
        for o in self.found:
            if o not in CUjit_option._value2member_map_:
                raise invalid(f"{o} is no JIT option")

    def write(self, kind: str, said: str) -> None:
        """Writes what there is to say into the INFO or the ERROR buffer, as far as it goes."""
        buffer = self.found.get(CUjit_option[f"CU_JIT_{kind}_LOG_BUFFER"])
        size = integer(self.found.get(CUjit_option[f"CU_JIT_{kind}_LOG_BUFFER_SIZE_BYTES"], 0))
        if buffer is None or size <= 0:
            return
        raw = said.encode(errors="replace")[: size - 1] + b"\0"
        if isinstance(buffer, bytearray):
            raw = raw[: len(buffer)]
            buffer[: len(raw)] = raw
        else:
            ctypes.memmove(address_of(buffer), raw, len(raw))


def image_of(image: object, size: int | None = None) -> bytes:
    """The bytes of an image that is an address, or an object with a buffer."""
    if isinstance(image, bytes | bytearray):
        return bytes(image)
    if image is None:
        raise invalid("the image is null")
    if size is not None:
        return ctypes.string_at(address_of(image), size)
    try:
        return bytes(memoryview(image))  # type: ignore[arg-type]
    except TypeError:
        return image_at(address_of(image))


def fits(module: Module, c: Context) -> None:
    """Refuses code for a newer device, or for one that it names exactly."""
    own = target_capability(c.architecture)
    for t in module.targets:
        if t.startswith(("sm_", "compute_")):
            wanted, exact = target_capability(t), t.endswith("a")
            if wanted > own or (exact and wanted != own):
                raise ApiError("CUDA_ERROR_INVALID_PTX", f"{module.name} is for {t}, the device is {c.architecture}")


def load(c: Context, image: bytes, logs: Logs | None = None) -> LoadedModule:
    """Loads an image into a context."""
    inputs = sources(image)
    try:
        for s in inputs:
            fits(parsed(s.data, s.name), c)
        out = c.load([s.data for s in inputs], [s.name for s in inputs])
    except ApiError as e:
        if logs is not None:
            logs.write("ERROR", e.message)
        raise
    if logs is not None:
        logs.write(
            "INFO", "\n".join(f"{k.name}: {k.registers} registers, {k.static_shared} bytes of shared memory" for k in out.kernels.values())
        )
    return out


@api(1)
def cuModuleLoadData(image: object) -> CUmodule:
    """Loads PTX text or an object file from memory."""
    return CUmodule(handle_of(load(current(), image_of(image))))


@api(1)
def cuModuleLoadDataEx(image: object, numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None) -> CUmodule:
    """Loads with options, of which the logs matter here."""
    return CUmodule(handle_of(load(current(), image_of(image), Logs(options, optionValues))))


@api(1)
def cuModuleLoadFatBinary(fatCubin: object) -> CUmodule:
    """Loads what is handed over, if it is no fat binary in truth."""
    return CUmodule(handle_of(load(current(), image_of(fatCubin))))


def read_file(fname: object) -> bytes:
    """The contents of a file named by bytes."""
    try:
        return Path(text(fname)).read_bytes()
    except OSError as e:
        raise ApiError("CUDA_ERROR_FILE_NOT_FOUND", str(e)) from None


@api(1)
def cuModuleLoad(fname: object) -> CUmodule:
    """Loads a file."""
    return CUmodule(handle_of(load(current(), read_file(fname))))


@api()
def cuModuleUnload(hmod: object) -> None:
    """Frees a module's variables."""
    m = object_of(hmod, LoadedModule)
    m.context.unload(m)
    forget(m)


@api(1)
def cuModuleGetFunction(hmod: object, name: object) -> CUfunction:
    """An entry by name."""
    if not text(name):
        raise invalid("the name is empty")
    return CUfunction(handle_of(object_of(hmod, LoadedModule).kernel(text(name))))


@api(1)
def cuModuleGetFunctionCount(mod: object) -> int:
    """How many entries there are."""
    return len(object_of(mod, LoadedModule).kernels)


@api(1)
def cuModuleEnumerateFunctions(numFunctions: object, mod: object) -> list[CUfunction]:
    """The first so many entries; null where there are fewer."""
    found = [CUfunction(handle_of(k)) for k in object_of(mod, LoadedModule).kernels.values()]
    return [*found, *(CUfunction(0) for _ in range(integer(numFunctions) - len(found)))][: integer(numFunctions)]


@api(2)
def cuModuleGetGlobal(hmod: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a variable."""
    m = object_of(hmod, LoadedModule)
    if not text(name) or text(name) in m.kernels:
        raise invalid(f"{text(name)!r} is no variable")
    address, size = m.variable(text(name))
    return CUdeviceptr(address), size


@api(1)
def cuModuleGetLoadingMode() -> CUmoduleLoadingMode:
    """Modules are planned kernel by kernel, when each is first launched."""
    return CUmoduleLoadingMode.CU_MODULE_LAZY_LOADING


# ---------------------------------------------------------------- libraries


@dataclass(eq=False)
class Library:
    """Code that every context loads when it first needs it; what is wrong with it is told then."""

    image: bytes
    logs: Logs
    loaded: dict[Context, LoadedModule] = field(default_factory=dict)
    kernels: dict[str, LibraryKernel] = field(default_factory=dict)
    alive: bool = True

    def module(self, c: Context | None = None) -> LoadedModule:
        """The library in a context."""
        c = current() if c is None else c
        found = self.loaded.get(c)
        if found is None or not found.loaded:
            found = self.loaded[c] = load(c, self.image, self.logs)
        return found


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


def _library_kernel(library: Library, name: str) -> CUkernel:
    library.module().kernel(name)
    found = library.kernels.setdefault(name, LibraryKernel(library, name))
    return CUkernel(handle_of(found))


@api(1)
def cuLibraryLoadData(
    code: object, jitOptions: Sequence[Any] | None, jitOptionsValues: Sequence[Any] | None, numJitOptions: object,
    libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object,
) -> CUlibrary:  # fmt: skip
    """A library from memory."""
    return CUlibrary(handle_of(Library(image_of(code), Logs(jitOptions, jitOptionsValues))))


@api(1)
def cuLibraryLoadFromFile(
    fileName: object, jitOptions: Sequence[Any] | None, jitOptionsValues: Sequence[Any] | None, numJitOptions: object,
    libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object,
) -> CUlibrary:  # fmt: skip
    """A library from a file."""
    return CUlibrary(handle_of(Library(read_file(fileName), Logs(jitOptions, jitOptionsValues))))


@api()
def cuLibraryUnload(library: object) -> None:
    """Unloads a library everywhere."""
    found = object_of(library, Library)
    for c, m in found.loaded.items():
        if m.loaded and c.alive:
            c.unload(m)
    found.alive = False
    for k in found.kernels.values():
        forget(k)
    forget(found)


@api(1)
def cuLibraryGetKernel(library: object, name: object) -> CUkernel:
    """A kernel by name."""
    return _library_kernel(object_of(library, Library), text(name))


@api(1)
def cuLibraryGetKernelCount(lib: object) -> int:
    """How many kernels there are."""
    return len(object_of(lib, Library).module().kernels)


@api(1)
def cuLibraryEnumerateKernels(numKernels: object, lib: object) -> list[CUkernel]:
    """The first so many kernels."""
    found = object_of(lib, Library)
    return [_library_kernel(found, name) for name in list(found.module().kernels)[: integer(numKernels)]]


@api(1)
def cuLibraryGetModule(library: object) -> CUmodule:
    """The library as a module of the current context."""
    return CUmodule(handle_of(object_of(library, Library).module()))


@api(2)
def cuLibraryGetGlobal(library: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a variable in the current context."""
    address, size = object_of(library, Library).module().variable(text(name))
    return CUdeviceptr(address), size


@api(2)
def cuLibraryGetManaged(library: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a managed variable."""
    m = object_of(library, Library).module()
    v = m.program.variables.get(text(name))
    if v is None or not any("managed" in a for a in v.attributes):
        raise ApiError("CUDA_ERROR_NOT_FOUND", f"no managed variable is called {text(name)}")
    address, size = m.variable(text(name))
    return CUdeviceptr(address), size


@api(1)
def cuKernelGetFunction(kernel: object) -> CUfunction:
    """A library's kernel as a function of the current context."""
    return CUfunction(handle_of(object_of(kernel, LibraryKernel).here()))


@api(1)
def cuKernelGetLibrary(kernel: object) -> CUlibrary:
    """The kernel's library."""
    return CUlibrary(handle_of(object_of(kernel, LibraryKernel).library))


@api(1)
def cuKernelGetName(hfunc: object) -> bytes:
    """The kernel's name."""
    return kernel_of(hfunc).name.encode()


# ---------------------------------------------------------------- functions


def attribute(k: KernelHandle, attrib: object) -> int:
    """One attribute of a kernel."""
    which = member(FunctionAttribute, attrib)
    own = k.directive(".reqnctapercluster")
    cluster = (*own, 1, 1)[:3] if own else k.cluster
    k.wanted = True
    c = k.context.profile.capability
    values: dict[CUfunction_attribute, Callable[[], int]] = {
        FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: lambda: k.max_threads,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: lambda: k.static_shared,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: lambda: k.const_bytes,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: lambda: k.local_bytes,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_NUM_REGS: lambda: k.registers,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_PTX_VERSION: lambda: k.ptx_version,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_BINARY_VERSION: lambda: c[0] * 10 + c[1],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: lambda: 0,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: lambda: k.dynamic_limit,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: lambda: k.carveout,
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: lambda: int(bool(k.directive(".explicitcluster"))),
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: lambda: cluster[0],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: lambda: cluster[1],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: lambda: cluster[2],
        FunctionAttribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: lambda: int(k.nonportable_cluster),
        FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: lambda: k.scheduling_policy,
    }
    found = values.get(which)
    if found is None:
        raise invalid(f"{which.name} is no attribute to ask for")
    return found()


def set_attribute(k: KernelHandle, attrib: object, value: int) -> None:
    """Sets one of the attributes that can be set."""
    axes = (
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH",
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT",
        "CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH",
    )
    which = member(FunctionAttribute, attrib)
    if which is FunctionAttribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        k.set_dynamic_shared(value)
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if not -1 <= value <= 100:
            raise invalid(f"a carve-out of {value} per cent")
        k.carveout = value
    elif which.name in axes:
        if value < 0:
            raise invalid(f"a cluster of {value}")
        own = k.directive(".reqnctapercluster")
        if own and (*own, 1, 1)[axes.index(which.name)] != value:
            raise invalid("the kernel's own directive sets its cluster")
        k.cluster[axes.index(which.name)] = value
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        k.nonportable_cluster = bool(value)
    elif which is FunctionAttribute.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        k.scheduling_policy = int(member(CUclusterSchedulingPolicy, value))
    else:
        raise invalid(f"{which.name} can't be set")


@api(1)
def cuFuncGetAttribute(attrib: object, hfunc: object) -> int:
    """One attribute of a function."""
    return attribute(kernel_of(hfunc), attrib)


@api()
def cuFuncSetAttribute(hfunc: object, attrib: object, value: object) -> None:
    """Sets an attribute of a function."""
    set_attribute(kernel_of(hfunc), attrib, integer(value))


@api(1)
def cuKernelGetAttribute(attrib: object, kernel: object, dev: object) -> int:
    """One attribute of a library's kernel on a device."""
    device_of(dev)
    return attribute(kernel_of(kernel), attrib)


@api()
def cuKernelSetAttribute(attrib: object, val: object, kernel: object, dev: object) -> None:
    """Sets an attribute of a library's kernel."""
    device_of(dev)
    set_attribute(kernel_of(kernel), attrib, integer(val))


def _cache(k: KernelHandle, config: object) -> None:
    k.cache_config = member(CUfunc_cache, config)


@api()
def cuFuncSetCacheConfig(hfunc: object, config: object) -> None:
    """Says how L1 and shared memory should share."""
    _cache(kernel_of(hfunc), config)


@api()
def cuKernelSetCacheConfig(kernel: object, config: object, dev: object) -> None:
    """As cuFuncSetCacheConfig."""
    device_of(dev)
    _cache(kernel_of(kernel), config)


@api()
def cuFuncSetSharedMemConfig(hfunc: object, config: object) -> None:
    """Asks for a width of shared memory's banks, which only devices of capability 3.x listen to."""
    kernel_of(hfunc)
    member(CUsharedconfig, config)


@api(1)
def cuFuncGetModule(hfunc: object) -> CUmodule:
    """The function's module."""
    return CUmodule(handle_of(kernel_of(hfunc).module))


@api(1)
def cuFuncGetName(hfunc: object) -> bytes:
    """The function's name."""
    return kernel_of(hfunc).name.encode()


def _parameter(k: KernelHandle, index: object) -> tuple[int, int]:
    n = integer(index)
    k.wanted = True
    if not 0 <= n < len(k.parameters):
        raise invalid(f"{k.name} has {len(k.parameters)} parameters")
    return k.parameters[n][1:]


@api(2)
def cuFuncGetParamInfo(func: object, paramIndex: object) -> tuple[int, int]:
    """(offset, size) of a parameter."""
    return _parameter(kernel_of(func), paramIndex)


@api(2)
def cuKernelGetParamInfo(kernel: object, paramIndex: object) -> tuple[int, int]:
    """(offset, size) of a parameter."""
    return _parameter(kernel_of(kernel), paramIndex)


@api(1)
def cuFuncGetParamCount(func: object) -> int:
    """How many parameters the function takes."""
    return len(kernel_of(func).parameters)


@api(1)
def cuKernelGetParamCount(kernel: object) -> int:
    """How many parameters the kernel takes."""
    return len(kernel_of(kernel).parameters)


@api(1)
def cuFuncIsLoaded(function: object) -> CUfunctionLoadingState:
    """Did somebody need more of the function than its name?"""
    state, k = CUfunctionLoadingState, kernel_of(function)
    return state.CU_FUNCTION_LOADING_STATE_LOADED if k.wanted or k.kernel.plans else state.CU_FUNCTION_LOADING_STATE_UNLOADED


@api()
def cuFuncLoad(function: object) -> None:
    """Plans a function before its first launch."""
    k = kernel_of(function)
    k.kernel.plan(k.function)


# ---------------------------------------------------------------- linking


def strong_names(m: Module) -> list[str]:
    """What a module defines for the others."""
    defined = [f.name for f in m.functions.values() if f.body is not None and f.linkage == "visible"]
    return defined + [v.name for v in m.variables.values() if v.linkage == "visible"]


@dataclass(eq=False)
class LinkState:
    """What is to be linked, for the device of a context."""

    logs: Logs
    context: Context
    inputs: list[Source] = field(default_factory=list)
    image: Any = None

    def add(self, kind: object, data: bytes, name: str) -> None:
        """One more input."""
        which = member(CUjitInputType, kind)
        if which not in (CUjitInputType.CU_JIT_INPUT_PTX, CUjitInputType.CU_JIT_INPUT_CUBIN, CUjitInputType.CU_JIT_INPUT_OBJECT):
            raise unsupported(f"inputs of the kind {which.name}")
        if which is CUjitInputType.CU_JIT_INPUT_PTX:
            data = data.split(b"\0", 1)[0]
        try:
            for s in sources(data, name):
                try:
                    fits(parsed(s.data, s.name), self.context)
                except ApiError as e:
                    unread = e.name == "CUDA_ERROR_INVALID_IMAGE" and which is not CUjitInputType.CU_JIT_INPUT_PTX
                    raise ApiError("CUDA_ERROR_NO_BINARY_FOR_GPU" if unread else e.name, e.message) from None
                self.inputs.append(s)
                self.clash()
        except ApiError as e:
            self.logs.write("ERROR", e.message)
            raise

    def clash(self) -> None:
        """Refuses inputs that define one name twice; what no input defines yet may come with a later one."""
        seen: dict[str, str] = {}
        for i in self.inputs:
            for name in strong_names(parsed(i.data, i.name)):
                if name in seen:
                    raise ApiError("CUDA_ERROR_INVALID_SOURCE", f"{name} is defined in {seen[name]} and in {i.name}")
                seen[name] = i.name


@api(1)
def cuLinkCreate(numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None) -> CUlinkState:
    """Begins a link."""
    return CUlinkState(handle_of(LinkState(Logs(options, optionValues), current())))


@api()
def cuLinkAddData(
    state: object, typename: object, data: object, size: object, name: object, numOptions: object,
    options: Sequence[Any] | None, optionValues: Sequence[Any] | None,
) -> None:  # fmt: skip
    """Adds an input from memory."""
    s = object_of(state, LinkState)
    s.add(typename, image_of(data, integer(size))[: integer(size)], text(name) if name else f"<input {len(s.inputs)}>")


@api()
def cuLinkAddFile(
    state: object, typename: object, path: object, numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None
) -> None:
    """Adds a file."""
    object_of(state, LinkState).add(typename, read_file(path), text(path))


@api(2)
def cuLinkComplete(state: object) -> tuple[int, int]:
    """(address, size) of the linked image, which lives as long as the state."""
    s = object_of(state, LinkState)
    if s.image is not None:
        raise ApiError("CUDA_ERROR_INVALID_HANDLE", "the link is complete already")
    try:
        s.clash()
        link([parsed(i.data, i.name) for i in s.inputs], "CUDA_ERROR_INVALID_SOURCE")
    except ApiError as e:
        s.logs.write("ERROR", e.message)
        raise
    image = linked_image(s.inputs)
    s.image = ctypes.create_string_buffer(image, len(image))
    s.logs.write("INFO", f"{len(s.inputs)} inputs linked")
    return ctypes.addressof(s.image), len(image)


@api()
def cuLinkDestroy(state: object) -> None:
    """Ends a link; its image is gone."""
    forget(object_of(state, LinkState))
