"""PNG pictures as arrays and back: 8 bits a channel, grey, grey with alpha, RGB or RGBA, not interlaced (PNG specification, 3rd edition)."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from ...errors import UsageError

Bytes = NDArray[np.uint8]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}  # by colour type
MOST_BYTES = 1 << 30


def read_png(data: bytes, name: str) -> Bytes:
    """A picture as (rows, columns), or (rows, columns, channels) where there are several."""

    def flaw(why: str) -> UsageError:
        return UsageError(f"{name}: {why}; a picture is a PNG of 8 bits a channel, grey, RGB or RGBA, not interlaced")

    if data[:8] != SIGNATURE:
        raise flaw("it does not begin as a PNG does")
    at, header, packed = 8, b"", b""
    while at + 8 <= len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    if len(header) != 13:
        raise flaw("it has no header")
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if depth != 8 or colour not in CHANNELS or interlaced:
        raise flaw(f"it has {depth} bits, colour type {colour}{', interlaced' if interlaced else ''}")
    channels = CHANNELS[colour]
    size = height * (1 + width * channels)
    if not width or not height or size > MOST_BYTES:
        raise flaw(f"it has {width} x {height} pixels")
    try:
        raw = zlib.decompressobj().decompress(packed, size)
    except zlib.error as e:
        raise flaw(str(e)) from None
    if len(raw) < size:
        raise flaw("it ends too early")
    rows = np.frombuffer(raw, np.uint8).reshape(height, 1 + width * channels)
    if rows[:, 0].max() > 4:
        raise flaw(f"a row has filter {rows[:, 0].max()}")
    out = _unfiltered(rows[:, 0], rows[:, 1:].reshape(height, width, channels))
    return out[:, :, 0] if channels == 1 else out


def _unfiltered(filters: Bytes, rows: Bytes) -> Bytes:
    """Undoes what each row was predicted from: the pixel to the left, above, and above to the left."""
    height, width, channels = rows.shape
    out = np.zeros((height + 1, width + 1, channels), np.uint8)  # with a row above and a column to the left
    for y in range(height):
        kind, row, above = filters[y], rows[y], out[y]
        if kind == 0:
            out[y + 1, 1:] = row
        elif kind == 1:
            out[y + 1, 1:] = np.cumsum(row, axis=0, dtype=np.uint8)
        elif kind == 2:
            out[y + 1, 1:] = row + above[1:]
        else:
            now, up, left = row.astype(np.int64).tolist(), above.astype(np.int64).tolist(), [0] * channels
            for x in range(width):
                if kind == 3:
                    left = [(n + (a + b >> 1)) & 255 for n, a, b in zip(now[x], left, up[x + 1], strict=True)]
                else:
                    left = [(n + _paeth(a, b, c)) & 255 for n, a, b, c in zip(now[x], left, up[x + 1], up[x], strict=True)]
                out[y + 1, x + 1] = left
    return out[1:, 1:]


def _paeth(left: int, above: int, corner: int) -> int:
    """The neighbour that is nearest to left + above - corner."""
    guess = left + above - corner
    return min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]


def picture(array: NDArray[np.generic], name: str) -> Bytes:
    """An array as a picture: integers as they are, within 0 to 255, floats from 0 to 1."""
    a = np.asarray(array)
    if a.ndim == 3 and a.shape[2] == 1:
        a = a[:, :, 0]
    if a.ndim not in (2, 3) or (a.ndim == 3 and a.shape[2] not in CHANNELS.values()) or not a.size or a.dtype.kind not in "iuf":
        raise UsageError(f"{name}: an array of {'x'.join(map(str, a.shape))} is not a picture: rows, columns, and up to four channels")
    wide = np.nan_to_num(a.astype(np.float64)) * (255 if a.dtype.kind == "f" else 1)
    return np.floor(np.clip(wide, 0, 255) + 0.5).astype(np.uint8)


def write_png(pixels: Bytes) -> bytes:
    """A picture as a PNG file."""
    height, width, *rest = pixels.shape
    channels = rest[0] if rest else 1
    colour = next(c for c, n in CHANNELS.items() if n == channels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = np.zeros((height, 1 + width * channels), np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")
