"""Kernels that return from within a loop: who stays meets again behind each branch, as if the rest had never been there."""

from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from warplab.interpreter.profiler import Counters
from warplab.isa.profiles import profile

from ..harness import Array, Machine, kernel

DATA = Path(__file__).parents[2] / "data" / "warp"
THREADS, TURNS = 96, 12
# Each turn parts the lanes by their sum, some of them leave, the others go on; who comes to the last turn stores the sum.
LOOP = """.reg .u64 %d<4>; .reg .b32 %r<8>; .reg .pred %p<4>; ld.param.u64 %d1, [out]; ld.param.u64 %d2, [last];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.u32 %r2, [%d2];
    mov.u32 %r3, 0; mov.u32 %r4, %r1;
TURN: and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;
    mad.lo.u32 %r4, %r4, 3, 1; setp.eq.u32 %p2, %r3, %r2; {leave}
EVEN: shr.u32 %r4, %r4, 1; {behind} add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 12; @%p3 bra TURN;
    st.global.u32 [%d1], %r4;
END: ret;
{aside}"""
BRANCH = LOOP.replace("{leave}", "@%p2 bra END;").replace("{aside}", "")
GUARD = LOOP.replace("{leave}", "@%p2 ret;").replace("{aside}", "")
STORE = LOOP.replace("{leave}", "@%p2 bra SIDE;").replace("{aside}", "SIDE: st.global.u32 [%d1], %r3; bra END;")


def wanted(last: Array, aside: bool) -> list[int]:
    """What the threads leave, each by itself."""
    out = []
    for thread, leaves in enumerate(last.tolist()):
        value, stored = thread, 0
        for turn in range(TURNS):
            if value & 1:
                value = 3 * value + 1
                if turn == leaves:
                    stored = turn if aside else 0
                    break
            value >>= 1
        else:
            stored = value
        out.append(stored)
    return out


def launched(body: str, last: Array, **options: object) -> tuple[list[int], Counters]:
    machine = Machine(kernel("p out, p last", body))
    out, counters = machine.upload(np.zeros(THREADS, np.uint32)), Counters(profile("sm_90"))
    machine.launch(1, THREADS, [out, machine.upload(last)], observers=[counters], **options)
    return machine.download(out).tolist(), counters


@pytest.mark.parametrize("behind", ["", "bar.sync 0;"])
@pytest.mark.parametrize("body", [BRANCH, GUARD, STORE], ids=["branch", "guard", "store"])
@pytest.mark.parametrize("schedule", [None, 1, 2, 3])
def test_results_are_those_of_each_thread_alone(body: str, behind: str, schedule: int | None) -> None:
    last = np.random.default_rng(7).integers(0, 2 * TURNS, THREADS).astype(np.uint32)
    got, _ = launched(body.replace("{behind}", behind), last, schedule=schedule)
    assert got == wanted(last, body is STORE)


@pytest.mark.parametrize("body", [BRANCH, STORE], ids=["branch", "store"])
def test_who_stays_meets_as_with_a_guarded_return(body: str) -> None:
    last = np.random.default_rng(8).integers(0, 2 * TURNS, THREADS).astype(np.uint32)
    counts = []
    for text in (body, GUARD):
        profile_of = launched(text.replace("{behind}", ""), last)[1].finish()
        assert profile_of is not None
        counts.append([(s.warps, s.threads) for s in profile_of.sites if s.opcode in ("shr", "add", "mad", "and")])
    assert counts[0] == counts[1]
    shift = counts[0][-2]
    assert shift[0] <= TURNS * THREADS // 32


# What an H200 left of the kernels in returns_in_loops.cu: checksums of results, and of how many lanes ran together at each turn.
RECORDED = {
    "early_plain": (4015703788, 32042138),
    "early_three": (3759440533, 1944841788),
    "early_store_after": (2074206576, 371781440),
    "early_nested": (478301043, 320100808),
    "early_while": (1062588799, 2639526645),
}


@pytest.mark.parametrize("name", RECORDED)
def test_who_stays_runs_together_as_on_the_device(name: str) -> None:
    rng, n = np.random.default_rng(5), 512
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 24, n + 1))]).astype(np.int32)
    data = rng.integers(0, 4000, max(int(start[-1]) + 64, 1100)).astype(np.int32)
    machine = Machine((DATA / "returns_in_loops.ptx").read_text())
    out, masks = (machine.upload(np.zeros(n, np.int32)) for _ in range(2))
    machine.launch(n // 128, 128, [np.uint32(n), machine.upload(start), machine.upload(data), out, masks], name=name)
    results, together = RECORDED[name]
    assert crc32(machine.download(out).tobytes()) == results
    assert crc32(machine.download(masks).tobytes()) == together
