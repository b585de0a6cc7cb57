"""Fat binaries: which PTX texts are in one, whatever they were compressed with."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

from warplab.isa.profiles import target_capability

from ...errors import ApiError
from .targets import refused

WRAPPER, FATBIN = 0x466243B1, 0xBA55ED50
HEADER = struct.Struct("<IHHQ")
PTX, CUBIN, LTO = 1, 2, 8
LZ4, ZSTD = 0x2000, 0x8000
MOST_BYTES = 1 << 28  # of an entry when it is not compressed
MOST_IMAGE = 1 << 32
LEAST_HEAD = 64  # bytes of the head of an entry
Read = Callable[[int, int], bytes]  # (address, size)


@dataclass(frozen=True, slots=True)
class FatBinaryEntry:
    """Code for one architecture."""

    kind: int
    architecture: int  # 90 for sm_90
    flags: int
    size: int  # when it is not compressed
    raw: bytes

    def content(self) -> bytes:
        """What it was before it was compressed."""
        if not self.flags & (LZ4 | ZSTD):
            return self.raw
        if self.size > MOST_BYTES:
            raise damaged(f"an entry claims to have {self.size} bytes when it is decompressed; {MOST_BYTES} are allowed")
        out = lz4_block(self.raw, self.size) if self.flags & LZ4 else zstd(self.raw, self.size)
        if len(out) != self.size:
            raise damaged(f"an entry of {self.size} bytes has {len(out)} when it is decompressed")
        return out

    def text(self) -> bytes:
        """The PTX."""
        return self.content().rstrip(b"\0").lstrip(b"\n")


def damaged(what: str) -> ApiError:
    """A fat binary that no compiler has written."""
    return ApiError("CUDA_ERROR_INVALID_IMAGE", f"the fat binary is damaged: {what}")


def image_at(address: int, read: Read) -> bytes:
    """The fat binary at an address; those behind a wrapper, which -rdc=true linked in advance and which together are one program."""
    magic, version, data, more = struct.unpack("<IIQQ", read(address, 24))
    if magic != WRAPPER:
        return _one(address, read)
    if version != 2 or not more:
        return _one(data, read)
    out = b""
    while pointer := struct.unpack("<Q", read(more, 8))[0]:
        out += _one(pointer, read)
        more += 8
    return out


def _one(address: int, read: Read) -> bytes:
    magic, _, header, size = HEADER.unpack(read(address, HEADER.size))
    if magic != FATBIN:
        raise ApiError("CUDA_ERROR_INVALID_IMAGE", f"no fat binary stands at {address:#x}")
    if header + size > MOST_IMAGE:
        raise damaged(f"it claims to have {header + size} bytes")
    return read(address, header + size)


def is_fatbin(image: bytes) -> bool:
    """Is it a fat binary, or several behind one another?"""
    return image[:4] == struct.pack("<I", FATBIN)


def texts(image: bytes, device: str, rules_only: bool = False) -> list[bytes]:
    """The PTX that a device runs, of each of the fat binaries that stand behind one another; with `rules_only` also newer PTX."""
    out, at = [], 0
    while is_fatbin(image[at : at + 4]):
        _, _, header, size = HEADER.unpack_from(image, at)
        if header < HEADER.size:
            raise damaged(f"its head has {header} bytes")
        found = _ptx_for(image[at : at + header + size], device, rules_only)
        out += [found] if found is not None else []
        at += header + size
    return out


def entries(image: bytes) -> Iterator[FatBinaryEntry]:
    """What is in a fat binary."""
    _, _, at, size = HEADER.unpack_from(image)
    end = at + size
    while at + LEAST_HEAD <= end:
        kind, _, header, padded, _, compressed = struct.unpack_from("<HHIIII", image, at)
        (architecture,) = struct.unpack_from("<I", image, at + 28)
        (flags,) = struct.unpack_from("<Q", image, at + 40)
        (plain,) = struct.unpack_from("<Q", image, at + 56)
        packed = flags & (LZ4 | ZSTD)
        if header < LEAST_HEAD or at + header + padded > end or (packed and compressed > padded):
            raise damaged(f"an entry with a head of {header} bytes and {padded} bytes of code does not fit it")
        raw = image[at + header : at + header + (compressed if packed else padded)]
        yield FatBinaryEntry(kind, architecture, flags, plain, raw)
        at += header + padded


def holds_lto(image: bytes) -> bool:
    """Is there LTO-IR in one of the fat binaries that stand behind one another?"""
    at = 0
    while is_fatbin(image[at : at + 4]):
        _, _, header, size = HEADER.unpack_from(image, at)
        if any(e.kind == LTO for e in entries(image[at : at + header + size])):
            return True
        at += header + size
    return False


def _ptx_for(image: bytes, device: str, rules_only: bool) -> bytes | None:
    """The newest PTX that a device runs; None where the image has no code at all.

    The oldest newer PTX stands for machine code that the device runs, as in NVIDIA's own libraries, and for all else with `rules_only`.
    """
    own = target_capability(device)
    found = list(entries(image))
    texts = sorted((e for e in found if e.kind == PTX), key=lambda e: e.architecture)
    if not texts:
        code = sorted({e.architecture for e in found if e.kind == CUBIN and b".text." in e.content()})
        if code:
            raise ApiError("CUDA_ERROR_NO_BINARY_FOR_GPU",
                           f"the program holds machine code for {', '.join(f'sm_{a}' for a in code)} and no PTX: compile it with -arch=sm_{code[0]}, "
                           f"or with -gencode arch=compute_{code[0]},code=compute_{code[0]}")  # fmt: skip
        return None
    fitting = [e for e in texts if divmod(e.architecture, 10) <= own]
    machine_code = any(divmod(e.architecture, 10) <= own < (e.architecture // 10 + 1, 0) for e in found if e.kind == CUBIN)
    if not fitting and not machine_code and not rules_only:
        raise refused("the program", f"sm_{texts[0].architecture}", device, "CUDA_ERROR_NO_BINARY_FOR_GPU")
    return (fitting or texts[:1])[-1].text()


def lz4_block(raw: bytes, size: int) -> bytes:
    """Decompresses a block of LZ4."""
    out = bytearray()
    at = 0

    def length(first: int) -> int:
        nonlocal at
        n = first
        while first == 15:
            n += raw[at]
            at += 1
            if raw[at - 1] != 255:
                break
        return n

    while at < len(raw) and len(out) < size:
        token = raw[at]
        at += 1
        n = length(token >> 4)
        out += raw[at : at + n]
        at += n
        if at + 2 > len(raw) or len(out) >= size:
            break
        back = raw[at] | raw[at + 1] << 8
        at += 2
        n = length(token & 15) + 4
        if not 0 < back <= len(out):
            raise damaged("its LZ4 block is broken")
        while n:
            piece = out[len(out) - back : len(out) - back + n]
            out += piece
            n -= len(piece)
    return bytes(out[:size])


def zstd(raw: bytes, size: int) -> bytes:
    """Decompresses a frame of Zstandard: with Python's own module, a package that has one, or the system's library."""
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            module = import_module(name)
        except ImportError:
            continue
        try:
            return bytes(module.ZstdDecompressor().decompress(raw, size + 1))
        except (module.ZstdError, MemoryError):
            raise damaged("its zstd frame is broken") from None
    from ctypes.util import find_library  # here, since it imports what starts programs, and few fat binaries are compressed so

    for file in ("libzstd.so.1", find_library("zstd")):
        if file is None:
            continue
        try:
            library = ctypes.CDLL(file)
        except OSError:
            continue
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        out = ctypes.create_string_buffer(size)
        if library.ZSTD_decompress(out, size, raw, len(raw)) != size:
            raise damaged("its zstd frame is broken")
        return out.raw
    raise ApiError("CUDA_ERROR_INVALID_IMAGE", "the program's PTX is compressed with zstd: pip install backports.zstd, or compile with "
                   "-compress-mode=none")  # fmt: skip
