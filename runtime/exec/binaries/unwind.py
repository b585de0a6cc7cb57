"""The calls that are under way in a thread of the program: its stack, walked by the tables for unwinding (.eh_frame) of its object files."""

from __future__ import annotations

import mmap
import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from .elf import MACHINE
from .lines import ByteReader
from .maps import MappedObject, first_address, sections

# Numbers of registers in DWARF: the stack's, the frame's, and the one that stands for the return address.
STACK, FRAME, RETURN = (31, 29, 30) if MACHINE == "aarch64" else (7, 6, 16)
TABLE, HEAD = b"\1\x1b\3\x3b", 12  # the form of .eh_frame_hdr: pairs of 32-bit numbers, relative to the section, behind its head
MOST = 64  # calls
POINTER_BYTES = {0x0: 8, 0x2: 2, 0x3: 4, 0x4: 8, 0xA: 2, 0xB: 4, 0xC: 8}  # by the lower half of how addresses are written
# Operations of the tables, as DWARF names them; the first three have a number in their lower six bits.
ADVANCE_LOC, OFFSET, RESTORE = 0x40, 0x80, 0xC0
ADVANCE_LOCS = {0x02: 1, 0x03: 2, 0x04: 4}
OFFSET_EXTENDED, RESTORE_EXTENDED, UNDEFINED, SAME_VALUE, IN_REGISTER = 0x05, 0x06, 0x07, 0x08, 0x09
REMEMBER_STATE, RESTORE_STATE = 0x0A, 0x0B
DEF_CFA, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION = 0x0C, 0x0D, 0x0E, 0x0F
EXPRESSION, OFFSET_EXTENDED_SF, DEF_CFA_SF, DEF_CFA_OFFSET_SF, VAL_OFFSET, VAL_OFFSET_SF, VAL_EXPRESSION = range(0x10, 0x17)
GNU_ARGS_SIZE = 0x2E
NO_REGISTER = -1


@dataclass(frozen=True, slots=True)
class CallFrame:
    """A call that is under way: where it goes on, and the registers then."""

    back: int
    stack: int
    frame: int


@dataclass(slots=True)
class FrameRule:
    """Where the caller's registers are, seen from a place in a function."""

    register: int = STACK  # from which the caller's stack is counted, by so many bytes
    offset: int = 0
    saved: dict[int, int] = field(default_factory=dict)  # registers in memory, seen from the caller's stack


@dataclass(frozen=True, slots=True)
class CommonEntry:
    """What the descriptions of many functions share."""

    code: int  # the units of addresses and of offsets
    data: int
    pointer: int  # bytes of an address
    rule: FrameRule  # at the beginning of a function


@dataclass(frozen=True, slots=True)
class UnwindTable:
    """That of one object file."""

    begins: list[int]  # of each function, in the addresses of the file
    entries: list[int]  # where it is described, in .eh_frame
    raw: bytes  # that section
    known: dict[int, FrameRule | None] = field(default_factory=dict)  # the rules that were asked for

    def function(self, address: int) -> int:
        """Where the function begins that holds an address; -1 where none is known."""
        n = bisect_right(self.begins, address) - 1
        return self.begins[n] if n >= 0 else -1

    def rule(self, address: int) -> FrameRule | None:
        """What holds at an address."""
        if address not in self.known:
            self.known[address] = self._rule(address)
        return self.known[address]

    def _rule(self, address: int) -> FrameRule | None:
        n = bisect_right(self.begins, address) - 1
        if n < 0:
            return None
        r = ByteReader(self.raw, self.entries[n])
        end = r.number(4) + r.at
        common = self._common(r.at - r.number(4))
        r.number(common.pointer)
        if address >= self.begins[n] + r.number(common.pointer):
            return None
        r.at += r.leb()
        rule = deepcopy(common.rule)
        _run(ByteReader(self.raw[:end], r.at), common, rule, address - self.begins[n])
        return rule

    def _common(self, at: int) -> CommonEntry:
        r = ByteReader(self.raw, at)
        end = r.number(4) + r.at
        r.number(4)
        version, augmentation = r.number(1), r.string()
        code, data = r.leb(), r.leb(signed=True)
        _ = r.number(1) if version == 1 else r.leb()
        pointer = 8
        if augmentation.startswith("z"):
            then = r.leb() + r.at
            for letter in augmentation[1:]:
                if letter == "R":
                    pointer = POINTER_BYTES[r.number(1) & 15]
                elif letter == "P":
                    r.number(POINTER_BYTES[r.number(1) & 15])
                elif letter == "L":
                    r.number(1)
            r.at = then
        out = CommonEntry(code, data, pointer, FrameRule())
        _run(ByteReader(self.raw[:end], r.at), out, out.rule, None)
        return out


