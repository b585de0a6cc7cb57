"""The lines of Python from which a call is made: the program's own interpreter is asked, by functions that every release since 3.9 has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

from .binaries import maps
from .binaries.lines import CallSite

NEEDED = """
    Py_IsInitialized PyGILState_Ensure PyGILState_Release PyEval_GetFrame PyFrame_GetBack PyFrame_GetCode PyFrame_GetLineNumber
    PyObject_GetAttrString PyUnicode_AsUTF8 Py_IncRef Py_DecRef
""".split()
PACKAGES = ("/site-packages/", "/dist-packages/")  # in files there, or in none at all, somebody else's code makes the call
MOST = 100  # frames that are looked at


class CalledProgram(Protocol):
    """The program whose interpreter is asked; see process.HostProgram."""

    pid: int

    def call(self, function: int, *arguments: int) -> int:
        """Calls a function of the program."""

    def string(self, address: int) -> bytes:
        """A string that ends with zero."""

    def kept_string(self, text: bytes) -> int:
        """The address of a string that stays in the program."""


class Interpreter:
    """The interpreter in a program; its functions may only be called by the thread that is being answered."""

    def __init__(self, program: CalledProgram, functions: dict[str, tuple[int, int]]) -> None:
        self.program = program
        self.functions = functions

    def call(self, name: str, *arguments: int) -> int:
        """Calls a function of the interpreter's."""
        return self.program.call(self.functions[name][0], *arguments)

    def lines(self) -> list[CallSite]:
        """The calls outside of installed packages, the innermost first, else the innermost of all; nothing where no Python runs."""
        if not self.call("Py_IsInitialized") & 0xFFFF_FFFF:
            return []
        state = self.call("PyGILState_Ensure")
        try:
            found = list(self._lines())
        finally:
            self.call("PyGILState_Release", state)
        own = [x for x in found if os.path.isabs(x[0]) and not any(p in x[0] for p in PACKAGES)]
        return [CallSite(os.path.basename(name), line, function) for name, line, function in own or found[:1]]

    def _lines(self) -> Iterator[tuple[str, int, str]]:
        frame = self.call("PyEval_GetFrame")
        if frame:
            self.call("Py_IncRef", frame)
        for _ in range(MOST):
            if not frame:
                return
            code = self.call("PyFrame_GetCode", frame)
            text, function = (self._text(code, name) for name in (b"co_filename", b"co_name"))
            path = text if text.startswith("<") else os.path.join(os.readlink(f"/proc/{self.program.pid}/cwd"), text)
            yield path, self.call("PyFrame_GetLineNumber", frame) & 0xFFFF_FFFF, function
            back = self.call("PyFrame_GetBack", frame)
            for done in (code, frame):
                self.call("Py_DecRef", done)
            frame = back
        self.call("Py_DecRef", frame)

    def _text(self, owner: int, attribute: bytes) -> str:
        """An attribute that is a string."""
        found = self.call("PyObject_GetAttrString", owner, self.program.kept_string(attribute))
        text = self.program.string(self.call("PyUnicode_AsUTF8", found)).decode(errors="replace")
        self.call("Py_DecRef", found)
        return text


def python_lines(program: CalledProgram) -> list[CallSite]:
    """The calls of Python that are under way in the thread that is being answered; nothing where it runs no Python."""
    for o in maps.objects(program.pid):
        functions = maps.symbols(o, NEEDED[0], dynamic=True)
        if all(name in functions for name in NEEDED):
            return Interpreter(program, functions).lines()
    return []
