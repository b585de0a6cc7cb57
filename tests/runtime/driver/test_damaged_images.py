"""Damaged images of every kind: a call that loads one returns an error or loads what is left, in bounded time and memory."""

from __future__ import annotations

import ctypes
import ctypes.util
import random
import re
import resource
import struct
import time
from collections.abc import Callable

import pytest

from warplab.assembler import assemble
from warplab.runtime import driver as cu
from warplab.runtime.device.modules import fatbin
from warplab.runtime.device.modules.fatbin import FATBIN, HEADER, LZ4, PTX, ZSTD
from warplab.runtime.driver.api import STATE

from ..conftest import HEAD, KERNELS, Host, model_only
from .test_linking import archive, host_object

pytestmark = model_only
TEXT = (
    KERNELS + ".global .align 4 .b32 table[16] = {1, 2, 3};\n.const .f32 one_more = 0f3F800000;\n.global .u64 place = generic(table)+8;\n"
)
SAMPLE, MANY = 100, 2000
SECONDS = 5  # that one image may take
MEGABYTES = 512  # that all images of a kind may take
NUMBERS = ("0", "-1", "4294967295", "4000000000", "4294967296", "18446744073709551616", "9" * 40, "1e400", "0x" + "f" * 30)


def fat_binary(raw: bytes, flags: int = 0, size: int = 0) -> bytes:
    padded = raw + bytes(-len(raw) % 8)
    entry = struct.pack("<HH7I4Q", PTX, 0x101, 64, len(padded), 0, len(raw), 0, 0, 80, 0, flags, 0, size) + padded
    return HEADER.pack(FATBIN, 1, HEADER.size, len(entry)) + entry


def with_lz4(raw: bytes) -> bytes:
    """A block of LZ4 in which what stands twice is said once."""
    out, at, literals = b"", 0, b""

    def length(n: int) -> bytes:
        return b"" if n < 15 else b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])

    while at < len(raw):
        known = next((n for n in (64, 16, 8) if at + n < len(raw) - 12 and raw.find(raw[at : at + n], max(0, at - 60000), at) >= 0), 0)
        if not known:
            literals += raw[at : at + 1]
            at += 1
            continue
        back = at - raw.find(raw[at : at + known], max(0, at - 60000), at)
        out += bytes([min(len(literals), 15) << 4 | min(known - 4, 15)]) + length(len(literals)) + literals + struct.pack("<H", back)
        out += length(known - 4)
        at, literals = at + known, b""
    return out + bytes([min(len(literals), 15) << 4]) + length(len(literals)) + literals


def with_zstd(raw: bytes) -> bytes:
    name = ctypes.util.find_library("zstd")
    if name is None:
        pytest.skip("there is no libzstd to compress with")
    library = ctypes.CDLL(name)
    library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(len(raw) + 1000)
    size = library.ZSTD_compress(out, len(out), raw, len(raw), 3)
    return out.raw[:size]


def linked() -> bytes:
    """What cuLinkComplete gives, which stands for machine code."""
    state = cu.cuLinkCreate(0, [], [])[1]
    assert cu.cuLinkAddData(state, cu.CUjitInputType.CU_JIT_INPUT_PTX, TEXT.encode(), len(TEXT), b"text", 0, [], [])[0] == 0
    _, address, size = cu.cuLinkComplete(state)
    return ctypes.string_at(int(address), size)


RAW = TEXT.encode()
KINDS: dict[str, Callable[[], bytes]] = {
    "PTX": lambda: RAW,
    "object": lambda: assemble(TEXT),
    "fat binary": lambda: fat_binary(RAW),
    "fat binary with LZ4": lambda: fat_binary(with_lz4(RAW), LZ4, len(RAW)),
    "fat binary with zstd": lambda: fat_binary(with_zstd(RAW), ZSTD, len(RAW)),
    "linked image": linked,
    "host object": lambda: host_object({b".text": b"code", b".nv_fatbin": fat_binary(RAW)}),
    "library": lambda: archive(host_object({b"__nv_relfatbin": fat_binary(RAW)}), host_object({b".text": b"code"})),
}


def damaged(raw: bytes, seed: int) -> bytes:
    """An image in which some bytes are others, or which is cut off."""
    r = random.Random(seed)
    if r.random() < 0.15:
        return raw[: r.randrange(len(raw))]
    out = bytearray(raw)
    for _ in range(r.choice((1, 1, 1, 2, 4, 8))):
        at, width = r.randrange(min(len(out), 200) if r.random() < 0.5 else len(out)), r.choice((1, 2, 4, 8))
        value = r.choice((0, 1, (1 << 8 * width) - 1, 1 << 8 * width - 1, r.getrandbits(8 * width)))
        out[at : at + width] = value.to_bytes(width, "little")
    return bytes(out)


