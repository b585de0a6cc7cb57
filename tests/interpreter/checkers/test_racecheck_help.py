"""What racecheck says of a race: both threads, what would order the two accesses, and which races are remarks."""

from __future__ import annotations

import pytest

from tests.interpreter.checkers.racing import HEAD, races

FIRST = HEAD.count("\n") + 1  # the line of a body's first instruction

UPDATES = {
    "a count": ("ld.global.u32 %r10, [%rd1]; add.u32 %r10, %r10, 1; st.global.u32 [%rd1], %r10;", "red.global.add.u32 (atomicAdd)"),
    "a sum of floats": (
        "mov.b32 %r11, 0f3F800000; ld.shared.f32 %r10, [%r3]; add.f32 %r10, %r11, %r10; st.shared.f32 [%r3], %r10;",
        "red.shared.add.f32 (atomicAdd)"),
    "a greatest value": ("ld.global.s32 %r10, [%rd1]; max.s32 %r10, %r10, %r1; st.global.s32 [%rd1], %r10;", "red.global.max.s32 (atomicMax)"),
    "a set of bits": ("ld.global.u32 %r10, [%rd1]; or.b32 %r10, %r10, %r1; st.global.u32 [%rd1], %r10;", "red.global.or.b32 (atomicOr)"),
    "a difference": ("ld.global.u32 %r10, [%rd1]; sub.u32 %r10, %r10, 2; st.global.u32 [%rd1], %r10;", "red.global.add.u32 (atomicAdd)"),
    "what is no difference": ("ld.global.u32 %r10, [%rd1]; sub.u32 %r10, 2, %r10; st.global.u32 [%rd1], %r10;", "atom.cas (atomicCAS)"),
    "a square": ("ld.global.u32 %r10, [%rd1]; mul.lo.u32 %r10, %r10, %r10; st.global.u32 [%rd1], %r10;", "atom.cas (atomicCAS)"),
}  # fmt: skip


@pytest.mark.parametrize("grid", [1, 2])
@pytest.mark.parametrize("name", UPDATES)
def test_an_update_wants_an_atomic_operation(name: str, grid: int) -> None:
    body, said = UPDATES[name]
    found = [f for f in races(body, grid=grid) if f.severity == "error"]
    assert found and all(said in f.help and "bar.sync" not in f.help for f in found)


def test_a_sum_of_two_places_is_no_update_of_one() -> None:
    found = races("ld.shared.u32 %r10, [%r7]; ld.shared.u32 %r11, [%r5]; add.u32 %r10, %r10, %r11; st.shared.u32 [%r5], %r10;")
    assert found and all("red" not in f.help and "bar.sync" in f.help for f in found)


def test_one_store_of_several_threads_wants_no_barrier() -> None:
    (found,) = races("st.shared.u32 [%r3], %r1;")
    assert "bar.sync" not in found.help and "let one thread write it" in found.help and "between" not in found.message


def test_one_store_in_a_loop_wants_a_barrier_there() -> None:
    found = races("""
        mov.u32 %r10, 0;
    L:
        setp.eq.u32 %p3, %r1, %r10;
        @%p3 st.shared.u32 [%r3], %r1;
        add.u32 %r10, %r10, 32;
        setp.lt.u32 %p4, %r10, 64;
        @%p4 bra L;
    """)
    assert [f.help.partition(";")[0] for f in found] == [f"put bar.sync (__syncthreads) before line {FIRST + 6}"]
    assert "between two executions of line" in found[0].message


def test_one_barrier_orders_all_pairs() -> None:
    found = races("""
        st.shared.u32 [%r5], %r1;
        add.u32 %r10, %r1, 1;
        ld.shared.u32 %r11, [%r6];
        ld.shared.u32 %r12, [%r7];
        ld.shared.u32 %r13, [%r3];
    """)
    assert len(found) == 3
    assert {f.help for f in found} == {
        f"put bar.sync (__syncthreads) before line {FIRST + 2}, which orders 3 of these pairs; every thread must reach it"
    }


def test_a_barrier_stands_where_all_threads_come_by() -> None:
    found = races("""
        st.shared.u32 [%r5], %r1;
        setp.lt.u32 %p3, %r1, 40;
        add.u32 %r10, %r1, 1;
        @!%p3 bra END;
        add.u32 %r10, %r1, 1;
        ld.shared.u32 %r12, [%r7];
        st.shared.u32 [%r5], %r10;
    END:
        add.u32 %r10, %r1, 1;
    """)
    (help_,) = {f.help for f in found if f.kind == "read-write" and f.line == FIRST + 5 and f.other_line == FIRST}
    assert help_.startswith(f"put bar.sync (__syncthreads) before line {FIRST + 3}")


def test_a_pair_in_a_warp_wants_a_warp_barrier() -> None:
    (found,) = races("st.shared.u32 [%r5], %r1;\nld.shared.u32 %r11, [%r6];")
    assert found.help == f"put bar.warp.sync (__syncwarp) before line {FIRST + 1}; every thread of the warp must reach it"


