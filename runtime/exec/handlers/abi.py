"""From registers and stack to the arguments of the Python calls, and their results back into the program's memory.

The tables driver_calls.py and runtime_calls.py say what each C function takes.  Its parameters that the Python call does not have are
results, in order: most calls need no code of their own.
"""

from __future__ import annotations

import ctypes
import inspect
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...cudart.structs import OWN as RUNTIME_STRUCTS
from ...device.memory.host import host
from ...driver.tables.structs import STRUCTS
from ...errors import invalid
from ..process import KeptMemory
from ..wire import WireRequest

INTEGERS = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "ptr": "Q"}
FLOATS = {"f32": "f", "f64": "d"}
FORMATS = {kind: struct.Struct(f"<{letter}") for kind, letter in (INTEGERS | FLOATS).items()}
REGISTERS = {"x86_64": 6, "aarch64": 8}
# Arrays: the parameter that counts their elements, and how many fewer there are.
COUNTS = dict(
    pair.split("=")
    for pair in """
    options=numOptions optionValues=numOptions optionsValues=numOptions jitOptions=numJitOptions jitOptionsValues=numJitOptions
    libraryOptions=numLibraryOptions libraryOptionValues=numLibraryOptions attributes=numAttributes dataSizes=numAttributes
    dsts=count srcs=count sizes=count dptrs=count attrs=numAttrs attrsIdxs=numAttrs attrIdxs=numAttrs opList=numOps paramArray=count
    desc=count descList=count map=count
    from_=numDependencies to=numDependencies dependencies=numDependencies pDependencies=numDependencies dependencyData=numDependencies
    globalDim=tensorRank globalStrides=tensorRank-1 boxDim=tensorRank elementStrides=tensorRank
    pixelBoxLowerCorner=tensorRank-2 pixelBoxUpperCorner=tensorRank-2
    prefetchLocs=numPrefetchLocs prefetchLocIdxs=numPrefetchLocs edgeData=numDependencies launchParamsList=numDevices operations=count
    """.split()
)
# Structures that name a list of others: (field, the field that counts them, what they are).
LISTS = {
    "CUlaunchConfig": [("attrs", "numAttrs", "CUlaunchAttribute")],
    "cudaLaunchConfig_t": [("attrs", "numAttrs", "cudaLaunchAttribute")],
}
MAKING = re.compile("Alloc|Malloc|Create|DeviceGetCount|GetDeviceCount")  # of these what is made is wanted by every program
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CParameter:
    """One parameter of a C function."""

    name: str
    kind: str  # of the value, or of what the pointer names; a structure that is cut off is followed by its size: name/bytes
    mark: str  # "*": a pointer that may be written through, "&": one that is only read, "": a value

    @property
    def by_value(self) -> str:
        """The kind of what is passed."""
        return "ptr" if self.mark or self.kind in ("str", "chars") else self.kind


@dataclass(frozen=True, slots=True)
class CFunction:
    """An exported function of a table."""

    name: str
    parameters: tuple[CParameter, ...] | None  # None: it is not answered
    version: int = 0  # the first that has it


def functions(table: str) -> Iterator[CFunction]:
    """The functions of a table."""
    for line in table.replace("\n    ", " ").splitlines():
        words, _, names = line.partition("|")
        found = None if words.strip() == "-" else tuple(map(_parameter, words.split()))
        for word in names.split():
            name, _, version = word.partition(":")
            yield CFunction(name, found, int(version or 0))


def _parameter(word: str) -> CParameter:
    name, _, kind = word.partition(":")
    mark = kind[-1] if kind[-1] in "*&" else ""
    return CParameter(name, kind.removesuffix(mark) if mark else kind, mark)


@cache
def structure(name: str) -> type[Any] | None:
    """The class of a C structure."""
    name = name.partition("/")[0]
    return RUNTIME_STRUCTS.get(name) or STRUCTS.get(name)


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
        kind = p.by_value
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

    def __init__(self, parameters: Sequence[CParameter], machine: str) -> None:
        self.parameters = parameters
        self.places = places(parameters, machine)
        self.stack = max((p.index + p.words for p in self.places if p.where == "stack"), default=0)
        self.simple = [_sign(p.by_value) for p in parameters]

    def read(self, request: WireRequest) -> Values:
        """Every argument by name: numbers, and structures that were passed by value."""
        stack = host().read(request.stack, self.stack * 8).view(np.uint64).tolist() if self.stack else ()
        out: Values = {}
        for p, place, convert in zip(self.parameters, self.places, self.simple, strict=True):
            if place.where == "float":
                out[p.name] = _float(p.kind, request.floats[place.index])
                continue
            if place.where == "reference":
                out[p.name] = read_structure(p.kind, request.registers[place.index])
                continue
            source = request.registers if place.where == "register" else stack
            if convert is not None:
                out[p.name] = convert(source[place.index])
            else:
                raw = struct.pack(f"<{place.words}Q", *source[place.index : place.index + place.words])
                out[p.name] = as_structure(p.kind, raw)
        return out


