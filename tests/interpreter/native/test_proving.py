"""What compiled code proves of a launch, what it refuses to, and what a trial leaves behind: a proof must never be given where a checker would object."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Argument, Machine, kernel
from warplab.interpreter.checkers.checker import CheckedRun
from warplab.interpreter.checkers.findings import Findings
from warplab.interpreter.checkers.initcheck.checker import Initcheck
from warplab.interpreter.checkers.initcheck.values import UnsetValues
from warplab.interpreter.checkers.racecheck.checker import Racecheck
from warplab.interpreter.checkers.tools import TOOLS, checkers_of
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import LimitReached
from warplab.interpreter.launch import Launch
from warplab.interpreter.native.program import NativeProgram
from warplab.interpreter.native.proving import trial
from warplab.interpreter.native.proving.choice import proof_choice
from warplab.interpreter.native.tiering import inlined_plan
from warplab.interpreter.native.tiers import notes
from warplab.interpreter.native.trace.code import Untraceable
from warplab.interpreter.native.wave import CHUNK
from warplab.interpreter.observe import LaunchProof, Observer
from warplab.runtime import Device, LaunchConfig, ObjectCode, Sanitizer, StreamOptions, device_array, launch, sanitizing

HEAD = """.reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>; .reg .f32 %f<16>; .shared .align 16 .b8 s[8192];
ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d1, %d3; mul.wide.u32 %d4, %r4, 4; add.u64 %d4, %d2, %d4; mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r6, %r5, %r6;
"""
OWN = "ld.global.u32 %r8, [%d4]; st.global.u32 [%d3], %r8;"
NEXT = "xor.b32 %r7, %r6, 4; st.shared.u32 [%r6], %r1; {}ld.shared.u32 %r8, [%r7]; st.global.u32 [%d3], %r8;"
LOOP = "mov.u32 %r9, 0; L: {} add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, {}; @%p1 bra L;"
PLACES = "ld.global.u32 %r8, [%d4]; mul.wide.u32 %d5, %r8, 4; add.u64 %d5, %d1, %d5; st.global.u32 [%d5], %r4;"  # y says where in x


def made(body: str, **more: Any) -> Machine:
    """A machine for a kernel of two arrays."""
    return Machine(kernel("p x, p y", HEAD + body + " ret;"), **more)


class Proving:
    """Launches under all checkers, or some, that run on trial and nowhere else."""

    def __init__(self, machine: Machine, tools: tuple[str, ...] = tuple(TOOLS), in_order: bool = True) -> None:
        self.machine = machine
        self.checkers = checkers_of(tools, CheckedRun(Findings(), in_order=in_order))
        self.observers = list(dict.fromkeys(o for c in self.checkers for o in c.observers()))

    def proves(self, grid: int, block: int, *arguments: Argument, **options: Any) -> bool:
        """Is a launch proved?"""
        return self.tried(self.machine.prepare(grid, block, arguments, engine="native", **options))

    def tried(self, launch: Launch) -> bool:
        """Is a launch proved that has not run?"""
        for o in self.observers:
            o.begin(launch)
        choice = proof_choice(launch, self.observers)
        if choice is None:
            return False
        choice.failed = False
        found = choice.proves(launch, self.observers)
        assert not launch.used.failures, launch.used.failures
        return found


def numbers(n: int, first: int = 0) -> Any:
    return np.arange(first, first + n, dtype=np.uint32)


def test_a_second_launch_looks_at_allocations_anew() -> None:
    m = made(OWN)
    x, y, unset = m.upload(numbers(64)), m.upload(numbers(64)), m.upload(numbers(64))
    p = Proving(m)
    for c in p.checkers:
        c.unset(m.arena, unset.start, unset.size)
    assert p.proves(2, 32, x, y)  # what it reads is set
    assert not p.proves(2, 32, x, unset)
    assert p.proves(1, 32, unset, y)  # sets the first half
    assert not p.proves(2, 32, x, unset)
    assert p.proves(2, 32, unset, y)
    assert p.proves(2, 32, x, unset)
    assert (m.download(x) == numbers(64)).all()


def test_a_launch_that_is_suspended_may_unset_what_was_looked_at() -> None:
    m = made(OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    values, launches = UnsetValues(), [m.prepare(1, 32, [x, y]) for _ in range(2)]
    for one in launches:
        values.begin(one)
    assert not values.has_unset(m.arena, y)
    values.undefined(m.arena, y.start + 5, 1)[:] = 1  # as a store of the first does
    assert values.has_unset(m.arena, y)


@pytest.mark.parametrize("shift, proved", [(0, True), (4, False), (-4, False), (128, False)])
def test_neighbours_that_meet_in_one_array(shift: int, proved: bool) -> None:
    m = made(f"ld.global.u32 %r8, [%d3+{shift}]; st.global.u32 [%d3], %r8;")
    x = m.upload(numbers(130))
    assert Proving(m).proves(2, 32, x, m.upload(numbers(1))) == proved
    assert (m.download(x) == numbers(130)).all()  # it was put back, or has not changed


def test_no_accesses_are_checked_together() -> None:
    m = made(OWN)
    entry = next(iter(m.program.kernels.values()))
    assert any(row.behind for row in NativeProgram(entry, inlined_plan(entry)).cut.rows)
    assert not any(row.behind for row in NativeProgram(entry, inlined_plan(entry), proving=True).cut.rows)


@pytest.mark.parametrize("parameters", [("x", "x"), ("x", "y")])
def test_an_array_may_be_passed_twice(parameters: tuple[str, str]) -> None:
    m = made("ld.global.u32 %r8, [%d4+4]; st.global.u32 [%d3], %r8;")
    given = {"x": m.upload(numbers(65)), "y": m.upload(numbers(65))}
    assert Proving(m).proves(1, 64, *(given[p] for p in parameters)) == (parameters == ("x", "y"))


def test_a_load_strays_into_what_is_written() -> None:
    m = made("ld.global.u32 %r8, [%d4]; st.global.u32 [%d3], %r8;")
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    p = Proving(m)
    assert p.proves(1, 32, x, y)
    assert not p.proves(1, 32, x, int(y.start) - (y.start - x.start))  # the same allocation, by an address of its own


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_a_stream_that_is_made_later_may_race_with_an_earlier_launch(engine: str) -> None:
    text = kernel("p x, p y", HEAD + OWN + " ret;")
    d = Device()
    d.set_current()
    k = ObjectCode.from_ptx(text).get_kernel("test")
    sanitizer = Sanitizer("race")
    with sanitizing(sanitizer), pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARPLAB_ENGINE", engine)
        a = d.create_stream(options=StreamOptions(nonblocking=True))
        x, y = device_array(32, np.uint32, a), device_array(32, np.uint32, a)
        d.sync()
        launch(d.default_stream, LaunchConfig(grid=1, block=32), k, x, y)
        b = d.create_stream(options=StreamOptions(nonblocking=True))
        launch(b, LaunchConfig(grid=1, block=32), k, y, x)
    assert [f.kind for f in sanitizer.findings]


def test_racecheck_takes_no_proof_if_later_work_may_be_unordered() -> None:
    m = made(OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    assert not Proving(m, in_order=False).proves(1, 32, x, y)
    assert Proving(m, ("memcheck", "initcheck", "synccheck"), in_order=False).proves(1, 32, x, y)


REFUSED = {
    "an update for the block alone": "red.relaxed.cta.global.add.u32 [%d3], 1;",
    "an update of half a word": "mov.b16 %h1, 0; atom.global.add.noftz.f16 %h1, [%d3], %h1;",
    "an update of two halves": "atom.global.add.noftz.f16x2 %r8, [%d3], %r8;",
    "an update by a generic address": "red.add.u32 [%d3], 1;",
    "an update to an address from memory": "ld.global.u64 %d5, [%d2]; red.global.add.u32 [%d5], 1;",
    "updates of two sizes": "red.global.add.u32 [%d3], 1; red.global.add.u64 [%d1], 1;",
    "a fence between proxies": "fence.proxy.alias;",
    "a load that acquires": "ld.acquire.gpu.global.u32 %r8, [%d3];",
    "a volatile load": "ld.volatile.global.u32 %r8, [%d3];",
    "a relaxed store": "st.relaxed.gpu.global.u32 [%d3], %r8;",
    "a generic load": "ld.u32 %r8, [%d3];",
    "local memory": ".local .align 4 .b8 l[8]; st.local.u32 [l], %r1; ld.local.u32 %r8, [l];",
    "shared memory of the cluster": "ld.shared::cluster.u32 %r8, [%r6];",
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r6];",
    "stmatrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r8};",
    "wmma.load": "wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%r5];",
    "wmma.store": "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r5], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};",
    "mbarrier.init": "mbarrier.init.shared.b64 [s], 1;",
    "mbarrier.arrive": "mbarrier.arrive.shared.b64 %d5, [s];",
    "mbarrier.test_wait": "mbarrier.test_wait.shared.b64 %p1, [s], %d1;",
    "an asynchronous copy": "cp.async.ca.shared.global [%r6], [%d3], 4;",
    "a barrier that counts": "bar.sync 0, 32;",
    "an arrival": "bar.arrive 0, 64;",
    "a reduction": "setp.eq.u32 %p1, %r1, 3; bar.red.popc.u32 %r8, 0, %p1;",
    "a clock": "mov.u32 %r8, %clock;",
    "a timer": "mov.u64 %d5, %globaltimer;",
    "a pause": "nanosleep.u32 20;",
    "an unset register": "st.global.u32 [%d3], %r9;",
    "a store to an address from memory": "ld.global.u64 %d5, [%d2]; st.global.u32 [%d5], %r1;",
    "another function": "call inner, ();",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_out_of_reach_is_refused(what: str) -> None:
    set_before = "mov.u32 %r8, 0; " + "".join(f"mov.f32 %f{n}, 0f00000000; " for n in range(8))
    before = ".extern .func inner;" if "call" in REFUSED[what] else ""
    text = kernel("p x, p y", HEAD + set_before + REFUSED[what] + " ret;", before=before)
    m = Machine(text)
    entry = next(iter(m.program.kernels.values()))
    NativeProgram(entry, inlined_plan(entry))
    with pytest.raises(Untraceable):
        NativeProgram(entry, inlined_plan(entry), proving=True)


def test_a_trial_that_fails_leaves_nothing_behind() -> None:
    m = made("st.global.u32 [%d3], %r1; bar.sync 0; st.global.u32 [%d1], %r1;")  # each thread of all blocks stores to the first word
    x, y = m.upload(numbers(256, 7)), m.upload(numbers(256))
    launch = m.prepare(4, 64, [x, y], engine="native")
    assert not Proving(m).tried(launch)
    assert (m.download(x) == numbers(256, 7)).all()
    assert (launch.steps, launch.next_block, launch.used.native_blocks, int(launch.clock[0])) == (0, 0, 0, 0)
    execute(launch)
    assert (m.download(x)[1:64] == numbers(63, 1)).all()


def test_what_the_host_writes_during_a_trial_that_fails_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    m = made("st.global.u32 [%d3], %r1; st.global.u32 [%d3+4], %r1;")
    x, y = m.upload(numbers(66, 7)), m.upload(numbers(64))
    runs = trial.TrialLaunch.next_wave

    def beside(self: Any) -> Any:
        try:
            return runs(self)
        finally:
            m.arena.bytes[x.start + 50 * 4 :][:4] = 99

    monkeypatch.setattr(trial.TrialLaunch, "next_wave", beside)
    assert not Proving(m).proves(1, 32, x, y)
    wanted = numbers(66, 7)
    wanted[50] = 0x63636363
    assert (m.download(x) == wanted).all()


@pytest.mark.parametrize("barrier", ["", "bar.sync 0; ", "bar.warp.sync -1; ", "@%p1 bar.sync 0; "])
def test_what_orders_accesses_to_shared_memory(barrier: str) -> None:
    m = made("setp.lt.u32 %p1, %r1, 32; " + NEXT.format(barrier))
    x, y = m.upload(numbers(256)), m.upload(numbers(256))
    p = Proving(m)
    for _ in range(3):  # claims of earlier launches count no more
        assert p.proves(4, 64, x, y) == (barrier == "bar.sync 0; ")


@pytest.mark.parametrize(
    "what", ["bar.sync 0;", "@%p1 bra A; bar.sync 0; bra.uni B; A: bar.sync 0; B:", "@%p1 ret; bar.sync 0;", "@%p1 bra B; bar.sync 0; B:"]
)
def test_barriers_are_for_all_threads(what: str) -> None:
    m = made("setp.lt.u32 %p1, %r1, 32; " + what + OWN)
    assert Proving(m).proves(2, 64, m.upload(numbers(128)), m.upload(numbers(128))) == (what == "bar.sync 0;")


COUNTS = "and.b32 %r8, %r1, 7; shl.b32 %r9, %r8, 2; add.u32 %r9, %r9, %r5; mul.wide.u32 %d5, %r8, 4; add.u64 %d5, %d1, %d5; "
SET = "setp.lt.u32 %p1, %r1, 8; mov.u32 %r11, 0; mov.u32 %r10, 0; @%p1 st.shared.u32 [%r6], %r11; "
UPDATES = {
    "red.global.add.u32 [%d5], 1;": True,
    "atom.global.add.u32 %r8, [%d5], 1; atom.global.cas.b32 %r8, [%d5], 1, 2;": True,
    "red.global.add.u32 [%d5], 1; ld.global.u32 %r8, [%d1+20];": False,
    "ld.global.u32 %r8, [%d1+20]; red.global.add.u32 [%d5], 1;": False,
    "red.global.add.u32 [%d5], 1; ld.global.u32 %r8, [%d1+200];": True,
    "red.global.add.u32 [%d5], 1; setp.eq.u32 %p1, %r4, 60; @%p1 st.global.u32 [%d1+16], %r1;": False,
    "setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%d1], %r1; red.global.add.u32 [%d5], 1;": False,
    SET + "bar.sync 0; red.shared.add.u32 [%r9], 1; bar.sync 0; @%p1 ld.shared.u32 %r10, [%r6]; @%p1 red.global.add.u32 [%d3], %r10;": True,
    SET + "bar.sync 0; red.shared.add.u32 [%r9], 1; @%p1 ld.shared.u32 %r10, [%r6];": False,
    SET + "red.shared.add.u32 [%r9], 1;": False,
    "red.shared.add.u32 [%r9], 1;": False,  # nobody has set it
    SET + "bar.sync 0; atom.shared.exch.b32 %r10, [%r9+32], %r1;": False,
}


@pytest.mark.parametrize("what", UPDATES)
def test_updates_meet_only_each_other(what: str) -> None:
    m = made(COUNTS + what)
    x, y = m.upload(numbers(256)), m.upload(numbers(256))
    p = Proving(m)
    launches = [m.prepare(2, 64, [x, y], engine="native") for _ in range(2)]
    assert p.tried(launches[0]) == UPDATES[what]
    after = m.download(x)
    m.arena.bytes[x.start : x.end] = numbers(256).view(np.uint8)
    assert (after == numbers(256)).all() or UPDATES[what]
    if UPDATES[what]:
        execute(m.prepare(2, 64, [x, y], engine="numpy"))
        assert (m.download(x) == after).all()


@pytest.mark.parametrize("store, proved", [("st.shared.u32 [%r6], %r1;", True), ("st.shared.u8 [%r6], %r1;", False), ("", False)])
def test_shared_memory_is_unset_when_a_block_begins(store: str, proved: bool) -> None:
    """The second launch is of one block; the memory of the first one's may be what it gets."""
    m = made(
        f"setp.eq.u32 %p1, %r2, 0; ld.global.u32 %r10, [%d2]; setp.eq.u32 %p2, %r10, 7; @%p2 bra S; {store} S: ld.shared.u32 %r8, [%r6]; st.global.u32 [%d3], %r8;"
    )
    x, y = m.upload(numbers(256)), m.upload(numbers(256))
    p = Proving(m)
    assert p.proves(2, 32, x, y) == proved
    m.arena.bytes[y.start] = 7  # now nobody stores
    assert not p.proves(2, 32, x, y)


