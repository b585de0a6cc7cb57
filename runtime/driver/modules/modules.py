"""The driver's calls about modules, and how an image becomes one: its log, its device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from warplab.assembler.listing import listing
from warplab.interpreter.program import ManagedVariables
from warplab.interpreter.ptxas.contraction import Fmad
from warplab.isa.facts import opcodes

from ...device.context import DeviceContext
from ...device.memory.host import host
from ...device.modules.kernels import LoadedModule
from ...device.modules.loading import CodeOptions, image_at, options_of, parsed, sources
from ...device.modules.targets import check_targets
from ...errors import ApiError, invalid
from ..api import api, behind, current, forget, handle_of, integer, object_of, text
from ..tables.enums import CUjit_option, CUmoduleLoadingMode
from ..tables.layout import address_of
from ..tables.structs import CUdeviceptr, CUfunction, CUmodule

NOT_COMPILED = opcodes("not_compiled")


class Logs:
    """The options of a load: what they say of contraction, and the buffers that they name, filled when it is over."""

    def __init__(self, options: Sequence[Any] | None, values: Sequence[Any] | None) -> None:
        self.found = {integer(o): v for o, v in zip(options or (), values or (), strict=False)}
        for o in self.found:
            if o not in CUjit_option._value2member_map_:
                raise invalid(f"{o} is no JIT option")

    @property
    def options(self) -> CodeOptions:
        """What the options say of the code; contraction does not happen without optimisation."""
        names = "FMA", "OPTIMIZATION_LEVEL", "MAX_REGISTERS"
        fused, level, registers = (self.found.get(CUjit_option[f"CU_JIT_{name}"]) for name in names)
        fmad: Fmad | None = None if level is None or integer(level) else "none"
        if fused is not None:
            fmad = "all" if integer(fused) else "none"
        return CodeOptions(fmad, max(0, integer(registers or 0)))

    def wants(self, kind: str) -> bool:
        """Is there a buffer for INFO, or for ERROR?"""
        return self.found.get(CUjit_option[f"CU_JIT_{kind}_LOG_BUFFER"]) is not None

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
            host().write(address_of(buffer), np.frombuffer(raw, np.uint8))


def image_of(image: object, size: int | None = None) -> bytes:
    """The bytes of an image that is an address, or an object with a buffer."""
    if isinstance(image, bytes | bytearray):
        return bytes(image)
    if image is None:
        raise invalid("the image is null")
    if size is not None:
        return host().read(address_of(image), size).tobytes()
    try:
        return bytes(memoryview(image))  # type: ignore[arg-type]
    except TypeError:
        return image_at(address_of(image))


def _withhold(loaded: LoadedModule) -> None:
    """Refuses a module with an instruction that the driver does not compile, or its entries, as the driver does."""
    read = [f for m in loaded.modules for f in m.functions.values() if f.unread is None]
    every = [i for f in read for i in listing(f).shapes.values() if i.opcode in NOT_COMPILED]
    for i in every:
        error = "" if i.form is None else i.form.facts.not_compiled
        why = f"line {i.span.line}: {'.'.join([i.opcode, *i.modifiers])}: the device's driver compiles no module with this instruction"
        if error == "CUDA_ERROR_NOT_FOUND":
            loaded.withheld = loaded.withheld or why
        elif error:
            behind(loaded.context).unload(loaded)
            raise ApiError(error, why)


def load(c: DeviceContext, image: bytes, logs: Logs | None = None, managed: ManagedVariables | None = None) -> LoadedModule:
    """Loads an image into a context."""
    inputs = sources(image, c.architecture, rules_only=c.rules_only)
    try:
        for s in inputs:
            module = parsed(s.data, s.name, compiled=s.chosen)
            if not s.chosen and not c.rules_only:
                check_targets(module, c.architecture)
        options = options_of(image) if logs is None else logs.options.over(options_of(image))
        out = c.load([s.data for s in inputs], [s.name for s in inputs], options.fmad, options.registers, managed)
        _withhold(out)
    except ApiError as e:
        if logs is not None:
            logs.write("ERROR", e.message)
        raise
    if logs is not None and logs.wants("INFO"):
        logs.write(
            "INFO", "\n".join(f"{k.name}: {k.registers} registers, {k.static_shared} bytes of shared memory" for k in out.kernels.values())
        )
    return out


@api
def cuModuleLoadData(image: object) -> CUmodule:
    """Loads PTX text or an object file from memory."""
    return CUmodule(handle_of(load(current(), image_of(image))))


@api
def cuModuleLoadDataEx(image: object, numOptions: object, options: Sequence[Any] | None, optionValues: Sequence[Any] | None) -> CUmodule:
    """Loads with options, of which the logs and CU_JIT_FMA matter here."""
    return CUmodule(handle_of(load(current(), image_of(image), Logs(options, optionValues))))


@api
def cuModuleLoadFatBinary(fatCubin: object) -> CUmodule:
    """Loads what is handed over, if it is not a fat binary in truth."""
    return CUmodule(handle_of(load(current(), image_of(fatCubin))))


def read_file(fname: object) -> bytes:
    """The contents of a file named by bytes."""
    try:
        return Path(host().path(text(fname))).read_bytes()
    except OSError as e:
        raise ApiError("CUDA_ERROR_FILE_NOT_FOUND", f"{text(fname)}: {e.strerror}") from None


@api
def cuModuleLoad(fname: object) -> CUmodule:
    """Loads a file."""
    return CUmodule(handle_of(load(current(), read_file(fname))))


@api
def cuModuleUnload(hmod: object) -> None:
    """Frees a module's variables."""
    m = object_of(hmod, LoadedModule)
    behind(m.context).unload(m)
    forget(m)


@api
def cuModuleGetFunction(hmod: object, name: object) -> CUfunction:
    """An entry by name."""
    if not text(name):
        raise invalid("the name is empty")
    return CUfunction(handle_of(object_of(hmod, LoadedModule).kernel(text(name))))


@api
def cuModuleGetFunctionCount(mod: object) -> int:
    """How many entries there are."""
    return len(object_of(mod, LoadedModule).kernels)


@api
def cuModuleEnumerateFunctions(numFunctions: object, mod: object) -> list[CUfunction]:
    """The first so many entries; null where there are fewer."""
    found = [CUfunction(handle_of(k)) for k in object_of(mod, LoadedModule).kernels.values()]
    return [*found, *(CUfunction(0) for _ in range(integer(numFunctions) - len(found)))][: integer(numFunctions)]


@api
def cuModuleGetGlobal(hmod: object, name: object) -> tuple[CUdeviceptr, int]:
    """(address, size) of a variable."""
    m = object_of(hmod, LoadedModule)
    if not text(name) or text(name) in m.kernels:
        raise invalid(f"{text(name)!r} is not a variable")
    address, size = m.variable(text(name))
    return CUdeviceptr(address), size


@api
def cuModuleGetLoadingMode() -> CUmoduleLoadingMode:
    """Modules are planned kernel by kernel, when each is first launched."""
    return CUmoduleLoadingMode.CU_MODULE_LAZY_LOADING
