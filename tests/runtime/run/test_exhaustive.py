"""`--schedules exhaustive`: every class of orders is carried out once, and what it comes to is right."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from tests.runtime.litmus.test_litmus_programs import Does, Threads, interleavings, programs, reads, text
from warplab.runtime.cli import main
from warplab.runtime.device.output import quiet
from warplab.runtime.run import exhaustive, order_parts
from warplab.runtime.run.order_parts import OrderedLaunch, OrdersCompared, OrdersSeen, explorer_of
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def explored(threads: Threads, launch: str, parts: int = 1) -> tuple[int, set[tuple[int, ...]]]:
    """How many orders there are, in so many parts, and the values of x and y, and of what was read, behind them."""
    runner = Runner([text(threads).encode()], ["k.ptx"], directives(f"//@ run {launch}")[0], None)
    with quiet():
        runner.run()
    kept: list[Runner] = []
    explorer = explorer_of(runner, kept)
    ends = [end for start in explorer.parts(parts) for end in explorer.ends(start=start) if end is not None]
    names = ["x", "y", *(f"r{n}_{k}" for n, does in enumerate(threads) for k, d in enumerate(does) if reads(d))]
    places = [kept[0].module.variable(name)[0] - kept[0].context.arena.base for name in names]
    assert not any(end.waiting for end in ends)
    return len(ends), {
        tuple(int.from_bytes(bytes(end.written.get(("global", at + k), 0) for k in range(4)), "little") for at in places) for end in ends
    }


def classes(threads: Threads) -> int:
    """How many orders there are that differ in the order of two accesses to one location, at least one of which writes."""
    found = set()

    def go(at: tuple[int, ...], done: tuple[tuple[int, int], ...]) -> Iterator[None]:
        over = True
        for n, does in enumerate(threads):
            if at[n] < len(does):
                over = False
                yield from go((*at[:n], at[n] + 1, *at[n + 1 :]), (*done, (n, at[n])))
        if over:
            found.add(
                frozenset(
                    (a, b)
                    for i, a in enumerate(done)
                    for b in done[i + 1 :]
                    if (p := threads[a[0]][a[1]]).at == (q := threads[b[0]][b[1]]).at and {p.what, q.what} != {"ld"}
                )
            )
        yield

    for _ in go((0,) * len(threads), ()):
        pass
    return len(found)


@settings(max_examples=40, deadline=None)
@given(programs)
def test_each_class_of_orders_is_carried_out_once(threads: Threads) -> None:
    threads = [[d for d in does if d.what not in ("bar", "fence")] for does in threads]
    names = ["x", "y", *(f"r{n}_{k}" for n, does in enumerate(threads) for k, d in enumerate(does) if reads(d))]
    wanted = {tuple(end[name] for name in names) for end in interleavings(threads, (0,) * len(threads), {"x": 0, "y": 0})}
    for launch in (f"--grid {len(threads)} --block 1", f"--grid 1 --block {len(threads)}"):
        for parts in (1, 5):
            count, found = explored(threads, launch, parts)
            assert found == wanted and count == classes(threads)


def test_the_classes_of_two_stores_and_a_load() -> None:
    threads = [[Does("st", "x", 1)], [Does("st", "x", 2)], [Does("ld", "y")]]
    assert classes(threads) == 2
    assert explored(threads, "--grid 3 --block 1") == (2, {(1, 0, 0), (2, 0, 0)})


def sanitize(path: Path, body: str, launch: str, *words: str, code: int = 0) -> str:
    path.write_text(HEAD + body)
    result = CliRunner().invoke(main, ["run", str(path), "--sanitize", "none", *launch.split(), "--schedules", "exhaustive", *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    return result.output


COUNT = """.visible .entry count(.param .u64 x)
{{
    .reg .b32 %v;
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    {0}
    ret;
}}
"""
PLAIN = "ld.global.u32 %v, [%x]; add.u32 %v, %v, 1; st.global.u32 [%x], %v;"
ONE = "--arg out:x=u32[1]:zeros"


@pytest.mark.parametrize(
    ("body", "threads", "said"),
    [
        ("atom.global.add.u32 %v, [%x], 1;", 4, "all 24 orders give this result"),
        ("red.global.add.u32 [%x], 1;", 64, "all orders give this result: conflicting accesses come in one order only"),
        ("mov.u32 %v, %tid.x; mad.wide.u32 %x, %v, 4, %x; st.global.u32 [%x], %v;", 64, "all orders give this result"),
    ],
)
def test_orders_that_give_one_result(tmp_path: Path, body: str, threads: int, said: str) -> None:
    text = sanitize(tmp_path / "t.ptx", COUNT.format(body), f"--block {threads} --arg out:x=u32[64]:zeros")
    assert said in text


def test_two_orders_that_differ(tmp_path: Path) -> None:
    text = sanitize(tmp_path / "t.ptx", COUNT.format(PLAIN), f"--block 2 {ONE}", code=1)
    assert "x is 2 in one order, 1 in another" in text
    assert text.count("written last at line 9 by block (0, 0, 0), thread (1, 0, 0) of count") == 2
    (tmp_path / "t.ptx").write_text(HEAD + COUNT.format(PLAIN))
    words = ["sanitize", str(tmp_path / "t.ptx"), "--tool", "memcheck", "--block", "3", *ONE.split(), "--schedules", "exhaustive", "--json"]
    result = CliRunner().invoke(main, words)
    (orders,) = json.loads(result.output)["orders"]
    assert result.exit_code == 1 and not orders["complete"] and "x is 3 in one order" in orders["difference"][0]


TILE = """.visible .entry sum(.param .u64 x)
{{
    .reg .b32 %t, %v, %w, %a, %n;
    .reg .b64 %x;
    .reg .pred %p;
    .shared .u32 tile[4];
    mov.u32 %t, %tid.x;
    mov.u32 %a, tile;
    mad.lo.u32 %a, %t, 4, %a;
    st.shared.u32 [%a], %t;
    {0}
    setp.ge.u32 %p, %t, 2;
    @%p bra done;
    ld.shared.u32 %v, [%a];
    ld.shared.u32 %w, [%a+8];
    add.u32 %v, %v, %w;
    st.shared.u32 [%a], %v;
done:
    {0}
    setp.ne.u32 %p, %t, 0;
    @%p ret;
    ld.shared.u32 %v, [tile];
    ld.shared.u32 %w, [tile+4];
    add.u32 %v, %v, %w;
    ld.param.u64 %x, [x];
    st.global.u32 [%x], %v;
    ret;
}}
"""


def test_barriers(tmp_path: Path) -> None:
    path = tmp_path / "t.ptx"
    for barrier in ("bar.sync 0;", "bar.warp.sync -1;", "barrier.sync 3, 32;"):
        text = sanitize(path, TILE.format(barrier), f"--block 4 {ONE}")
        assert "all orders give this result" in text and "x = [6]" in sanitize(
            path, TILE.format(barrier), f"--block 4 {ONE}", "--print", "x"
        )
    assert "x is " in sanitize(path, TILE.format(""), f"--block 4 {ONE}", code=1)


BODIES = pytest.mark.parametrize(
    ("body", "said", "code"),
    [
        ("atom.global.add.u32 %v, [%x], 1;", "all 120 orders give this result", 0),
        (
            "{ .reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; atom.global.add.u32 %v, [%x], 1; mad.lo.u32 %v, %v, 8, %t;"
            " setp.eq.u32 %p, %v, 32; @%p st.global.u32 [%x+400], 1; }",  # of thread 0 if it comes last
            "out of bounds",
            1,
        ),
        ("mov.u32 %v, %tid.x; atom.global.exch.b32 %v, [%x], %v;", "x is 4 in one order, 3 in another", 1),
    ],
)


@BODIES
def test_processes_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str, code: int) -> None:
    """Parts of the orders in several processes come to what one process comes to."""
    monkeypatch.setattr(order_parts, "cores", lambda: 2)
    texts = []
    for seconds in (0.0, 60.0):
        monkeypatch.setattr(exhaustive, "ALONE", seconds)
        texts.append(sanitize(tmp_path / "t.ptx", COUNT.format(body), f"--block 5 {ONE}", code=code))
    assert said in texts[0] and said in texts[1]


@BODIES
def test_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, said: str, code: int) -> None:
    """Parts of the orders on two machines come to what one process comes to."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(exhaustive, "ALONE", 0.0)
    part, threads = OrdersCompared.part, set[str]()

    def noted(self: OrdersCompared, start: tuple[int, ...], until: float, is_over: Callable[[], bool] = bool) -> OrdersSeen:
        threads.add(threading.current_thread().name)
        return part(self, start, until, is_over)

    monkeypatch.setattr(OrdersCompared, "part", noted)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        words = ("--scheduler", cluster.scheduler_address)
        assert said in sanitize(tmp_path / "t.ptx", COUNT.format(body), f"--block 5 {ONE}", *words, code=code)
    assert code or threads - {threading.current_thread().name}  # a difference may show while the parts are made


