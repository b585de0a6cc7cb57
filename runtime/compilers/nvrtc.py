"""NVRTC through ctypes: the library of the package nvidia-cuda-nvrtc, or of an installed CUDA toolkit."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path

from ..errors import ApiError
from .source import Compiled, CppSource, failed

COMPILATION_FAILED = 6  # NVRTC_ERROR_COMPILATION
_CALLS: dict[str, tuple[object, ...]] = {
    "nvrtcCreateProgram": (POINTER(c_void_p), c_char_p, c_char_p, c_int, c_void_p, c_void_p),
    "nvrtcAddNameExpression": (c_void_p, c_char_p),
    "nvrtcCompileProgram": (c_void_p, c_int, POINTER(c_char_p)),
    "nvrtcGetProgramLogSize": (c_void_p, POINTER(c_size_t)),
    "nvrtcGetProgramLog": (c_void_p, c_char_p),
    "nvrtcGetPTXSize": (c_void_p, POINTER(c_size_t)),
    "nvrtcGetPTX": (c_void_p, c_char_p),
    "nvrtcGetLoweredName": (c_void_p, c_char_p, POINTER(c_char_p)),
    "nvrtcDestroyProgram": (POINTER(c_void_p),),
    "nvrtcVersion": (POINTER(c_int), POINTER(c_int)),
    "nvrtcGetNumSupportedArchs": (POINTER(c_int),),
    "nvrtcGetSupportedArchs": (POINTER(c_int),),
}


def _roots() -> Iterator[Path]:
    """Folders that may have lib/ and include/."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        yield from sorted(p for p in Path(folder).iterdir() if p.is_dir())
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path("/usr/local/cuda")


@cache
def library() -> ctypes.CDLL | None:
    """The library, or None."""
    for root in _roots():
        for file in sorted((*root.glob("lib/libnvrtc.so*"), *root.glob("lib64/libnvrtc.so*"), *root.glob("bin/nvrtc64_*.dll"))):
            try:
                for builtins in file.parent.glob("libnvrtc-builtins.so*"):  # which NVRTC itself looks for on the system's path only
                    ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
                found = ctypes.CDLL(str(file))
            except OSError:
                continue
            for name, arguments in _CALLS.items():
                getattr(found, name).argtypes = arguments
            found.nvrtcGetErrorString.restype = c_char_p
            return found
    return None


def _options(source: CppSource) -> list[str]:
    number = source.architecture.removeprefix("sm_").removeprefix("compute_")
    folders = [
        source.path.parent if source.path is not None else None,
        *(root / f for root in _roots() for f in ("include", "include/cccl")),
    ]
    return [f"--gpu-architecture=compute_{number}", *source.words, *(f"-I{f}" for f in folders if f is not None and f.is_dir())]


def version(nvrtc: ctypes.CDLL) -> str:
    """Where it is, and its version."""
    major, minor = c_int(), c_int()
    nvrtc.nvrtcVersion(byref(major), byref(minor))
    return f"{nvrtc._name} {major.value}.{minor.value}"


def targets(nvrtc: ctypes.CDLL) -> list[str]:
    """The targets that it has."""
    count = c_int()
    nvrtc.nvrtcGetNumSupportedArchs(byref(count))
    numbers = (c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(numbers)
    return [f"sm_{n}" for n in numbers]


def compile_cpp(source: CppSource, nvrtc: ctypes.CDLL) -> Compiled:
    """Compiles device code."""

    def call(name: str, *arguments: object) -> None:
        if code := getattr(nvrtc, name)(*arguments):
            raise ApiError(nvrtc.nvrtcGetErrorString(code).decode(), f"{name} of {source.name}")

    def text(what: str) -> bytes:
        size = c_size_t()
        call(f"nvrtcGet{what}Size", program, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        call(f"nvrtcGet{what}", program, buffer)
        return buffer.value

    program = c_void_p()
    call("nvrtcCreateProgram", byref(program), source.text.encode(errors="surrogateescape"), source.name.encode(), 0, None, None)
    try:
        for e in source.expressions:
            call("nvrtcAddNameExpression", program, e.encode())
        words = [w.encode() for w in _options(source)]
        code = nvrtc.nvrtcCompileProgram(program, len(words), (c_char_p * len(words))(*words))
        log = text("ProgramLog").decode(errors="replace")
        if code == COMPILATION_FAILED or (code and log.strip()):
            raise failed(source.name, log)
        if code:
            raise ApiError(nvrtc.nvrtcGetErrorString(code).decode(), f"{source.name}: {' '.join(_options(source))}")
        symbols = {}
        for e in source.expressions:
            symbol = c_char_p()
            call("nvrtcGetLoweredName", program, e.encode(), byref(symbol))
            symbols[e] = (symbol.value or b"").decode()
        return Compiled(text("PTX"), source.architecture, log, symbols)
    finally:
        nvrtc.nvrtcDestroyProgram(byref(program))
