"""printf of kernels: C's formats over the argument block that vprintf gets, into a ring that the host flushes when it synchronises.

The ring holds as many bytes as the limit says; when it is full the oldest output is overwritten, as CUDA's is.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from warplab.interpreter.memory.arena import Arena
from warplab.isa.spaces import LOCAL_BASE, WINDOW_SIZE

if TYPE_CHECKING:
    from warplab.interpreter.group import Group

CONVERSION = re.compile(rb"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?(hh|h|ll|l|j|z|t|L|q)?([diouxXeEfFgGaAcsp%])")
MAX_ARGUMENTS = 32
RECORD = 16  # bytes of overhead that one call takes in the ring


class PrintRing:
    """What kernels have printed and the host has not shown yet."""

    def __init__(self, arena: Arena, size: int) -> None:
        self.arena = arena
        self.size = size
        self._lines: deque[bytes] = deque()
        self._used = 0

    def print(self, g: Group, lane: int, form: int, arguments: int) -> int:
        """Queues what one lane prints; gives the number of arguments, -1 where the format can't be read."""
        text = self._string(form)
        if text is None:
            return -1
        reader = Arguments(self, g, lane, arguments)
        out = CONVERSION.sub(lambda m: reader.convert(m), text)
        cost = len(out) + RECORD
        self._lines.append(out)
        self._used += cost
        while self._used > self.size and len(self._lines) > 1:
            self._used -= len(self._lines.popleft()) + RECORD
        return reader.count

    def _string(self, address: int) -> bytes | None:
        a = self.arena.find(address)
        if a is None or a.freed:
            return None
        raw = self.arena.bytes[address - self.arena.base : a.end - self.arena.base].tobytes()
        return raw.split(b"\0", 1)[0]

    def take(self) -> bytes:
        """All output so far; the ring is empty afterwards."""
        out = b"".join(self._lines)
        self._lines.clear()
        self._used = 0
        return out

    def flush(self) -> None:
        """Writes all output so far to the process's standard output."""
        out = self.take()
        if not out:
            return
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is not None:
            buffer.write(out)
            buffer.flush()
        else:
            sys.stdout.write(out.decode(errors="replace"))


