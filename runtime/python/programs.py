"""Program and Linker, as in cuda.core: PTX, or CUDA C++ that NVIDIA's compilers make PTX of, to loadable code."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import driver
from ..compilers import Compiled, CppSource, compile_cpp, fitted
from ..device.machine import machine
from ..device.modules.loading import CodeOptions, ProgramSource, linked_image, parsed
from ..errors import ApiError
from .calls import Closable, do
from .cpp import Macro, Several, words
from .modules import Code, ObjectCode

LOG_BYTES = 16384
J = driver.CUjit_option
I = driver.CUjitInputType  # noqa: E741
_INPUTS = {"ptx": I.CU_JIT_INPUT_PTX, "cubin": I.CU_JIT_INPUT_CUBIN, "object": I.CU_JIT_INPUT_OBJECT}


@dataclass
class ProgramOptions:
    """Options of a compiler. For PTX, only the name and `fma` have an effect; C++ is compiled with those that NVRTC and nvcc share."""

    name: str | None = "default_program"
    arch: str | None = None
    relocatable_device_code: bool | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    device_code_optimize: bool | None = None
    ptxas_options: str | list[str] | tuple[str, ...] | None = None
    max_register_count: int | None = None
    ftz: bool | None = None
    prec_sqrt: bool | None = None
    prec_div: bool | None = None
    fma: bool | None = None
    use_fast_math: bool | None = None
    link_time_optimization: bool | None = None
    split_compile: int | None = None
    no_cache: bool | None = None
    std: str | None = None
    define_macro: Macro | list[Macro] | tuple[Macro, ...] | None = None
    undefine_macro: Several | None = None
    include_path: Several | None = None
    pre_include: Several | None = None
    restrict: bool | None = None
    extra_device_vectorization: bool | None = None
    diag_suppress: Several | None = None
    diag_error: Several | None = None
    diag_warn: Several | None = None


@dataclass
class LinkerOptions:
    """Options of a linker. Only the name and `fma` have an effect."""

    name: str | None = "<default linker>"
    arch: str | None = None
    max_register_count: int | None = None
    time: bool | None = None
    verbose: bool | None = None
    link_time_optimization: bool | None = None
    ptx: bool | None = None
    optimization_level: int | None = None
    debug: bool | None = None
    lineinfo: bool | None = None
    ftz: bool | None = None
    prec_div: bool | None = None
    prec_sqrt: bool | None = None
    fma: bool | None = None
    kernels_used: str | tuple[str, ...] | list[str] | None = None
    variables_used: str | tuple[str, ...] | list[str] | None = None
    optimize_unused_variables: bool | None = None
    ptxas_options: str | tuple[str, ...] | list[str] | None = None
    split_compile: int | None = None
    split_compile_extended: int | None = None
    no_cache: bool | None = None


class Program:
    """PTX or CUDA C++ to be compiled to loadable code."""

    def __init__(self, code: Code, code_type: str, options: ProgramOptions | None = None) -> None:
        kind = str(code_type).lower()
        if kind == "nvvm":
            raise NotImplementedError(f"{code_type} is not compiled here: hand over PTX or C++")
        if kind not in ("ptx", "c++"):
            raise RuntimeError(f"{code_type!r} is not a kind of code; write 'ptx' or 'c++'")
        self._kind = kind
        self._code: Code | None = code
        self._options = options or ProgramOptions()

    def close(self) -> None:
        """Discards the text."""
        self._code = None

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._code is None

    def compile(
        self, target_type: str, name_expressions: Sequence[str] = (), logs: Any = None, *, cache: object | None = None
    ) -> ObjectCode:
        """Checks the text; gives it as code that can be loaded.  What is wrong with it is raised, and written to `logs`."""
        if self._code is None:
            raise RuntimeError("the program was closed")
        if target_type not in ("cubin", "ptx"):
            raise ValueError(f"{target_type!r} is not made here; write 'cubin'")
        name = self._options.name or ""
        raw = self._code.encode() if isinstance(self._code, str) else bytes(self._code)
        symbols: dict[str, str] = {}
        if self._kind == "c++":
            made = self._compiled(raw, name, name_expressions, logs)
            raw, symbols = made.ptx, made.symbols
        try:
            parsed(raw, name)
        except ApiError as e:
            if logs is not None:
                logs.write(e.message)
            raise
        if target_type == "ptx":
            return ObjectCode._init(raw, "ptx", name=name, symbol_mapping=symbols)
        fused = self._options.fma
        options = CodeOptions(None if fused is None else "all" if fused else "none", self._options.max_register_count or 0)
        return ObjectCode._init(linked_image([ProgramSource(raw, name)], options), "cubin", name=name, symbol_mapping=symbols)

    def _compiled(self, raw: bytes, name: str, expressions: Sequence[str], logs: Any) -> Compiled:
        """The PTX of C++; without an architecture, for the current device."""
        from .devices import Device

        device = Device()
        source = CppSource(
            raw.decode(errors="surrogateescape"), name, self._options.arch or f"sm_{device.arch}", tuple(words(self._options)), tuple(expressions)
        )  # fmt: skip
        if self._options.arch is None and machine().device(device.device_id).rules_only:
            source = fitted(source)
        try:
            made = compile_cpp(source)
        except ApiError as e:
            if logs is not None:
                logs.write(e.message)
            raise
        if logs is not None:
            logs.write(made.log)
        return made

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return "NVRTC" if self._kind == "c++" else "driver"

    @property
    def pch_status(self) -> None:
        """None: PTX has no precompiled headers."""
        return

    def __repr__(self) -> str:
        if self._code is None:
            return "<Program closed>"
        return f"<Program {self._options.name}, {len(self._code)} characters of {self._kind.upper()}>"


class Linker(Closable):
    """Links several object codes to one."""

    _null, _destroy = driver.CUlinkState, staticmethod(driver.cuLinkDestroy)

    def __init__(self, *object_codes: ObjectCode, options: LinkerOptions | None = None) -> None:
        if not object_codes:
            raise ValueError("there is nothing to link")
        self._options = options or LinkerOptions()
        self._error, self._info = bytearray(LOG_BYTES), bytearray(LOG_BYTES)
        names = [
            J.CU_JIT_ERROR_LOG_BUFFER,
            J.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            J.CU_JIT_INFO_LOG_BUFFER,
            J.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        ]
        values: list[object] = [self._error, LOG_BYTES, self._info, LOG_BYTES]
        for name, value in ((J.CU_JIT_FMA, self._options.fma), (J.CU_JIT_MAX_REGISTERS, self._options.max_register_count)):
            if value is not None:
                names.append(name)
                values.append(int(value))
        self._handle = do(driver.cuLinkCreate, len(names), names, values)
        for code in object_codes:
            if code.code_type not in _INPUTS:
                raise NotImplementedError(f"{code.code_type} code can't be linked here")
            raw = code.image
            do(driver.cuLinkAddData, self._handle, _INPUTS[code.code_type], raw, len(raw), code.name.encode(), 0, [], [])

    def link(self, target_type: str) -> ObjectCode:
        """Links, and returns the linked code."""
        if self._handle is None:
            raise RuntimeError("the linker was closed")
        if target_type not in ("cubin", "ptx"):
            raise ValueError(f"{target_type!r} is not a target; write 'cubin'")
        address, size = do(driver.cuLinkComplete, self._handle)
        return ObjectCode._init(ctypes.string_at(address, size), "cubin", name=self._options.name or "")

    def get_error_log(self) -> str:
        """The errors."""
        return bytes(self._error).split(b"\0", 1)[0].decode()

    def get_info_log(self) -> str:
        """The messages."""
        return bytes(self._info).split(b"\0", 1)[0].decode()

    @classmethod
    def which_backend(cls) -> str:
        """The name of the backend."""
        return "driver"

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return "driver"

    def __repr__(self) -> str:
        return f"<Linker {self._options.name}{' closed' if self.is_closed else ''}>"
