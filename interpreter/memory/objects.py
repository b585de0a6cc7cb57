"""Objects in memory that have a name: arguments' arrays and variables, and how a place in or beside one is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warplab.assembler.demangle import short_name
from warplab.assembler.ir import Variable


class Named(NamedTuple):
    """An object with a name."""

    name: str
    size: int  # bytes
    element: int = 1  # bytes of one of its elements
    dims: tuple[int, ...] = ()  # none: it is not an array
    type: str = ""  # of its elements

    def at(self, offset: int, state: str = "", start: int | None = None) -> str:
        """Where a byte lies, counted from the object's start; `state` says more of the object, `start` is its address.

        >>> Named("tile", 4096, 4, (32, 32)).at(132)
        '`tile[1][1]`, 132 bytes into the 4096 bytes of tile'
        >>> Named("x", 64, 4, (16,), "f32").at(64)
        '`x[16]`, 0 bytes after the 64 bytes of x; x has 16 elements of f32'
        >>> Named("x", 64, 4, (16,), "f32").at(-4)
        '`x[-1]`, 4 bytes before x; x has 16 elements of f32'
        """
        if offset < 0:
            place = f"{_bytes(-offset)} before {state}{self.name}"
        elif offset < self.size:
            place = f"{_bytes(offset)} into the {state}{self.size} bytes of {self.name}"
        else:
            place = f"{_bytes(offset - self.size)} after the {state}{self.size} bytes of {self.name}"
        if start is not None:
            place += f" at {start:#x}"
        if not self.dims:
            return place
        inside = 0 <= offset < self.size or not self.type or self.type == "b8"
        count = " x ".join(map(str, self.dims if all(self.dims) else (self.size // max(self.element, 1),)))
        return f"`{self.name}{self._index(offset)}`, {place}" + ("" if inside else f"; {self.name} has {count} elements of {self.type}")

    def seen_as(self, size: int) -> Named:
        """An array of bytes as one of elements of `size` bytes: compilers declare every array so, whatever its elements are."""
        if self.type != "b8" or len(self.dims) != 1 or size < 2:
            return self
        return self._replace(element=size, dims=(self.size // size,), type=f"b{8 * size}")

    def _index(self, offset: int) -> str:
        """Its subscripts, of which the first may lie outside the array."""
        n, out = offset // max(self.element, 1), ""
        for d in reversed(self.dims[1:]):
            n, rest = divmod(n, max(d, 1))
            out = f"[{rest}]{out}"
        return f"[{n}]{out}"


def _bytes(n: int) -> str:
    return f"{n} byte{'' if n == 1 else 's'}"


def object_of(v: Variable, unsized: int = 0) -> Named:
    """A variable; `unsized`: the bytes of one that says none."""
    name = short_name(v.name).rpartition("::")[2] or v.name  # a static variable of a C++ function has the function's name before its own
    return Named(name, v.size or unsized, v.type.bytes, v.dims, v.type.name)


class Gap(NamedTuple):
    """Bytes beside an object that belong to none."""

    start: int
    end: int
    object: Named
    origin: int  # where the object starts

    def moved(self, by: int) -> Gap:
        """The same in memory that starts elsewhere."""
        return self._replace(start=self.start + by, end=self.end + by, origin=self.origin + by)

    def holds(self, low: int, end: int) -> bool:
        """Does [low, end) touch it?"""
        return low < self.end and end > self.start


class Placed(NamedTuple):
    """An object and where it starts."""

    start: int
    object: Named


def nearest(objects: Sequence[Placed], address: int, size: int = 0) -> str:
    """Which object an address lies in, or beside, in words; objects in the order of their addresses.  `size`: bytes of the accessed element."""
    before = [o for o in objects if o.start <= address]
    after = [o for o in objects if o.start > address]
    if before and (address < before[-1].start + before[-1].object.size or not after
                   or address - before[-1].start - before[-1].object.size <= after[0].start - address):  # fmt: skip
        return before[-1].object.seen_as(size).at(address - before[-1].start)
    return after[0].object.seen_as(size).at(address - after[0].start) if after else ""
