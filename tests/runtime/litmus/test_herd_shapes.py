"""Litmus tests of herd's format: scopes, devices, fences, barriers, proxies, aliases, loops; each holds, or fails, as the axioms of PTX say."""

from __future__ import annotations

import pytest

from tests.runtime.litmus.herd import judged
from warplab.runtime.errors import UsageError

SEEN_WITHOUT_DATA = "exists (P1:r1 == 1 /\\ P1:r2 == 0)"
ALIASES = "x=0; f=0; c @ constant aliases x; s @ surface aliases x; t @ texture aliases x; y @ generic aliases x; s2 @ surface aliases y;"


@pytest.mark.parametrize(
    ("release", "acquire", "places", "stale"),
    [
        ("release.gpu", "acquire.gpu", "00 10", False),
        ("release.cta", "acquire.gpu", "00 10", True),
        ("release.cta", "acquire.cta", "00 00", False),
        ("release.gpu", "acquire.gpu", "00 11", True),
        ("release.sys", "acquire.sys", "00 11", False),
        ("release.sys", "acquire.gpu", "00 01", True),  # block 0 of another device is another block
        ("relaxed.gpu", "acquire.gpu", "00 10", True),
        ("release.gpu", "relaxed.gpu", "00 10", True),
    ],
)
def test_a_message_needs_scopes_that_hold_both(release: str, acquire: str, places: str, stale: bool) -> None:
    found = judged([f"st.weak x, 1; st.{release} y, 1", f"ld.{acquire} r1, y; ld.weak r2, x"], SEEN_WITHOUT_DATA, places)
    assert found.passed is stale


@pytest.mark.parametrize(
    ("fence", "places", "missed"),
    [
        ("fence.sc.gpu", "00 10", False), ("fence.sc.cta", "00 10", True), ("fence.sc.cta", "00 00", False), ("fence.sc.gpu", "00 11", True),
        ("fence.sc.sys", "00 11", False), ("fence.acq_rel.sys", "00 10", True), ("bar.cta.sync 0", "00 00", False),
        ("bar.cta.sync 0", "00 10", True), ("bar.cta.sync 0, 2, 2", "00 00", False),
    ],
)  # fmt: skip
def test_store_buffering(fence: str, places: str, missed: bool) -> None:
    columns = [f"st.weak x, 1; {fence}; ld.weak r1, y", f"st.weak y, 1; {fence}; ld.weak r1, x"]
    assert judged(columns, "exists (P0:r1 == 0 /\\ P1:r1 == 0)", places).passed is missed


def test_a_barrier_named_by_a_register_meets_those_of_its_number() -> None:
    columns = [
        "st.weak x, 1; ld.weak r2, z; bar.cta.sync 1, r2; ld.weak r1, y",
        "st.weak y, 1; bar.cta.sync 1, 7; ld.weak r1, x",
        "st.weak z, 7",
    ]
    both = "exists (P0:r1 == 0 /\\ P1:r1 == 0 /\\ P0:r2 == {})"
    assert judged(columns, both.format(0), "00 00 00", "z=0; x=0; y=0;").passed
    assert not judged(columns, both.format(7), "00 00 00", "z=0; x=0; y=0;").passed


@pytest.mark.parametrize(("count", "ends", "stale"), [(2, True, True), (3, True, False), (4, False, False)])
def test_a_barrier_counts_its_threads(count: int, ends: bool, stale: bool) -> None:
    meets = f"bar.cta.sync 1, 1, {count}"
    found = judged([f"st.weak x, 1; {meets}", f"{meets}; ld.weak r1, x", meets], "exists (P1:r1 == 0)", "00 00 00")
    assert (bool(found.outcomes), found.passed) == (ends, stale)


def test_barriers_that_wait_for_each_other_end_nothing() -> None:
    columns = ["bar.cta.sync 0; bar.cta.sync 1; ld.weak r1, x", "bar.cta.sync 1; bar.cta.sync 0"]
    found = judged(columns, "~exists (P0:r1 == 0)", "00 00")
    assert not found.outcomes and found.passed
    arrives = ["ld.weak r1, x; bar.cta.sync 0; bar.cta.arrive 1", "bar.cta.arrive 1; st.weak x, 1; bar.cta.sync 0"]
    assert judged(arrives, "exists (P0:r1 == 1)", "00 00").passed


@pytest.mark.parametrize(
    ("code", "stale"),
    [
        ("st.weak x, 1; cold.weak r1, c", True),
        ("st.weak x, 1; fence.proxy.constant; cold.weak r1, c", False),
        ("st.weak x, 1; fence.proxy.texture; cold.weak r1, c", True),
        ("st.weak x, 1; fence.sc.sys; cold.weak r1, c", True),
        ("sust.weak s, 1; suld.weak r1, s", False),
        ("sust.weak s, 1; ld.weak r1, x", True),
        ("sust.weak s, 1; fence.proxy.surface; ld.weak r1, x", False),
        ("sust.weak s, 1; fence.proxy.surface; fence.proxy.texture; tld.weak r1, t", False),
        ("sust.weak s, 1; fence.proxy.texture; fence.proxy.surface; tld.weak r1, t", True),
        ("st.weak x, 1; ld.weak r1, y", True),
        ("st.weak x, 1; fence.proxy.alias; ld.weak r1, y", False),
        ("sust.weak s, 1; fence.proxy.surface; fence.proxy.alias; ld.weak r1, y", False),
        ("sust.weak s, 1; fence.proxy.alias; fence.proxy.surface; ld.weak r1, y", True),
        ("st.weak x, 1; fence.proxy.alias; fence.proxy.surface; suld.weak r1, s2", False),
        ("st.weak x, 1; fence.proxy.surface; suld.weak r1, s2", True),
        ("sured.relaxed.gpu.add s, 1; ld.relaxed.gpu r1, x", True),
        ("sured.relaxed.gpu.add s, 1; fence.proxy.surface; ld.relaxed.gpu r1, x", False),
    ],
)
def test_one_thread_and_two_proxies(code: str, stale: bool) -> None:
    assert judged([code], "exists (P0:r1 == 0)", first=ALIASES).passed is stale


