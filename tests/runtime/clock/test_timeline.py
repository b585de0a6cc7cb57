"""What runs at once, and what waits, on devices of every age."""

from __future__ import annotations

import pytest

from warplab.isa.profiles import PROFILES, profile
from warplab.runtime.clock.engines import Engine
from warplab.runtime.clock.figures import DeviceFigures, MemoryPlace
from warplab.runtime.clock.timeline import Timeline

PINNED, PAGEABLE, DEVICE = MemoryPlace("pinned"), MemoryPlace("pageable"), MemoryPlace("device", 0)
MEBIBYTE = 1 << 20


def test_an_engine_takes_a_piece_where_there_is_room() -> None:
    engine = Engine()
    engine.take(10, 20)
    assert engine.room(0, 10) == 0
    assert engine.room(0, 11) == 20
    engine.take(30, 40, 0.5)
    assert engine.room(25, 10, 0.5) == 25
    assert engine.room(25, 10, 0.6) == 40
    assert engine.busy(15, 35) == 10


def test_an_engine_looks_back_on_so_many_pieces() -> None:
    engine = Engine()
    for n in range(1000):
        engine.take(n, n + 1)
    assert len(engine.pieces) < 100
    assert engine.room(0, 1) == 1000


def copies_and_a_kernel(device: str) -> float:
    """How long 8 MiB to the device, a kernel, and 8 MiB to the host take in three streams, over the sum of the three."""
    t = Timeline(lambda _: profile(device))
    spans = t.keep()
    for stream in range(3):
        t.begin(f"0:{stream}", (), 0)
        if stream == 1:
            t.launched("kernel", 0.002, 0.1, 0)
        else:
            t.copied(*((PINNED, DEVICE) if stream else (DEVICE, PINNED)), 8 * MEBIBYTE)
        t.end()
    t.wait(t.ends(t.of_device(0)))
    work = [s for s in spans if s.engine != "host"]
    return (max(s.end for s in work) - min(s.begin for s in work)) / sum(s.length for s in work)


@pytest.mark.parametrize(("device", "engines"), [("sm_10", 0), ("sm_13", 1), ("sm_20", 2), ("sm_61", 2), ("sm_90", 2)])
def test_what_overlaps_by_the_engines_of_a_device(device: str, engines: int) -> None:
    """No copy beside a kernel; one copy; one in each direction."""
    found = copies_and_a_kernel(device)
    assert found == pytest.approx(1.0, rel=0.01) if not engines else found < 0.9
    assert DeviceFigures.of(profile(device)).copy_engines == engines


def test_kernels_of_early_devices_do_not_overlap() -> None:
    for device, together in (("sm_13", False), ("sm_20", True)):
        t = Timeline(lambda _, device=device: profile(device))  # type: ignore[misc]
        spans = t.keep()
        for stream in ("0:1", "0:2"):
            t.begin(stream, (), 0)
            t.launched("kernel", 0.001, 0.2, 0)
            t.end()
        first, second = (s for s in spans if s.engine == "kernels")
        assert (second.begin < first.end) is together


@pytest.mark.parametrize("device", PROFILES)
def test_pinned_memory_is_faster_than_pageable_memory_and_device_memory_than_both(device: str) -> None:
    f = DeviceFigures.of(profile(device))
    size = 16 * MEBIBYTE
    pageable, pinned, across = (f.copy(*ends, size, 1, False).busy for ends in ((PAGEABLE, DEVICE), (PINNED, DEVICE), (DEVICE, DEVICE)))
    assert pageable > pinned > across


def test_a_call_of_the_host_is_one_span() -> None:
    t = Timeline(lambda _: profile("sm_90"))
    spans = t.keep()
    t.called("cudaMemcpy")
    t.begin("0:0", (), 0)
    t.copied(DEVICE, PAGEABLE, MEBIBYTE)
    t.end()
    t.returned()
    assert [(s.name, s.engine) for s in spans] == [("cudaMemcpy", "host"), ("device to pageable", "d2h")]
    assert spans[0].end > spans[1].end


def test_who_asks_in_a_loop_is_at_the_end_of_the_work_soon() -> None:
    t = Timeline(lambda _: profile("sm_90"))
    t.begin("0:1", (), 0)
    t.launched("kernel", 2.0, 0.1, 0)
    t.end()
    end, looks = t.ends(["0:1"]), 0
    while not t.look(end):
        looks += 1
    assert 5 < looks < 30
    assert t.host == end > 2e6
    assert t.look(0.0)


def test_the_events_of_a_graph_are_reached_in_its_order() -> None:
    t = Timeline(lambda _: profile("sm_90"))
    t.begin("node 0", ["0:1"], 0)
    begun = t.record("0:1", 0)
    t.begin("node 1", ["node 0"], 0)
    t.launched("kernel", 0.002, 0.1, 0)
    t.begin("node 2", ["node 1"], 0)
    assert t.record("0:1", 0) - begun > 2000
