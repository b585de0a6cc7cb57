"""printf of kernels: C's formats over the argument block that vprintf gets, into a ring that the host flushes when it synchronises.

The ring holds as many bytes as the limit says; when it is full the oldest output is overwritten, as CUDA's is.
"""

from __future__ import annotations

import math
import re
import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from warplab.interpreter.memory.arena import Arena
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..output import to_stdout

if TYPE_CHECKING:
    from warplab.interpreter.vector.group import Group

CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L|q)?([diouxXeEfFgGaAcsp%])")
MAX_ARGUMENTS = 32
MAX_WIDTH = 1 << 16  # of a field; a format may ask for any amount
RECORD = 256  # bytes that one call takes in the ring, or a multiple: an H200 keeps 2048 lines in 512 KiB
LONGEST = 1 << 16  # bytes of a string; one without an end is cut
WIDE = ("l", "ll", "j", "z", "t", "L", "q")
NARROW = {"hh": 8, "h": 16}

Reader = Callable[[int, int], bytes]  # (address, size) -> as many bytes as can be read there, at most size


class PrintRing:
    """What kernels have printed and the host has not shown yet."""

    def __init__(self, arena: Arena, size: int, others: Callable[[], Sequence[Arena]] = tuple) -> None:
        self.arena = arena
        self.size = size
        self._others = others
        self._lines: deque[bytes] = deque()
        self._used = 0
        self.used = False  # did a kernel print?

    def print(self, g: Group, lane: int, form: int, arguments: int) -> int:
        """Queues what one lane prints; gives the number of arguments, -1 where the format can't be read."""

        def read(address: int, size: int) -> bytes:
            return self._read(g, lane, address, size)

        if not form:
            return -1
        out, count = formatted(string_at(read, form), read, arguments)
        self.add(out)
        return count

    def add(self, out: bytes) -> None:
        """Queues a piece of output, and drops the oldest where the ring is full."""
        self.used = True
        self._lines.append(out)
        self._used += room(out)
        while self._used > self.size and len(self._lines) > 1:
            self._used -= room(self._lines.popleft())

    def _read(self, g: Group, lane: int, address: int, size: int) -> bytes:
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW_SIZE:
            words, at = g.wave.local.words, address - LOCAL_BASE
            own = int(np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel()[lane])
            return words[at >> 2 : (at + size + 3) >> 2, own].tobytes()[at & 3 : (at & 3) + size]
        if SHARED_BASE <= address < SHARED_BASE + WINDOW_SIZE:
            shared, at = g.wave.shared, (address - SHARED_BASE) & 0xFFFFFF
            block = int(np.broadcast_to(g.geometry.block, g.geometry.shape).ravel()[lane])
            return shared.bytes[block * shared.stride + at : block * shared.stride + min(at + size, shared.size)].tobytes()
        for arena in (*self._others(), self.arena):
            a = arena.find(address)
            if a is not None and not a.freed:
                return arena.bytes[address - arena.base : min(address + size, a.end) - arena.base].tobytes()
        return b""

    def take(self) -> bytes:
        """All output so far; the ring is empty afterwards."""
        out = b"".join(self._lines)
        self._lines.clear()
        self._used = 0
        return out

    def flush(self) -> None:
        """Writes all output so far to the process's standard output."""
        if self._lines:
            to_stdout(self.take())


