"""What host memory is at an address, in words, as Linux lists the mappings of a process."""

from __future__ import annotations

import os


def host_memory_at(process: int | str, address: int) -> str:
    """`the program's stack`, `the program's heap`, `.data of a.out`; empty where nothing is mapped, or nobody knows."""
    try:
        with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as file:
            lines = [line.split(maxsplit=5) for line in file]
    except OSError:  # another system, or a process that has ended
        return ""
    behind, before = 0, ""  # the mapping before this one
    for span, rights, _, _, _, *name in lines:
        start, end = (int(x, 16) for x in span.split("-"))
        path = name[0].strip() if name else ""
        if start <= address < end:
            return _named(path, rights, before if behind == start else "")
        behind, before = end, path
    return ""


def _named(path: str, rights: str, before: str) -> str:
    if path in ("[stack]", "[heap]"):
        return f"the program's {path[1:-1]}"
    if path.startswith("/"):
        part = ".data" if "w" in rights else "code" if "x" in rights else "constants"
        return f"{part} of {os.path.basename(path)}"
    if before.startswith("/") and "w" in rights:
        return f".bss of {os.path.basename(before)}"
    return "memory that the program has mapped, as malloc does for large blocks"