def _run(r: ByteReader, common: CommonEntry, rule: FrameRule, until: int | None) -> None:
    """Does the operations for the addresses of a function up to one, or all."""
    first, kept, at = deepcopy(rule), list[FrameRule](), 0

    def set_to(other: FrameRule) -> None:
        rule.register, rule.offset, rule.saved = other.register, other.offset, dict(other.saved)

    def restore(register: int) -> None:
        rule.saved.pop(register, None)
        if register in first.saved:
            rule.saved[register] = first.saved[register]

    while r.at < len(r.raw):
        op = r.number(1)
        high, low = op & 0xC0, op & 0x3F
        if high == ADVANCE_LOC or op in ADVANCE_LOCS:
            at += (low if high else r.number(ADVANCE_LOCS[op])) * common.code
            if until is not None and at > until:
                return
        elif high == OFFSET:
            rule.saved[low] = r.leb() * common.data
        elif high == RESTORE or op == RESTORE_EXTENDED:
            restore(low if high else r.leb())
        elif op in (OFFSET_EXTENDED, OFFSET_EXTENDED_SF):
            register = r.leb()
            rule.saved[register] = r.leb(signed=op == OFFSET_EXTENDED_SF) * common.data
        elif op in (UNDEFINED, SAME_VALUE):
            rule.saved.pop(r.leb(), None)
        elif op in (IN_REGISTER, VAL_OFFSET, VAL_OFFSET_SF):
            r.leb(), r.leb()
        elif op == REMEMBER_STATE:
            kept.append(deepcopy(rule))
        elif op == RESTORE_STATE:
            set_to(kept.pop())
        elif op in (DEF_CFA, DEF_CFA_SF):
            rule.register = r.leb()
            rule.offset = r.leb(signed=True) * common.data if op == DEF_CFA_SF else r.leb()
        elif op == DEF_CFA_REGISTER:
            rule.register = r.leb()
        elif op in (DEF_CFA_OFFSET, DEF_CFA_OFFSET_SF):
            rule.offset = r.leb(signed=True) * common.data if op == DEF_CFA_OFFSET_SF else r.leb()
        elif op == DEF_CFA_EXPRESSION:
            rule.register = NO_REGISTER
            r.at += r.leb()
        elif op in (EXPRESSION, VAL_EXPRESSION):
            rule.saved.pop(r.leb(), None)
            r.at += r.leb()
        elif op == GNU_ARGS_SIZE:
            r.leb()


def table_of(found: MappedObject) -> UnwindTable | None:
    """That of an object; None if it has none that can be read."""
    try:
        return _table(found.path, os.stat(found.path).st_mtime_ns)
    except (OSError, ValueError, struct.error):
        return None


@lru_cache(maxsize=64)
def _table(path: str, changed: int) -> UnwindTable | None:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as raw:
        parts = {name: s for name, s in sections(raw) if name.startswith(".eh_frame")}
        if parts.keys() != {".eh_frame", ".eh_frame_hdr"}:
            return None
        (_, _, _, header, at, *_), (_, _, _, address, there, size, *_) = parts[".eh_frame_hdr"], parts[".eh_frame"]
        if raw[at : at + len(TABLE)] != TABLE:
            return None
        (count,) = struct.unpack_from("<I", raw, at + HEAD - 4)
        pairs = np.frombuffer(raw[at + HEAD : at + HEAD + 8 * count], "<i4").reshape(-1, 2).astype(np.int64)
        begins: list[int] = (pairs[:, 0] + header - first_address(raw)).tolist()
        entries: list[int] = (pairs[:, 1] + header - address).tolist()
        return UnwindTable(begins, entries, raw[there : there + size])


def calls(innermost: CallFrame, object_of: Callable[[int], MappedObject | None], word: Callable[[int], int]) -> Iterator[CallFrame]:
    """The calls that are under way, from the innermost on, as far as the tables tell; `word` reads eight bytes of the program's memory."""
    call = innermost
    for _ in range(MOST):
        yield call
        found = object_of(call.back - 1)
        table = table_of(found) if found is not None else None
        try:
            rule = table.rule(call.back - 1 - found.base) if found is not None and table is not None else None
        except (IndexError, KeyError):  # a table that nobody can read
            return
        registers = {STACK: call.stack, FRAME: call.frame}
        if rule is None or rule.register not in registers or RETURN not in rule.saved:
            return
        stack = registers[rule.register] + rule.offset
        if stack <= call.stack:
            return
        back = word(stack + rule.saved[RETURN])
        frame = word(stack + rule.saved[FRAME]) if FRAME in rule.saved else call.frame
        if not back:
            return
        call = CallFrame(back, stack, frame)
