"""Machine code of x86-64 without a disassembler: the instructions that take an address or call a function, found by their first bytes.

Bytes that only look like such an instruction hardly ever lead to an address that anybody asks about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEA, BY_DISTANCE = 0x8D, 0x05  # lea reg, [rip + distance]: a prefix, the opcode, a byte of which bits 3 to 5 say the register
PREFIXES = (0x48, 0x4C)
MOVES = (0xBE, 0xBF, 0xC6, 0xC7)  # mov $address, %esi or %edi, where a program has a fixed address; the last two end the form with a prefix
CALLS = (0xE8, 0xE9)  # call and jmp, with a distance
AFTER = 32  # bytes: a call follows the instruction that loads its argument


class HostCode:
    """The machine code of an object, and its address there."""

    def __init__(self, raw: bytes, address: int, fixed: bool = False) -> None:
        self.raw, self.address, self.fixed = raw, address, fixed
        self._bytes = np.frombuffer(raw, np.uint8)[: max(len(raw) - 4, 0)]

    def _numbers(self, at: NDArray[Any]) -> NDArray[Any]:
        """The numbers of 32 bits that stand at places of the code."""
        whole = np.frombuffer(self.raw, np.uint8)
        return whole[at[:, None] + np.arange(4)].view("<i4")[:, 0].astype(np.int64) if len(at) else np.zeros(0, np.int64)

    @cached_property
    def taken(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The instructions that take an address: the places behind them, in order, and the addresses."""
        code = self._bytes
        at = np.flatnonzero(code[: -6 or None] == LEA)
        at = at[at > 0]
        at = at[np.isin(code[at - 1], PREFIXES) & (code[at + 1] & 0xC7 == BY_DISTANCE)] + 2
        ends, values = at + 4 + self.address, self._numbers(at)
        values = values + ends
        if self.fixed:
            moves = np.flatnonzero(np.isin(code, MOVES)) + 1
            moves = moves[moves + 4 <= len(self.raw)]
            ends, values = np.concatenate([ends, moves + 4 + self.address]), np.concatenate([values, self._numbers(moves)])
            order = np.argsort(ends, kind="stable")
            ends, values = ends[order], values[order]
        return ends, values

    def takes(self, addresses: Collection[int]) -> list[int]:
        """Behind which instructions one of these addresses has been taken."""
        ends, values = self.taken
        found: list[int] = ends[np.isin(values, np.fromiter(addresses, np.int64))].tolist()
        return found

    def taken_between(self, first: int, last: int) -> list[int]:
        """The addresses that are taken between two places."""
        ends, values = self.taken
        found: list[int] = values[np.searchsorted(ends, first) : np.searchsorted(ends, last, "right")].tolist()
        return found

    @cached_property
    def _called(self) -> tuple[NDArray[Any], NDArray[Any]]:
        at = np.flatnonzero(np.isin(self._bytes, CALLS))
        return at + self.address, at + self.address + 5 + self._numbers(at + 1)

    def calls(self, functions: Mapping[int, str]) -> dict[str, list[int]]:
        """The places of the calls of each function: address -> name."""
        at, targets = self._called
        chosen = np.isin(targets, np.fromiter(functions, np.int64))
        found: dict[str, list[int]] = {name: [] for name in functions.values()}
        for place, target in zip(at[chosen].tolist(), targets[chosen].tolist(), strict=True):
            found[functions[target]].append(place)
        return found

    def next_call(self, place: int, functions: Collection[int]) -> int | None:
        """The first of these functions that is called right behind a place."""
        at, targets = self._called
        near: Iterable[int] = targets[np.searchsorted(at, place) : np.searchsorted(at, place + AFTER)].tolist()
        return next((target for target in near if target in functions), None)

    def between(self, first: int, last: int) -> bytes:
        """The code between two places."""
        return self.raw[max(first - self.address, 0) : last - self.address]
