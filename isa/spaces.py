"""The state spaces of PTX ISA 5.1, and how addresses of shared memory name a CTA of the cluster.

A generic address in [base, base + 2**32) of a window lies in that space; all others are global, kernel parameters and constants
among them.  Bits 24..31 of a shared address say whose memory it is: 0 the own CTA's, r + 1 that of the CTA of rank r.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SHARED = "shared shared::cta shared::cluster"
NEAR = "local const param param::entry param::func " + SHARED  # all that instructions name but .global

SHARED_BASE = 0x7E00_0000_0000
LOCAL_BASE = 0x7D00_0000_0000
WINDOW_SIZE = 1 << 32
RESERVED_SHARED = 1024  # bytes that the system keeps of each block's shared memory, recorded on the H200

_OFFSET = 0xFFFFFF
_RANK_AT = 24
_RANKS = 0xFF


@dataclass(frozen=True, slots=True)
class Space:
    """One state space or sub-space, and what may be done there."""

    name: str
    generic: bool  # reached by generic addresses
    ld: bool
    st: bool
    atom: bool
    doc: str


_ROWS = (
    Space("reg", False, False, False, False, "Registers of a thread; they have no address."),
    Space("sreg", False, False, False, False, "Special registers, read with mov and cvt."),
    Space(
        "const",
        True,
        True,
        False,
        False,
        "Read-only for kernels, initialised by the module or the host; 64 KB.",
    ),
    Space("global", True, True, True, True, "Seen by all threads, the host and other devices."),
    Space("local", True, True, True, False, "Private to a thread."),
    Space("param", True, True, True, False, "Parameters: of an entry (read-only) or of a function call."),
    Space("param::entry", True, True, False, False, "Parameters of the entry, read-only."),
    Space("param::func", False, True, True, False, "Parameters and results of a device function."),
    Space(
        "shared",
        True,
        True,
        True,
        True,
        "Shared by the threads of a CTA; other CTAs of the cluster reach it too.",
    ),
    Space("shared::cta", True, True, True, True, "Shared memory of the own CTA."),
    Space("shared::cluster", True, True, True, True, "Shared memory of any CTA of the cluster."),
    Space("tex", False, False, False, False, "Textures, by the texture instructions alone (deprecated)."),
)

SPACES: dict[str, Space] = {row.name: row for row in _ROWS}


def cluster_address(a: Array, rank: Array) -> Array:
    """mapa: the address of the place a in the shared memory of the CTA of that rank."""
    mark = (rank.astype(a.dtype) + a.dtype.type(1) & a.dtype.type(_RANKS)) << a.dtype.type(_RANK_AT)
    cleared = a & ~a.dtype.type(_RANKS << _RANK_AT)
    address: Array = cleared | mark
    return address


def cluster_rank(a: Array, own: Array) -> NDArray[np.uint32]:
    """getctarank: the rank of the CTA whose shared memory holds a; own is the asking CTA's."""
    mark = (a >> a.dtype.type(_RANK_AT) & a.dtype.type(_RANKS)).astype(np.uint32)
    return np.where(mark == 0, own, mark - np.uint32(1)).astype(np.uint32)


def cluster_offset(a: Array) -> Array:
    """The place within its CTA's shared memory that a shared address names."""
    offset: Array = a & a.dtype.type(_OFFSET)
    return offset


def window_of(space: str) -> int:
    """Where a space begins among the generic addresses."""
    return SHARED_BASE if space.startswith("shared") else LOCAL_BASE if space == "local" else 0
