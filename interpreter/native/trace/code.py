"""The text of a straight piece of LLVM IR, and constants as LLVM writes them."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DType = np.dtype[Any]

_TYPES = {"b1": "i1", "i1": "i8", "u1": "i8", "i2": "i16", "u2": "i16", "i4": "i32", "u4": "i32", "i8": "i64", "u8": "i64",
          "f2": "half", "f4": "float", "f8": "double"}  # fmt: skip


class Untraceable(Exception):
    """A meaning does with its arrays what cannot be recorded."""


def scalar_type(dtype: DType) -> str:
    """LLVM's type of one element."""
    return _TYPES[dtype.str[1:]]


def vector_type(dtype: DType, lanes: int) -> str:
    """LLVM's type of a vector."""
    return f"<{lanes} x {scalar_type(dtype)}>"


def constant(value: Any) -> str:
    """One element as LLVM writes it."""
    v = np.asarray(value)
    if v.dtype.kind == "b":
        return "true" if v else "false"
    if v.dtype.kind != "f":
        return str(int(v))
    if v.dtype.itemsize == 2:
        return f"0xH{int(v.view(np.uint16)):04X}"
    if v.dtype.itemsize == 8:
        return f"0x{int(v.view(np.uint64)):016X}"
    bits = int(v.view(np.uint32))  # a float is written as the double of its value, a NaN with its payload moved along
    if bits & 0x7FFFFFFF > 0x7F800000:
        return f"0x{(bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29:016X}"
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(v)))[0]:016X}"


class LLVMModule:
    """What pieces of code share: declarations and tables of constants."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self._tables: dict[tuple[str, bytes], tuple[str, str]] = {}

    def table(self, given: NDArray[Any]) -> str:
        """The name of a constant table."""
        raw = np.ascontiguousarray(given).ravel()
        key = (raw.dtype.str, raw.tobytes())
        if key not in self._tables:
            name = f"@table{len(self._tables)}"
            self._tables[key] = name, f"{name} = private unnamed_addr constant {_items(*key)}, align 64"
        return self._tables[key][0]

    def head(self) -> list[str]:
        """The lines that stand before any function."""
        return [*self.declarations.values(), *[line for _, line in self._tables.values()]]


@functools.cache  # the tables of the special-function unit, for the most part
def _items(dtype: str, raw: bytes) -> str:
    """A table as a constant of LLVM."""
    array = np.frombuffer(raw, dtype)
    t, values = scalar_type(array.dtype), array.tolist() if array.dtype.kind in "iu" else map(constant, array)
    return f"[{array.size} x {t}] [{', '.join([f'{t} {v}' for v in values])}]"


class VectorCode:
    """A straight piece of code on vectors of `width` lanes; equal expressions are computed once."""

    def __init__(self, width: int, module: LLVMModule, prefix: str = "t") -> None:
        self.width = width
        self.module = module
        self.lines: list[str] = []
        self._prefix = prefix
        self._count = 0
        self._known: dict[str, str] = {}
        self._origins: dict[str, str] = {}
        self.rooms: dict[str, str] = {}  # on the stack

    def emit(self, text: str) -> str:
        """The name of the value of an expression."""
        found = self._known.get(text)
        if found is None:
            self._count += 1
            found = self._known[text] = f"%{self._prefix}{self._count}"
            self._origins[found] = text
            self.lines.append(f"  {found} = {text}")
        return found

    def origin(self, name: str) -> str:
        """The expression that a value has been computed by; "" if it reads memory, or is no value of this piece."""
        return self._origins.get(name, "")

    def fresh(self, text: str) -> str:
        """The name of the value of an expression that reads memory, computed anew."""
        self._count += 1
        name = f"%{self._prefix}{self._count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def scratch(self, type: str, name: str) -> str:
        """The address of room for a value on the stack."""
        name = f"%room.{name}"
        self.rooms[name] = type
        return name

    def either(self, condition: str, ways: Sequence[Callable[[], Sequence[str]]], types: Sequence[str]) -> list[str]:
        """The values of one of two pieces of code, the first where a condition holds; `types` are LLVM's of the values."""
        self._count += 1
        n = self._count
        rooms = [self.scratch(t, f"{self._prefix}{n}.{i}") for i, t in enumerate(types)]
        self.lines.append(f"  br i1 {condition}, label %yes{n}, label %no{n}")
        for label, piece in zip(("yes", "no"), ways, strict=True):
            known = dict(self._known)
            self.lines.append(f"{label}{n}:")
            self.lines += [f"  store {t} {v}, ptr {room}, align 64" for t, v, room in zip(types, piece(), rooms, strict=True)]
            self.lines.append(f"  br label %either{n}")
            self._known = known
        self.lines.append(f"either{n}:")
        return [self.fresh(f"load {t}, ptr {room}, align 64") for t, room in zip(types, rooms, strict=True)]

    def aside(self, piece: Callable[[], None]) -> list[str]:
        """The lines that something writes, which the others do not reach."""
        lines, known = self.lines, dict(self._known)
        self.lines = list(lines)
        piece()
        written = self.lines[len(lines) :]
        self.lines, self._known = lines, known
        return written

    def forget(self) -> None:
        """Another piece follows, which values computed here may not reach."""
        self._known.clear()

    def call(self, name: str, result: str, *arguments: str) -> str:
        """A call of a function whose arguments are "type value"; it is declared."""
        types = ", ".join(a.rpartition(" ")[0] if a[0] != "<" else a[: a.index(">") + 1] for a in arguments)
        self.module.declarations[name] = f"declare {result} @{name}({types})"
        return self.emit(f"call {result} @{name}({', '.join(arguments)})")
