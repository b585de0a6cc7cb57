"""Lines of 128 bytes as bits: one for each of a line's 32 words; a sector is named by the bit of its first word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint32]

LINE, SECTOR = 128, 32  # bytes
FIRST_WORDS = np.uint32(0x01010101)  # the first word of each sector
SECTOR_WORDS = np.uint32(0xFF)  # times a sector's bit: all its words
ALL_WORDS = np.uint32(0xFFFF_FFFF)


def touched(words: Bits) -> Bits:
    """The sectors that some words lie in.

    >>> [hex(x) for x in touched(np.array([0x2, 0x8000_0300], np.uint32))]
    ['0x1', '0x1000100']
    """
    t = words | words >> np.uint32(4)
    t |= t >> np.uint32(2)
    t |= t >> np.uint32(1)
    t &= FIRST_WORDS
    return t


def filled(words: Bits) -> Bits:
    """The sectors of which all words are given.

    >>> [hex(x) for x in filled(np.array([0xFF, 0x7FFF], np.uint32))]
    ['0x1', '0x1']
    """
    t = words & words >> np.uint32(4)
    t &= t >> np.uint32(2)
    t &= t >> np.uint32(1)
    t &= FIRST_WORDS
    return t
