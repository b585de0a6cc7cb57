"""Which launches may run on several threads: never one in which a block accesses what another one writes; that is observed on the numpy engine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import Array, Machine, kernel
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.launch import Launch
from warplab.interpreter.native.program import NativeProgram
from warplab.interpreter.native.threads.independence import independent
from warplab.interpreter.native.threads.linear import Linear, Unknown, determined, fact, narrowed, within
from warplab.interpreter.native.threads.sharing import ThreadSharing
from warplab.interpreter.native.tiering import plan_of
from warplab.interpreter.observe import Access, Observer
from warplab.interpreter.values import plain

NOBODY, SEVERAL = -1, -2


class BlocksOfBytes(Observer):
    """Which blocks read and write each byte of global memory."""

    def begin(self, launch: Launch) -> None:
        """See Observer."""
        self.writers, self.readers = (np.full(launch.arena._top, NOBODY) for _ in range(2))
        self.depend = False

    def access(self, access: Access) -> None:
        """See Observer."""
        if access.space not in ("global", "generic"):
            return
        g: Any = access.group
        shape = g.geometry.shape
        blocks = np.broadcast_to(g.wave.first + g.geometry.block, shape)
        mask = np.broadcast_to(True if access.mask is None else access.mask, shape)
        if getattr(g, "alive", None) is not None:
            mask = mask & g.alive
        addresses, size = np.broadcast_to(plain(access.address), shape).astype(np.int64), access.type.bytes * access.count
        mask = mask & (addresses >= 0) & (addresses + size <= len(self.writers))  # the others end the launch
        block = blocks[mask]
        for i in range(size):
            at = addresses[mask] + i
            ours = self.writers if access.kind != "ld" else self.readers
            others = (self.writers[at], self.readers[at]) if access.kind != "ld" else (self.writers[at],)
            self.depend |= any(bool(((o != NOBODY) & (o != block)).any()) for o in others)
            before = ours[at]
            ours[at] = np.where((before == NOBODY) | (before == block), block, SEVERAL)
            if access.kind != "ld":  # two blocks in one access
                self.depend |= bool((self.writers[at] != block).any())


def told(launch: Launch) -> bool:
    """Are the blocks of a launch taken for independent?"""
    program = NativeProgram(launch.kernel, plan_of(launch))
    sharing = ThreadSharing(program.plan, program.frame, program.tracing)
    return sharing.operations > 0 and independent(launch, program.plan, program.frame, program.tracing)


def observed(launch: Launch) -> bool:
    """Is none of them seen to access what another one writes?"""
    seen = BlocksOfBytes()
    execute(launch, (seen,))
    return not seen.depend


# ---------------------------------------------------------------- sums

SYMBOLS = [Unknown("a", 0, 3), Unknown("b", 0, 2), Unknown("c", -1, 1), Unknown("d", 0, 4)]
FACTORS = st.sampled_from([-6, -4, -1, 0, 0, 1, 2, 3, 4, 5, 12, 13, 16, 60])


@st.composite
def sums(draw: st.DrawFn) -> Linear:
    """A sum of some symbols."""
    out = Linear((), draw(st.integers(-3, 3)))
    for symbol in SYMBOLS:
        out += Linear.of(symbol).times(draw(FACTORS))
    return out


@st.composite
def facts_of(draw: st.DrawFn) -> dict[Linear, tuple[int, int]]:
    """Some facts."""
    out: dict[Linear, tuple[int, int]] = {}
    for _ in range(draw(st.integers(0, 3))):
        low = draw(st.integers(-20, 20))
        out = narrowed(out, fact(draw(sums()), low, low + draw(st.integers(0, 60))))
    return out


def values(sum_: Linear, numbers: Array) -> Array:
    """Of a sum, where each row has a value for each symbol."""
    out = np.full(len(numbers), sum_.constant)
    for n, symbol in enumerate(SYMBOLS):
        out += sum_.factor(symbol.name) * numbers[:, n]
    return out


def rows(facts: dict[Linear, tuple[int, int]]) -> Array:
    """All values of the symbols of which the facts hold."""
    numbers = np.stack(np.meshgrid(*[np.arange(s.least, s.most + 1) for s in SYMBOLS], indexing="ij"), -1).reshape(-1, len(SYMBOLS))
    for sum_, (low, high) in facts.items():
        v = values(sum_, numbers) if all(s in SYMBOLS for s, _ in sum_.terms) else np.zeros(len(numbers), np.int64)
        numbers = numbers[(low <= v) & (v <= high)]
    return numbers


@settings(max_examples=200, deadline=None)
@given(sums(), facts_of())
def test_a_sum_lies_in_its_range(sum_: Linear, facts: dict[Linear, tuple[int, int]]) -> None:
    found = values(sum_, rows(facts))
    low, high = within(sum_, facts)
    assert not len(found) or (low <= found.min() and found.max() <= high)


@settings(max_examples=200, deadline=None)
@given(sums(), facts_of(), st.integers(1, 4), st.sampled_from([(0, 0), (1, 2), (4, 3), (16, 1)]))
def test_what_is_determined_is_equal(sum_: Linear, facts: dict[Linear, tuple[int, int]], size: int, more: tuple[int, int]) -> None:
    step, steps = more
    numbers = rows(facts)
    found = np.concatenate([values(sum_, numbers) + step * n for n in range(steps + 1)])
    numbers = np.concatenate([numbers] * (steps + 1))
    near = np.abs(found[:, None] - found) < size
    for name in determined(sum_, facts, size, step, steps):
        n = [s.name for s in SYMBOLS].index(name)
        assert (numbers[:, None, n] == numbers[:, n])[near].all()


# ---------------------------------------------------------------- kernels

WORDS = 1 << 12
HEAD = """.reg .b32 %r<64>; .reg .b64 %d<16>; .reg .pred %p<16>;
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r10, [n]; ld.param.u32 %r11, [m]; cvta.to.global.u64 %d1, %d1;
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ctaid.y;
mov.u32 %r5, %ntid.x; mov.u32 %r6, %ntid.y; mov.u32 %r7, %nctaid.x;
mad.lo.s32 %r8, %r3, %r5, %r1; mad.lo.s32 %r9, %r4, %r6, %r2; mul.lo.s32 %r12, %r5, %r7;
"""
INDICES = {
    "row": "mad.lo.s32 %r20, %r9, %r10, %r8;", "column": "mad.lo.s32 %r20, %r8, %r10, %r9;", "x": "mov.u32 %r20, %r8;",
    "one of each block": "mad.lo.s32 %r20, %r4, %r7, %r3;", "warp": "shr.u32 %r20, %r8, 5;", "folded": "and.b32 %r20, %r8, 63;",
    "backwards": "sub.s32 %r20, %r10, %r8;", "chunk": "mul.lo.s32 %r20, %r8, %r11;", "pair": "shl.b32 %r20, %r8, 1; or.b32 %r20, %r20, 1;",
    "apart": "rem.u32 %r21, %r8, 7; mad.lo.s32 %r20, %r3, 7, %r21;", "y": "mad.lo.s32 %r20, %r9, %r5, %r1;",
    "given": "mul.wide.u32 %d5, %r8, 4; add.u64 %d5, %d2, %d5; ld.global.u32 %r20, [%d5]; and.b32 %r20, %r20, 1023;",
}  # fmt: skip
GUARDS = {
    "": "", "both": "setp.ge.s32 %p1, %r8, %r10; setp.ge.s32 %p2, %r9, %r11; or.pred %p3, %p1, %p2; @%p3 bra END;",
    "x": "setp.ge.u32 %p1, %r8, %r10; @%p1 bra END;", "leader": "setp.ne.u32 %p1, %r1, 0; @%p1 bra END;", "turned": "setp.lt.s32 %p1, %r8, %r10; @!%p1 bra END;",
    "index": "setp.gt.s32 %p1, %r20, %r10; @%p1 bra END;",
}  # fmt: skip
ADDRESS = "mul.wide.s32 %d6, %r30, 4; add.s64 %d7, %d1, %d6;"
STORE = "ld.global.u32 %r31, [%d7{read}]; add.u32 %r31, %r31, 1; st.global.u32 [%d7{write}], %r31;"
LOOPS = {
    "": "mov.u32 %r30, %r20; {address} {store}",
    "strided": "mov.u32 %r30, %r20; setp.ge.s32 %p5, %r30, {limit}; @%p5 bra END; L: {address} {store} add.s32 %r30, %r30, %r12; "
    "setp.lt.s32 %p6, %r30, {limit}; @%p6 bra L;",
    "tested first": "mov.u32 %r30, %r20; L: setp.ge.u32 %p6, %r30, {limit}; @%p6 bra END; {address} {store} add.s32 %r30, %r30, %r12; bra L;",
    "counted": "mov.u32 %r30, %r20; {address} mov.u32 %r32, 0; L: {store} add.s64 %d7, %d7, 4; add.s32 %r32, %r32, 1; setp.lt.s32 %p6, %r32, %r11; @%p6 bra L;",
    "counted down": "mov.u32 %r30, %r20; {address} mov.u32 %r32, %r11; L: {store} add.s64 %d7, %d7, 4; add.s32 %r32, %r32, -1; "
    "setp.ne.s32 %p6, %r32, 0; @%p6 bra L;",
    "perhaps": "mov.u32 %r30, %r20; setp.gt.s32 %p6, %r1, 3; @%p6 add.s32 %r30, %r30, %r11; {address} {store}",
    "nested": "mov.u32 %r30, %r20; {address} mov.u32 %r33, 0; M: mov.u32 %r32, 0; L: {store} add.s64 %d7, %d7, 4; add.s32 %r32, %r32, 1; "
    "setp.lt.s32 %p6, %r32, %r11; @%p6 bra L; add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, 2; @%p7 bra M;",
    "nested anew": "mov.u32 %r33, 0; M: mov.u32 %r32, 0; L: mad.lo.s32 %r30, %r33, %r11, %r20; add.s32 %r30, %r30, %r32; {address} {store} "
    "add.s32 %r32, %r32, 1; setp.ne.s32 %p6, %r32, %r11; @%p6 bra L; add.s32 %r33, %r33, 1; setp.lt.s32 %p7, %r33, 2; @%p7 bra M;",
    "one after another": "mov.u32 %r30, %r20; mov.u32 %r32, 0; setp.lt.s32 %p6, %r11, 3; @%p6 bra N; L: {address} {store} add.s32 %r30, %r30, 1; "
    "add.s32 %r32, %r32, 1; setp.lt.s32 %p6, %r32, 2; @%p6 bra L; N: mov.u32 %r34, 0; O: {address} {store} add.s32 %r30, %r30, 1; "
    "add.s32 %r34, %r34, 1; setp.lt.s32 %p6, %r34, %r11; @%p6 bra O;",
    "set anew": "mov.u32 %r30, %r20; mov.u32 %r32, 0; mov.u32 %r33, %r8; L: {address} {store} add.s32 %r30, %r20, {anew}; add.s32 %r33, %r33, 1; "
    "add.s32 %r32, %r32, 1; setp.lt.s32 %p6, %r32, %r11; @%p6 bra L; sub.s32 %r30, %r33, %r32; {address} {store}",
    "swapped": "mov.u32 %r30, %r20; mov.u32 %r33, %r8; mov.u32 %r32, 0; L: {address} {store} mov.u32 %r35, %r30; mov.u32 %r30, %r33; "
    "add.s32 %r33, %r35, 1; add.s32 %r32, %r32, 1; setp.lt.s32 %p6, %r32, %r11; @%p6 bra L;",
    "in steps": "mov.u32 %r30, %r20; mov.u32 %r32, 0; L: {address} {store} setp.gt.s32 %p7, %r1, 2; @%p7 bra M; add.s32 %r30, %r30, 2; M: "
    "add.s32 %r30, %r30, 1; add.s32 %r32, %r32, 1; setp.lt.s32 %p6, %r32, %r11; @%p6 bra L;",
    "either": "setp.gt.s32 %p6, %r1, 3; selp.b32 %r30, %r20, %r8, %p6; {address} {store}",
}  # fmt: skip


@st.composite
def launches(draw: st.DrawFn) -> Callable[[], Launch]:
    """A kernel of some pieces, and a launch of it."""
    store = STORE.format(read=draw(st.sampled_from(["", "", "", "+4", "+-4"])), write=draw(st.sampled_from(["", "", "+4"])))
    loop = LOOPS[draw(st.sampled_from(sorted(LOOPS)))].format(
        address=ADDRESS, store=store, limit=draw(st.sampled_from(["%r10", "64"])), anew=draw(st.sampled_from([1, 64]))
    )
    pieces = [INDICES[draw(st.sampled_from(sorted(INDICES)))], GUARDS[draw(st.sampled_from(sorted(GUARDS)))], loop]
    text = kernel("p out, p in, u32 n, u32 m", HEAD + "\n".join(pieces) + "\nEND: ret;")
    block = draw(st.sampled_from([(8, 1), (16, 1), (4, 4), (7, 1), (64, 1)]))
    grid = draw(st.sampled_from([(3, 1), (4, 1), (2, 2), (3, 2), (8, 1)]))
    n, m = draw(st.sampled_from([8, 12, 16, 30, 32, 64])), draw(st.sampled_from([1, 2, 3, 4, 8]))
    rubbish = np.random.default_rng(draw(st.integers(0, 9))).integers(0, 1 << 16, 1024, np.uint32)

    def launch() -> Launch:
        machine = Machine(text)
        machine.upload(np.zeros(WORDS, np.uint32))
        places = [machine.upload(np.zeros(WORDS, np.uint32)), machine.upload(rubbish)]
        return machine.prepare(grid, block, [places[0], places[1], np.uint32(n), np.uint32(m)], max_steps=20000)

    return launch


@settings(max_examples=120, deadline=None)
@given(launches())
def test_blocks_that_are_taken_for_independent_are(launch: Callable[[], Launch]) -> None:
    if not told(launch()):
        return
    with suppress(ExecutionError):
        assert observed(launch())


USUAL = [
    ("x", "x", ""),
    ("x", "", "strided"),
    ("x", "", "tested first"),
    ("chunk", "x", "counted"),
    ("chunk", "x", "counted down"),
    ("pair", "x", ""),
]


@pytest.mark.parametrize("index, guard, loop", USUAL)
def test_usual_kernels_are_taken_for_independent(index: str, guard: str, loop: str) -> None:
    body = LOOPS[loop].format(address=ADDRESS, store=STORE.format(read="", write=""), limit="%r10")
    machine = Machine(kernel("p out, p in, u32 n, u32 m", f"{HEAD}{INDICES[index]}{GUARDS[guard]}{body}\nEND: ret;"))
    places = [machine.upload(np.zeros(WORDS, np.uint32)) for _ in range(2)]
    assert told(machine.prepare(4, 16, [*places, np.uint32(60 if guard else 200), np.uint32(3)]))
