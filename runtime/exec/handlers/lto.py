"""LTO-IR to PTX, by NVIDIA's own nvJitLink in the program.

Its functions are overwritten.  In the newest releases they only jump, and where they jump to can be called; else a second copy is loaded.
"""

from __future__ import annotations

import os
import re
import struct

import numpy as np

from ...device.memory.host import host
from ...errors import ApiError
from ..binaries import maps
from ..process import NOT_THERE, PRIVATE_ANONYMOUS, READ, WRITE, HostProgram

PREFIX = "nvJitLink"
RTLD_NOW = 2
INTERNAL = 6  # a code of nvJitLink's
# NVIDIA's library writes what its assembler refuses; nobody else sees local memory, so that it says nothing.
VOLATILE_LOCAL = re.compile(rb"\b(ld|st)\.volatile\.local\b")


class LtoFailed(Exception):
    """What NVIDIA's library said, and its code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class LtoLibrary:
    """The functions of NVIDIA's library: those that the program loaded where they can be called still, else those of a second copy."""

    def __init__(self, program: HostProgram) -> None:
        self.program = program
        self._known = {name: at for name, at in program.originals.items() if name.startswith(PREFIX)}
        self._dlsym, self._handle = (0, 0) if self._known else self._copied()

    def _copied(self) -> tuple[int, int]:
        """(the loader's function that finds functions, its handle of a second copy)."""
        program = self.program
        found = {os.path.basename(o.path): o for o in maps.objects(program.pid)}
        own = next((o for name, o in found.items() if name.startswith("libnvJitLink.so")), None)
        loaders = [
            maps.symbols(o, "dlopen", dynamic=True) for name, o in found.items() if name.startswith(("libc.so", "libdl.so", "libdl-"))
        ]
        loader = next((s for s in loaders if "dlopen" in s and "dlsym" in s), None)
        if own is None or loader is None:
            raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "LTO-IR needs NVIDIA's nvJitLink, and a libc that can load it twice")
        file, mine = program.new_file(os.path.getsize(own.path))
        with open(own.path, "rb") as source:
            while os.sendfile(mine, source.fileno(), None, 1 << 26):
                pass
        os.close(mine)
        handle = program.call(loader["dlopen"][0], program.kept_string(f"/proc/self/fd/{file}".encode()), RTLD_NOW)
        program.system_call("close", file)
        if not handle:
            raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "NVIDIA's nvJitLink can't be loaded a second time")
        return loader["dlsym"][0], handle

    def call(self, name: str, *arguments: int) -> int:
        """Calls a function of the library."""
        name = PREFIX + name
        if name not in self._known:
            self._known[name] = self.program.call(self._dlsym, self._handle, self.program.kept_string(name.encode())) if self._dlsym else 0
        if not self._known[name]:  # an older release
            return INTERNAL
        return self.program.call(self._known[name], *arguments) & 0xFFFF_FFFF


_library: list[LtoLibrary] = []


def lto_library() -> LtoLibrary:
    """The copy in the program that is served, made when it is first needed."""
    if not _library:
        program = host()
        assert isinstance(program, HostProgram)
        _library.append(LtoLibrary(program))
    return _library[0]


class LtoLink:
    """Some LTO-IR that becomes PTX."""

    def __init__(self, library: LtoLibrary, options: list[str]) -> None:
        self.library = library
        program = library.program
        words = [o for o in options if o not in ("-lto", "-ptx")] + ["-lto", "-ptx"]
        self.cell = program.kept.add(bytes(8))  # what calls write into
        table = program.kept.add(struct.pack(f"<{len(words)}Q", *(program.kept_string(w.encode()) for w in words)))
        code = library.call("Create", self.cell, len(words), table)
        if code:
            raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"nvJitLink refuses {' '.join(words)} with {code}")
        self.handle = self._written()

    def _written(self) -> int:
        return int.from_bytes(self.library.program.read(self.cell, 8).tobytes(), "little")

    def add(self, kind: int, data: int, size: int, name: int) -> int:
        """An input, where it stands in the program."""
        return self.library.call("AddData", self.handle, kind, data, size, name)

    def add_file(self, kind: int, name: int) -> int:
        """An input in a file, whose name stands in the program."""
        return self.library.call("AddFile", self.handle, kind, name)

    def _result(self, name: str) -> bytes:
        """A result of the library's; nothing where it has none."""
        program = self.library.program
        if self.library.call(f"Get{name}Size", self.handle, self.cell):
            return b""
        size = self._written()
        if not size:
            return b""
        at = program.system_call("mmap", 0, size, READ | WRITE, PRIVATE_ANONYMOUS, NOT_THERE, 0)
        self.library.call(f"Get{name}", self.handle, at)
        out = program.read(at, size).tobytes()
        program.system_call("munmap", at, size)
        return out

    def results(self) -> tuple[bytes, bytes]:
        """(the PTX of all inputs, their LTO-IR)."""
        code = self.library.call("Complete", self.handle)
        if code:
            raise LtoFailed(code, self._result("ErrorLog").rstrip(b"\0").decode(errors="replace"))
        text, ltoir = self._result("LinkedPtx").rstrip(b"\0"), self._result("LinkedLTOIR")
        program = self.library.program
        program.write(self.cell, np.frombuffer(struct.pack("<Q", self.handle), np.uint8))
        self.library.call("Destroy", self.cell)
        return VOLATILE_LOCAL.sub(rb"\1.local", text), ltoir