def test_what_a_cluster_gives_up_is_explored_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(exhaustive, "ALONE", 0.0)

    def remote(launch: OrderedLaunch, start: tuple[int, ...], seconds: float) -> OrdersSeen:
        raise OSError("the file is not here")

    monkeypatch.setattr(order_parts, "remote", remote)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster:
        words = ("--scheduler", cluster.scheduler_address)
        text = sanitize(tmp_path / "t.ptx", COUNT.format("atom.global.add.u32 %v, [%x], 1;"), f"--block 4 {ONE}", *words)
    assert "all 24 orders give this result" in text


LOCKS = """.global .u32 a, b;
.visible .entry locks(.param .u64 x)
{{
    .reg .b32 %v, %me;
    .reg .b64 %x, %first, %second, %swap;
    .reg .pred %p;
    ld.param.u64 %x, [x];
    mov.u32 %me, %ctaid.x;
    mov.u64 %first, a;
    mov.u64 %second, b;
    setp.eq.u32 %p, %me, {0};
    @!%p bra take;
    mov.u64 %swap, %first;
    mov.u64 %first, %second;
    mov.u64 %second, %swap;
take:
    atom.global.cas.b32 %v, [%first], 0, 1;
    setp.ne.u32 %p, %v, 0;
    @%p bra take;
again:
    atom.global.cas.b32 %v, [%second], 0, 1;
    setp.ne.u32 %p, %v, 0;
    @%p bra again;
    ld.global.u32 %v, [%x];
    add.u32 %v, %v, 1;
    st.global.u32 [%x], %v;
    atom.global.exch.b32 %v, [%second], 0;
    atom.global.exch.b32 %v, [%first], 0;
    ret;
}}
"""


