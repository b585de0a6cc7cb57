"""Programs whose lanes, warps and blocks wait for one another finish, with the right result, in the default schedule and in others.

An H200 has run every program here and left the results that are expected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.faults import Deadlock

from ..harness import Array, Machine, kernel

SCHEDULES = [None, 1, 2]
HEAD = """.reg .b64 %d<9>; .reg .b32 %r<30>; .reg .pred %p<9>;
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;
mad.lo.u32 %r5, %r2, %r3, %r1; mad.wide.u32 %d2, %r5, 4, %d1; and.b32 %r6, %r1, 31; mad.wide.u32 %d3, %r2, 4, %d1;
"""  # r1 thread, r2 block, r3 threads, r4 blocks, r5 global index, d2 = out + 4 * r5, r6 lane, d3 = out + 4 * r2


@dataclass
class Case:
    """A body, its shape, and what the words of the output must be."""

    name: str
    body: str
    grid: int
    block: int
    words: int
    right: Callable[[Array], bool]
    before: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def equals(want: Any) -> Callable[[Array], bool]:
    """A result word by word."""
    return lambda got: bool(np.array_equal(got, want))


COUNT = "ld.volatile.global.u32 %r10, [%d1+4]; add.u32 %r10, %r10, 1; st.volatile.global.u32 [%d1+4], %r10; membar.gl;"


def locked(grid: int, block: int) -> Callable[[Array], bool]:
    """The lock is free and every thread has counted."""
    return equals([0, grid * block])


LOCKS = {
    "lock-then-work": f"""L: atom.global.cas.b32 %r9, [%d1], 0, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra L;
        membar.gl; {COUNT} atom.global.exch.b32 %r9, [%d1], 0; ret;""",
    "lock-inside-loop": f"""mov.u32 %r8, 0;
        L: atom.global.exch.b32 %r9, [%d1], 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra AGAIN;
        {COUNT} st.volatile.global.u32 [%d1], 0; mov.u32 %r8, 1;
        AGAIN: setp.eq.u32 %p1, %r8, 0; @%p1 bra L; ret;""",
    "look-before-you-lock": f"""L: ld.volatile.global.u32 %r9, [%d1]; setp.ne.u32 %p1, %r9, 0; @%p1 nanosleep.u32 20; @%p1 bra L;
        atom.global.cas.b32 %r9, [%d1], 0, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra L;
        {COUNT} membar.gl; atom.global.exch.b32 %r9, [%d1], 0; ret;""",
}


def lock_cases() -> list[Case]:
    """Every style of lock in several shapes."""
    out = []
    for name, body in LOCKS.items():
        for grid, block in ((1, 20), (1, 70), (3, 32)):
            out.append(Case(f"{name}-{grid}x{block}", body, grid, block, 2, locked(grid, block)))
    return out


# A block waits in a loop for the other, whose lanes run later: the ways by which a turn of the loop ends.
TURNS = {
    "both-arms-go-back": """L: ld.volatile.global.u32 %r9, [%d1]; setp.ne.u32 %p1, %r9, 0; @%p1 bra DONE; @%p2 bra ODD;
        nanosleep.u32 10; bra L; ODD: add.u32 %r8, %r8, 1; bra L;""",
    "the-block-before-runs-into-the-head": """bra L; AGAIN: nanosleep.u32 10;
        L: ld.volatile.global.u32 %r9, [%d1]; setp.eq.u32 %p1, %r9, 0; @%p1 bra AGAIN; bra DONE;""",
    "some-run-into-the-head-from-above": """bra L; AGAIN: add.u32 %r8, %r8, 1;
        L: ld.volatile.global.u32 %r9, [%d1]; setp.ne.u32 %p1, %r9, 0; @%p1 bra DONE; @%p2 bra L; bra AGAIN;""",
    "past-a-guarded-return": """bra M; BACK: @%p4 ret;
        M: ld.volatile.global.u32 %r9, [%d1]; setp.eq.u32 %p1, %r9, 0; @%p1 bra BACK; bra DONE;""",
    "by-a-table": """L: ld.volatile.global.u32 %r9, [%d1]; T: .branchtargets L, DONE; brx.idx %r9, T;""",
    "by-a-table-for-some": """L: ld.volatile.global.u32 %r9, [%d1]; mad.lo.u32 %r9, %r9, 4, %r10;
        T: .branchtargets L, A, DONE, DONE, DONE, DONE; brx.idx %r9, T; A: add.u32 %r8, %r8, 1; bra L;""",
    "from-a-call": """bra L; AGAIN: call nap;
        L: ld.volatile.global.u32 %r9, [%d1]; setp.ne.u32 %p1, %r9, 0; @%p1 bra DONE; bra AGAIN;""",
    "looking-by-a-call": "L: call (%r9), look, (%d1); setp.ne.u32 %p1, %r9, 0; @%p1 bra DONE; @%p2 call nap; bra L;",
    "looking-through-a-pointer": """L: mov.u64 %d4, look; P: .callprototype (.reg .u32 _) _ (.reg .u64 _);
        call (%r9), %d4, (%d1), P; setp.ne.u32 %p1, %r9, 0; @%p1 bra DONE; bra L;""",
}
LOOKING = """.func nap () { nanosleep.u32 5; ret; }
    .func (.reg .u32 o) look (.reg .u64 a) { ld.volatile.global.u32 o, [a]; ret; }"""


def turn_cases() -> list[Case]:
    """Every way to turn, for a block that waits for another."""
    return [
        Case(
            name,
            f"""mov.u32 %r8, 0; and.b32 %r10, %r1, 1; setp.ne.u32 %p2, %r10, 0; setp.ne.u32 %p4, %r2, 0; @!%p4 bra WAIT; bra SET;
            WAIT: {body} SET: st.volatile.global.u32 [%d1], 1; DONE: atom.global.add.u32 %r9, [%d1+4], 1; ret;""",
            2, 8, 2, equals([1, 16]), LOOKING,
        )
        for name, body in TURNS.items()
    ]  # fmt: skip


CASES = [
    *lock_cases(),
    *turn_cases(),
    Case(
        "ticket-lock",
        f"""atom.global.add.u32 %r8, [%d1+8], 1;
        L: ld.acquire.gpu.global.u32 %r9, [%d1]; setp.ne.u32 %p1, %r9, %r8; @%p1 bra L;
        {COUNT} add.u32 %r9, %r9, 1; st.release.gpu.global.u32 [%d1], %r9; ret;""",
        3, 33, 3, equals([99, 99, 99]),
    ),
    Case(
        "barrier-in-a-loop-of-its-own-length-per-block",
        """shl.b32 %r8, %r2, 1; add.u32 %r8, %r8, 3; mov.u32 %r9, 0; shl.b32 %r10, %r1, 2; mov.u32 %r11, s; add.u32 %r11, %r11, %r10;
        st.shared.u32 [%r11], %r1;
        L: bar.sync 0; add.u32 %r12, %r1, 1; rem.u32 %r12, %r12, %r3; shl.b32 %r12, %r12, 2; mov.u32 %r13, s; add.u32 %r12, %r12, %r13;
        ld.shared.u32 %r14, [%r12]; bar.sync 0; st.shared.u32 [%r11], %r14; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, %r8; @%p1 bra L;
        st.global.u32 [%d2], %r14; ret;""",
        7, 50, 350, equals([(t + 2 * b + 3) % 50 for b in range(7) for t in range(50)]), ".shared .b32 s[64];",
    ),
    Case(  # each warp leaves the loop after its own number of turns and has ended when others still meet
        "barrier-that-warps-leave-one-by-one",
        """shr.u32 %r8, %r1, 5; mov.u32 %r9, 0;
        L: bar.sync 0; atom.global.add.u32 %r10, [%d1], 1; add.u32 %r9, %r9, 1; setp.le.u32 %p1, %r9, %r8; @%p1 bra L; ret;""",
        2, 128, 1, equals([2 * 32 * (1 + 2 + 3 + 4)]),
    ),
    Case(  # both sides of a branch have a barrier of their own place but one number
        "barrier-from-two-branches",
        """shr.u32 %r8, %r1, 5; and.b32 %r8, %r8, 1; setp.eq.u32 %p1, %r8, 1; mov.u32 %r11, s; @%p1 bra ODD;
        setp.eq.u32 %p2, %r1, 0; @%p2 st.shared.u32 [%r11], 40; bar.sync 0; ld.shared.u32 %r9, [%r11+4]; bra JOIN;
        ODD: setp.eq.u32 %p2, %r1, 32; @%p2 st.shared.u32 [%r11+4], 50; bar.sync 0; ld.shared.u32 %r9, [%r11];
        JOIN: st.global.u32 [%d2], %r9; ret;""",
        1, 64, 64, equals([50] * 32 + [40] * 32), ".shared .b32 s[2];",
    ),
    Case(
        "producer-and-consumer",
        """mov.u32 %r11, s; shl.b32 %r12, %r6, 2; add.u32 %r12, %r12, %r11; mov.u32 %r9, 0; mov.u32 %r15, 0;
        setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER;
        P: bar.sync 1, 64; mad.lo.u32 %r13, %r9, 100, %r1; st.shared.u32 [%r12], %r13; membar.cta; bar.arrive 2, 64;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 8; @%p2 bra P; ret;
        CONSUMER: bar.arrive 1, 64;
        C: bar.sync 2, 64; ld.shared.u32 %r14, [%r12]; add.u32 %r15, %r15, %r14; add.u32 %r9, %r9, 1;
        setp.lt.u32 %p2, %r9, 8; @!%p2 bra END; bar.arrive 1, 64; bra C;
        END: mad.lo.u32 %r16, %r2, 32, %r6; mad.wide.u32 %d2, %r16, 4, %d1; st.global.u32 [%d2], %r15; ret;""",
        3, 64, 96, equals([100 * 28 + 8 * t for _ in range(3) for t in range(32)]), ".shared .b32 s[32];",
    ),
    Case(
        "flag-between-lanes-of-a-warp",
        """setp.eq.u32 %p1, %r6, 17; @%p1 bra SET;
        L: ld.volatile.global.u32 %r9, [%d1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra L; atom.global.add.u32 %r10, [%d1+4], 1; ret;
        SET: st.volatile.global.u32 [%d1], 7; ret;""",
        1, 32, 2, equals([7, 31]),
    ),
    Case(
        "flag-between-warps",
        """setp.ge.u32 %p1, %r1, 96; @%p1 bra SET; mov.u32 %r11, s;
        L: ld.volatile.shared.u32 %r9, [%r11]; setp.ne.u32 %p2, %r9, 7; @%p2 bra L; st.global.u32 [%d2], %r9; ret;
        SET: mov.u32 %r11, s; st.volatile.shared.u32 [%r11], 7; ret;""",
        3, 128, 384, equals(([7] * 96 + [0] * 32) * 3), ".shared .b32 s;",
    ),
    Case(
        "first-block-waits-for-the-last",
        """setp.eq.u32 %p1, %r2, 0; @!%p1 bra OTHERS;
        L: ld.acquire.gpu.global.u32 %r9, [%d1]; add.u32 %r10, %r9, 1; setp.ne.u32 %p2, %r10, %r4; @%p2 nanosleep.u32 100; @%p2 bra L;
        st.global.u32 [%d1+4], 77; ret;
        OTHERS: setp.ne.u32 %p3, %r1, 0; @%p3 ret; atom.global.add.u32 %r9, [%d1], 1; ret;""",
        60, 32, 2, equals([59, 77]), options={"wave_lanes": 64},
    ),
    Case(
        "decoupled-look-back",
        """setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT;
        mov.u32 %r8, 0; add.u32 %r10, %r2, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra PUBLISH;
        add.u32 %r11, %r10, 1000000; add.u64 %d5, %d3, 0; st.volatile.global.u32 [%d3], %r11; membar.gl; mov.u64 %d4, %d3;
        BACK: sub.u64 %d4, %d4, 4;
        L: ld.volatile.global.u32 %r9, [%d4]; setp.eq.u32 %p3, %r9, 0; @%p3 bra L;
        setp.ge.u32 %p4, %r9, 2000000; @%p4 bra FOUND; sub.u32 %r9, %r9, 1000000; add.u32 %r8, %r8, %r9; bra BACK;
        FOUND: sub.u32 %r9, %r9, 2000000; add.u32 %r8, %r8, %r9;
        PUBLISH: add.u32 %r8, %r8, %r10; add.u32 %r8, %r8, 2000000; st.volatile.global.u32 [%d3], %r8;
        OUT: ret;""",
        100, 32, 100, equals([2000000 + (b + 1) * (b + 2) // 2 for b in range(100)]), options={"wave_lanes": 100},
    ),
    Case(
        "last-block-adds-up",
        """atom.global.add.u32 %r9, [%d1+4], %r1; membar.gl; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT;
        atom.global.inc.u32 %r10, [%d1], 10000; add.u32 %r10, %r10, 1; setp.ne.u32 %p2, %r10, %r4; @%p2 bra OUT;
        ld.volatile.global.u32 %r11, [%d1+4]; st.global.u32 [%d1+8], %r11; OUT: ret;""",
        50, 64, 3, equals([50, 50 * 2016, 50 * 2016]), options={"wave_lanes": 128},
    ),
    Case(
        "grid-barrier-of-atomics",
        """mov.u32 %r8, 0;
        ROUND: atom.global.add.u32 %r9, [%d1+4], 1; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra PASS;
        membar.gl; atom.global.add.u32 %r9, [%d1], 1; add.u32 %r10, %r8, 1; mul.lo.u32 %r10, %r10, %r4;
        L: ld.acquire.gpu.global.u32 %r9, [%d1]; setp.lt.u32 %p2, %r9, %r10; @%p2 bra L;
        PASS: bar.sync 0; ld.volatile.global.u32 %r11, [%d1+4]; add.u32 %r8, %r8, 1; mul.lo.u32 %r12, %r8, %r4; mul.lo.u32 %r12, %r12, %r3;
        setp.lt.u32 %p3, %r11, %r12; @%p3 atom.global.add.u32 %r9, [%d1+8], 1;
        setp.lt.u32 %p4, %r8, 4; @%p4 bra ROUND; ret;""",
        20, 40, 3, equals([80, 3200, 0]), options={"wave_lanes": 160},
    ),
    Case(
        "vote-after-loops-of-different-length",
        """mov.u32 %r8, 0; mul.lo.u32 %r9, %r6, %r6; rem.u32 %r9, %r9, 11;
        L: setp.ge.u32 %p1, %r8, %r9; @%p1 bra OUT; add.u32 %r8, %r8, 1; setp.eq.u32 %p2, %r8, 7; @%p2 bra OUT; bra L;
        OUT: setp.gt.u32 %p3, %r8, 4; vote.sync.ballot.b32 %r10, %p3, -1; shfl.sync.up.b32 %r11, %r8, 1, 0, -1;
        shl.b32 %r11, %r11, 28; xor.b32 %r10, %r10, %r11; st.global.u32 [%d2], %r10; ret;""",
        1, 64, 64, equals([
            (sum(1 << k for k in range(32) if min(k * k % 11, 7) > 4) ^ (min(max(t % 32 - 1, 0) ** 2 % 11, 7) << 28)) & 0xFFFFFFFF
            for t in range(64)
        ]),
    ),
    Case(  # halves of a warp shuffle among themselves while the other half turns in a loop
        "masks-of-halves",
        """setp.ge.u32 %p1, %r6, 16; mov.u32 %r8, 0; mov.u32 %r10, %r6; @%p1 bra HIGH;
        A: shfl.sync.down.b32 %r9, %r10, 1, 31, 0x0000FFFF; add.u32 %r10, %r9, 1; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 3; @%p2 bra A;
        bra JOIN;
        HIGH: shfl.sync.idx.b32 %r9, %r10, 20, 31, 0xFFFF0000; add.u32 %r10, %r10, %r9; add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 5; @%p2 bra HIGH;
        JOIN: bar.warp.sync -1; st.global.u32 [%d2], %r10; ret;""",
        1, 64, 64, lambda got: bool(np.array_equal(got[16:32], [t + sum(20 << k for k in range(5)) for t in range(16, 32)])
                                    and np.array_equal(got[:12], np.arange(12) + 6) and np.array_equal(got[:32], got[32:])),
    ),
    Case(  # lanes hand a token round the warp
        "token-ring-of-lanes",
        """L: ld.volatile.global.u32 %r8, [%d1]; setp.ne.u32 %p1, %r8, %r1; @%p1 bra L;
        ld.volatile.global.u32 %r9, [%d1+4]; mad.lo.u32 %r9, %r9, 3, %r1; st.volatile.global.u32 [%d1+4], %r9; membar.gl;
        add.u32 %r8, %r8, 1; st.volatile.global.u32 [%d1], %r8; ret;""",
        1, 40, 2, lambda got: int(got[0]) == 40 and int(got[1]) == sum(t * 3 ** (39 - t) for t in range(40)) & 0xFFFFFFFF,
    ),
    Case(
        "mbarrier-pipeline",
        """mov.u32 %r11, full; mov.u32 %r12, empty; mov.u32 %r13, s; mov.u32 %r8, 0; mov.u32 %r20, 0; shl.b32 %r15, %r6, 2;
        setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; mbarrier.init.shared.b64 [%r11], 32; mbarrier.init.shared.b64 [%r12], 32;
        READY: bar.sync 0; add.u32 %r15, %r15, %r13; setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUME;
        P: setp.eq.u32 %p3, %r8, 0; @%p3 bra FILL; sub.u32 %r16, %r8, 1; and.b32 %r16, %r16, 1;
        W1: mbarrier.test_wait.parity.shared.b64 %p4, [%r12], %r16; @!%p4 bra W1;
        FILL: mad.lo.u32 %r17, %r8, 64, %r6; st.shared.u32 [%r15], %r17; mbarrier.arrive.shared.b64 %d6, [%r11];
        add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 6; @%p3 bra P; ret;
        CONSUME: and.b32 %r16, %r8, 1;
        W2: mbarrier.try_wait.parity.shared.b64 %p4, [%r11], %r16; @!%p4 bra W2;
        ld.shared.u32 %r17, [%r15]; add.u32 %r20, %r20, %r17; mbarrier.arrive.shared.b64 %d6, [%r12];
        add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 6; @%p3 bra CONSUME;
        mad.lo.u32 %r17, %r2, 32, %r6; mad.wide.u32 %d2, %r17, 4, %d1; st.global.u32 [%d2], %r20; ret;""",
        2, 64, 64, equals([64 * 15 + 6 * t for _ in range(2) for t in range(32)]), ".shared .b64 full; .shared .b64 empty; .shared .b32 s[32];",
    ),
    Case(
        "nanosleep-with-a-deadline",
        """mov.u64 %d4, %globaltimer; add.u64 %d4, %d4, 20000;
        L: nanosleep.u32 50; mov.u64 %d5, %globaltimer; setp.lt.u64 %p1, %d5, %d4; @%p1 bra L; st.global.u32 [%d2], 1; ret;""",
        2, 48, 96, equals([1] * 96),
    ),
    Case(
        "clock-loop",
        """mov.u64 %d4, %clock64; L: mov.u64 %d5, %clock64; sub.u64 %d5, %d5, %d4; setp.lt.u64 %p1, %d5, 3000; @%p1 bra L;
        st.global.u32 [%d2], 1; ret;""",
        2, 48, 96, equals([1] * 96),
    ),
    Case(  # a lane that has returned early must not be waited for
        "barrier-after-early-exits",
        """mov.u32 %r11, s; setp.eq.u32 %p1, %r6, 3; @%p1 exit; atom.shared.add.u32 %r9, [%r11], 1; bar.sync 0;
        ld.shared.u32 %r9, [%r11]; st.global.u32 [%d2], %r9; ret;""",
        2, 70, 140, equals([0 if t in (3, 35, 67) else 67 for _ in range(2) for t in range(70)]), ".shared .b32 s;",
    ),
    Case(
        "reduction-at-a-barrier-under-divergence",
        """and.b32 %r8, %r1, 3; setp.eq.u32 %p1, %r8, 0; @%p1 bra A; barrier.red.popc.u32 %r9, 0, %p1; bra JOIN;
        A: barrier.red.popc.u32 %r9, 0, %p1; add.u32 %r9, %r9, 100; JOIN: st.global.u32 [%d2], %r9; ret;""",
        2, 64, 128, equals([16 + (100 if t % 4 == 0 else 0) for _ in range(2) for t in range(64)]),
    ),
    Case(  # a call that only some lanes make spins until the others, behind it, have set the flag
        "spin-inside-a-divergent-call",
        """and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 1; @!%p1 bra SET; call wait, (%d1); atom.global.add.u32 %r9, [%d1+4], 1; ret;
        SET: atom.global.add.u32 %r9, [%d1], 1; ret;""",
        1, 64, 2, equals([32, 32]),
        """.func wait(.reg .b64 flag) { .reg .b32 %x; .reg .pred %p;
        L: ld.volatile.global.u32 %x, [flag]; setp.ne.u32 %p, %x, 32; @%p bra L; ret; }""",
    ),
    Case(  # as the loop above, but the ways meet again behind it, and those who skipped the call set the flag there
        "spin-inside-a-call-for-those-behind-the-join",
        """setp.ge.u32 %p1, %r6, 5; @%p1 bra JOIN; call wait, (%d1);
        JOIN: atom.global.add.u32 %r9, [%d1], 1; st.global.u32 [%d1+4], 1; ret;""",
        1, 32, 2, equals([32, 1]),
        """.func wait(.reg .b64 flag) { .reg .b32 %x; .reg .pred %p;
        L: ld.volatile.global.u32 %x, [flag]; setp.lt.u32 %p, %x, 27; @%p bra L; ret; }""",
    ),
    Case(  # queue: every thread takes work until none is left
        "work-queue",
        """L: atom.global.add.u32 %r8, [%d1], 1; setp.ge.u32 %p1, %r8, 500; @%p1 bra OUT; add.u32 %r9, %r8, 0; mov.u32 %r10, 0;
        M: and.b32 %r11, %r9, 1; add.u32 %r10, %r10, %r11; shr.u32 %r9, %r9, 1; setp.ne.u32 %p2, %r9, 0; @%p2 bra M;
        mad.wide.u32 %d4, %r8, 4, %d1; st.global.u32 [%d4+4], %r10; bra L; OUT: ret;""",
        3, 50, 501, equals([650, *[bin(k).count("1") for k in range(500)]]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"schedule-{s}")
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_finishes_with_the_right_result(case: Case, schedule: int | None) -> None:
    machine = Machine(kernel("p out", HEAD + case.body, case.before))
    out = machine.upload(np.zeros(case.words, np.uint32))
    machine.launch(case.grid, case.block, [out], schedule=schedule, max_seconds=20, **case.options)
    got = machine.download(out)
    assert case.right(got), got.tolist()


# ---------------------------------------------------------------- one .sync instruction in each of two branches

ODD = [t & 1 for t in range(64)]
MIXED = [3 * t + 1000 * ODD[t] for t in range(64)]  # what each lane brings
CROSSING = {
    "bfly": ("shfl.sync.bfly.b32 %r10, %r9, 1, 31, -1;", [MIXED[t ^ 1] for t in range(64)]),
    "idx-4": ("shfl.sync.idx.b32 %r10, %r9, 4, 31, -1;", [MIXED[t & 32 | 4] for t in range(64)]),
    "idx-5": ("shfl.sync.idx.b32 %r10, %r9, 5, 31, -1;", [MIXED[t & 32 | 5] for t in range(64)]),
    "up": ("shfl.sync.up.b32 %r10, %r9, 3, 0, -1;", [MIXED[t - 3 if t & 31 >= 3 else t] for t in range(64)]),
    "ballot": ("setp.lt.u32 %p2, %r12, 4; vote.sync.ballot.b32 %r10, %p2, -1;", [0x0F0F0F0F] * 64),
    "match": ("match.any.sync.b32 %r10, %r12, -1;", [0x03030303 << (t & 6) for t in range(64)]),
    "redux": ("redux.sync.add.u32 %r10, %r9, -1;", [sum(MIXED[t & 32 : (t & 32) + 32]) for t in range(64)]),
    "elect": ("elect.sync %r10|%p3, -1;", [0] * 64),
}


def crossing(even: str, odd: str, before: str = "") -> str:
    """Even lanes meet one instruction, odd lanes another."""
    return kernel(
        "p out",
        HEAD + f"""and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 1; mul.lo.u32 %r9, %r1, 3; and.b32 %r12, %r1, 6; @%p1 bra ODD;
        {even} bra JOIN;
        ODD: add.u32 %r9, %r9, 1000; {odd}
        JOIN: st.global.u32 [%d2], %r10; ret;""",
        before,
    )  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"schedule-{s}")
@pytest.mark.parametrize("name", CROSSING)
def test_lanes_exchange_across_branches(name: str, schedule: int | None) -> None:
    instruction, want = CROSSING[name]
    machine = Machine(crossing(instruction, instruction))
    out = machine.upload(np.zeros(64, np.uint32))
    machine.launch(1, 64, [out], schedule=schedule)
    assert machine.download(out).tolist() == want


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: f"schedule-{s}")
@pytest.mark.parametrize("name", CROSSING)
def test_lanes_exchange_inside_a_function_that_they_called_from_two_places(name: str, schedule: int | None) -> None:
    instruction, want = CROSSING[name]
    function = f""".func (.reg .u32 o) f (.reg .u32 a, .reg .u32 b)
    {{ .reg .b32 %r<13>; .reg .pred %p<4>; mov.u32 %r9, a; mov.u32 %r12, b; {instruction} mov.u32 o, %r10; ret; }}"""
    machine = Machine(crossing("call (%r10), f, (%r9, %r12);", "call (%r10), f, (%r9, %r12); add.u32 %r10, %r10, 5;", function))
    out = machine.upload(np.zeros(64, np.uint32))
    machine.launch(1, 64, [out], schedule=schedule)
    assert machine.download(out).tolist() == [w + 5 * odd for w, odd in zip(want, ODD, strict=True)]


# Odd lanes wait until even ones are inside of the function (that `inner` calls, perhaps); behind its barrier all are at one place.
MEETING = """.func (.reg .u32 o) meet (.reg .u64 flag, .reg .u32 odd)
    { .reg .pred %p; setp.eq.u32 %p, odd, 0; @%p st.volatile.global.u32 [flag], 1; bar.warp.sync -1; activemask.b32 o; ret; }
    .func (.reg .u32 o) inner (.reg .u64 flag, .reg .u32 odd) { .reg .u32 %x; call (%x), meet, (flag, odd); add.u32 o, %x, 1; ret; }"""


@pytest.mark.parametrize(("function", "want"), [("meet", 0xFFFFFFFF), ("inner", 0)])
def test_lanes_that_meet_inside_a_function_go_on_together(function: str, want: int) -> None:
    body = f"""and.b32 %r8, %r1, 1; setp.eq.u32 %p1, %r8, 0; mov.u32 %r10, 0; @%p1 bra JOIN;
        L: ld.volatile.global.u32 %r9, [%d1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra L;
        JOIN: mul.lo.u32 %r11, %r1, 3; call (%r10), {function}, (%d1, %r8); activemask.b32 %r12;
        st.global.u32 [%d2+4], %r10; add.u32 %r11, %r11, %r12; st.global.u32 [%d2+132], %r11; ret;"""
    machine = Machine(kernel("p out", HEAD + body, MEETING))
    out = machine.upload(np.zeros(65, np.uint32))
    machine.launch(1, 32, [out], max_seconds=20)
    assert machine.download(out).tolist() == [1, *[want] * 32, *[(3 * t - 1) & 0xFFFFFFFF for t in range(32)]]


@pytest.mark.parametrize("odd", ["shfl.sync.up.b32 %r10, %r9, 1, 0, -1;", "bar.warp.sync -1;"])
def test_different_instructions_never_meet(odd: str) -> None:
    """They hang the H200 as well."""
    machine = Machine(crossing("shfl.sync.bfly.b32 %r10, %r9, 1, 31, -1;", odd))
    with pytest.raises(Deadlock):
        machine.launch(1, 64, [machine.upload(np.zeros(64, np.uint32))])
