"""Accesses that lead into several allocations at once: each lane's is legal or not as if it were alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.faults import Fault
from warplab.interpreter.memory.arena import FIRST, GRANULE, MOST_RESTING, Arena

from ..harness import Machine, kernel

ALLOCATIONS = st.lists(st.tuples(st.integers(0, 600), st.booleans(), st.booleans()), max_size=8)  # size, writable, freed


@given(ALLOCATIONS, st.sampled_from([0, 1 << 40]), st.sampled_from([1, 4, 16]), st.booleans(), st.integers(0, 1 << 32))
def test_many_addresses_as_each_alone(allocations: list[tuple[int, bool, bool]], base: int, size: int, write: bool, seed: int) -> None:
    arena = Arena(1 << 20, base)
    made = [arena.allocate(length, writable=writable) for length, writable, _ in allocations]
    for a, (_, _, freed) in zip(made, allocations, strict=True):
        if freed:
            arena.free(a)
    edges = [0, 1, base, 2**63 - 1, 2**63, 2**64 - 1] + [x + d for a in made for x in (a.start, a.end - size, a.end) for d in (-1, 0, 1)]
    low = np.random.default_rng(seed).choice(np.array([x for x in edges if x >= 0], np.uint64), 40)
    assert arena.holds_each(low, size, write).tolist() == [arena.holds(x, x + size, write) for x in low.tolist()]


# Odd threads go to one buffer, even ones to the other; each thread in `beyond` behind the end of its own.
TWO_WAYS = """.reg .u64 %d<5>; .reg .b32 %r<5>; .reg .pred %p<2>; ld.param.u64 %d1, [one]; ld.param.u64 %d2, [other]; ld.param.u32 %r3, [first];
    mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p0, %r2, 0; selp.u64 %d1, %d1, %d2, %p0; mul.wide.u32 %d3, %r1, 4;
    setp.ge.u32 %p1, %r1, %r3; selp.u64 %d4, 4096, 0, %p1; add.u64 %d3, %d3, %d4; add.u64 %d1, %d1, %d3;
    {access} ret;"""


@pytest.mark.parametrize("access", ["ld.global.u32 %r4, [%d1];", "st.global.u32 [%d1], %r1;", "red.global.add.u32 [%d1], %r1;"])
def test_two_allocations(access: str) -> None:
    machine = Machine(kernel("p one, p other, u32 first", TWO_WAYS.replace("{access}", access)))
    one, other = (machine.upload(np.zeros(256, np.uint32), name) for name in ("one", "other"))
    machine.launch(1, 256, [one, other, np.uint32(256)])
    thread = np.arange(256) * (0 if access.startswith("ld") else 1)
    assert machine.download(one).tolist() == np.where(np.arange(256) % 2 == 0, thread, 0).tolist()
    assert machine.download(other).tolist() == np.where(np.arange(256) % 2 == 1, thread, 0).tolist()
    with pytest.raises(Fault) as caught:
        machine.launch(1, 256, [one, other, np.uint32(101)])
    fault = caught.value
    assert (fault.kind, fault.thread, fault.lanes, fault.address) == ("out-of-bounds", (101, 0, 0), 155, other.end + 3476)
    assert "3476 bytes after the 1024-byte other" in str(fault)


def test_what_compiled_code_is_told_of_allocations() -> None:
    arena, order = Arena(1 << 20), np.random.default_rng(3)
    kinds = [("allocation", True), ("constant bank", False), ("kernel parameters", False)]
    for _ in range(400):
        if arena.living() and order.random() < 0.45:
            arena.free(arena.living()[order.integers(len(arena.living()))])
        else:
            what, writable = kinds[order.integers(3)]
            arena.allocate(int(order.integers(1, 600)), what, writable=writable)
        living = arena.living()
        assert living == sorted(living, key=lambda a: a.start)
        assert arena.extents.tolist() == [x for a in living for x in (a.start, a.end, a.writable)]
        assert {a.start for a in arena.named} == {a.start for a in living if a.what != "allocation"}


def test_many_allocations_that_come_and_go_leave_few_to_look_through() -> None:
    arena = Arena(1 << 30)
    kept = [arena.allocate(16) for _ in range(5)]
    for n in range(3 * MOST_RESTING):
        last = arena.allocate(16 + n % 7 * GRANULE)
        arena.free(last)
    assert arena.living() == kept
    assert len(arena.begins) <= MOST_RESTING + len(kept)
    assert arena.find(last.start) is last and last.freed
    assert last.end < FIRST + (MOST_RESTING + len(kept) + 8) * 9 * GRANULE, "addresses serve again"
