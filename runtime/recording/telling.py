"""Values, threads and instructions in words, as all faces of a recording print them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.recorder.layout import RecordedInstruction

from ..errors import UsageError
from .questions import Cell, Recording
from .slices import BadValue, Link, ReadValue

Array = NDArray[Any]


def number(value: Any, form: str = "") -> str:
    """A value in one of gdb's formats.

    >>> number(np.float32(0.1)), number(np.uint32(255), "x"), number(np.int32(-1), "u"), number(np.bool_(True))
    ('0.1', '0xff', '4294967295', '1')
    """
    v = np.asarray(value)
    if v.ndim:
        return "{" + ", ".join(number(x, form) for x in v) + "}"
    if form in ("", "f", "d") and v.dtype.kind == "f":
        return str(v[()]) if v.dtype.itemsize < 8 else repr(float(v))
    size = v.dtype.itemsize
    bits = int(v.reshape(1).view(f"u{size}")[0]) if v.dtype.kind != "b" else int(v)
    match form:
        case "":
            return str(int(v))
        case "x" | "a":
            return hex(bits)
        case "u":
            return str(bits)
        case "d":
            return str(bits - (1 << 8 * size) if bits >> (8 * size - 1) and size > 1 and v.dtype.kind != "b" else bits)
        case "o":
            return oct(bits).replace("0o", "0") if bits else "0"
        case "t":
            return format(bits, "b")
        case "c":
            return f"{bits & 0xFF} {chr(bits & 0xFF)!r}"
        case "f":
            kind = {2: np.float16, 4: np.float32, 8: np.float64}.get(size)
            return str(bits) if kind is None else str(np.array([bits], f"u{size}").view(kind)[0])
    raise UsageError(f"there is no format /{form}; there are {' '.join('/' + f for f in 'xduotafc')}")


def dim3(d: tuple[int, int, int]) -> str:
    """Coordinates as cuda-gdb writes them."""
    return f"({d[0]},{d[1]},{d[2]})"


def thread_text(rec: Recording, lane: int) -> str:
    """A thread: `block (0,0,0), thread (17,0,0), warp 0, lane 17`."""
    t = rec.thread(lane)
    linear = lane % rec.threads
    return f"block {dim3(t.block)}, thread {dim3(t.thread)}, warp {linear >> 5}, lane {linear & 31}"


def place(rec: Recording, i: RecordedInstruction) -> str:
    """Where an instruction stands: `vecadd () at vecadd.ptx:43`, and its line of the source."""
    from warplab.assembler.demangle import short_name

    name = rec.track.texts[i.module][0].rpartition("/")[2]
    if name.endswith(".cu"):  # the line is one of the PTX that it was compiled to
        name = f"{name.removesuffix('.cu')}.ptx"
    return f"{short_name(i.function)} () at {name}:{i.line}" + (f" ({i.source})" if i.source else "")


def values(written: tuple[tuple[str, Any], ...] | tuple[ReadValue, ...]) -> str:
    """`%r1 = 3, %r2 = 4`."""
    pairs = [(w.name, w.value) if isinstance(w, ReadValue) else w for w in written]
    return ", ".join(f"{name} = {number(value)}" for name, value in pairs)


def link_lines(rec: Recording, one: Link) -> list[str]:
    """An instruction of a slice with what it read and wrote."""
    out = [f"  step {one.step}, line {one.instruction.line}: {one.instruction.text}"]
    at = thread_text(rec, one.lane)
    out.append(f"      {at}" + (f": {values(one.written)}" if one.written else ""))
    for s in one.read:
        since = (
            "before the launch"
            if s.step is None and not s.name.startswith("%")
            else "never written"
            if s.step is None
            else f"step {s.step}"
        )
        if s.name.startswith("%"):
            out.append(f"      reads {s.name} = {number(s.value)} ({since})")
        else:
            who = "" if s.step is None else f", {thread_text(rec, s.lane)}"
            out.append(f"      reads {s.name} = {number(s.value)} ({since}{who})")
    return out


def _memory_text(rec: Recording, cell: Cell) -> str:
    """Whose memory an element lies in."""
    if cell.space == "shared":
        return f"shared memory of block {dim3(rec.thread(cell.owner * rec.threads).block)}"
    return f"{cell.space} memory" + (f" of {thread_text(rec, cell.owner)}" if cell.space == "local" else "")


def origin_lines(rec: Recording, kind: str, found: BadValue | None) -> list[str]:
    """Where a bad value was born, and its way to memory."""
    if found is None:
        return [
            f"no {kind} was stored to global memory"
            if kind != "uninitialised"
            else "no instruction reads a register, or memory, that nothing has written"
        ]
    if kind == "uninitialised":
        assert found.birth is not None
        i = found.birth.instruction
        where = "" if found.place is None else f", {_memory_text(rec, found.place)},"
        return [f"{found.cell}{where} is read before anything has written it", *link_lines(rec, found.birth), f"  {place(rec, i)}"]
    out = [f"{found.cell} = {number(found.value)}"]
    if found.birth is None:
        out.append(f"it was in memory before the launch: {found.found}")
    else:
        out.append("was born here:")
        out += link_lines(rec, found.birth)
    way = found.way if found.birth is None else found.way[1:]
    if way:
        out.append("and came to memory by")
        shown = way if len(way) <= 8 else (*way[:3], None, *way[-3:])
        for one in shown:
            out.append(
                f"  ... {len(way) - 6} more"
                if one is None
                else f"  step {one.step}, line {one.instruction.line}: {one.instruction.text}   {values(one.written)}".rstrip()
            )
    return out


EXCEPTIONS = (  # cuda-gdb's, by words of a fault
    ("out of bounds", "CUDA_EXCEPTION_14, Warp Illegal Address"), ("misaligned", "CUDA_EXCEPTION_6, Warp Misaligned Address"),
    ("illegal instruction", "CUDA_EXCEPTION_4, Warp Illegal Instruction"), ("stack", "CUDA_EXCEPTION_3, Lane User Stack Overflow"),
    ("assert", "CUDA_EXCEPTION_12, Warp Assert"), ("trap", "CUDA_EXCEPTION_13, Warp Trap"),
)  # fmt: skip


def exception(fault: str) -> str:
    """A fault as cuda-gdb names it."""
    return next((name for words, name in EXCEPTIONS if words in fault.lower()), "CUDA_EXCEPTION_14, Warp Illegal Address")
