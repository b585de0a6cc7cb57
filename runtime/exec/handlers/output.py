"""What kernels print goes through the program's own stdout, so that it keeps its place among what the program prints."""

from __future__ import annotations

import io
import os
from collections.abc import Callable

import numpy as np

from ..binaries import maps
from ..process import HostProgram

CHUNK = 32 << 10  # bytes that stand below the program's stack pointer while they are written


class ProgramOutput(io.TextIOBase):
    """A text file whose bytes the program writes itself."""

    def __init__(self, program: HostProgram, call: Callable[..., int]) -> None:
        self.buffer = _Bytes(program, call)

    def write(self, text: str) -> int:
        """See io.TextIOBase."""
        return self.buffer.write(text.encode())


class _Bytes(io.RawIOBase):
    def __init__(self, program: HostProgram, call: Callable[..., int]) -> None:
        self._program, self._call = program, call
        self._functions: dict[str, int] | None = None
        self._room = 0
        self._held = b""  # until a thread of the program waits for an answer

    def _libc(self) -> dict[str, int]:
        """The addresses of the libc's functions that are needed, and of its variable stdout."""
        if self._functions is None:
            self._functions = {}
            for found in maps.objects(self._program.pid):
                if os.path.basename(found.path).startswith(("libc.so", "libc-", "ld-musl")):
                    own = maps.symbols(found, "fwrite", dynamic=True)
                    if own:
                        self._functions = {name: own[name][0] for name in ("fwrite", "malloc") if name in own}
                        self._functions |= {
                            name: at for name, (at, _) in maps.symbols(found, "stdout", dynamic=True).items() if name == "stdout"
                        }
                        break
        return self._functions

    def write(self, data: object) -> int:
        """See io.RawIOBase."""
        given = bytes(data)  # type: ignore[call-overload]
        raw, self._held = self._held + given, b""
        if not self._program.speaks():
            self._held = raw
            return len(given)
        libc = self._libc()
        if len(libc) < 3:
            os.write(1, raw)
            return len(given)
        if not self._room:
            self._room = self._call(libc["malloc"], CHUNK)
        stream = int.from_bytes(self._program.read(libc["stdout"], 8).tobytes(), "little")
        for at in range(0, len(raw), CHUNK):
            piece = raw[at : at + CHUNK]
            self._program.write(self._room, np.frombuffer(piece, np.uint8))
            self._call(libc["fwrite"], self._room, 1, len(piece), stream)
        return len(given)

    def release(self) -> None:
        """Writes what was held."""
        if self._held:
            self.write(b"")

    def flush(self) -> None:
        """See io.RawIOBase: the program flushes its own stdout."""