READERS = {
    "one warp": ("ld.shared.u32 %r10, [%r3+4];", (range(32), range(32))),
    "a block": ("bar.sync 0; ld.shared.u32 %r10, [%r3+4];", (range(64), range(64))),
    "some lanes": ("and.b32 %r11, %r1, 3; setp.eq.u32 %p3, %r11, 3; @%p3 ld.shared.u32 %r10, [%r3+4];", (range(3, 64, 4), range(3, 64, 4))),
}


@pytest.mark.parametrize("schedule", [None, 1, 2])
@pytest.mark.parametrize("name", READERS)
def test_both_threads_are_named(name: str, schedule: int | None) -> None:
    """Many threads read a word and one writes it: that one and a reader are the two."""
    body, readers = READERS[name]
    writer = 45 if name != "one warp" else 5
    found = races(f"{body}\nsetp.eq.u32 %p4, %r1, {writer}; @%p4 st.shared.u32 [%r3+4], %r1;", block=readers[0].stop, schedule=schedule)
    (f,) = found
    assert f.thread is not None and f.other_thread is not None and f.block == f.other_block == (0, 0, 0)
    named = {f.thread[0], f.other_thread[0]}
    assert writer in named and len(named) == 2 and named - {writer} <= {*readers[0]}


@pytest.mark.parametrize("schedule", [None, 1, 2])
def test_both_threads_are_named_in_a_grid(schedule: int | None) -> None:
    body = "ld.global.u32 %r10, [%rd1];\nsetp.eq.u32 %p4, %r1, 7; setp.eq.and.u32 %p4, %r2, 1, %p4;\n@%p4 st.global.u32 [%rd1], %r1;"
    (f,) = races(body, grid=3, schedule=schedule)
    assert ((1, 0, 0), (7, 0, 0)) in [(f.block, f.thread), (f.other_block, f.other_thread)]
    assert f.other_block is not None and (f.block, f.thread) != (f.other_block, f.other_thread)


# ---------------------------------------------------------------- guesses

LOOP = """
    {load}
L:  add.u32 %r12, %r11, 1;
    atom.global.cas.b32 %r13, [%rd1], %r11, %r12;
    setp.ne.u32 %p3, %r13, %r11;
    mov.u32 %r11, %r13;
    @%p3 bra L;
"""
GUESSES = {
    "a register of its own": "ld.global.u32 %r10, [%rd1]; mov.u32 %r11, %r10;",
    "the register of the loop": "ld.global.u32 %r11, [%rd1];",
    "bits of a float": "ld.global.f32 %r10, [%rd1]; mov.b32 %r14, %r10; mov.b32 %r11, %r14;",
}


@pytest.mark.parametrize("name", GUESSES)
def test_a_guess_is_a_remark(name: str) -> None:
    found = races(LOOP.format(load=GUESSES[name]), grid=2)
    assert found and {f.severity for f in found} == {"info"}


def test_a_guess_of_one_loop_beside_another_loop_is_a_remark() -> None:
    second = LOOP.format(load=GUESSES["the register of the loop"]).replace("L:", "M:").replace("bra L", "bra M")
    found = races(LOOP.format(load=GUESSES["the register of the loop"]) + second, grid=2)
    assert len(found) > 2 and {f.severity for f in found} == {"info"}


def test_a_load_that_no_swap_starts_from_is_none() -> None:
    found = races(
        "ld.global.u32 %r10, [%rd1]; setp.ne.u32 %p3, %r10, 0;\n@%p3 atom.global.cas.b32 %r13, [%rd1], 0, 1; st.global.u32 [%rd2], %r13;"
    )
    assert any(f.severity == "error" and f.space == "global" for f in found)
    found = races("ld.global.u32 %r10, [%rd1];\nst.global.u32 [%rd1], %r1;\natom.global.cas.b32 %r13, [%rd1], %r10, 1;", grid=2)
    assert any(f.severity == "error" for f in found)


# ---------------------------------------------------------------- generic addresses

GENERIC = """
    mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;
    and.b32 %r10, %r1, 1; setp.eq.u32 %p3, %r10, 1; selp.b64 %rd6, %rd1, %rd3, %p3;
    shr.u32 %r11, %r1, 1; mul.wide.u32 %rd7, %r11, 4; add.u64 %rd6, %rd6, %rd7;
    st.u32 [%rd6], %r1;
    {barrier}
    ld.u32 %r12, [%rd6+4];
"""


@pytest.mark.parametrize("schedule", [None, 1, 2, 3, 4, 5])
def test_one_line_races_in_each_memory_that_it_reaches(schedule: int | None) -> None:
    found = races(GENERIC.format(barrier=""), schedule=schedule)
    assert {(f.space, f.kind, f.line, f.other_line) for f in found} == {
        (space, "read-write", FIRST + 5, FIRST + 3) for space in ("global", "shared")
    }
    assert not races(GENERIC.format(barrier="bar.sync 0;"), schedule=schedule)
