"""A texture unit one lane at a time in whole numbers and fractions: slow, and written from the rules, to hold the arrays against."""

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from warplab.isa.textures.resources import Image, Sampler, TexelFormat

from .surface_model import half

Quad = tuple[int, list[tuple[int, list[Any]]]]  # (weight, [(exact weight, channels of a texel)])
NAN = math.nan


def bits(x: float) -> int:
    """A float32 as its bits."""
    return int.from_bytes(struct.pack("<f", x), "little")


def rounded_h(x: int) -> int:
    return (x + 128) // 256


def in_texels(c: float, size: int, mode: str, normalized: bool, mipmapped: bool) -> Fraction:
    if math.isnan(c) or abs(c) < 2.0**-126:
        c = 0.0
    if math.isinf(c):
        return Fraction(0) if normalized and mode in ("wrap", "mirror") else Fraction(1 << 24 if c > 0 else -(1 << 24))
    t = Fraction(c)
    if normalized or mipmapped:
        steps = 2 ** (21 + (size > 8192) + (size > 65536))
        t = Fraction(math.floor(t * steps), steps) * size
    return max(min(t, Fraction(1 << 24) * size), Fraction(-(1 << 24)) * size)


def addressed(i: int, size: int, mode: str) -> int | None:
    """The texel that stands for texel i; None: the border."""
    if mode == "wrap":
        return i % size
    if mode == "mirror":
        i %= 2 * size
        return i if i < size else 2 * size - 1 - i
    if mode == "border" and not 0 <= i < size:
        return None
    return min(max(i, 0), size - 1)


def border_texel(f: TexelFormat, s: Sampler) -> list[Any]:
    most = (1 << f.bits - (f.kind == "s")) - 1
    out: list[Any] = []
    for k, c in enumerate(s.border[: f.channels]):
        if f.kind == "f":
            out.append(c if f.bits == 32 else struct.unpack("<e", struct.pack("<H", half(bits(c))))[0])
        elif f.bits == 32 or s.integer:
            code = bits(c) & ((1 << f.bits) - 1)
            out.append(code - (1 << f.bits) if f.kind == "s" and code >> f.bits - 1 else code)
        else:
            x = Fraction(min(max(c, 0.0 if f.kind == "u" else -1.0), 1.0))
            scaled = Fraction(int(x * 2**20), 2**20) * most
            out.append(int(math.copysign(math.ceil(abs(scaled) - Fraction(1, 2)), scaled)))
        assert k < 4
    return out


