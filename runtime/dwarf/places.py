"""Where a variable of the source is at a step: in a register, in memory, or nowhere; and the bytes there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.demangle import spellings
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..errors import UsageError
from ..recording.questions import Recording
from .sections import DebugSections

SPACES = {4: "global", 5: "global", 6: "local", 8: "shared"}  # DW_AT_address_class, as NVIDIA numbers the spaces; 12 is generic
WRAP = (1 << 64) - 1


class NotThere(UsageError):
    """A variable has no value here; the text says why, in few words."""


@dataclass(frozen=True, slots=True)
class AtAddress:
    """An address of a space, of its owner: the block of shared memory, the lane of local memory."""

    space: str
    owner: int
    address: int

    def moved(self, offset: int) -> AtAddress:
        """Bytes further on."""
        return AtAddress(self.space, self.owner, self.address + offset)

    @property
    def generic(self) -> int:
        """The generic address."""
        return {"shared": SHARED_BASE, "local": LOCAL_BASE}.get(self.space, 0) + self.address


@dataclass(frozen=True, slots=True)
class InBytes:
    """A value that is in a register, or was computed; only a part of it is looked at."""

    raw: bytes
    offset: int = 0
    register: str = ""

    def moved(self, offset: int) -> InBytes:
        """Bytes further on."""
        return InBytes(self.raw, self.offset + offset, self.register)


Where = AtAddress | InBytes


@dataclass(frozen=True, slots=True)
class ThreadAt:
    """A call of a thread before a step."""

    rec: Recording
    sections: DebugSections
    lane: int
    step: int
    frame: tuple[str, int]

    # ------------------------------------------------------------ bytes

    def read(self, where: Where, size: int) -> NDArray[np.uint8]:
        """The bytes at a place."""
        if isinstance(where, InBytes):
            raw = where.raw[where.offset : where.offset + size]
            return np.frombuffer(raw.ljust(size, b"\0"), np.uint8)
        if not 0 <= where.address < 1 << 62:
            raise NotThere(f"no memory is at {where.address & WRAP:#x}")
        try:
            return self.rec.bytes.held(where.space, where.owner, where.address, size, self.step)
        except (UsageError, ValueError, OverflowError, KeyError):
            raise NotThere(f"no memory is at {where.generic:#x}") from None

    def generic(self, address: int) -> AtAddress:
        """What a pointer points to."""
        for space, base, owner in (("shared", SHARED_BASE, self.lane // self.rec.threads), ("local", LOCAL_BASE, self.lane)):
            if base <= address < base + WINDOW_SIZE:
                return AtAddress(space, owner, address - base)
        return AtAddress("global", 0, address)

    def register(self, name: str) -> bytes:
        """What the thread holds in a register."""
        if name not in self.rec.track.registers.get(self.frame[0], {}):
            raise NotThere("not written yet")
        found = self.rec.held(name, np.array([self.lane]), self.step, self.frame)
        if not found.known[0]:
            raise NotThere("not written yet")
        return np.ascontiguousarray(found.value[0]).tobytes()

    # ------------------------------------------------------------ expressions

    def place(self, expression: bytes, space: int | None) -> Where:
        """Evaluates an expression of DWARF's."""
        stack: list[int] = []
        ops = list(operations(expression))
        for n, (op, a, b) in enumerate(ops):
            if op == "regx" and n == len(ops) - 1:
                return InBytes(self.register(name := register_of(a)), register=name)
            if op == "value":
                return InBytes((stack.pop() & WRAP).to_bytes(8, "little"))
            self._apply(stack, op, a, b)
        if not stack:
            raise NotThere("optimized out")
        return self._resolved(stack[-1], space)

    def _apply(self, stack: list[int], op: str, a: int, b: int) -> None:
        match op:
            case "addr" | "const":
                stack.append(a)
            case "plus_const":
                stack.append(_top(stack) + a)
            case "plus":
                stack.append(_top(stack) + _top(stack))
            case "minus":
                last = _top(stack)
                stack.append(_top(stack) - last)
            case "regx" | "bregx":
                stack.append(int.from_bytes(self.register(register_of(a)), "little") + b)
            case "fbreg":
                stack.append(self._depot() + LOCAL_BASE + a)
            case "deref":
                stack.append(int.from_bytes(self.read(self._resolved(_top(stack), None), 8).tobytes(), "little"))
            case _:
                raise NotThere(f"its place is told in words that are not known ({op})")

    def _resolved(self, address: int, space: int | None) -> Where:
        named = self.sections.symbol(address)
        if named is None:
            where = SPACES.get(space or 0)
            if where is None or (address >= SHARED_BASE and where != "global"):
                return self.generic(address)
            owner = {"shared": self.lane // self.rec.threads, "local": self.lane}.get(where, 0)
            return AtAddress(where, owner, address)
        name, offset = named
        if name.startswith("__local_depot"):
            return AtAddress("local", self.lane, self._depot(name) + offset)
        for parameter, _, at, size in self.rec.track.parameters:
            if parameter == name:
                return InBytes(self.rec.track.parameter_bytes[at : at + size], offset)
        for o in self.rec.track.objects:
            if o.name in spellings(name):  # a static variable of a function has its own name in the recording
                owner = self.lane // self.rec.threads if o.space == "shared" else 0
                return AtAddress("shared" if o.space == "shared" else "global", owner, o.start + offset)
        raise NotThere(f"{name} is not in the recording")

    def _depot(self, name: str = "") -> int:
        """Where the function's own stack begins."""
        return int.from_bytes(self.register(depot_register(self.rec, self.frame[0], name)), "little")


def depot_register(rec: Recording, function: str, name: str = "") -> str:
    """What a function moves the address of its own stack into before it does anything else."""
    found = re.compile(rf"mov\.[bu](?:32|64)\s+(\S+?),\s*{re.escape(name) or '__local_depot'}")
    for i in rec.track.instructions:
        if i.function == function and (m := found.match(i.text)) is not None:
            return m[1]
    raise NotThere("its function has not begun")


def _top(stack: list[int]) -> int:
    if not stack:
        raise NotThere("its place is told wrongly")
    return stack.pop()


def register_of(number: int) -> str:
    """A register's number is its name, a byte each character."""
    return number.to_bytes((number.bit_length() + 7) // 8 or 1, "big").decode("latin-1")


def operations(raw: bytes) -> Iterator[tuple[str, int, int]]:
    """The operations of an expression, with their two numbers; of unknown ones the code."""
    at = 0

    def fixed(size: int, signed: bool = False) -> int:
        nonlocal at
        at += size
        return int.from_bytes(raw[at - size : at], "little", signed=signed)

    def leb(signed: bool) -> int:
        nonlocal at
        out = shift = 0
        while at < len(raw):
            byte = raw[at]
            at += 1
            out |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return out - (1 << shift) if signed and byte & 0x40 else out
        return out

    while at < len(raw):
        code = fixed(1)
        match code:
            case 0x03:
                yield "addr", fixed(8), 0
            case 0x06:
                yield "deref", 0, 0
            case 0x08 | 0x0A | 0x0C | 0x0E:
                yield "const", fixed(1 << (code - 8) // 2), 0
            case 0x09 | 0x0B | 0x0D | 0x0F:
                yield "const", fixed(1 << (code - 9) // 2, True), 0
            case 0x10 | 0x11:
                yield "const", leb(code == 0x11), 0
            case 0x1C:
                yield "minus", 0, 0
            case 0x22:
                yield "plus", 0, 0
            case 0x23:
                yield "plus_const", leb(False), 0
            case _ if 0x30 <= code < 0x50:
                yield "const", code - 0x30, 0
            case 0x90:
                yield "regx", leb(False), 0
            case 0x91:
                yield "fbreg", leb(True), 0
            case 0x92:
                number = leb(False)
                yield "bregx", number, leb(True)
            case 0x9F:
                yield "value", 0, 0
            case _:
                yield f"{code:#x}", 0, 0
                return