@pytest.mark.parametrize(
    ("writer", "reader", "places", "stale"),
    [
        ("st.weak x, 1; {f}; st.release.gpu f, 1", "ld.acquire.gpu r1, f; cold.weak r2, c", "00 00", False),
        ("st.weak x, 1; {f}; st.release.gpu f, 1", "ld.acquire.gpu r1, f; cold.weak r2, c", "00 10", True),  # not the reader's block
        ("st.weak x, 1; st.release.gpu f, 1", "ld.acquire.gpu r1, f; {f}; cold.weak r2, c", "00 10", False),
        ("st.weak x, 1; {f}; st.release.gpu f, 1", "ld.acquire.gpu r1, f; ld.weak r2, x", "00 10", False),
    ],
)
def test_a_proxy_fence_acts_in_its_block(writer: str, reader: str, places: str, stale: bool) -> None:
    columns = [column.replace("{f}", "fence.proxy.constant") for column in (writer, reader)]
    assert judged(columns, SEEN_WITHOUT_DATA, places, ALIASES).passed is stale


@pytest.mark.parametrize(
    ("columns", "condition", "holds"),
    [
        (["ld.weak r1, x; st.weak y, r1", "ld.weak r1, y; st.weak x, r1"], "~exists (x == 42 /\\ y == 42)", True),
        (["atom.relaxed.gpu.add r1, x, 1", "atom.relaxed.gpu.add r1, x, 1"], "forall (x == 2)", True),
        (["atom.relaxed.cta.add r1, x, 1", "atom.relaxed.cta.add r1, x, 1"], "forall (x == 2)", False),
        (["red.relaxed.gpu.add x, 3", "red.relaxed.gpu.sub x, 5"], "forall (x == -2)", True),
        (["atom.relaxed.gpu.cas r1, x, 0, 1", "atom.relaxed.gpu.cas r1, x, 0, 2"], "forall (P0:r1 == 0 \\/ P1:r1 == 0)", True),
        (["st.weak x, 1; st.weak x, 2; ld.weak r1, x"], "forall (x == 2 /\\ P0:r1 = 2)", True),
        (["ld r1, 7; mul r2, r1, -2; div r2, r2, 4; st.weak x, r2"], "forall x == -3", True),
        (["ld.weak r1, x; beq r1, 0, LC1; st.weak y, 1; LC1:", "st.weak x, 1"], "exists (P0:r1 == 0 /\\ y == 1)", False),
        (["st.relaxed.gpu x, 1", "st.relaxed.gpu x, 2"], "filter (x == 1) forall (x != 2)", True),
        (["st.relaxed.gpu x, 1; ld.relaxed.gpu r, x"], "exists (not (x == 0) /\\ ~(x > 1) /\\ 0:r == 0)", False),
    ],
)  # fmt: skip
def test_conditions_and_arithmetic(columns: list[str], condition: str, holds: bool) -> None:
    assert judged(columns, condition).passed is holds


SPIN = ["st.weak x, 1; st.{0} y, 1", "LC0:; ld.{1} r1, y; beq r1, 0, LC0; ld.weak r2, x"]
TICKET = "atom.acquire.gpu.add r1, n, 1; LC0:; ld.acquire.gpu r2, o; bne r1, r2, LC0; ld.weak r3, x; st.weak x, {0}; red.{1}.gpu.add o, 1"


def test_loops_that_wait() -> None:
    found = judged([c.format("release.gpu", "acquire.gpu") for c in SPIN], "~exists (P1:r2 == 0)")
    assert found.passed and not found.bounded and found.outcomes == ((1,),)
    assert not judged([c.format("relaxed.gpu", "acquire.gpu") for c in SPIN], "~exists (P1:r2 == 0)").passed
    both = "exists (P0:r3 == 0 /\\ P1:r3 == 0)"
    tickets = [TICKET.format(1, "release"), TICKET.format(2, "release")]
    assert not judged(tickets, both, first="x=0; n=0; o=0;").passed
    assert judged([tickets[0], TICKET.format(2, "relaxed")], both, first="x=0; n=0; o=0;").outcomes
    assert judged([TICKET.format(1, "relaxed"), TICKET.format(2, "relaxed")], both, first="x=0; n=0; o=0;").passed
    assert judged([tickets[0], tickets[1]], both, "00 01", "x=0; n=0; o=0;").passed  # the scope of a device holds no other device


def test_a_thread_that_never_ends() -> None:
    found = judged(["LC0:; goto LC0"], "exists (x == 0)")
    assert not found.outcomes and not found.passed


@pytest.mark.parametrize("column", ["LC0:; st.weak x, 1; goto LC0", "LC0:; atom.relaxed.gpu.add r1, x, 1; bge r1, 0, LC0"])
def test_a_loop_that_changes_memory_for_ever_is_refused(column: str) -> None:
    with pytest.raises(UsageError, match="comes to no end within 12 loads"):
        judged([column], "exists (x == 0)")