def room(out: bytes) -> int:
    """Bytes of the ring that a piece of output takes."""
    return max(-(-len(out) // RECORD), 1) * RECORD


def string_at(read: Reader, address: int) -> bytes:
    """A C string."""
    out, size = b"", 256
    while len(out) < LONGEST:
        piece = read(address + len(out), size)
        out += piece
        if b"\0" in piece or len(piece) < size:
            break
    return out.split(b"\0", 1)[0]


def formatted(form: bytes, read: Reader, arguments: int) -> tuple[bytes, int]:
    """What printf makes of a format and its argument block, and how many arguments it took."""
    block = PrintArguments(read, arguments)
    return CONVERSION.sub(block.convert, form), block.count


class PrintArguments:
    """Reads one call's arguments, each at its own alignment, as the conversions ask."""

    def __init__(self, read: Reader, address: int) -> None:
        self.read = read
        self.at = address
        self.count = 0

    def _take(self, size: int) -> bytes:
        self.at = -(-self.at // size) * size
        raw = self.read(self.at, size).ljust(size, b"\0")
        self.at += size
        self.count += 1
        return raw

    def _integer(self, size: int, signed: bool) -> int:
        return int.from_bytes(self._take(size), "little", signed=signed)

    def convert(self, m: re.Match[bytes]) -> bytes:
        """One conversion with its argument."""
        flags, width, precision, length, kind = (x.decode() if x is not None else "" for x in m.groups())
        if kind == "%":
            return b"%"
        if self.count >= MAX_ARGUMENTS:
            return m[0]
        if width == "*":
            n = self._integer(4, True)
            flags, width = (flags + "-" if n < 0 else flags), str(abs(n))
        digits: int | None = None
        if m[3] is not None:
            digits = self._integer(4, True) if precision == "*" else int(precision or 0)
            digits = None if digits < 0 else min(digits, MAX_WIDTH)
        field = Field(flags, min(int(width or 0), MAX_WIDTH), digits)
        if kind in "diouxX":
            value = self._integer(8 if length in WIDE else 4, kind in "di")
            return field.integer(narrow(value, NARROW.get(length), kind in "di"), kind)
        if kind == "c":
            return field.padded(bytes([self._integer(4, False) & 0xFF]))
        if kind == "s":
            pointer = self._integer(8, False)
            text = string_at(self.read, pointer) if pointer else b"(null)"
            return field.padded(text if digits is None else text[:digits])
        if kind == "p":
            pointer = self._integer(8, False)
            return field.padded(hex(pointer).encode() if pointer else b"(nil)")
        return field.floating(struct.unpack("<d", self._take(8))[0], kind)


def narrow(value: int, bits: int | None, signed: bool) -> int:
    """What %hhd and the like see of an argument."""
    if bits is None:
        return value
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class Field:
    """Flags, width and precision of a conversion."""

    def __init__(self, flags: str, width: int, precision: int | None) -> None:
        self.flags, self.width, self.precision = flags, width, precision

    def padded(self, text: bytes) -> bytes:
        """Text in the field, with blanks."""
        return text.ljust(self.width) if "-" in self.flags else text.rjust(self.width)

    def number(self, sign: str, prefix: str, digits: str, zeros: bool) -> bytes:
        """A number in the field; with zeros between its prefix and its digits where those are asked for."""
        if zeros and "0" in self.flags and "-" not in self.flags:
            digits = digits.rjust(self.width - len(sign) - len(prefix), "0")
        return self.padded((sign + prefix + digits).encode())

    def sign(self, negative: bool) -> str:
        """The sign of a signed conversion."""
        return "-" if negative else "+" if "+" in self.flags else " " if " " in self.flags else ""

    def integer(self, value: int, kind: str) -> bytes:
        """%d %i %o %u %x %X."""
        base = {"o": "o", "x": "x", "X": "X"}.get(kind, "d")
        digits = "" if value == 0 and self.precision == 0 else format(abs(value), base)
        digits = digits.rjust(self.precision or 0, "0")
        prefix = ""
        if "#" in self.flags:
            if kind == "o" and not digits.startswith("0"):
                digits = "0" + digits
            elif kind in "xX" and value:
                prefix = "0" + kind
        return self.number(self.sign(value < 0) if kind in "di" else "", prefix, digits, self.precision is None)

    def floating(self, value: float, kind: str) -> bytes:
        """%f %e %g %a and their capitals."""
        sign = self.sign(math.copysign(1, value) < 0)
        if math.isnan(value) or math.isinf(value):
            word = "nan" if math.isnan(value) else "inf"
            return self.number(sign, "", word.upper() if kind.isupper() else word, False)
        if kind in "aA":
            digits = hexadecimal(abs(value), self.precision, "#" in self.flags)
            return self.number(sign, "0X" if kind == "A" else "0x", digits.upper() if kind == "A" else digits, True)
        form = "%" + ("#" if "#" in self.flags else "") + f".{6 if self.precision is None else self.precision}{kind}"
        return self.number(sign, "", form % abs(value), True)


def hexadecimal(value: float, precision: int | None, point: bool) -> str:
    """The digits of %a, as few as are exact where no precision is given; glibc gives a subnormal the least normal exponent."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    fraction, exponent = bits & (1 << 52) - 1, bits >> 52
    whole = int(exponent > 0)
    exponent = 0 if not bits else (exponent or 1) - 1023
    digits = f"{fraction:013x}"
    if precision is None:
        digits = digits.rstrip("0")
    elif precision >= 13:
        digits = digits.ljust(precision, "0")
    else:
        all_bits = whole << 52 | fraction
        drop = 52 - 4 * precision
        kept, rest, half = all_bits >> drop, all_bits & (1 << drop) - 1, 1 << drop - 1
        kept += rest > half or (rest == half and kept & 1)
        whole = kept >> 4 * precision
        digits = f"{kept & (1 << 4 * precision) - 1:0{precision}x}" if precision else ""
    return f"{whole}{'.' if digits or point else ''}{digits}p{exponent:+d}"
