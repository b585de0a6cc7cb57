"""Reads driver.txt and runtime.txt, which say everything that a signature says of a call of CUDA.

    NAME [= OTHER] PARAMETER ... | FORM ... WORD ...
        PARAMETER ... | FORM ...

A row is a call as cuda.bindings has it: its parameters and, among them in the order of C, its results.  `= OTHER` names the driver's call that
does the work of a call of the runtime, with its arguments as they are, or another call of the same API for one that only C has.  An indented row
has the parameters of other forms of the call above, which are matched by name.

    parameter  name:type     passed by value               name:type*     written: a result
               name:type&    behind a pointer, read        name:type+     a structure that is read, and may be changed
               name:type=    behind a pointer: an argument and a result;  name:type=0  the argument may be missing and is 0 then
               name:type*[n] an array of n elements, n being another parameter (or n-1, n-2) or a number
               return:type   what a call gives instead of a code
    type       i32 u64 f32 .. ptr (an address as it is), str, chars[n] (a string of at most n bytes that is written), void (of a size that an
               argument decides), a handle, an enum or a structure; STRUCTURE/24 has only so many bytes; ? (of another library); - instead of
               all parameters: they are not known, and the form is not answered
    form       the end of the name under which C has it, and the version that brought it: @2000 _v2@3020 _ptsz@7000; in the runtime's table
               `.` stands for no ending, and @12 is a form that only CUDA 12 has
    word       early       answers before cuInit
               calm        answers when an earlier error is known, and leaves the last error as it is
               no-context  a forward that needs no context
               C           only C has it, and no cuda.bindings
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_PARAMETER = re.compile(r"(\w+):([\w?]+(?:/\d+)?)([*&+=]?)(\d*)(?:\[([\w-]+)\])?")
WORDS = frozenset({"early", "calm", "no-context", "C"})


@dataclass(frozen=True, slots=True)
class CParameter:
    """One parameter of a C function."""

    name: str
    type: str  # of the value, or of what a pointer names
    mark: str = ""  # "", "*", "&", "+" or "="
    default: str = ""  # of an argument that may be missing
    count: str = ""  # of an array: the parameter that tells how many elements it has

    @property
    def is_result(self) -> bool:
        """Does a call give it?"""
        return self.mark in ("*", "=") or self.type == "chars" or self.name == "return"

    @property
    def is_argument(self) -> bool:
        """Does a Python call take it?"""
        return self.mark == "=" or not self.is_result


def _parameters(text: str) -> tuple[CParameter, ...]:
    out = []
    for word in text.split():
        m = _PARAMETER.fullmatch(word)
        assert m is not None, f"{word!r} in a table of calls"
        out.append(CParameter(m[1], m[2], m[3], m[4], m[5] or ""))
    return tuple(out)


@dataclass(frozen=True)
class CForm:
    """A C function: one form of a call."""

    name: str
    version: int  # the first that has it; 0 in the runtime's table
    text: str  # its parameters as the table writes them

    @cached_property
    def parameters(self) -> tuple[CParameter, ...] | None:
        """Its parameters; None if it is not answered."""
        return None if not self.is_answered else tuple(p for p in _parameters(self.text) if p.name != "return")

    @property
    def is_answered(self) -> bool:
        """Are all its parameters known?"""
        return self.text != "-" and ":?" not in self.text


@dataclass(frozen=True)
class ApiCall:
    """A call, with all its forms."""

    name: str
    forward: str  # the call that does the work: of the driver, or of today's runtime
    text: str
    forms: tuple[CForm, ...]
    words: frozenset[str]

    @cached_property
    def parameters(self) -> tuple[CParameter, ...]:
        """What it takes and gives, in the order of C."""
        return _parameters(self.text)

    @cached_property
    def arguments(self) -> tuple[CParameter, ...]:
        """What a Python call takes."""
        return tuple(p for p in self.parameters if p.is_argument)

    @cached_property
    def results(self) -> tuple[CParameter, ...]:
        """What a Python call gives beside its code."""
        return tuple(p for p in self.parameters if p.is_result)

    @cached_property
    def signature(self) -> inspect.Signature:
        """Of the Python call."""
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature([inspect.Parameter(p.name, kind, default=int(p.default) if p.default else empty) for p in self.arguments])


class ApiTable:
    """The calls of one API.  The file is split into rows when a call is first asked for, and a row is read when it is."""

    def __init__(self, file: str, has_versions: bool) -> None:
        self.file = file
        self.has_versions = has_versions  # else what stands behind an @ belongs to the name
        self._read: dict[str, ApiCall] = {}

    @cached_property
    def rows(self) -> dict[str, list[str]]:
        """The lines of each call by its name."""
        out: dict[str, list[str]] = {}
        name = ""
        for line in Path(__file__).with_name(self.file).read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):
                out[name].append(line)
            elif line and not line.startswith("#"):
                name = line.partition(" ")[0]
                out[name] = [line[len(name) :]]
        return out

    def __getitem__(self, name: str) -> ApiCall:
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = self._call(name, self.rows[name])
        return found

    def _call(self, name: str, lines: list[str]) -> ApiCall:
        forms = []
        for line in lines:
            text, _, ends = line.partition("|")
            text = text.strip()
            if line is lines[0]:
                forward, own = "", text
                if text.startswith("= "):
                    _, forward, *rest = text.split(" ", 2)
                    own = text = " ".join(rest)
                words = WORDS.intersection(ends.split())
            for word in ends.split():
                if word not in words:
                    ending, at, version = ("" if word == "." else word).partition("@")
                    if self.has_versions:
                        forms.append(CForm(name + ending, int(version), text))
                    else:
                        forms.append(CForm(name + ending + at + version, 0, text))
        return ApiCall(name, forward, "" if own == "-" else own, tuple(forms), words)

    def python_names(self) -> Iterator[str]:
        """The calls that Python has."""
        return (name for name, lines in self.rows.items() if not lines[0].endswith(" C"))

    def forwards(self) -> Iterator[str]:
        """The calls that are a driver's call under another name."""
        return (name for name, lines in self.rows.items() if lines[0].startswith(" = "))

    def forms(self) -> Iterator[tuple[ApiCall, CForm]]:
        """Every C function, and the call of which it is a form."""
        for name in self.rows:
            call = self[name]
            for form in call.forms:
                yield call, form


@cache
def driver_calls() -> ApiTable:
    """The driver's."""
    return ApiTable("driver.txt", has_versions=True)


@cache
def runtime_calls() -> ApiTable:
    """The runtime's."""
    return ApiTable("runtime.txt", has_versions=False)
