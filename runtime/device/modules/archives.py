"""What a host compiler makes of CUDA sources: objects, whose sections hold fat binaries, and libraries of such objects."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...errors import ApiError
from .fatbin import is_fatbin

ARCHIVE = b"!<arch>\n"
ELF = b"\x7fELF"
HOSTS = (62, 183)  # x86-64, aarch64
SECTIONS = (b".nv_fatbin", b"__nv_relfatbin")  # the second of what was compiled with -rdc=true
MEMBER, SECTION = 60, struct.Struct("<II4Q")  # the head of an archive's member; of a section as far as it is needed


def is_archive(image: bytes) -> bool:
    """Is it a library of objects?"""
    return image.startswith(ARCHIVE)


def is_host_object(image: bytes) -> bool:
    """Is it an object for the processor that the program runs on?"""
    return image.startswith(ELF) and len(image) >= 64 and struct.unpack_from("<H", image, 18)[0] in HOSTS


def fat_binaries(image: bytes) -> list[bytes]:
    """The fat binaries of an object, or of all objects of a library."""
    try:
        objects = list(_members(image)) if is_archive(image) else [image]
        return [part for o in objects if is_host_object(o) for part in _sections(o)]
    except (struct.error, ValueError, IndexError, OverflowError):
        raise ApiError("CUDA_ERROR_INVALID_IMAGE", "the library or object is cut off") from None


def _members(image: bytes) -> Iterator[bytes]:
    at = len(ARCHIVE)
    while at + MEMBER <= len(image):
        size = int(image[at + 48 : at + 58])
        if size < 0:
            raise ValueError(size)
        yield image[at + MEMBER : at + MEMBER + size]
        at += MEMBER + size + size % 2


def _sections(image: bytes) -> Iterator[bytes]:
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    heads = [SECTION.unpack_from(image, table + n * size) for n in range(count)]
    for name, _, _, _, at, length in heads:
        start = heads[names][4] + name
        if image[start : image.index(b"\0", start)] in SECTIONS and is_fatbin(image[at : at + length]):
            yield image[at : at + length]
