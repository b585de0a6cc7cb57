"""From registers and stack to the arguments of the Python calls, and their results back into the program's memory.

The tables of runtime/api say what each C function takes, and which of its parameters are arguments and results of the Python call: most calls
need no code of their own.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...api.table import ApiCall, CForm, CParameter
from ...cudart.enums import OWN as RUNTIME_ENUMS
from ...cudart.structs import OWN as RUNTIME_STRUCTS
from ...device.memory.host import host
from ...driver.tables.enums import ENUMS
from ...driver.tables.layout import Handle, NumberHandle
from ...driver.tables.structs import STRUCTS
from ...errors import invalid
from ..process import KeptMemory
from ..wire import WireRequest

INTEGERS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "ptr": "Q"}
FLOATS = {"f32": "f", "f64": "d"}
FORMATS = {kind: struct.Struct(f"<{letter}") for kind, letter in (INTEGERS | FLOATS).items()}
REGISTERS = {"x86_64": 6, "aarch64": 8}
WORD = 0xFFFF_FFFF
# Calls of which a request has what is on the stack, too: see stub.c.
SENT_WHOLE = ("__cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "cudaLaunchKernel", "cudaLaunchKernel_ptsz")
# Structures that name a list of others: (field, the field that counts them, what they are).
LISTS = {
    "CUlaunchConfig": [("attrs", "numAttrs", "CUlaunchAttribute")],
    "cudaLaunchConfig_t": [("attrs", "numAttrs", "cudaLaunchAttribute")],
}
ALLOCATING = re.compile("Alloc|Malloc")  # of these everything that is returned is wanted by every program
MAKING = re.compile("Create|DeviceGetCount|GetDeviceCount")  # of these what is made
ASKING = re.compile("Get|Query|Version|ElapsedTime|CanAccess|Is[A-Z]|Occupancy")  # and of these what is asked for, where it is one value
Values = dict[str, Any]


@cache
def structure(name: str) -> type[Any] | None:
    """The class of a C structure or a handle."""
    name = name.partition("/")[0]
    return RUNTIME_STRUCTS.get(name) or STRUCTS.get(name)


@cache
def kind_of(type_: str) -> str:
    """What a value of a type of the tables is for C: a number of FORMATS, str, chars, void, or a structure."""
    if type_ in RUNTIME_ENUMS.lines or type_ in ENUMS.lines:
        return "i32"
    found = structure(type_)
    if found is None or not issubclass(found, Handle):
        return type_
    if not issubclass(found, NumberHandle):
        return "ptr"
    return f"{'i' if found.c_type(-1).value < 0 else 'u'}{ctypes.sizeof(found.c_type) * 8}"


def passed(p: CParameter) -> str:
    """The kind of what is passed for a parameter."""
    return "ptr" if p.mark or p.type in ("str", "chars") else kind_of(p.type)


def other_library(table: str) -> Iterator[CForm]:
    """The functions of a library that is no part of CUDA's API: lines of parameters and names, as in `a:i32 b:ptr* | first second`."""
    for line in table.replace("\n    ", " ").splitlines():
        text, _, names = line.partition("|")
        for name in names.split():
            yield CForm(name, 0, text.strip())


def size_of(kind: str) -> int:
    """Bytes of a value."""
    if kind in FORMATS:
        return FORMATS[kind].size
    if "/" in kind:
        return int(kind.partition("/")[2])
    found = structure(kind)
    assert found is not None, kind
    return ctypes.sizeof(found.c_type)


# ---------------------------------------------------------------- arguments


@dataclass(frozen=True, slots=True)
class ArgumentPlace:
    """Where an argument is: in registers from one on, in a float register, on the stack, or by reference in a register."""

    where: str
    index: int
    words: int = 1


