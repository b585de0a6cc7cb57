"""ReturnedStrings that calls return: they stand in memory that the program sees too, each once."""

from __future__ import annotations

import numpy as np

from ..device.host import Bytes
from ..errors import ApiError
from .process import HostProgram

ADDRESS, SIZE = 0x1F00_0000_0000, 16 << 20


class ReturnedStrings:
    """The strings that a program was given."""

    def __init__(self, program: HostProgram) -> None:
        self._program = program
        self._memory: Bytes | None = None
        self._known: dict[bytes, int] = {}
        self._top = 0

    def at(self, text: bytes) -> int:
        """The address of a string."""
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = self._add(text + b"\0")
        return found

    def _add(self, raw: bytes) -> int:
        if self._memory is None:
            self._memory = self._program.share(ADDRESS, SIZE)
        if self._top + len(raw) > SIZE:
            raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", "no room for more strings")
        at = self._top
        self._memory[at : at + len(raw)] = np.frombuffer(raw, np.uint8)
        self._top += -(-len(raw) // 8) * 8
        return ADDRESS + at