class Arguments:
    """Reads one call's arguments, each at its own alignment, as the conversions ask."""

    def __init__(self, ring: PrintRing, g: Group, lane: int, address: int) -> None:
        self.ring, self.g, self.lane = ring, g, lane
        self.at = address
        self.count = 0

    def _take(self, size: int) -> bytes:
        self.at = -(-self.at // size) * size
        raw = self._bytes(self.at, size)
        self.at += size
        self.count += 1
        return raw

    def _bytes(self, address: int, size: int) -> bytes:
        if LOCAL_BASE <= address < LOCAL_BASE + WINDOW_SIZE:
            local = self.g.wave.local
            where = address - LOCAL_BASE
            lane = int(np.broadcast_to(self.g.geometry.lane, self.g.geometry.shape).ravel()[self.lane])
            words = local.words[where >> 2 : (where + size + 3) >> 2, lane]
            return words.tobytes()[where & 3 : (where & 3) + size]
        at = address - self.ring.arena.base
        return self.ring.arena.bytes[at : at + size].tobytes()

    def _integer(self, size: int, signed: bool) -> int:
        return int.from_bytes(self._take(size), "little", signed=signed)

    def convert(self, m: re.Match[bytes]) -> bytes:
        """One conversion with its argument."""
        flags, width, precision, length, kind = (x.decode() if x is not None else None for x in m.groups())
        if kind == "%":
            return b"%"
        if self.count >= MAX_ARGUMENTS:
            return m[0]
        assert flags is not None and kind is not None
        if width == "*":
            n = self._integer(4, True)
            flags, width = (flags + "-", str(-n)) if n < 0 else (flags, str(n))
        if precision == "*":
            n = self._integer(4, True)
            precision = None if n < 0 else str(n)
        spec = "%" + flags + (width or "") + ("" if precision is None else "." + (precision or "0"))
        size = 8 if length in ("l", "ll", "j", "z", "t", "q") else 4
        if kind in "di":
            value = self._integer(size, True)
            cut = {"hh": 8, "h": 16}.get(length or "")
            if cut:
                value = (value + (1 << cut - 1)) % (1 << cut) - (1 << cut - 1)
            return (spec + "d").encode() % value
        if kind in "ouxX":
            value = self._integer(size, False)
            cut = {"hh": 8, "h": 16}.get(length or "")
            if cut:
                value &= (1 << cut) - 1
            return c_unsigned(spec, kind, value, flags, precision)
        if kind == "c":
            character = bytes([self._integer(4, False) & 0xFF])
            return pad(character, width, flags)
        if kind == "s":
            pointer = self._integer(8, False)
            text = b"(null)" if pointer == 0 else self.ring._string(pointer) or b""
            return pad(text if precision is None else text[: int(precision or 0)], width, flags)
        if kind == "p":
            pointer = self._integer(8, False)
            return pad(b"(nil)" if pointer == 0 else hex(pointer).encode(), width, flags)
        value_f = struct.unpack("<d", self._take(8))[0]
        if math.isnan(value_f) or math.isinf(value_f):
            sign = "-" if math.copysign(1, value_f) < 0 else "+" if "+" in flags else " " if " " in flags else ""
            word = "nan" if math.isnan(value_f) else "inf"
            return pad((sign + (word.upper() if kind.isupper() else word)).encode(), width, flags.replace("0", ""))
        if kind in "aA":
            return pad(c_hexadecimal(value_f, kind, precision), width, flags)
        return (spec + kind).encode() % value_f


def pad(text: bytes, width: str | None, flags: str) -> bytes:
    """Text in a field."""
    n = int(width or 0)
    return text.ljust(n) if "-" in flags else text.rjust(n)


def c_unsigned(spec: str, kind: str, value: int, flags: str, precision: str | None) -> bytes:
    """An unsigned conversion; Python's octal prefix and zero with # differ from C's."""
    if kind == "u":
        return ((spec.replace("+", "").replace(" ", "").replace("#", "")) + "d").encode() % value
    plain_spec = spec.replace("#", "").replace("+", "").replace(" ", "")
    if "#" not in flags or value == 0:
        return (plain_spec + kind).encode() % value
    if kind in "xX":
        return (spec + kind).encode() % value
    digits = f"{value:o}"
    digits = "0" + digits if precision is None or int(precision or 0) <= len(digits) else digits.rjust(int(precision), "0")
    width = re.match(r"%[-+ #0]*(\d*)", spec)
    return pad(digits.encode(), width[1] if width else None, flags)


def c_hexadecimal(value: float, kind: str, precision: str | None) -> bytes:
    """%a, which prints as few digits as are exact where no precision is given."""
    text = value.hex()
    sign = "-" if text.startswith("-") else ""
    mantissa, exponent = text.lstrip("-").removeprefix("0x").split("p")
    whole, _, digits = mantissa.partition(".")
    if precision is not None:
        n = int(precision or 0)
        scaled = int(whole + digits, 16)
        drop = 4 * (len(digits) - n)
        if drop > 0:
            half = 1 << (drop - 1)
            rest = scaled & ((1 << drop) - 1)
            scaled >>= drop
            scaled += rest > half or (rest == half and scaled & 1)
            text = f"{scaled:x}".rjust(n + 1, "0")
            whole, digits = text[: len(text) - n] or "0", text[len(text) - n :] if n else ""
        else:
            digits = digits.ljust(n, "0")
    else:
        digits = digits.rstrip("0")
    out = f"{sign}0x{whole}{'.' + digits if digits else ''}p{int(exponent):+d}"
    return (out.upper() if kind == "A" else out).encode()