def quads(image: Image, s: Sampler, dims: int, point: Sequence[float], slice_: int, level: int, weight: int) -> Iterator[Quad]:
    """What a level adds to the sum: quads of neighbours with their weights."""
    texels = image.levels[level]
    depth, height, width = texels.shape[:3]
    sizes = (width, height, depth)[: max(dims, 2)]
    modes = [m if s.normalized or m == "border" else "clamp" for m in s.address]
    if dims == 1 and image.layered:
        modes[1] = "clamp"
    numbers, fractions = [], []
    for c, size, mode in zip([*point, 0.0], sizes, modes, strict=False):
        t = in_texels(c, size, mode, s.normalized, len(image.levels) > 1)
        if s.filter == "point":
            numbers.append((math.floor(t), math.floor(t)))
            fractions.append(0)
            continue
        q = math.floor(256 * t - 128 + Fraction(1, 2))
        if mode == "clamp":
            q = min(max(q, 0), 256 * (size - 1))
        numbers.append((q // 256, q // 256 + 1))
        fractions.append(q % 256)

    def texel(*place: int) -> list[Any]:
        found = [addressed(i, size, mode) for i, size, mode in zip(place, sizes, modes, strict=False)]
        if None in found:
            return border_texel(image.format, s)
        x, y, *z = found
        return texels[z[0] if z else slice_, y, x].tolist()  # type: ignore[no-any-return]

    a, b, *c_ = fractions
    slices = [(weight, numbers[2][0], 1)] if len(sizes) == 3 else [(weight, slice_, 1)]
    if len(sizes) == 3 and s.filter == "linear":
        near = rounded_h(weight * (256 - c_[0]))
        slices = [(near, numbers[2][0], 1), (weight - near, numbers[2][1], c_[0])]
    for w, z, exact_z in slices:
        if s.filter == "point":
            yield w, [(w, weight, texel(numbers[0][0], numbers[1][0], z))]  # type: ignore[list-item]
            continue
        right = rounded_h(w * a)
        left = w - right
        w11, w00 = rounded_h(right * b), rounded_h(left * (256 - b))
        parts = {(0, 0): w00, (0, 1): left - w00, (1, 0): right - w11, (1, 1): w11}
        yield (
            w,
            [
                (parts[i, j], weight * exact_z * (a if i else 1) * (b if j else 1), texel(numbers[0][i], numbers[1][j], z))  # type: ignore[misc]
                for i, j in product((0, 1), (0, 1))
            ],
        )


def round_to(x: Fraction, digits: int) -> float:
    """Half away from zero; below the normal numbers singles are 0, halves multiples of 2**-24."""
    if not x:
        return 0.0
    e = math.floor(math.log2(abs(x)))
    e += (abs(x) >= Fraction(2) ** (e + 1)) - (abs(x) < Fraction(2) ** e)
    unit = Fraction(2) ** (e + 1 - digits)
    if digits == 11:
        unit = max(unit, Fraction(2) ** -24)
    out = math.floor(abs(x) / unit + Fraction(1, 2)) * unit
    if digits == 24 and out < Fraction(2) ** -126:
        return 0.0
    return float(out) * (1 if x > 0 else -1)


def sum_of_floats(parts: list[Any], channel: int, size: int) -> int:
    guard, digits, least, nan = (27, 24, -126, 0x7FFFFFFF) if size == 32 else (14, 11, -14, 0x7FFFE000)
    taking_part = [t[channel] for _, quad in parts for _, exact, t in quad if exact]
    special = {x for x in taking_part if math.isinf(x)}
    if any(map(math.isnan, taking_part)) or len(special) == 2:
        return nan
    if special:
        return bits(special.pop())
    total, grids = [], []
    for _, quad in parts:
        counted = [(w, 0.0 if size == 32 and abs(t[channel]) < 2.0**-126 else t[channel]) for w, _, t in quad if w]
        e = max([least, *(math.frexp(x)[1] - 1 for _, x in counted if x)])
        unit = Fraction(2) ** (e - guard)
        total.append(sum((w * math.trunc(Fraction(x) / unit) * unit for w, x in counted), Fraction(0)) / 256)
        grids.append(4 * ((e - 1) // 4) + 1 - guard - 8)
    if len(parts) > 1:
        grid = Fraction(2) ** max(grids)
        total = [math.floor(x / grid) * grid for x in total]
    out = round_to(sum(total, Fraction(0)), digits)
    if not sum(total, Fraction(0)) and all(math.copysign(1, t[channel]) < 0 for _, quad in parts for w, _, t in quad if w):
        out = -0.0
    return bits(out)


def sum_of_codes(parts: list[Any], channel: int, f: TexelFormat, s: Sampler) -> int:
    total = sum(w * t[channel] for _, quad in parts for w, _, t in quad)
    if f.bits == 32 or s.integer:
        return (total // 256 if f.bits == 32 else rounded_h(total)) & 0xFFFFFFFF
    if f.bits == 16:
        code, most = rounded_h(total), 65535 if f.kind == "u" else 32767
    elif f.kind == "u":
        code, most = rounded_h(257 * total), 65535
    else:
        code, most = total + (total // 16 * 257 + 1024) // 2048, 32767
    return bits(float(Fraction(max(code, -most), most)))


def plain(x: Any, f: TexelFormat, s: Sampler) -> int:
    if f.kind == "f":
        return bits(x)
    if f.bits == 32 or s.integer:
        return int(x) & 0xFFFFFFFF
    most = (1 << f.bits - (f.kind == "s")) - 1
    return bits(float(Fraction(max(x, -most), most)))


def fetch(image: Image, s: Sampler, dims: int, point: Sequence[float], layer: int = 0, level: float | None = None) -> list[int]:
    """The four channels of one lane."""
    count = len(image.levels)
    k = -(1 << 16) if level is None else math.trunc(256 * (0 if math.isnan(level) else min(max(level, -99), 99))) + math.trunc(s.bias * 256)
    least, largest = (math.floor(min(max(x, 0), 99) * 256) for x in s.clamp)
    k = min(max(min(k, largest), least), 256 * (count - 1))
    slice_ = min(layer, 65535, image.levels[0].shape[0] - 1)
    near, far = (k // 256, k % 256) if s.mip_filter == "linear" else ((k + 128) // 256, 0)
    of_level: Callable[[int, int], list[Any]] = lambda at, w: list(quads(image, s, dims, point, slice_, at, w))  # noqa: E731
    parts = of_level(near, 256 - far) + (of_level(near + 1, far) if far else [])
    f, out = image.format, []
    for channel in range(f.channels):
        if s.filter == "point" and (s.mip_filter == "point" or count == 1):
            out.append(plain(parts[0][1][0][2][channel], f, s))
        else:
            out.append(sum_of_floats(parts, channel, f.bits) if f.kind == "f" else sum_of_codes(parts, channel, f, s))
    return out + [0] * (4 - len(out))
