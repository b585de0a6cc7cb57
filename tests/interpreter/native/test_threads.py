"""Launches on several threads: the same results, faults and limits as on one."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.bench.everyday import Everyday, everyday
from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import Deadlock, ExecutionError, Fault, LaunchInterrupted, LimitReached
from warplab.interpreter.launch import Launch
from warplab.interpreter.native import run
from warplab.interpreter.native.threads import Team

KERNELS = Path(__file__).parents[2] / "bench/kernels"
BLOCKS, THREADS = 24, 64
HEAD = """.reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>; .shared .align 8 .b8 s[256];
ld.param.u64 %d1, [out]; ld.param.u64 %d4, [in]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1;
mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d1, %d2; add.u64 %d4, %d4, %d2; mov.u32 %r9, 0;
"""
IN_BLOCK_9 = "setp.ne.u32 %p1, %r2, 9; @%p1 bra FINE; setp.ne.u32 %p1, %r1, 40; @%p1 bra FINE;"
END = "FINE: st.global.u32 [%d3], %r3; ret;"


@pytest.fixture(autouse=True)
def _any_launch_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LEAST", 0)
    monkeypatch.setattr(run, "SHARED_LANES", 512)  # waves as large as those of one thread


def prepared(body: str, threads: int, **options: Any) -> tuple[Launch, Callable[[], list[int]]]:
    """A launch of some waves of two blocks, and what it has stored."""
    machine = Machine(kernel("p out, p in", HEAD + body))
    out, given = (machine.upload(np.full(BLOCKS * THREADS, n, np.uint32)) for n in (0, 5))
    launch = machine.prepare(BLOCKS, THREADS, [out, given], engine="native", threads=threads, wave_lanes=2 * THREADS, **options)
    return launch, lambda: machine.download(out).tolist()


def failure(launch: Launch) -> ExecutionError:
    """What ends a launch."""
    with pytest.raises(ExecutionError) as e:
        execute(launch)
    return e.value


CASES: dict[str, tuple[int, list[np.generic], Any, Any]] = {
    "k2_saxpy": (1, [np.float32(0.5), np.float32(0.25), np.int32(9)], 16, 256), "k4_tiled": (3, [np.int32(64)], (4, 4), (16, 16)),
    "k5_reduce": (2, [np.int32(4096)], 16, 256),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_same(name: str) -> None:
    results, launches = [], []
    for threads in (1, 3):
        machine = Machine((KERNELS / f"{name}.ptx").read_text())
        rng = np.random.default_rng(1)
        arrays, numbers, grid, block = CASES[name]
        places = [machine.upload(rng.random(64 * 64, np.float32)) for _ in range(arrays)]
        launches.append(machine.launch(grid, block, [*places, *numbers], engine="native", threads=threads, wave_lanes=512))
        results.append([machine.download(p).tolist() for p in places])
    assert results[0] == results[1]
    assert [x.used.threads for x in launches] == [1, 3]
    assert [x.steps for x in launches] == [launches[0].steps] * 2
    assert [x.used.native_blocks for x in launches] == [16, 16]


ONE_AFTER_ANOTHER = {
    "a volatile load": "ld.volatile.global.u32 %r4, [%d1];",
    "an acquiring load": "ld.acquire.gpu.global.u32 %r4, [%d1];",
    "a store that all see": "st.relaxed.sys.global.u32 [%d1], 1;",
    "a fence": "fence.acq_rel.gpu;",
    "a fence of old": "membar.gl;",
    "a ticket": "atom.global.add.u32 %r3, [%d1], 1;",
    "an exchange": "atom.global.exch.b32 %r4, [%d1], %r3;",
    "a sum of floats": "red.global.add.f32 [%d1], 0f3F800000;",
    "an acquiring update": "atom.acquire.gpu.global.add.u32 %r4, [%d1], 1;",
    "a clock": "mov.u32 %r3, %clock;",
}


@pytest.mark.parametrize("what", ONE_AFTER_ANOTHER)
def test_blocks_that_may_see_each_other_run_on_one_thread(what: str) -> None:
    launch, _ = prepared(f"{ONE_AFTER_ANOTHER[what]} st.global.u32 [%d3], %r3; ret;", 3)
    execute(launch)
    assert launch.used.threads == 1


SIDE_BY_SIDE = {
    "a volatile load of shared memory": "ld.volatile.shared.u32 %r9, [s];",
    "a fence for the block": "fence.acq_rel.cta;",
    "a ticket of the block": "atom.shared.add.u32 %r9, [s], 1;",
    "a sum": "red.global.add.u32 [%d1], %r3;",
    "a sum that is read by no one": "atom.global.add.u32 %r4, [%d1], %r3;",
    "a wide sum": "red.global.add.u64 [%d1], %d4;",
    "a signed minimum": "sub.u32 %r4, 700, %r3; red.global.min.s32 [%d1], %r4;",
    "a maximum": "sub.u32 %r4, 700, %r3; red.global.max.u32 [%d1], %r4;",
    "bits": "shl.b32 %r4, 1, %r1; red.global.xor.b32 [%d1], %r4; red.global.or.b32 [%d1+4], %r3; red.relaxed.gpu.global.and.b32 [%d1+8], %r3;",
}


@pytest.mark.parametrize("what", SIDE_BY_SIDE)
def test_blocks_that_do_not_see_each_other_run_on_several(what: str) -> None:
    results = []
    for threads in (1, 3):
        launch, result = prepared(
            f"bar.sync 0; {SIDE_BY_SIDE[what]} add.u32 %r3, %r3, %r9; setp.lt.u32 %p1, %r3, 4; @%p1 ret; {END}", threads
        )
        execute(launch)
        results.append(result())
        assert launch.used.threads == threads
    assert results[0] == results[1]


def test_many_threads_update_one_word() -> None:
    """Each thread of the launch adds its number many times."""
    loop = "L: red.global.add.u32 [%d1], %r3; red.global.max.u32 [%d1+4], %r3; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 200; @%p1 bra L; ret;"
    launch, result = prepared(loop, 3)
    execute(launch)
    count = BLOCKS * THREADS
    assert result()[:3] == [200 * (count * (count - 1) // 2) % 2**32, count - 1, 0]
    assert launch.used.threads == 3


@pytest.mark.parametrize("type", ["u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("stride", [48, 64, 4096, 1 << 13])
def test_updates_are_combined(type: str, stride: int) -> None:
    """Lanes of all blocks update few and many words, near each other and as far apart as one entry of the table serves; some take no part."""
    rng = np.random.default_rng(3)
    numbers = rng.integers(0, 1 << 64, (BLOCKS, THREADS), np.uint64)
    ops = {"add": type.replace("s64", "u64"), "min": type, "max": type, **dict.fromkeys(("and", "or", "xor"), f"b{type[1:]}")}
    updates = "".join(f"red.global.{op}.{t} [%d5+{8 * n}], {'%d6' if '64' in type else '%r5'};" for n, (op, t) in enumerate(ops.items()))
    body = f"""mul.wide.u32 %d2, %r3, 8; ld.param.u64 %d4, [in]; add.u64 %d4, %d4, %d2; ld.global.u64 %d6, [%d4];
    cvt.u32.u64 %r5, %d6; and.b32 %r6, %r5, 7; mul.wide.u32 %d5, %r6, {stride}; add.u64 %d5, %d1, %d5; setp.eq.u32 %p1, %r6, 5; @%p1 ret;
    {updates} ret;"""
    left = []
    for threads in (1, 3):
        machine = Machine(kernel("p out, p in", HEAD + body))
        out, given = machine.upload(np.full(8 << 10, 0x55, np.uint64)), machine.upload(numbers)
        launch = machine.prepare(BLOCKS, THREADS, [out, given], engine="native", threads=threads, wave_lanes=2 * THREADS)
        execute(launch)
        assert launch.used.threads == threads
        left.append(machine.download(out).tolist())
    assert left[0] == left[1]


def test_threads_that_gain_nothing_end(monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"bar.sync 0; red.global.add.u32 [%d1], 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 ret; {END}"
    one, result = prepared(body, 1)
    execute(one)
    monkeypatch.setattr(Team, "gains", False)
    monkeypatch.setattr("warplab.interpreter.native.threads.TRIED", 1)
    machine = Machine(kernel("p out, p in", HEAD + body))
    used = []
    for _ in range(2):
        out, given = (machine.upload(np.full(BLOCKS * THREADS, n, np.uint32)) for n in (0, 5))
        launch = machine.prepare(BLOCKS, THREADS, [out, given], engine="native", threads=3, wave_lanes=2 * THREADS)
        execute(launch)
        assert machine.download(out).tolist() == result()
        assert launch.steps == one.steps
        used.append((launch.used.threads, launch.used.native_blocks))
    assert used == [(3, BLOCKS), (1, BLOCKS)]  # of the second launch it is known


@pytest.mark.parametrize("blocks", [1, 3, 4, 150])
def test_memory_and_tables_of_a_launch_serve_the_next(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "LEAST", 1)  # seconds, for which no launch here is worth more threads
    machine = Machine(kernel("p out", HEAD.replace("ld.param.u64 %d4, [in];", "") + "st.global.u32 [%d3], %r3; ret;"))
    out = machine.upload(np.zeros(150 * THREADS, np.uint32))
    made = []
    for _ in range(3):
        machine.launch(blocks, THREADS, [out], engine="native", threads=4)
        (choice,) = next(iter(machine.kernels().values())).codes.values()
        (memory,) = choice.program.memories
        made.append((memory, memory.tables["%ctaid.x"]))
    assert all(memory is made[0][0] and table is made[0][1] for memory, table in made)
    assert machine.download(out)[: blocks * THREADS].tolist() == list(range(blocks * THREADS))


def test_a_launch_of_few_blocks_begins_on_all_threads_once_its_time_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SHARED_LANES", 1)
    machine = Machine(kernel("p out, p in", HEAD + END))
    out, given = (machine.upload(np.full(8 * THREADS, n, np.uint32)) for n in (0, 5))
    first, later = (machine.launch(8, THREADS, [out, given], engine="native", threads=8) for _ in range(2))
    assert first.used.threads == 7  # its first block has run alone
    assert later.used.threads == 8
    assert machine.download(out).tolist() == list(range(8 * THREADS))


@pytest.mark.parametrize(("body", "may"), [("red.global.add.u32 [%d1], 1;", True), ("atom.shared.add.u32 %r9, [s], 1;", False)])
def test_only_threads_that_update_global_memory_may_gain_nothing(body: str, may: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    times = list[float | None]()
    begin = Team.__init__

    def noted(team: Team, launch: Launch, members: Any, alone: float | None) -> None:
        times.append(alone)
        begin(team, launch, members, alone)

    monkeypatch.setattr(Team, "__init__", noted)
    launch, _ = prepared(f"{body} {END}", 3)
    execute(launch)
    assert [x is not None for x in times] == [may]


EVERYDAY = Path(__file__).parents[2] / "bench/everyday"


UPDATING = ("triangle_count", "count_degrees", "histogram_shared", "histogram_global", "min_max", "monte_carlo_pi")
RACING = ("bellman_ford",)  # blocks read what others update


@pytest.mark.parametrize(
    "launch",
    [pytest.param(x, marks=[] if x.name in UPDATING else pytest.mark.long, id=x.name) for x in everyday(4096) if x.name not in RACING],
)
def test_everyday_kernels_give_the_same_bits(launch: Everyday) -> None:
    results = []
    for threads in (1, 3):
        machine = Machine((EVERYDAY / f"{launch.file}.ptx").read_text())
        arguments = [machine.upload(x) if isinstance(x, np.ndarray) else x for x in launch.arguments]
        machine.launch(launch.grid, launch.block, arguments, name=launch.name, engine="native", threads=threads, wave_lanes=512)
        results.append(machine.arena.bytes.tobytes())
    assert results[0] == results[1]


ENDS = {
    "a fault": ("setp.ne.u32 %p2, %r2, 9; @%p2 bra FINE; add.u64 %d4, %d4, 1; ld.global.u32 %r3, [%d4];", Fault),
    "a trap": ("trap;", Fault),
    "a deadlock": ("barrier.sync 1, 64;", Deadlock),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_a_launch_is_said_in_the_same_words(name: str) -> None:
    body, kind = ENDS[name]
    (one, _), (three, _) = (prepared(f"{IN_BLOCK_9} {body} {END}", threads) for threads in (1, 3))
    expected, found = failure(one), failure(three)
    assert isinstance(found, kind)
    assert str(found) == str(expected)
    assert (one.used.threads, three.used.threads) == (1, 3)


@pytest.mark.parametrize("_again", range(4))
def test_the_first_of_several_faults_is_told(_again: int) -> None:
    launch, _ = prepared(f"setp.lt.u32 %p1, %r2, 7; @%p1 bra FINE; trap; {END}", 3)
    fault = failure(launch)
    assert isinstance(fault, Fault)
    assert (fault.block, launch.used.threads) == ((7, 0, 0), 3)


def test_a_thread_leaves_to_numpy_what_is_not_compiled() -> None:
    """In block 9, an address names the block's own shared memory as other blocks of a cluster do."""
    body = f"""mov.u32 %r4, s; mad.lo.u32 %r4, %r1, 4, %r4; st.shared.u32 [%r4], 7; add.u32 %r4, %r4, {1 << 24}; cvt.u64.u32 %d5, %r4;
        cvta.shared.u64 %d5, %d5; setp.eq.u32 %p1, %r2, 9; selp.b64 %d6, %d5, %d4, %p1; ld.u32 %r3, [%d6]; {END}"""
    launch, result = prepared(body, 3)
    execute(launch)
    assert launch.used.threads == 3
    assert launch.used.left_to_numpy == {"ld": 1}
    assert result() == [7 if 9 * THREADS <= n < 10 * THREADS else 5 for n in range(BLOCKS * THREADS)]