def places(parameters: Sequence[CParameter], machine: str) -> list[ArgumentPlace]:
    """Where the calling convention puts each argument."""
    out, integers, floats, stack, most = [], 0, 0, 0, REGISTERS[machine]
    for p in parameters:
        kind = passed(p)
        size = size_of(kind)
        words = -(-size // 8)
        if kind in FLOATS:
            out.append(ArgumentPlace("float", floats))
            floats += 1
        elif words > 2 and machine == "aarch64":
            out.append(ArgumentPlace("reference", integers, words))
            integers += 1
        elif words <= 2 and integers + words <= most:
            out.append(ArgumentPlace("register", integers, words))
            integers += words
        else:
            out.append(ArgumentPlace("stack", stack, words))
            stack += words
            if machine == "aarch64":
                integers = most
    return out


class ArgumentReader:
    """Takes the arguments of one C function out of a request."""

    def __init__(self, parameters: Sequence[CParameter], machine: str, sent_whole: bool = False) -> None:
        self.parameters = parameters
        self.places = places(parameters, machine)
        self.stack = max((p.index + p.words for p in self.places if p.where == "stack"), default=0)
        self.simple = [_sign(passed(p)) for p in parameters]
        self.behind = REGISTERS[machine] if sent_whole else None  # the register from which on a request has what is on the stack

    def read(self, request: WireRequest) -> Values:
        """Every argument by name: numbers, and structures that were passed by value."""
        stack: Sequence[int] = ()
        if self.stack:
            stack = request.registers[self.behind :] if self.behind is not None else self._on_stack(request)
        out: Values = {}
        for p, place, convert in zip(self.parameters, self.places, self.simple, strict=True):
            if place.where == "float":
                out[p.name] = _float(p.type, request.floats[place.index])
                continue
            if place.where == "reference":
                out[p.name] = read_structure(p.type, request.registers[place.index])
                continue
            source = request.registers if place.where == "register" else stack
            if convert is not None:
                out[p.name] = convert(source[place.index])
            elif p.type == "dim3":  # of which a launch has two
                low, high = source[place.index : place.index + 2]
                out[p.name] = low & WORD, low >> 32, high & WORD
            else:
                raw = struct.pack(f"<{place.words}Q", *source[place.index : place.index + place.words])
                out[p.name] = as_structure(p.type, raw)
        return out

    def _on_stack(self, request: WireRequest) -> list[int]:
        words: list[int] = host().read(request.stack, self.stack * 8).view(np.uint64).tolist()
        return words


def _sign(kind: str) -> Callable[[int], int] | None:
    if kind not in INTEGERS:
        return None
    bits = FORMATS[kind].size * 8
    if bits == 64 and kind[0] != "i":
        return int
    mask, half = (1 << bits) - 1, 1 << bits - 1
    if kind[0] == "i":
        return lambda value: ((value & mask) ^ half) - half
    return lambda value: value & mask


def _float(kind: str, register: float) -> float:
    if kind == "f64":
        return register
    return float(struct.unpack("<f", struct.pack("<d", register)[:4])[0])


def as_structure(kind: str, raw: bytes) -> Any:
    """A structure with these bytes."""
    found = structure(kind)
    assert found is not None, kind
    out = found()
    size = ctypes.sizeof(found.c_type)
    ctypes.memmove(out.getPtr(), raw[:size].ljust(size, b"\0"), size)
    for field, count, element in LISTS.get(kind, ()):
        setattr(out, field, read_array(element, getattr(out._raw, field) or 0, getattr(out, count)))
    return out


def read_structure(kind: str, address: int) -> Any:
    """A structure of the program; None for a null pointer."""
    return as_structure(kind, host().read(address, size_of(kind)).tobytes()) if address else None


def read_array(kind: str, address: int, count: int) -> list[Any]:
    """Values or structures that stand behind one another."""
    if not address or count <= 0:
        return []
    size = size_of(kind)
    raw = host().read(address, size * count).tobytes()
    if kind in FORMATS:
        return [value for (value,) in FORMATS[kind].iter_unpack(raw)]
    return [as_structure(kind, raw[at : at + size]) for at in range(0, len(raw), size)]


def write(address: int, raw: bytes) -> None:
    """Writes into the program's memory; a null pointer asks for nothing."""
    if address:
        host().write(address, np.frombuffer(bytearray(raw), np.uint8))


def raw_value(kind: str, value: Any) -> bytes:
    """The bytes of a result."""
    if kind in FLOATS:
        return FORMATS[kind].pack(float(value))
    if kind == "dim3" and isinstance(value, tuple):
        return struct.pack("<3I", *value)
    if kind in INTEGERS:
        bits = FORMATS[kind].size * 8
        return (int(value or 0) & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
    return ctypes.string_at(value.getPtr(), size_of(kind) if "/" in kind else ctypes.sizeof(value.c_type))


def raw_input(value: Any) -> bytes:
    """The bytes of a structure, or of a list of them, that a call may change."""
    return b"".join(map(raw_input, value)) if isinstance(value, list) else raw_value("", value)


def write_result(kind: str, address: int, value: Any) -> None:
    """Writes a result, or a list of them, where a pointer says."""
    if address:
        write(address, b"".join(raw_value(kind, v) for v in value) if isinstance(value, list) else raw_value(kind, value))


# ---------------------------------------------------------------- calls

Work = Callable[..., tuple[Any, ...]]
Translate = Callable[[int], int]


class Marshalled:
    """A Python call that C may make."""

    def __init__(
        self, call: ApiCall, form: CForm, work: Work, machine: str, strings: KeptMemory, translated: Mapping[str, Translate]
    ) -> None:
        assert form.parameters is not None
        self.strings = strings
        self.name = form.name
        self.reader = ArgumentReader(form.parameters, machine, form.name in SENT_WHOLE)
        self.work = work
        self.per_thread = "_pt" in form.name
        known = {p.name: p for p in form.parameters}
        self.inputs = [known.get(p.name) for p in call.arguments]
        self.results = [known.get(p.name) for p in call.results]
        self.translated = {name: work for name, work in translated.items() if name in known}
        self.counted: dict[str, list[str]] = {}  # the arrays by the name of their count, which is read, and written again
        for p in form.parameters:
            if p.mark == "*":
                self.counted.setdefault(p.count, []).append(p.name)
        self.needed = self._needed(form.name)

    def _needed(self, name: str) -> list[str]:
        """The parameters that may not be null, as they name where the only answer goes, or what every program wants."""
        results = [r for r in self.results if r is not None]
        first = results[0] if results else None
        if first is None or (first.mark != "*" and first.type != "chars"):
            return []
        if ALLOCATING.search(name):
            return [r.name for r in results if r.mark == "*"]
        alone = len(results) == 1 and (not first.count or first.type == "chars") and first.type != "void"
        return [first.name] if MAKING.search(name) or (alone and ASKING.search(name)) else []

    def __call__(self, request: WireRequest) -> int:
        """Answers a request: the code that the call gives."""
        given = self.reader.read(request)
        for name in self.needed:
            if not given[name]:
                raise invalid(f"{self.name}: {name} is null")
        if self.per_thread:
            for name in ("hStream", "stream"):
                if given.get(name) == 0:
                    given[name] = 2  # CU_STREAM_PER_THREAD
        for name, translate in self.translated.items():
            given[name] = translate(given[name])
        inputs = [self._input(p, given) for p in self.inputs]
        changed = [
            (p, value, raw_input(value)) for p, value in zip(self.inputs, inputs, strict=True) if p and p.mark == "+" and value is not None
        ]
        code, *results = self.work(*inputs)
        for p, value, before in changed:
            if (now := raw_input(value)) != before:
                write(given[p.name], now)
        if not code:
            for r, value in zip(self.results, results, strict=True):
                if r is not None:
                    self._write(r, given, value)
        return int(code)

    def _input(self, p: CParameter | None, given: Values) -> Any:
        if p is None:
            return None
        value, kind = given[p.name], kind_of(p.type)
        if p.mark == "=":
            return read_array(kind, value, 1)[0] if value and any(map(given.get, self.counted.get(p.name, (p.name,)))) else 0
        if kind == "str" and not p.mark:
            return host().string(value) if value else None
        if not p.mark:
            return value
        if p.count:
            counter, _, fewer = p.count.partition("-")
            return read_array(kind, value, max(given[counter] - int(fewer), 1) if fewer else given[counter])
        if kind in FORMATS:
            return read_array(kind, value, 1)[0] if value else 0
        return read_structure(p.type, value)

    def _write(self, p: CParameter, given: Values, value: Any) -> None:
        if p.type == "chars":
            size = int(given[p.count]) if p.count else len(value) + 1
            write(given[p.name], bytes(value)[: max(size - 1, 0)] + b"\0" if size else b"")
        elif p.type == "str":
            write_result("ptr", given[p.name], self.strings.string(value))
        elif p.type != "void":  # what has no size here has a handler
            write_result(kind_of(p.type), given[p.name], value)