def _sign(kind: str) -> Callable[[int], int] | None:
    if kind not in INTEGERS:
        return None
    bits = FORMATS[kind].size * 8
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
        host().write(address, np.frombuffer(raw, np.uint8))


def raw_value(kind: str, value: Any) -> bytes:
    """The bytes of a result."""
    if kind in FLOATS:
        return FORMATS[kind].pack(float(value))
    if kind in INTEGERS:
        bits = FORMATS[kind].size * 8
        return (int(value or 0) & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
    return ctypes.string_at(value.getPtr(), size_of(kind) if "/" in kind else ctypes.sizeof(value.c_type))


def write_result(kind: str, address: int, value: Any) -> None:
    """Writes a result, or a list of them, where a pointer says."""
    if address:
        write(address, b"".join(raw_value(kind, v) for v in value) if isinstance(value, list) else raw_value(kind, value))


# ---------------------------------------------------------------- calls

Work = Callable[..., tuple[Any, ...]]
Translate = Callable[[int], int]


def _counts(p: CParameter) -> bool:
    """Is it a count that is read, and written again?"""
    return p.mark == "*" and p.kind == "u64" and p.name.lower().startswith(("num", "pnum"))


class Marshalled:
    """A Python call that C may make."""

    def __init__(self, function: CFunction, work: Work, machine: str, strings: KeptMemory, translated: Mapping[str, Translate]) -> None:
        assert function.parameters is not None
        self.strings = strings
        self.name = function.name
        self.reader = ArgumentReader(function.parameters, machine)
        self.work = work
        self.per_thread = "_pt" in function.name
        known = {p.name: p for p in function.parameters}
        wanted = list(inspect.signature(work).parameters)
        spare = [p for p in function.parameters if p.name not in wanted and p.mark != "*" and p.kind != "chars"]
        self.inputs = [known.get(name) or (spare.pop(0) if spare else None) for name in wanted]
        self.translated = {name: work for name, work in translated.items() if name in known}
        taken = {p.name for p in self.inputs if p is not None and not _counts(p)}
        self.results = [p for p in function.parameters if p.name not in taken and (p.mark == "*" or p.kind == "chars")]
        self.lists = next((p.name for p in self.results if p.kind == "ptr"), "")  # what an in-out count counts
        makes = MAKING.search(function.name) is not None and self.results and self.results[0].mark == "*"
        self.made = self.results[0].name if makes else ""  # where the program wants what is made
        self.changed = [
            n
            for n, p in enumerate(self.inputs)
            if p is not None and p.mark == "*" and p.kind not in FORMATS and p.kind != "str" and p.name not in COUNTS
        ]  # structures that a call may change
        # Where edges have no data, what stands before their number has no place.
        self.plain_edges = (
            "Graph" in function.name
            and any(r.name.lower().endswith(("numedges", "numdependencies", "numdependentnodes")) for r in self.results)
            and "edgeData" not in known
        )
        self.length = next((p.name for p in function.parameters if p.name in ("len", "length")), None)

    def __call__(self, request: WireRequest) -> int:
        """Answers a request: the code that the call gives."""
        given = self.reader.read(request)
        if self.made and not given[self.made]:
            raise invalid(f"{self.name}: {self.made} is null")
        if self.per_thread:
            for name in ("hStream", "stream"):
                if given.get(name) == 0:
                    given[name] = 2  # CU_STREAM_PER_THREAD
        for name, translate in self.translated.items():
            given[name] = translate(given[name])
        inputs = [self._input(p, given) for p in self.inputs]
        before = {n: raw_value("", inputs[n]) for n in self.changed if inputs[n] is not None}
        code, *results = self.work(*inputs)
        for n, raw in before.items():
            p = self.inputs[n]
            if p is not None and (now := raw_value("", inputs[n])) != raw:
                write(given[p.name], now)
        if not code:
            if self.plain_edges:
                del results[-2]
            for p, value in zip(self.results, results, strict=False):
                if p.kind == "chars":
                    size = int(given[self.length]) if self.length else len(value) + 1
                    write(given[p.name], bytes(value)[: max(size - 1, 0)] + b"\0" if size else b"")
                elif isinstance(value, bytes) and p.kind == "ptr":
                    write_result(p.kind, given[p.name], self.strings.string(value))
                else:
                    write_result(p.kind, given[p.name], value)
        return int(code)

    def _input(self, p: CParameter | None, given: Values) -> Any:
        if p is None:
            return None
        value = given[p.name]
        if _counts(p):
            return read_array(p.kind, value, 1)[0] if value and given.get(self.lists) else 0
        if p.kind == "str":
            return host().string(value) if value else None
        if not p.mark:
            return value
        counter, _, fewer = COUNTS.get(p.name, "").partition("-")
        count = given.get(counter)
        if count is not None:
            return read_array(p.kind, value, max(count - int(fewer), 1) if fewer else count)
        if p.kind in FORMATS:
            return value  # a table of pointers, or what the call itself reads
        return read_structure(p.kind, value)
