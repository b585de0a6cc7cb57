"""The orders of a small launch in parts: what explores them, and what comes of a part, here, in processes side by side, or on a Dask cluster.

A machine of the cluster runs the launch itself, from the text of its program, and keeps what explores its orders for all parts that it gets.
What the cluster gives up, because a worker died or lacks a file, is explored here, so that no order is lost.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from warplab.interpreter.faults import Deadlock, ExecutionError
from warplab.interpreter.litmus.executions import Guesser
from warplab.interpreter.litmus.orders import OrderEnd, OrderExplorer
from warplab.interpreter.litmus.stepping import EndsInError, ThreadOracle

from ..cluster import connected
from ..device.launches.engines import cores
from ..device.output import quiet
from ..errors import UsageError
from .order_ends import EndsCompared
from .runner import Runner
from .runspec import RunSpec

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

MOST_ORDERS = 200_000
PARTS = 8  # for each process: some are longer than others
LATE = 1.0  # seconds that the answer of a machine takes


def explorer_of(runner: Runner | OrderedLaunch, kept: list[Runner]) -> OrderExplorer:
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


@dataclass(frozen=True, slots=True)
class OrdersSeen:
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
class OrdersCompared:
    """All orders of a launch, and the end of one with which the others are compared."""

    explorer: OrderExplorer
    runner: Runner  # whose memory is as it was before the launch
    first: OrderEnd

    def part(self, start: tuple[int, ...], until: float, is_over: Callable[[], bool] = bool) -> OrdersSeen:
        """The orders with a beginning."""
        count = 0
        try:
            for end in self.explorer.ends(until, start):
                if end is None or is_over():
                    return OrdersSeen(count, time_is_over=True)
                count += 1
                if lines := tuple(EndsCompared(self.runner, self.first, end).lines()):
                    return OrdersSeen(count, lines)
                if count >= MOST_ORDERS:
                    break
        except EndsInError as e:
            return OrdersSeen(count + 1, error=str(e))
        return OrdersSeen(count)


def can_fork() -> bool:
    """Are there other processors, and processes that begin with what this one knows?"""
    return cores() > 1 and sys.platform == "linux"


def side_by_side(compared: OrdersCompared, until: float) -> OrdersSeen:
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
    return OrdersSeen(count, time_is_over=time_is_over)


def _take(compared: OrdersCompared, until: float, is_over: Event) -> None:
    global _own
    _own = compared, until, is_over


def _explore(start: tuple[int, ...]) -> OrdersSeen:
    compared, until, is_over = _own
    return compared.part(start, until, is_over.is_set)


_own: tuple[OrdersCompared, float, Event]  # of this process


# ---------------------------------------------------------------- on a cluster


@dataclass(frozen=True, slots=True)
class OrderedLaunch:
    """A launch as it travels."""

    texts: tuple[bytes, ...]
    names: tuple[str, ...]
    spec: RunSpec
    folder: Path | None

    def compared(self, kept: list[Runner]) -> OrdersCompared:
        """Its orders, and the first one, which is the same on every machine."""
        explorer = explorer_of(self, kept)
        first = next(explorer.ends())
        assert first is not None
        return OrdersCompared(explorer, kept[0], first)


class _Explored:
    """What a machine of the cluster knows of the launch whose parts it gets; it explores one at a time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.launch: OrderedLaunch | None = None
        self.kept: list[Runner] = []
        self.compared: OrdersCompared

    def part(self, launch: OrderedLaunch, start: tuple[int, ...], until: float) -> OrdersSeen:
        """The orders with a beginning."""
        with self.lock:
            if self.launch != launch:
                for one in self.kept:
                    one.close()
                self.kept = []
                self.compared, self.launch = launch.compared(self.kept), launch
            return self.compared.part(start, until)


_explored = _Explored()


def remote(launch: OrderedLaunch, start: tuple[int, ...], seconds: float) -> OrdersSeen:
    """A part of the orders on a machine of the cluster."""
    return _explored.part(launch, start, time.monotonic() + seconds)


def on_cluster(compared: OrdersCompared, until: float, address: str) -> OrdersSeen:
    """The parts of the orders, each a task, until one differs or there are too many."""
    own, count, time_is_over = compared.runner, 0, False
    with connected(address) as client:
        launch = client.scatter(OrderedLaunch(own.texts, own.names, own.spec, own.folder), broadcast=True)
        parts = compared.explorer.parts(max(len(client.nthreads()), 1) * PARTS)
        futures = [client.submit(remote, launch, start, max(until - time.monotonic(), 0.0), pure=False) for start in parts]
        for start, future in zip(parts, futures, strict=True):
            try:
                seen: OrdersSeen = future.result(timeout=max(until - time.monotonic(), 0.0) + LATE)
            except TimeoutError:
                seen = OrdersSeen(0, time_is_over=True)
            except Exception:
                seen = compared.part(start, until)
            count, time_is_over = count + seen.count, time_is_over or seen.time_is_over
            if seen.is_fault or count >= MOST_ORDERS or time.monotonic() > until:
                client.cancel(futures)
                return replace(seen, count=count, time_is_over=time_is_over or not (seen.is_fault or count >= MOST_ORDERS))
    return OrdersSeen(count, time_is_over=time_is_over)
