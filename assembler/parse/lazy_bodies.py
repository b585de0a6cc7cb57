"""Bodies of entries that are read when they are first looked at: a library holds hundreds of kernels, of which a program runs a few."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..collector import collector_off
from ..diagnostics import PtxError
from ..ir import LISTED, Function, Module
from .body import read_body
from .reader import TextReader
from .scopes import Scope

_STRING = re.compile(r'"[^"]*"')
Judge = Callable[[Module, Function], None]  # raises PtxError


class LaterBodies:
    """The bodies of one text that may be left unread."""

    def __init__(self, reader: TextReader, judge: Judge) -> None:
        self.reader = reader
        self.judge = judge
        self.module: Module | None = None  # once all else has been read
        data = np.frombuffer(reader.code.encode(), np.uint8)
        opening = data == ord("{")
        braces = np.flatnonzero(opening | (data == ord("}")))
        depth = np.cumsum(np.where(opening[braces], 1, -1))
        self._ends = braces[depth == 0]
        strings = {b for m in _STRING.finditer(reader.code) for b in "{}" if b in m.group()}
        self._plain = reader.version >= LISTED and bool(self._ends.size) and depth[-1] == 0 and not strings
        words = np.flatnonzero((data[1:-1] == ord(".")) & ((data[2:] == ord("g")) | (data[2:] == ord("c"))))
        apart = words[np.isin(data[words], np.frombuffer(b" \t\r\n;{}", np.uint8))]
        self._variables = np.array([at for at in apart.tolist() if reader.word(at + 1) in (".global", ".const")], np.int64)

    def leave(self, function: Function, scope: Scope, pos: int) -> int | None:
        """Leaves the body of an entry for later; tells where it ends, or None if it must be read now."""
        if not self._plain:
            return None
        end = int(self._ends[np.searchsorted(self._ends, pos)]) + 1
        first = int(np.searchsorted(self._variables, pos))
        if first < len(self._variables) and self._variables[first] < end:
            return None  # it declares variables of the module
        function.leave(LaterBody(self, function, scope, pos, end))
        return end


@dataclass(eq=False)
class LaterBody:
    """One of them."""

    bodies: LaterBodies
    function: Function
    scope: Scope
    start: int
    end: int

    def read(self) -> None:
        """Reads and judges it."""
        reader, module = self.bodies.reader, self.bodies.module
        assert module is not None
        with collector_off():
            read_body(reader, self.function, self.scope, self.start)
            if reader.reports.diagnostics:
                raise PtxError(reader.reports.diagnostics, module.text, module.name)
            self.bodies.judge(module, self.function)

    def mentions(self, name: str) -> bool:
        """Can it name something of the module?"""
        return self.bodies.reader.code.find(name, self.start, self.end) >= 0