def misspelt(raw: bytes, seed: int) -> bytes:
    """A text in which words and numbers are missing, others, or there twice."""
    r, text = random.Random(seed), raw.decode()
    for _ in range(r.randrange(1, 4)):
        spots = [m.span() for m in re.finditer(r"[%.\w]+|[^\s\w]", text)]
        numbers = [m.span() for m in re.finditer(r"\b\d+\b", text)]
        (first, last), (other, end) = r.choice(spots), r.choice(spots)
        what = r.randrange(5)
        if what == 0 and numbers:
            (first, last), new = r.choice(numbers), r.choice(NUMBERS)
        else:
            letters = chr(r.choice((9, 10, 34, 92, 123, 125, 40, 41, 59, 0xE9, 0x2603))) * r.choice((1, 1, 300, 5000))
            new = ("", "", text[other:end], text[min(first, other) : max(last, end)], letters)[what]
        text = text[:first] + new + text[last:]
    return text.encode()


def load(image: bytes) -> str:
    code, module = cu.cuModuleLoadData(image)
    if code == 0:
        assert cu.cuModuleUnload(module)[0] == 0
    return str(code.name)


def attack(image: bytes, count: int, ways: tuple[Callable[[bytes, int], bytes], ...]) -> set[str]:
    """The codes of loads of damaged images; loading one raises nothing, and takes little time and memory."""
    assert load(image) == "CUDA_SUCCESS"
    before, codes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, set()
    for seed in range(count):
        begun = time.process_time()
        codes.add(load(ways[seed % len(ways)](image, seed)))
        assert time.process_time() - begun < SECONDS, seed
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES << 10
    return codes


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(MANY, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_image_is_an_error_or_harmless(host: Host, kind: str, count: int) -> None:
    codes = attack(KINDS[kind](), count, (damaged, misspelt) if kind == "PTX" else (damaged,))
    assert "CUDA_ERROR_INVALID_IMAGE" in codes
    assert codes <= {"CUDA_SUCCESS", *(f"CUDA_ERROR_{e}" for e in (
        "INVALID_IMAGE", "INVALID_PTX", "INVALID_SOURCE", "UNSUPPORTED_PTX_VERSION", "NO_BINARY_FOR_GPU", "OUT_OF_MEMORY", "NOT_SUPPORTED"))}  # fmt: skip


ENTRY = HEADER.size  # where the first entry begins


@pytest.mark.parametrize(
    ("at", "form", "value", "says"),
    [
        (6, "<H", 0, "its head has 0 bytes"),  # of the fat binary
        (ENTRY + 4, "<I", 0, "a head of 0 bytes"),  # of an entry, which then never ends
        (ENTRY + 8, "<I", 0, "an entry with a head of 64 bytes and 0 bytes of code"),
        (ENTRY + 8, "<I", 0xFFFFFFFF, "does not fit it"),
        (ENTRY + 16, "<I", 0x7FFFFFFF, "does not fit it"),  # compressed
        (ENTRY + 56, "<Q", 1 << 62, f"{fatbin.MOST_BYTES} are allowed"),  # not compressed
        (ENTRY + 56, "<Q", 1 << 20, "when it is decompressed"),
        (ENTRY + 64, "<I", 0xFFFFFFFF, "damaged"),
    ],
)
def test_a_damaged_size_is_named(host: Host, at: int, form: str, value: int, says: str) -> None:
    image = bytearray(fat_binary(with_lz4(RAW), LZ4, len(RAW)))
    struct.pack_into(form, image, at, value)
    assert load(bytes(image)) == "CUDA_ERROR_INVALID_IMAGE"
    assert STATE.last is not None and says in STATE.last.message


def test_a_compressed_text_of_another_size_is_damaged(host: Host) -> None:
    image = fat_binary(with_zstd(RAW), ZSTD, len(RAW) + 1)
    assert load(image) == "CUDA_ERROR_INVALID_IMAGE"
    with_address = bytearray(image)
    struct.pack_into("<Q", with_address, 8, 1 << 60)
    buffer = ctypes.create_string_buffer(bytes(with_address))
    assert host.code("cuModuleLoadData", ctypes.addressof(buffer)) == "INVALID_IMAGE"


def test_limits_of_declarations(host: Host) -> None:
    assert host.code("cuModuleLoadData", (HEAD + ".visible .entry k() { .reg .b32 %r<4000000000>; ret; }").encode()) == "INVALID_PTX"
    assert "4000000000 registers are too many" in str(STATE.last)
    assert host.code(
        "cuModuleLoadData", (HEAD + ".shared .b8 a[4294967296];\n.visible .entry k() { .reg .b64 %a; mov.u64 %a, a; ret; }").encode()
    ) == ("INVALID_PTX")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    module = host.load(HEAD + ".global .b8 large[8589934592] = {1, 2};")
    address, size = host("cuModuleGetGlobal", module, b"large")
    out = (ctypes.c_uint8 * 4)()
    host("cuMemcpyDtoH", ctypes.addressof(out), int(address), 4)
    assert (size, list(out)) == (1 << 33, [1, 2, 0, 0])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES << 10
    host("cuModuleUnload", module)


def test_variables_in_memory_that_served_before_begin_with_zeros(host: Host) -> None:
    text, wanted = HEAD + ".global .b8 again[300000000] = {7};", [7, 0, 0]
    for _ in range(2):
        module = host.load(text)
        address = int(host("cuModuleGetGlobal", module, b"again")[0])
        out = (ctypes.c_uint8 * 3)()
        host("cuMemcpyDtoH", ctypes.addressof(out), address, 3)
        assert list(out) == wanted
        host("cuMemsetD8", address, 9, 300000000)
        host("cuModuleUnload", module)
