"""What a clock shows: cycles of one warp, by the recorded latencies of the instructions between two of its readings.

A warp issues in order; an instruction waits for its operands, and a sequence of machine instructions for each before it.  Behind a segment all results are
there.  Loads from global memory take as long as from L2: which cache answers is not known here, nor what other warps do meanwhile.
"""

from __future__ import annotations

from dataclasses import replace

from ..ptxas.machine.kinds import kind_of
from ..ptxas.machine.single import alone, end_latency
from .plan import Op, Segment, Special
from .uses import leaves, read, successors, written

CLOCKS = ("%clock", "%globaltimer")
READ = 2  # cycles from one reading to the next, as on an H100
FROM_L2 = 264


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
    return starts, max(now, last) + end_latency(None if s.site is None else s.site.instruction)


def _words(op: Op) -> tuple[str, ...]:
    """The machine instructions of an operation; a factor is part of the sum that takes it."""
    return () if op.how in ("factors", "quotient") else alone(op.site.instruction)
