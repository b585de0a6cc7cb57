"""Memory of the host in which memory of devices lies."""

from __future__ import annotations

import gc
import mmap
import sys
from contextlib import suppress

LEAST = 1 << 24  # bytes; who gets less than that can't go on
WINDOWS_MEMORY = 4 << 30  # at most, where address space can't be had without memory behind it


def address_space(size: int) -> mmap.mmap:
    """Address space that costs memory only where it is touched; less of it where the system refuses so much.

    In large pages, where the system has them: lanes that access memory in disorder otherwise wait for the page tables of the host.
    """
    if sys.platform == "win32":
        return mmap.mmap(-1, min(size, WINDOWS_MEMORY))
    no_reserve = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)  # Python names it from 3.13 on
    collected = False
    while True:
        try:
            space = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)
        except (OSError, OverflowError, ValueError):
            if not collected and gc.collect():  # unreachable contexts hold their memory until they are collected
                collected = True
                continue
            if size <= LEAST:
                raise
            size //= 2
            continue
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with suppress(OSError):
                space.madvise(mmap.MADV_HUGEPAGE)
        return space