@pytest.mark.parametrize("threads", [32, 64, 50])
def test_lanes_exchange_only_what_all_of_them_have(threads: int) -> None:
    m = made("shfl.sync.down.b32 %r8, %r1, 1, 31, -1; st.global.u32 [%d3], %r8;")
    assert Proving(m).proves(1, threads, m.upload(numbers(64)), m.upload(numbers(64))) == (threads % 32 == 0)


def test_blocks_of_later_chunks_are_other_threads() -> None:
    blocks = CHUNK + 3
    places = numbers(blocks)
    m = made(PLACES, bytes=16 << 20)
    x, y = m.upload(numbers(blocks)), m.upload(places)
    p = Proving(m, ("racecheck",))
    assert p.proves(blocks, 1, x, y)
    places[-1] = 2  # the last block stores where the third one does: which has the same place in its chunk
    m.arena.bytes[y.start : y.end] = places.view(np.uint8)
    assert not p.proves(blocks, 1, x, y)
    assert (m.download(x) == numbers(blocks)).all()


def test_claims_end_with_their_launch() -> None:
    m = made(PLACES)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    p = Proving(m)
    assert p.proves(2, 32, x, y)
    m.arena.bytes[y.start : y.end] = numbers(64)[::-1].copy().view(np.uint8)  # now other threads store there
    assert p.proves(2, 32, x, y)
    assert (m.download(x) == numbers(64)[::-1]).all()


