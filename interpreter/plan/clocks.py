"""What a clock shows: cycles of one warp, by the recorded latencies of the instructions between two of its readings.

A warp issues in order; an instruction waits for its operands, and a sequence of machine instructions for each before it.  Behind a segment all results are
there.  Loads from global memory take as long as from L2: which cache answers is not known here, nor what other warps do meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

from warplab.assembler.ir import Instruction, Register

from ..ptxas.machine.kinds import kind_of
from ..ptxas.machine.sequences import sequence
from .plan import Op, Segment, Special
from .uses import leaves, read, successors, written

CLOCKS = ("%clock", "%globaltimer")
H200 = (9, 0)  # whose latencies these are
READ = 2  # cycles from one reading to the next, as on an H100
FROM_L2 = 264
LOADS = {"shared": "LDS", "local": "LDL", "const": "LDC", "param": "LDC"}
ACCESSES = {"st": "ST", "red": "ST", "sust": "ST", "tex": "TEX", "tld4": "TEX", "suld": "TEX"}
FREE = frozenset({"cvta"})


def reads_clock(op: Op) -> bool:
    """Is a clock among its operands?"""
    return any(isinstance(x, Special) and x.name.startswith(CLOCKS) for s in op.sources for x in leaves(s))


def with_clocks(segments: list[Segment]) -> list[Segment]:
    """The segments of a function; each reading of a clock knows its cycles from the start of its segment, and those of a segment (one that turns, if any)."""
    if not any(reads_clock(op) for s in segments for op in s.ops):
        return segments
    times = [_schedule(s) for s in segments]
    turning = [n for n, s in enumerate(segments) if n in successors(s.end)] or list(range(len(segments)))
    each = max(1, round(sum(times[n][1] for n in turning) / len(turning)))
    out = []
    for s, (starts, _) in zip(segments, times, strict=True):
        ops = tuple(_told(op, start, each) if reads_clock(op) else op for op, start in zip(s.ops, starts, strict=True))
        out.append(replace(s, ops=ops))
    return out


def _told(op: Op, start: int, each: int) -> Op:
    sources = tuple(
        s._replace(offset=start, segment=each) if isinstance(s, Special) and s.name.startswith(CLOCKS) else s for s in op.sources
    )
    return op._replace(sources=sources)


def _schedule(s: Segment) -> tuple[list[int], int]:
    """When each operation of a segment issues, and when the segment is over."""
    now, last, ready, ports = 0, 0, dict[int, int](), dict[str, int]()
    starts = []
    for op in s.ops:
        clock = reads_clock(op)
        start = max([now, *(ready.get(slot, 0) for slot in read(op))])
        starts.append(start)
        words = ("CS2R",) if clock else _words(op)
        done = start
        for word in words:
            kind = kind_of(word)
            issued = max(done, now, 0 if clock else ports.get(kind.pipe, 0))
            port = READ if clock else max(1, round(kind.port))
            ports[kind.pipe], now = issued + port, issued + (READ if clock else 1)
            done = issued + (FROM_L2 if word == "LDG" else kind.latency)
        ready |= dict.fromkeys(written(op), done)
        if words and not clock:
            last = max(last, done)
    end = kind_of("BRA" if s.site is not None and s.site.instruction.opcode == "bra" else "").latency
    barrier = s.site is not None and s.site.instruction.opcode in ("bar", "barrier")
    return starts, max(now, last) + (kind_of("BAR").latency if barrier else end)


def _words(op: Op) -> tuple[str, ...]:
    """The machine instructions of an operation."""
    i: Instruction = op.site.instruction
    if op.how in ("factors", "quotient") or i.opcode in FREE or (i.opcode == "mov" and isinstance(i.operands[-1], Register)):
        return ()  # part of the sum that takes them; an address of another kind, or a register of another name
    space = next((m.partition("::")[0] for m in i.modifiers if m.partition("::")[0] in (*LOADS, "global")), "")
    if i.opcode in ("ld", "ldu"):
        return (LOADS.get(space, "LDG"),)
    if i.opcode == "atom":
        return ("ATOMS" if space == "shared" else "ATOMG",)
    return (ACCESSES[i.opcode],) if i.opcode in ACCESSES else sequence(i, H200)
