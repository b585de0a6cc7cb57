"""A text's statements without their numbers: of `add.s32 %r12, %r3, 5` and `add.s32 %r1, %r2, 7` one pattern is left.

A compiler's text of a million statements has some hundred patterns, so that most statements are known by one look-up.  The numbers of
registers stand beside the patterns in arrays: whether they are declared is asked of all at once.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

# What stands for that which is left out; no text has these characters outside of comments and strings.
REGISTER, NUMBER, SINGLE, DOUBLE, NAME, VARIABLE, LARGE = "\x01", "\x02", "\x03", "\x04", "\x05", "\x06", "\x07"
# A statement of the pattern; a name stays as it is.
EXAMPLES = str.maketrans({REGISTER: "0", NUMBER: "1", LARGE: "1000000000", SINGLE: "3F800000", DOUBLE: "3FF0000000000000"})
_FEW_DIGITS = 9  # of a number that may count something
_MOST_DIGITS, _MOST_LETTERS = 18, 3  # of a number, and of a register's name before its number
_HALF = 5  # bits for a letter
_GONE = 0xFF  # no character of a text

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]


def _among(characters: bytes) -> Bools:
    found = np.zeros(256, np.bool_)
    found[list(characters)] = True
    return found


_LETTERS = bytes(range(ord("a"), ord("z") + 1))
_HEX = _among(b"0123456789abcdefABCDEF")
_IN_NAMES = _among(_LETTERS + _LETTERS.upper() + b"0123456789_$")
_IN_TOKENS = _IN_NAMES | _among(b"%.:\"'")
_BEFORE = _among(b" \t\r\n,[{+-")  # a plain number
_AFTER = _among(b" \t\r\n,;]}")
_LETTER = np.zeros(256, np.uint8)
_LETTER[list(_LETTERS)] = np.arange(1, 27)


class Patterns:
    """The patterns of a text between its semicolons, and the registers and names that were left out."""

    def __init__(self, code: str) -> None:
        data = np.frombuffer((code + ";" * 32).encode("ascii"), np.uint8)  # so that looking ahead stays within
        self._out = data.copy()
        self._registers(data)
        before = data[:-1]
        digits = data[1:] - np.uint8(ord("0")) < 10
        starts = np.flatnonzero(digits & ((before < ord(".")) | (before == ord("[")) | (before == ord("{")))) + 1
        self._numbers(data, starts[_BEFORE.take(data.take(starts - 1))])
        self._names(data, np.flatnonzero(data == ord("$")))
        self._text = self._out[: len(code)]
        self.texts: list[str] = self._text.tobytes().translate(None, bytes([_GONE])).decode().split(";")
        del self._out

    @functools.cached_property
    def dropped(self) -> Ints:
        """The offsets of the characters that patterns do not have."""
        return np.flatnonzero(self._text == _GONE)

    def rest(self, k: int, start: int, pos: int) -> str:
        """What is left of a stretch that begins at `start`, from `pos` on."""
        first, last = self.dropped.searchsorted((start, pos)).tolist()
        return self.texts[k][pos - start - (last - first) :]

    def _leave_out(self, starts: Ints, lengths: Ints, sign: str) -> None:
        """Puts a sign in the place of each of these stretches."""
        self._out[starts] = ord(sign)
        for i in range(1, int(lengths.max(initial=0))):
            longer = np.flatnonzero(lengths > i)
            starts, lengths = starts.take(longer), lengths.take(longer)
            self._out[starts + i] = _GONE

    def _registers(self, data: Bytes) -> None:
        """Finds `%r12`: few small letters, and a number as it is usually written."""
        signs = np.flatnonzero(data == ord("%"))
        first = _LETTER.take(data.take(signs + 1))
        fits = (first > 0) & ~_IN_TOKENS.take(data.take(signs - 1))  # before the first character comes the last one, a semicolon
        if not fits.all():
            signs, first = signs[fits], first[fits]
        key, at = first.astype(np.int64), signs + 2
        still = np.arange(signs.size)
        for n in range(1, _MOST_LETTERS):
            letter = _LETTER.take(data.take(at.take(still)))
            still = still[letter > 0]
            key[still] |= letter[letter > 0].astype(np.int64) << (n * _HALF)
            at[still] += 1
        lengths, numbers = _numbers(data, at)
        good = (lengths > 0) & ~_IN_TOKENS.take(data.take(at + lengths))
        if not good.all():
            at, lengths, numbers, key = at[good], lengths[good], numbers[good], key[good]
        self.at = at  # where the number of each register begins,
        self.number = numbers  # what it is,
        seen = np.zeros(1 << (_MOST_LETTERS * _HALF), np.int64)
        seen[key] = 1
        keys = np.flatnonzero(seen)
        seen[keys] = np.arange(keys.size)
        self.stem: Ints = seen.take(key)  # and which of these names stands before it
        self.stems = [_name(k) for k in keys.tolist()]
        self._leave_out(at, lengths, REGISTER)

    def _numbers(self, data: Bytes, starts: Ints) -> None:
        """Finds plain numbers, and floating-point ones in hexadecimal digits."""
        # Behind a + comes the offset of a register or name, or something that is to be computed.
        starts = starts[(data.take(starts - 1) != ord("+")) | _IN_NAMES.take(data.take(starts - 2))]
        lengths, _ = _numbers(data, starts)
        plain = (lengths > 0) & _AFTER.take(data.take(starts + lengths))
        for mark, chosen in ((NUMBER, plain & (lengths <= _FEW_DIGITS)), (LARGE, plain & (lengths > _FEW_DIGITS))):
            self._leave_out(starts[chosen], lengths[chosen], mark)
        zero = starts[(data.take(starts) == ord("0")) & (data.take(starts - 1) != ord("+"))]
        kind = data.take(zero + 1) | 0x20
        for letter, digits, mark in (("f", 8, SINGLE), ("d", 16, DOUBLE)):
            found = zero[kind == ord(letter)] + 2
            for i in range(digits):
                found = found[_HEX.take(data.take(found + i))]
            found = found[_AFTER.take(data.take(found + digits))]
            self._leave_out(found, np.full(found.size, digits), mark)

    def _names(self, data: Bytes, starts: Ints) -> None:
        """Finds `$name`, as compilers call labels."""
        starts = starts[~_IN_TOKENS.take(data.take(starts - 1))]
        at, still = starts + 1, np.arange(starts.size)
        while still.size:
            still = still[_IN_NAMES.take(data.take(at.take(still)))]
            at[still] += 1
        after = data.take(at)
        good = (at > starts + 1) & ((after == ord(":")) | _AFTER.take(after))
        starts, at = starts[good], at[good]
        self.names: list[tuple[int, int]] = list(zip(starts.tolist(), at.tolist(), strict=True))
        self._leave_out(starts + 1, at - starts - 1, NAME)


def _numbers(data: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The lengths and values of the numbers at these places; length 0 for none, one that is too long, or has a leading zero."""
    digit = data.take(at) - np.uint8(ord("0"))
    value, lengths = digit.astype(np.int64), (digit < 10).astype(np.int64)
    zeros = np.flatnonzero(digit == 0)
    lengths[zeros[data.take(at.take(zeros) + 1) - np.uint8(ord("0")) < 10]] = 0
    still = np.flatnonzero(digit - np.uint8(1) < 9)
    for i in range(1, _MOST_DIGITS + 1):
        digit = data.take(at.take(still) + i) - np.uint8(ord("0"))
        more = np.flatnonzero(digit < 10)
        still = still.take(more)
        if not still.size:
            break
        value[still] = value.take(still) * 10 + digit.take(more)
        lengths[still] += 1
    lengths[still] = 0  # those that never ended
    return lengths, value


def _name(key: int) -> str:
    """`%rd` of the letters' numbers."""
    letters = [key >> (i * _HALF) & ((1 << _HALF) - 1) for i in range(_MOST_LETTERS)]
    return "%" + "".join(chr(n + ord("a") - 1) for n in letters if n)