def test_intervals_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    m = made(LOOP.format("st.shared.u32 [%r6], %r9; bar.sync 0;", 100) + OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    p = Proving(m)
    assert p.proves(1, 64, x, y)
    monkeypatch.setattr(trial, "MOST_INTERVALS", 150)
    assert p.proves(1, 64, x, y)  # from where they begin again
    monkeypatch.setattr(trial, "MOST_INTERVALS", 100)
    assert not p.proves(1, 64, x, y)


def test_many_readers_of_what_one_of_them_writes() -> None:
    m = made("ld.global.u32 %r8, [%d1]; setp.eq.u32 %p1, %r4, 31; @%p1 st.global.u32 [%d1], %r8;")
    x, y = m.upload(numbers(4)), m.upload(numbers(4))
    p = Proving(m)
    assert not p.proves(1, 32, x, y)  # the last lane, whose claim is written last
    assert p.proves(1, 31, x, y)  # nobody writes


def test_what_is_proved_is_told_once() -> None:
    class Told(Initcheck):
        def observers(self) -> Any:
            return (self,)

        hears_all = True
        proofs: list[LaunchProof] = []  # noqa: RUF012

        def takes_proof(self, launch: Launch) -> bool:
            return True

        def has_unset(self, arena: Any, a: Any) -> bool:
            return bool(a is x)

        def proved(self, proof: LaunchProof) -> None:
            self.proofs.append(proof)

    m = made(OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    told = Told(CheckedRun(Findings()))
    launch = m.launch(1, 32, [x, y], [told], engine="native")
    ((of, words),) = told.proofs[0].set
    assert of is x and (words == (numbers(64) < 32)).all() and launch.used.native_blocks == 1 and len(told.proofs) == 1


def test_auto_tries_a_kernel_when_its_events_have_cost_as_much_as_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(notes, "_all", {})
    monkeypatch.setenv("WARPLAB_CACHE", str(tmp_path))
    m = made(OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    race = Racecheck(CheckedRun(Findings(), in_order=True))
    natively = [m.launch(2, 32, [x, y], [race], engine="auto").used.native_blocks]
    choice = proof_choice(m.prepare(2, 32, [x, y], engine="auto"), [race])
    assert choice is not None and choice.engine.notes.seconds > 0
    choice.engine.notes.seconds = 100.0
    natively += [m.launch(2, 32, [x, y], [race], engine="auto", threads=1).used.native_blocks]
    assert natively == [0, 2]


def test_profiles_are_not_tried() -> None:
    m = made(OWN)
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    race = Racecheck(CheckedRun(Findings(), in_order=True))
    launch = m.prepare(1, 32, [x, y], engine="native")
    assert proof_choice(launch, [race]) is not None
    assert proof_choice(launch, [race, Observer()]) is None


@pytest.mark.parametrize("engine", ["native", "numpy"])
def test_an_endless_launch_takes_its_time_once(engine: str) -> None:
    m = made("L: add.u32 %r1, %r1, 1; st.global.u32 [%d3], %r1; bra L;")
    x, y = m.upload(numbers(64)), m.upload(numbers(64))
    launch = m.prepare(1, 32, [x, y], engine=engine, max_seconds=1.0)
    begun = time.monotonic()
    with pytest.raises(LimitReached, match=r"kernel test reached the limit of 1.0 s, at line 10"):
        execute(launch, Proving(m).observers)
    assert time.monotonic() - begun < 1.9
