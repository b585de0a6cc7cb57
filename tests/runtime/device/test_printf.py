"""Device printf against the C library's own, format by format."""

import ctypes
import struct
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from warplab.interpreter.memory.arena import Arena
from warplab.runtime.device.launches.printf import PrintRing, formatted, string_at

libc = ctypes.CDLL(None)
Value = int | float | bytes

C_TYPES = {"": ctypes.c_int, "hh": ctypes.c_int, "h": ctypes.c_int, "l": ctypes.c_long, "ll": ctypes.c_longlong, "z": ctypes.c_size_t}
SIZES = {"": 4, "hh": 4, "h": 4, "l": 8, "ll": 8, "z": 8}

flags = st.sets(st.sampled_from("-+ #0")).map(lambda s: "".join(sorted(s)))
widths = st.one_of(st.just(""), st.integers(1, 24).map(str))
precisions = st.one_of(st.just(""), st.integers(0, 20).map(lambda n: f".{n}"), st.just("."))


def c_text(form: bytes, arguments: Sequence[object]) -> bytes:
    """What the C library prints."""
    out = ctypes.create_string_buffer(4096)
    n = libc.snprintf(out, 4096, form, *arguments)
    return out.raw[:n]


class Block:
    """An argument block and the strings that it points to, at made-up addresses."""

    def __init__(self) -> None:
        self.memory = bytearray(1 << 16)
        self.at, self.strings = 0, 0x8000

    def put(self, raw: bytes) -> None:
        self.at = -(-self.at // len(raw)) * len(raw)
        self.memory[self.at : self.at + len(raw)] = raw
        self.at += len(raw)

    def string(self, text: bytes) -> None:
        self.memory[self.strings : self.strings + len(text) + 1] = text + b"\0"
        self.put(struct.pack("<Q", self.strings))
        self.strings += len(text) + 1

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.memory[address : address + size])

    def printed(self, form: bytes) -> bytes:
        return formatted(form, self.read, 0)[0]


@given(flags, widths, precisions, st.sampled_from(sorted(SIZES)), st.sampled_from("diouxX"), st.integers(-(2**63), 2**63 - 1))
@example("#0", "8", ".0", "", "x", 0)
@example("#", "", ".0", "", "o", 0)
@example("0", "8", ".3", "", "d", -5)
@example("+ ", "", "", "hh", "d", 300)
def test_integers(flags: str, width: str, precision: str, length: str, kind: str, value: int) -> None:
    form = f"<%{flags}{width}{precision}{length}{kind}>".encode()
    size = SIZES[length]
    value &= (1 << 8 * size) - 1
    b = Block()
    b.put(value.to_bytes(size, "little"))
    assert b.printed(form) == c_text(form, [C_TYPES[length](value)])


@given(flags, widths, precisions, st.sampled_from("eEfFgGaA"), st.floats(width=64))
@example("", "", ".0", "a", 1.5)
@example("", "", ".0", "a", 2.5)
@example("#", "", ".0", "a", 1.0)
@example("0", "12", "", "f", float("nan"))
@example("", "", "", "a", 5e-324)
@example("", "", ".3", "a", 1.99999)
@example("#", "", "", "g", 1.0)
@example("+0", "20", "", "a", -0.0)
def test_floats(flags: str, width: str, precision: str, kind: str, value: float) -> None:
    form = f"<%{flags}{width}{precision}{kind}>".encode()
    b = Block()
    b.put(struct.pack("<d", value))
    assert b.printed(form) == c_text(form, [ctypes.c_double(value)])


@given(st.sampled_from(["", "-"]), widths, precisions, st.binary(max_size=30).map(lambda b: b.replace(b"\0", b"") + b"end"))
def test_strings(flags: str, width: str, precision: str, text: bytes) -> None:
    form = f"<%{flags}{width}{precision}s>".encode()
    b = Block()
    b.string(text)
    assert b.printed(form) == c_text(form, [ctypes.c_char_p(text)])


@given(st.sampled_from(["", "-"]), widths, st.integers(1, 255))
def test_characters(flags: str, width: str, value: int) -> None:
    form = f"<%{flags}{width}c>".encode()
    b = Block()
    b.put(struct.pack("<i", value))
    assert b.printed(form) == c_text(form, [ctypes.c_int(value)])


@given(st.integers(-20, 20), st.integers(-3, 20), st.integers(-(2**31), 2**31 - 1))
def test_stars(width: int, precision: int, value: int) -> None:
    form = b"<%*.*d|%-*d>"
    b = Block()
    for n in (width, precision, value, width, value):
        b.put(struct.pack("<i", n))
    arguments = [ctypes.c_int(n) for n in (width, precision, value, width, value)]
    assert b.printed(form) == c_text(form, arguments)


def test_arguments_stand_at_their_own_alignment() -> None:
    b = Block()
    b.put(struct.pack("<i", 7))
    b.put(struct.pack("<d", 0.5))
    b.put(struct.pack("<i", -1))
    b.put(struct.pack("<Q", 1 << 40))
    assert b.printed(b"%d %f %d %llu 100%% %5q?") == b"7 0.500000 -1 1099511627776 100% %5q?"


@pytest.mark.parametrize(("value", "shown"), [(0, b"(nil)"), (0x1234, b"0x1234")])
def test_pointers(value: int, shown: bytes) -> None:
    b = Block()
    b.put(struct.pack("<Q", value))
    assert b.printed(b"%p") == shown == c_text(b"%p", [ctypes.c_void_p(value)])


def test_no_more_than_32_arguments_are_taken() -> None:
    b = Block()
    for n in range(40):
        b.put(struct.pack("<i", n))
    out, count = formatted(b"%d " * 40, b.read, 0)
    assert count == 32
    assert out == b"".join(b"%d " % n for n in range(32)) + b"%d " * 8


def test_a_string_without_an_end_is_cut_where_memory_ends() -> None:
    assert string_at(lambda at, size: b"abc"[at : at + size], 0) == b"abc"


def test_the_ring_overwrites_its_oldest_output() -> None:
    ring = PrintRing(Arena(1 << 20), 5 * 256)
    for n in range(100):
        ring.add(b"line %02d\n" % n)
    kept = ring.take().splitlines()
    assert kept[-1] == b"line 99"
    assert len(kept) == 5, "each call takes 256 bytes, as on an H200"
    assert kept == [b"line %02d" % n for n in range(100 - len(kept), 100)]
    assert ring.take() == b""


def test_a_width_without_measure_is_bounded() -> None:
    b = Block()
    b.put(struct.pack("<i", 1))
    assert len(b.printed(b"%999999999d")) == 1 << 16
