"""Memory as bytes, and the PTX as the code of the machine: what stands for an instruction's address is its module and line."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np

from warplab.interpreter.recorder.track import PAGE_BITS
from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..errors import UsageError
from ..recording.questions import Recording
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .sources import module_source

LINES = 1 << 32  # lines of a module's part of the code's addresses
MOST_BYTES = 1 << 24
MOST_INSTRUCTIONS = 1 << 16
BASES = {"global": 0, "shared": SHARED_BASE, "local": LOCAL_BASE}


def memory_reference(space: str, owner: int, address: int) -> str:
    """What names a place in memory: a generic address, and of shared memory the block, of local memory the lane."""
    return f"{BASES[space] + address:#x}" + (f"@{owner}" if space != "global" else "")


def code_reference(module: int, line: int) -> str:
    """What names an instruction."""
    return f"{(module + 1) * LINES + line:#x}"


def code_place(reference: str) -> tuple[int, int]:
    """Module and line of an instruction's name."""
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|\d{1,18}", reference):
        raise UsageError(f"{reference} names no instruction")
    module, line = divmod(int(reference, 0), LINES)
    return module - 1, line


def _memory_place(a: Adapter, reference: str) -> tuple[str, int, int]:
    m = re.fullmatch(r"(0x[0-9a-fA-F]{1,16}|\d{1,19})(?:@(\d{1,12}))?", reference)
    if m is None:
        raise UsageError(f"{reference} names no place in memory")
    at, lane = int(m[1], 0), a.session.lane
    for space, own in (("shared", lane // a.rec.threads), ("local", lane)):
        if BASES[space] <= at < BASES[space] + WINDOW_SIZE:
            return space, int(m[2]) if m[2] else own, at - BASES[space]
    return "global", 0, at


@request("readMemory")
def read_memory(a: Adapter, args: RequestArguments) -> Body:
    """Bytes of memory before the step at which the debugger stands, as far as the recording has them."""
    space, owner, at = _memory_place(a, args.text("memoryReference"))
    at += args.whole("offset", 0)
    count = args.whole("count")
    if not 0 <= count <= MOST_BYTES or at < 0:
        raise UsageError(f"`count` must be 0 to {MOST_BYTES}, and the address not negative")
    raw = _readable(a.rec, space, owner, at, count, a.session.step)
    out: dict[str, Any] = {"address": f"{BASES[space] + at:#x}"}
    if len(raw) < count:
        out["unreadableBytes"] = count - len(raw)
    return out | ({"data": base64.b64encode(raw).decode()} if raw else {})


def _readable(rec: Recording, space: str, owner: int, at: int, count: int, step: int) -> bytes:
    """The bytes up to the first one that the recording does not have."""
    out = []
    if space == "shared":
        count = max(min(count, rec.track.shared_bytes - at), 0)
    while count > 0:
        piece = min(count, (1 << PAGE_BITS) - at % (1 << PAGE_BITS))
        try:
            held = rec.bytes.held(space, owner, at, piece, step)
        except UsageError:
            break
        if space == "global":
            held = held[: _known(rec, at, piece)]
        out.append(np.asarray(held).tobytes())
        if len(held) < piece:
            break
        at, count = at + piece, count - piece
    return b"".join(out)


def _known(rec: Recording, at: int, size: int) -> int:
    """How many bytes of a page's piece the page has."""
    page = rec.track.pages[at >> PAGE_BITS]
    return max(min(size, page.size - at % (1 << PAGE_BITS)), 0)


@request("disassemble")
def disassemble(a: Adapter, args: RequestArguments) -> Body:
    """Lines of the PTX around an instruction."""
    module, line = code_place(args.text("memoryReference"))
    count = args.whole("instructionCount")
    if not 0 <= module < len(a.rec.track.texts) or not 0 <= count <= MOST_INSTRUCTIONS:
        raise UsageError("no instructions are there")
    lines = a.rec.track.texts[module][1].splitlines()
    first = line + args.whole("offset", 0) + args.whole("instructionOffset", 0)
    source = module_source(a, module)
    out: list[dict[str, Any]] = []
    for n in range(first, first + count):
        known = 1 <= n <= len(lines)
        one: dict[str, Any] = {"address": code_reference(module, max(n, 0)), "instruction": lines[n - 1].strip() if known else ""}
        one |= {"line": n + a.first_line - 1} if known else {"presentationHint": "invalid"}
        if known and not any("location" in o for o in out):
            one["location"] = source
        out.append(one)
    return {"instructions": out}
