"""racecheck against clocks that a reference keeps thread by thread: random programs with all that orders threads, in random orders."""

from __future__ import annotations

from random import Random

import pytest

from warplab.interpreter.checkers.racecheck import checker

from .clocks import Compared
from .racing import races

ACCESSES = (
    "ld.{space}.u32 %r10, {at};", "st.{space}.u32 {at}, %r8;", "st.{space}.u32 {at}, 7;",
    "ld.relaxed.{scope}.{space}.u32 %r10, {at};", "st.relaxed.{scope}.{space}.u32 {at}, %r8;",
    "ld.acquire.{scope}.{space}.u32 %r10, {at};", "st.release.{scope}.{space}.u32 {at}, %r8;",
    "atom.relaxed.{scope}.{space}.add.u32 %r10, {at}, 1;", "atom.acq_rel.{scope}.{space}.add.u32 %r10, {at}, 1;",
    "atom.acquire.{scope}.{space}.exch.b32 %r10, {at}, 1;", "red.release.{scope}.{space}.add.u32 {at}, 1;",
)  # fmt: skip
FENCES = ("fence.acq_rel.{scope};", "fence.sc.{scope};")
BLOCK_BARRIERS = (
    "bar.sync 0;",
    "@%p4 bar.sync 1, 32;",
    "@%p4 bar.arrive 2, 64;\n@!%p4 bar.sync 2, 64;",
    "bar.warp.sync -1;",
    "and.b32 %r12, %r1, 16;\nshl.b32 %r12, 0xffff, %r12;\nbar.warp.sync %r12;",
)
CLUSTER_BARRIERS = (
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    "barrier.cluster.arrive.relaxed.aligned;\nst.global.u32 [%rd7], 5;\nbarrier.cluster.wait.acquire.aligned;",
)
PHASE = "mbarrier.arrive.shared.b64 %rd9, [%r9];\nW{n}: mbarrier.test_wait.shared.b64 %p6, [%r9], %rd9;\n@!%p6 bra W{n};"
LOCK = """setp.eq.u32 %p3, %r1, {leader};
@!%p3 bra E{n};
L{n}: atom{acquire}.gpu.global.exch.b32 %r14, [%rd2], 1;
setp.ne.u32 %p6, %r14, 0;
@%p6 bra L{n};
{fence}
ld.global.u32 %r16, [%rd1+8];
add.u32 %r16, %r16, 1;
st.global.u32 [%rd1+8], %r16;
atom{release}.gpu.global.exch.b32 %r15, [%rd2], 0;
E{n}:"""
FLAG = """setp.eq.u32 %p3, %r8, {writer};
@%p3 st.{release}.gpu.global.u32 [%rd2+{flag}], 1;
setp.ne.u32 %p3, %r8, {reader};
@%p3 bra E{n};
L{n}: ld.{acquire}.gpu.global.u32 %r14, [%rd2+{flag}];
setp.eq.u32 %p6, %r14, 0;
@%p6 bra L{n};
{fence}
E{n}:"""


class Program:
    """A random program of one kernel, and its launch."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.block, self.cluster = self.random.choice((32, 64)), self.random.choice((1, 1, 2))
        self.grid = self.random.choice((1, 2)) if self.cluster == 1 else 2
        self.schedule = self.random.choice((None, 1, 2))
        self.total = self.block * self.grid
        shift = self.random.choice((0, 1, 32))
        parts = [
            f"mad.lo.u32 %r8, %r2, {self.block}, %r1;\nsetp.lt.u32 %p4, %r1, 32;\nadd.u32 %r20, %r8, {shift};\nand.b32 %r20, %r20, 63;",
            f"mad.wide.u32 %rd7, %r20, 4, %rd1;\n@%p2 mbarrier.init.shared.b64 [%r9], {self.block};\nbar.sync 0;",
        ]
        self.body = "\n".join([*parts, *(self.part(n) for n in range(self.random.randrange(4, 14)))])

    def part(self, n: int) -> str:
        """One thing that all threads or some of them do."""
        pick, what = self.random.choice, self.random.random()
        scope = pick(("gpu", "gpu", "sys", "cta", "cluster"))
        if what < 0.55:
            space, at = pick(
                (("global", "[%rd1]"), ("global", "[%rd1+4]"), ("global", "[%rd7]"), ("shared", pick(("[%r3]", "[%r5]", "[%r7]"))))
            )
            first, count = pick(((0, self.total), (pick(range(self.total)), pick((1, 2, 33))), (self.total - 32, 32)))
            text = pick(FENCES if what < 0.12 else ACCESSES).format(scope=scope, space=space, at=at)
            return f"sub.u32 %r11, %r8, {first};\nsetp.lt.u32 %p3, %r11, {count};\n@%p3 {text}"
        fence, acquire, release = pick(("", f"fence.acq_rel.{scope};")), pick(("acquire", "relaxed")), pick(("release", "relaxed"))
        if what < 0.65:
            return FLAG.format(
                n=n, fence=fence, acquire=acquire, release=release, flag=4 * n + 4,
                writer=pick(range(self.total)), reader=pick(range(self.total)),
            ) if self.schedule is None else ""  # fmt: skip
        if what < 0.72:
            return LOCK.format(n=n, fence=fence, acquire=f".{acquire}", release=f".{release}", leader=pick((0, 5)))
        if what < 0.78:
            return PHASE.format(n=n)
        if what < 0.86 and self.cluster > 1:
            return pick(CLUSTER_BARRIERS)
        return pick(BLOCK_BARRIERS[: None if self.block > 32 else 2])


@pytest.mark.parametrize("seed", [*range(40), 3308, 5179, 5604, 13678])
def test_no_race_is_missed_and_none_invented(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = list[Compared]()

    class Racecheck(Compared):
        def __init__(self, run: object) -> None:
            super().__init__(run)
            runs.append(self)

    monkeypatch.setattr(checker, "Racecheck", Racecheck)
    p = Program(seed)
    races(p.body, block=p.block, grid=p.grid, cluster=p.cluster, schedule=p.schedule)
    (run,) = runs
    assert (run.missed, run.invented) == ([], [])