def test_locks(tmp_path: Path) -> None:
    """Two locks that all take in one order, and in two."""
    path = tmp_path / "t.ptx"
    assert "orders give this result" in sanitize(path, LOCKS.format(7), f"--grid 2 --block 1 {ONE}")
    text = sanitize(path, LOCKS.format(1), f"--grid 2 --block 1 {ONE}", code=4)
    assert "leaves 2 threads waiting for ever" in text


FLAG = """.global .u32 flag;
.visible .entry wait(.param .u64 x)
{{
    .reg .b32 %v, %me;
    .reg .b64 %x;
    .reg .pred %p;
    ld.param.u64 %x, [x];
    mov.u32 %me, %ctaid.x;
    setp.eq.u32 %p, %me, 1;
    @%p bra spin;
    st.global.u32 [%x], 42;
    st.global.u32 [flag], 1;
    {0}
    ret;
spin:
    ld.volatile.global.u32 %v, [flag];
    setp.eq.u32 %p, %v, 0;
    @%p bra spin;
    ld.global.u32 %v, [%x];
    st.global.u32 [%x+4], %v;
    ret;
}}
"""


def test_threads_that_wait_for_a_flag(tmp_path: Path) -> None:
    """A thread that spins comes to its end in all orders, unless the flag may be taken back before it looks."""
    launch = "--grid 2 --block 1 --arg out:x=u32[2]:zeros"
    assert "all 2 orders give this result" in sanitize(tmp_path / "t.ptx", FLAG.format(""), launch)
    text = sanitize(tmp_path / "t.ptx", FLAG.format("st.global.u32 [flag], 0;"), launch, "--timeout", "20", code=4)
    assert "1 thread waiting for ever" in text


def test_an_order_that_ends_in_an_error(tmp_path: Path) -> None:
    body = """.visible .entry late(.param .u64 x)
{
    .reg .b32 %v, %me;
    .reg .b64 %x, %y;
    .reg .pred %p;
    ld.param.u64 %x, [x];
    mov.u32 %me, %ctaid.x;
    setp.eq.u32 %p, %me, 0;
    @%p bra first;
    ld.global.u32 %v, [%x];
    mad.wide.u32 %y, %v, 4, %x;
    st.global.u32 [%y+4], 1;
    ret;
first:
    st.global.u32 [%x], 1048576;
    ret;
}
"""
    text = sanitize(tmp_path / "t.ptx", body, "--grid 2 --block 1 --arg x=u32[2]:zeros", code=1)
    assert "one order ends in an error:" in text and "out of bounds" in text


@pytest.mark.parametrize(
    ("body", "launch", "message"),
    [
        (COUNT.format(PLAIN), f"--grid 64 --block 32 {ONE}", "launches of 1024 threads at most, and this one has 2048"),
        (COUNT.format("{ .shared .b64 m; mbarrier.init.shared.b64 [m], 1; }"), ONE, "does not cover mbarriers"),
    ],
)
def test_what_is_not_covered_is_said(tmp_path: Path, body: str, launch: str, message: str) -> None:
    assert message in sanitize(tmp_path / "t.ptx", body, launch, code=2)
