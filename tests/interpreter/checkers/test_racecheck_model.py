"""racecheck against the PTX memory model: random programs of two blocks, whose clocks a reference keeps thread by thread, one access at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from .racing import HEAD, races

BLOCK, BLOCKS = 64, 2
COUNT = BLOCK * BLOCKS
PEOPLE = (0, 1, 32, 64, 65)
CROWDS = {
    -1: range(32),
    -2: range(32, 64),
    -3: range(BLOCK),
    -4: range(COUNT),
    -5: range(60, 68),
}  # the lanes of one instruction, one after the other
WIDE = "gpu"
Step = tuple[str, str, int, int]  # what, scope, place, thread of all or a crowd

TEXTS = {
    "ld": "ld.global.u32 %r10, [%rd1+{at}];",
    "st": "st.global.u32 [%rd1+{at}], %r8;",
    "ld.relaxed": "ld.relaxed.{scope}.global.u32 %r10, [%rd1+{at}];",
    "st.relaxed": "st.relaxed.{scope}.global.u32 [%rd1+{at}], %r8;",
    "ld.acquire": "ld.acquire.{scope}.global.u32 %r10, [%rd1+{at}];",
    "st.release": "st.release.{scope}.global.u32 [%rd1+{at}], %r8;",
    "atom.relaxed": "atom.relaxed.{scope}.global.add.u32 %r10, [%rd1+{at}], 1;",
    "atom.acq_rel": "atom.acq_rel.{scope}.global.add.u32 %r10, [%rd1+{at}], 1;",
    "fence": "fence.acq_rel.{scope};",
}
EVERYONE = {"bar": "bar.sync 0;", "warp": "bar.warp.sync -1;"}


def morally_strong(a: Step, b: Step) -> bool:
    """Are both strong, each in the other's scope?"""
    return "." in a[0] and "." in b[0] and (a[3] // BLOCK == b[3] // BLOCK or a[1] == b[1] == WIDE)


@dataclass
class Head:
    """What a release pattern hands on with a write."""

    clock: np.ndarray
    scope: str
    block: int

    def reaches(self, scope: str, block: int) -> bool:
        """Are the pattern's first operation, and an acquire of a scope by a block, in each other's scope?"""
        return self.block == block or self.scope == scope == WIDE


@dataclass
class Reference:
    """All clocks: clock[t, u] is up to when u's accesses are before t."""

    clock: np.ndarray = field(default_factory=lambda: np.zeros((COUNT, COUNT), int))
    done: list[tuple[int, Step, int]] = field(default_factory=list)  # number, access, the time of its thread
    heads: dict[int, list[Head]] = field(default_factory=dict)  # by place
    fences: dict[int, list[Head]] = field(default_factory=dict)  # by thread
    released: dict[tuple[int, int], list[Head]] = field(default_factory=dict)  # by thread and place: own release operations
    pending: dict[int, list[tuple[int, Head]]] = field(default_factory=dict)  # by thread: place, what a fence would acquire
    last: dict[int, tuple[int, int]] = field(default_factory=dict)  # by place, the last write's number and thread
    read: set[tuple[int, tuple[int, int]]] = field(default_factory=set)  # thread, a strong write that its strong load has read
    races: set[tuple[int, int]] = field(default_factory=set)
    excused: set[tuple[int, int]] = field(
        default_factory=set
    )  # a write that was read is before what follows, but not what its thread did before

    def step(self, n: int, step: Step) -> None:
        """One step of the program."""
        what, scope, place, who = step
        for t in CROWDS.get(who, (who,)):
            self.one(n, (what, scope, place, t))
            if what in EVERYONE:
                return

    def one(self, n: int, step: Step) -> None:
        """A step of one thread."""
        what, scope, place, t = step
        if what in EVERYONE:
            self.meet(BLOCK if what == "bar" else 32)
            return
        if what == "fence":
            self.acquire(t, scope, [h for _, h in self.pending.get(t, ())])
            self.fences[t] = [h for h in self.fences.get(t, ()) if h.scope != scope] + [self.head(t, scope)]
            return
        strong, reads, writes = "." in what, what.startswith(("ld", "atom")), what.startswith(("st", "atom"))
        found = self.heads.get(place, [])
        if strong and reads:
            self.pending.setdefault(t, []).extend((place, h) for h in found)
            if "acq" in what:  # it comes after what it acquires itself
                self.acquire(t, scope, [h for p, h in self.pending[t] if p == place])
        self.compare(n, step)
        if strong and reads:
            last = next((d for d in self.done if (d[0], d[1][3]) == self.last.get(place)), None)
            if last is not None and morally_strong(step, last[1]):
                self.read.add((t, (last[0], last[1][3])))
        if writes:
            self.last[place] = n, t
            if not strong:
                self.heads[place] = []
                return
            if "rel" in what and "relaxed" not in what:
                self.released.setdefault((t, place), []).append(self.head(t, scope))
            kept = found if reads else []
            self.heads[place] = [*kept, *self.fences.get(t, ()), *self.released.get((t, place), ())]

    def head(self, t: int, scope: str) -> Head:
        """All that is before a release."""
        self.clock[t, t] += 1
        return Head(self.clock[t].copy(), scope, t // BLOCK)

    def acquire(self, t: int, scope: str, heads: list[Head]) -> None:
        """A thread comes behind those patterns that reach it."""
        for h in heads:
            if h.reaches(scope, t // BLOCK):
                self.clock[t] = np.maximum(self.clock[t], h.clock)

    def meet(self, size: int) -> None:
        """A barrier."""
        self.clock += np.eye(COUNT, dtype=int)
        for first in range(0, COUNT, size):
            self.clock[first : first + size] = self.clock[first : first + size].max(axis=0)

    def compare(self, n: int, step: Step) -> None:
        """The access races with each earlier one that conflicts, unless something excuses the two."""
        what, _, place, t = step
        for m, earlier, time in self.done:
            other, _, at, u = earlier
            if at != place or u == t or (what.startswith("ld") and other.startswith("ld")) or self.clock[t, u] > time:
                continue
            if not morally_strong(step, earlier):
                (self.excused if "." in other and (t, (m, u)) in self.read else self.races).add((m, n))
        self.done.append((n, step, int(self.clock[t, t])))


ACCESSES = st.tuples(
    st.sampled_from(sorted(set(TEXTS) - {"fence"})), st.sampled_from(["gpu", "gpu", "cta"]), st.integers(0, 1), st.sampled_from(PEOPLE)
)
TOGETHER = st.tuples(
    st.sampled_from(["atom.acq_rel", "atom.relaxed", "ld.acquire", "ld", "ld.relaxed"]), st.sampled_from(["gpu", "gpu", "cta"]), st.integers(0, 1),
    st.sampled_from(sorted(CROWDS)),
)  # fmt: skip
FENCES = st.tuples(st.just("fence"), st.sampled_from(["gpu", "gpu", "cta"]), st.just(0), st.sampled_from([*PEOPLE, *CROWDS]))
MEETINGS = st.tuples(st.sampled_from(sorted(EVERYONE)), st.just(""), st.just(0), st.just(0))


def told(steps: list[Step]) -> set[tuple[int, int]]:
    """The pairs of steps that racecheck names."""
    lines, numbers = [f"mad.lo.u32 %r8, %r2, {BLOCK}, %r1;"], {}
    for n, (what, scope, place, thread) in enumerate(steps):
        if what in EVERYONE:
            lines.append(EVERYONE[what])
            continue
        among = CROWDS.get(thread, range(thread, thread + 1))
        lines += [f"sub.u32 %r11, %r8, {among.start};", f"setp.lt.u32 %p3, %r11, {len(among)};"]
        lines.append(f"@%p3 {TEXTS[what].format(scope=scope, at=4 * place)}")
        numbers[HEAD.count("\n") + len(lines)] = n
    found = races("\n".join(lines), block=BLOCK, grid=BLOCKS)
    return {(min(a, b), max(a, b)) for a, b in ((numbers[f.line or 0], numbers[f.other_line or 0]) for f in found)}


@settings(max_examples=80)
@given(st.lists(st.one_of(ACCESSES, ACCESSES, TOGETHER, FENCES, MEETINGS), min_size=2, max_size=10))
def test_random_programs(steps: list[Step]) -> None:
    reference = Reference()
    for n, step in enumerate(steps):
        reference.step(n, step)
    named = told(steps)
    late = {n for _, n in reference.races}
    if not any(who in CROWDS for _, _, _, who in steps):  # a record of some threads of several blocks stands for all of these blocks
        assert named <= reference.races | {(m, n) for m, n in reference.excused if n in late}  # no false alarm
    assert named or not reference.races  # a later record may stand for an earlier one, but no race is lost
