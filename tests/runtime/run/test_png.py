"""Pictures: what is written is read back; every filter of a row; what is not a picture is refused."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.runtime.errors import UsageError
from warplab.runtime.run.inputs.png import SIGNATURE, picture, read_png, write_png


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(0, 1 << 30))
def test_what_is_written_is_read_back(height: int, width: int, channels: int, seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, channels), np.uint8)
    pixels = pixels[:, :, 0] if channels == 1 else pixels
    assert np.array_equal(read_png(write_png(pixels), "p"), pixels)


def filtered(pixels: np.ndarray, kinds: list[int]) -> bytes:
    """The rows of a picture with the filters that are named, a byte at a time."""
    height, width, channels = pixels.shape
    out = bytearray()
    for y in range(height):
        out.append(kinds[y])
        for i in range(width * channels):
            x, c = divmod(i, channels)
            left = int(pixels[y, x - 1, c]) if x else 0
            up = int(pixels[y - 1, x, c]) if y else 0
            corner = int(pixels[y - 1, x - 1, c]) if x and y else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda n: abs(guess - n))
            out.append((int(pixels[y, x, c]) - (0, left, up, (left + up) // 2, paeth)[kinds[y]]) % 256)
    return bytes(out)


def file_of(rows: bytes, width: int, height: int, depth: int = 8, colour: int = 2, interlaced: int = 0) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    packed = zlib.compress(rows)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
    return SIGNATURE + head + chunk(b"tEXt", b"x") + chunk(b"IDAT", packed[:5]) + chunk(b"IDAT", packed[5:]) + chunk(b"IEND", b"")


@given(st.integers(1, 7), st.lists(st.integers(0, 4), min_size=1, max_size=7), st.integers(0, 1 << 30))
def test_rows_of_every_filter(width: int, kinds: list[int], seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (len(kinds), width, 3), np.uint8)
    assert np.array_equal(read_png(file_of(filtered(pixels, kinds), width, len(kinds)), "p"), pixels)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not begin"), (SIGNATURE, "no header"), (file_of(bytes(7), 2, 1, depth=16), "16 bits"), (file_of(bytes(7), 2, 1, colour=3), "colour type 3"),
        (file_of(bytes(7), 2, 1, interlaced=1), "interlaced"), (file_of(bytes(3), 2, 1), "too early"), (file_of(b"\5" + bytes(6), 2, 1), "filter 5"),
        (file_of(bytes(7), 0, 1), "0 x 1"), (file_of(bytes(7), 1 << 30, 1 << 30), "pixels"), (SIGNATURE + b"\0\0\0\4IDATjunk", "no header"),
    ],
)  # fmt: skip
def test_what_is_no_picture(data: bytes, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_png(data, "p")


def test_numbers_as_pictures() -> None:
    assert picture(np.array([[-1.0, 0.0, 0.5, 2.0, np.nan]], np.float32), "p").tolist() == [[0, 0, 128, 255, 0]]
    assert picture(np.array([[[-5], [300]]], np.int32), "p").tolist() == [[0, 255]]
    for wrong in (np.zeros(4), np.zeros((2, 2, 5)), np.zeros((0, 4)), np.zeros((2, 2), bool)):
        with pytest.raises(UsageError, match="is not a picture"):
            picture(wrong, "p")