ENDLESS = f"{IN_BLOCK_9} L: add.u32 %r9, %r9, 1; st.shared.u32 [s], %r9; bra.uni L; {END}"


def test_time_is_limited() -> None:
    launch, _ = prepared(ENDLESS, 3, max_seconds=0.3)
    assert "0.3 s" in str(failure(launch))
    assert launch.used.threads == 3


def test_steps_are_limited_on_one_thread() -> None:
    launch, _ = prepared(ENDLESS, 3, max_steps=50_000)
    assert isinstance(failure(launch), LimitReached)
    assert launch.used.threads == 1


@pytest.mark.parametrize("_again", range(4))  # the interrupted thread may have the endless wave, or wait for it
def test_an_interrupt_ends_all_threads(_again: int) -> None:
    launch, _ = prepared(ENDLESS, 3, max_seconds=60)

    def interrupt() -> None:
        while launch.used.threads == 1:
            time.sleep(0.02)
        time.sleep(0.1)  # the other waves have ended
        _thread.interrupt_main()

    before = threading.active_count()
    interrupting = threading.Thread(target=interrupt, daemon=True)
    interrupting.start()
    with pytest.raises(LaunchInterrupted, match="interrupted in kernel test"):
        execute(launch)
    interrupting.join()
    assert (launch.used.threads, threading.active_count()) == (3, before)
