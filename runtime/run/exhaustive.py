"""`--schedules exhaustive`: all orders of a small launch, or two of them that come to different ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.assembler.demangle import short_name
from warplab.interpreter.checkers.findings import Finding
from warplab.interpreter.faults import Deadlock, ExecutionError
from warplab.interpreter.litmus.events import NotModelled
from warplab.interpreter.litmus.executions import Guesser
from warplab.interpreter.litmus.orders import Cell, OrderEnd, OrderExplorer
from warplab.interpreter.litmus.stepping import EndsInError, ThreadOracle

from ..device.launches.engines import cores
from ..errors import UsageError
from ..reports.tables import counted
from .inputs.values import as_numbers
from .outcome import Outcome
from .runner import Runner
from .watchpoint import quiet

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

MOST_THREADS = 1024
MOST_ORDERS = 200_000
SECONDS = 60.0  # of exploring
ALONE = 1.0  # seconds behind which processes explore parts of the orders side by side
PARTS = 8  # for each process: some are longer than others


@dataclass(frozen=True, slots=True)
class ExhaustiveOrders:
    """What came of the orders of a launch, or of the first of them if there are too many."""

    count: int
    complete: bool
    difference: tuple[str, ...] | None = None  # lines about two orders that differ
    is_fault: bool = False
    failed: bool = False  # does the default order end in an error?
    findings: tuple[Finding, ...] = ()  # none: checkers do not watch these orders

    def __str__(self) -> str:
        if self.difference is not None:
            return "\n".join(self.difference)
        if not self.count:
            return "no orders were compared: " + ("the run ends in an error" if self.failed else f"one takes more than {SECONDS:g} seconds")
        number = counted(self.count, "order")
        if self.complete:
            return (
                f"all {number} give this result"
                if self.count > 1
                else "all orders give this result: conflicting accesses come in one order only"
            )
        return f"the first {number} give this result; there are more than could be looked at"

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"orders": self.count, "complete": self.complete, "difference": self.difference and list(self.difference)}


def exhaustive_orders(runner: Runner, outcome: Outcome) -> ExhaustiveOrders:
    """Goes through the orders of a run that was carried out, until two differ."""
    if len(runner.trail) != 1:
        raise UsageError(f"--schedules exhaustive goes through the orders of one launch, and this run has {len(runner.trail)}")
    shape = runner.trail[0][1]
    threads = int(np.prod(shape.grid)) * int(np.prod(shape.block))
    if threads > MOST_THREADS:
        raise UsageError(f"--schedules exhaustive goes through launches of {MOST_THREADS} threads at most, and this one has {threads}")
    if outcome.failure and not isinstance(outcome.cause, Deadlock):
        return ExhaustiveOrders(0, False, failed=True)
    kept: list[Runner] = []
    until = time.monotonic() + SECONDS
    try:
        explorer = explorer_of(runner, kept)
        first = next(explorer.ends(until))
        if first is None:
            return ExhaustiveOrders(0, False)
        compared = _OrdersCompared(explorer, kept[0], first)
        seen = compared.part((), min(until, time.monotonic() + ALONE) if can_fork() else until)
        if seen.time_is_over and can_fork():
            seen = _side_by_side(compared, until)
    except EndsInError as e:
        return ExhaustiveOrders(1, False, ("one order ends in an error:", *str(e).split("\n")), True)
    except NotModelled as e:
        raise UsageError(f"--schedules exhaustive does not cover {e}") from None
    finally:
        for one in kept:
            one.close()
    if seen.error:
        return ExhaustiveOrders(seen.count, False, ("one order ends in an error:", *seen.error.split("\n")), True)
    if seen.lines:
        return ExhaustiveOrders(seen.count, False, seen.lines, not outcome.checked)
    return ExhaustiveOrders(min(seen.count, MOST_ORDERS), not seen.time_is_over and seen.count < MOST_ORDERS)


def explorer_of(runner: Runner, kept: list[Runner]) -> OrderExplorer:
    """What goes through the orders of a run; `kept` gets a run whose memory stays as it was before the launch."""
    spec = replace(
        runner.spec, expect=(), show=(), dump=(), sanitize="", schedule=0, schedules=None, engine="numpy", poison=None, timeout=None
    )

    def launch(guesser: Guesser) -> None:
        one = Runner(runner.texts, runner.names, spec, runner.folder, (guesser,))
        with quiet():
            ended = one.run()
        if kept:
            one.close()
        else:
            kept.append(one)
        if ended.failure and not isinstance(ended.cause, Deadlock):  # threads that stop at a load look like one
            raise EndsInError(ended.failure) if isinstance(ended.cause, ExecutionError) else UsageError(ended.failure)

    return OrderExplorer(ThreadOracle(launch))


# ---------------------------------------------------------------- side by side


@dataclass(frozen=True, slots=True)
class _OrdersSeen:
    """What came of some of the orders."""

    count: int
    lines: tuple[str, ...] = ()  # of an order that differs
    error: str = ""  # in which an order ends
    time_is_over: bool = False

    @property
    def is_fault(self) -> bool:
        """Need no more orders be seen?"""
        return bool(self.lines or self.error)


@dataclass(frozen=True, slots=True)
class _OrdersCompared:
    """All orders of a launch, and the end of one with which the others are compared."""

    explorer: OrderExplorer
    runner: Runner  # whose memory is as it was before the launch
    first: OrderEnd

    def part(self, start: tuple[int, ...], until: float, is_over: Callable[[], bool] = bool) -> _OrdersSeen:
        """The orders with a beginning."""
        count = 0
        try:
            for end in self.explorer.ends(until, start):
                if end is None or is_over():
                    return _OrdersSeen(count, time_is_over=True)
                count += 1
                if lines := tuple(_EndsCompared(self.runner, self.first, end).lines()):
                    return _OrdersSeen(count, lines)
                if count >= MOST_ORDERS:
                    break
        except EndsInError as e:
            return _OrdersSeen(count + 1, error=str(e))
        return _OrdersSeen(count)


def can_fork() -> bool:
    """Are there other processors, and processes that begin with what this one knows?"""
    return cores() > 1 and sys.platform == "linux"


def _side_by_side(compared: _OrdersCompared, until: float) -> _OrdersSeen:
    """The parts of the orders in as many processes as there are processors, until one differs or there are too many."""
    import multiprocessing  # here, since few runs need it
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork")
    is_over = context.Event()
    count, time_is_over = 0, False
    with ProcessPoolExecutor(cores(), context, _take, (compared, until, is_over)) as pool:
        try:
            for seen in pool.map(_explore, compared.explorer.parts(cores() * PARTS)):
                count, time_is_over = count + seen.count, time_is_over or seen.time_is_over
                if seen.is_fault or count >= MOST_ORDERS:
                    return replace(seen, count=count, time_is_over=time_is_over)
        finally:
            is_over.set()
            pool.shutdown(cancel_futures=True)
    return _OrdersSeen(count, time_is_over=time_is_over)


def _take(compared: _OrdersCompared, until: float, is_over: Event) -> None:
    global _own
    _own = compared, until, is_over


def _explore(start: tuple[int, ...]) -> _OrdersSeen:
    compared, until, is_over = _own
    return compared.part(start, until, is_over.is_set)


_own: tuple[_OrdersCompared, float, Event]  # of this process


# ---------------------------------------------------------------- two ends


@dataclass(frozen=True, slots=True)
class _EndsCompared:
    """Two ends, and a run whose memory is as it was before the launch."""

    runner: Runner
    first: OrderEnd
    other: OrderEnd

    def lines(self) -> Iterator[str]:
        """What is said of them if they differ."""
        both = self.first, self.other
        if bool(self.first.waiting) is not bool(self.other.waiting):
            ends = [f"leaves {counted(len(e.waiting), 'thread')} waiting for ever" if e.waiting else "ends" for e in both]
            yield f"one order {ends[0]}, another one {ends[1]}"
            return
        a, b = ({cell: byte for cell, byte in end.written.items() if cell[0] == "global"} for end in both)
        different = next((cell for cell in sorted(a.keys() | b.keys()) if a.get(cell) != b.get(cell)), None)
        if different is None:
            return
        name, cells, dtype, type = self._place(different)
        values = [self._value(end, cells, dtype, type) for end in both]
        yield f"{name} is {values[0]} in one order, {values[1]} in another"
        for value, end in zip(values, both, strict=True):
            who = next((end.writers[cell] for cell in (different, *cells) if cell in end.writers), None)
            yield f"  {value}: " + ("no thread wrote it" if who is None else self._writer(*who))

    def _value(self, end: OrderEnd, cells: list[Cell], dtype: np.dtype[Any], type: str) -> str:
        before = self.runner.context.arena.bytes
        held = bytes(end.written.get(cell, int(before[cell[1]])) for cell in cells)
        return str(as_numbers(np.frombuffer(held, dtype), type)[0])

    def _place(self, cell: Cell) -> tuple[str, list[Cell], np.dtype[Any], str]:
        """The element at a place in memory: its name, its bytes and its type."""
        for name, (at, dtype, shape, type) in self._objects().items():
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            if at <= cell[1] < at + size:
                index = (cell[1] - at) // dtype.itemsize
                start = at + index * dtype.itemsize
                where = "".join(f"[{n}]" for n in np.unravel_index(index, shape)) if size > dtype.itemsize else ""
                return name + where, [("global", start + k) for k in range(dtype.itemsize)], dtype, type
        return f"the byte at {cell[1] + self.runner.context.arena.base:#x}", [cell], np.dtype(np.uint8), "u8"

    def _objects(self) -> dict[str, tuple[int, np.dtype[Any], tuple[int, ...], str]]:
        base = self.runner.context.arena.base
        out = {
            n: (b.address - base, b.before.dtype, b.before.shape, b.type) for n, b in self.runner.outcome.buffers.items() if not b.texels
        }
        for name, v in self.runner.module.program.variables.items():
            if name not in out and v.space == "global" and v.type.kind != "o" and v.size:
                address, size = self.runner.module.variable(name)
                out[name] = (address - base, v.type.dtype, (size // v.type.dtype.itemsize,), v.type.name)
        return out

    def _writer(self, number: int, line: int) -> str:
        handle, shape = self.runner.trail[0]
        per_block = int(np.prod(shape.block))
        block, thread = (_coordinates(n, d) for n, d in ((number // per_block, shape.grid), (number % per_block, shape.block)))
        return f"written last at line {line} by block {block}, thread {thread} of {short_name(handle.kernel.name)}"


def _coordinates(n: int, extent: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extent
    return n % x, n // x % y, n // (x * y)
