"""Surfaces one lane and one byte at a time, in plain Python: the rules that the H200's results follow."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
REACHED = {"1d": ("1d", "a1d"), "a1d": ("1d", "a1d"), "2d": ("2d", "a2d", "3d"), "a2d": ("2d", "a2d", "3d"), "3d": ("3d",)}
OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda m, b: m + b,
    "min": min,
    "max": max,
    "and": lambda m, b: m & b,
    "or": lambda m, b: m | b,
}


class MisalignedError(Exception):
    """An access that does not begin at a multiple of its size."""


class OutsideError(Exception):
    """A place that .trap refuses."""


@dataclass
class SurfaceModel:
    """An array of width x height x slices texels; each has some channels of a kind ("u", "s" or "f") and of some bits."""

    contents: bytearray
    sizes: tuple[int, int, int]
    kind: str
    bits: int
    channels: int
    geometry: str

    @property
    def texel(self) -> int:
        return self.bits // 8 * self.channels

    def place(self, geometry: str, coordinates: Sequence[int], size: int, clamp: str, counts_bytes: bool) -> int | None:
        """The first byte at signed coordinates; None outside."""
        numbers = list(coordinates)
        width, height, slices = self.sizes
        layer = numbers.pop(0) % 65536 if geometry[0] == "a" else 0
        misaligned = counts_bytes and numbers[0] % size
        x = numbers[0] * (1 if counts_bytes else size)
        y = numbers[1] if geometry.endswith(("2d", "3d")) else 0
        z = numbers[2] if geometry == "3d" else 0 if self.geometry == "3d" else layer
        row = width * self.texel
        last = row // size * size - size
        if self.geometry not in REACHED[geometry]:
            where = None
        else:
            if clamp == "clamp" and last >= 0:
                x, y, z = min(max(x, 0), last), min(max(y, 0), height - 1), min(max(z, 0), slices - 1)
            inside = 0 <= x <= last and 0 <= y < height and 0 <= z < slices
            if clamp == "trap" and not inside:
                raise OutsideError
            where = (z * height + y) * row + x if inside else None
        if misaligned:
            raise MisalignedError
        return where

    def load(self, at: int | None, size: int) -> bytes:
        return bytes(size) if at is None else bytes(self.contents[at : at + size])

    def store(self, at: int | None, value: bytes) -> None:
        if at is not None:
            self.contents[at : at + len(value)] = value

    def reduce(self, at: int | None, op: str, value: bytes, signed: bool) -> None:
        if at is not None:
            old, new = (int.from_bytes(b, "little", signed=signed) for b in (self.load(at, len(value)), value))
            self.store(at, (OPERATIONS[op](old, new) % (1 << 8 * len(value))).to_bytes(len(value), "little"))

    def texel_of(self, registers: Sequence[int]) -> bytes:
        """Registers of 32 bits as one texel; channels that no register stands for are 0."""
        return b"".join(self.channel(r) for r in [*registers, 0, 0, 0][: self.channels])

    def channel(self, register: int) -> bytes:
        size = self.bits // 8
        if self.kind == "f":
            return register.to_bytes(4, "little") if size == 4 else half(register).to_bytes(2, "little")
        number = register - (1 << 32) if self.kind == "s" and register >> 31 else register
        least, most = (-(1 << self.bits - 1), (1 << self.bits - 1) - 1) if self.kind == "s" else (0, (1 << self.bits) - 1)
        return (min(max(number, least), most) % (1 << self.bits)).to_bytes(size, "little")


def half(register: int) -> int:
    """The bits of a float32 as a half, cut towards zero; what is finite stays so, and a NaN stays one."""
    sign, exponent, payload = register >> 31 << 15, register >> 23 & 255, register & 0x7FFFFF
    if exponent == 255:
        return sign | 0x7C00 | (max(payload >> 13, 1) if payload else 0)
    value: float = abs(struct.unpack("<f", struct.pack("<I", register))[0])
    least, beyond = 0, 0x7C00  # halves of one sign are ordered as their bits are
    while beyond - least > 1:
        middle = (least + beyond) // 2
        least, beyond = (middle, beyond) if struct.unpack("<e", struct.pack("<H", middle))[0] <= value else (least, middle)
    return sign | least
