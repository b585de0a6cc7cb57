"""Launches and copies on streams: which of them events, the host and the legacy default stream order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from warplab.runtime import Device, LaunchConfig, ObjectCode, Sanitizer, SanitizerError, StreamOptions, device_array, launch, sanitizing

PROGRAM = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry count(.param .u64 x, .param .u32 by)
{
    .reg .b32 %t, %v, %by;
    .reg .b64 %x;
    mov.u32 %t, %tid.x;
    ld.param.u64 %x, [x];
    ld.param.u32 %by, [by];
    mad.wide.u32 %x, %t, 4, %x;
    ld.global.u32 %v, [%x];
    add.u32 %v, %v, %by;
    st.global.u32 [%x], %v;
    ret;
}
"""
CONFIG = LaunchConfig(grid=1, block=32)


class Bench:
    """Two streams, an array, and a kernel that counts in it."""

    def __init__(self) -> None:
        self.device = Device()
        self.device.set_current()
        self.a, self.b = self.device.create_stream(), self.device.create_stream()
        self.legacy = self.device.default_stream
        self.blocking = self.device.create_stream(options=StreamOptions(nonblocking=False))
        self.kernel = ObjectCode.from_ptx(PROGRAM).get_kernel("count")
        self.x = device_array(32, np.uint32, self.a)
        self.x.buffer.fill(b"\0\0\0\0", stream=self.a)

    def count(self, stream: object) -> None:
        """One launch."""
        launch(stream, CONFIG, self.kernel, self.x, np.uint32(1))  # type: ignore[arg-type]

    def read(self, stream: object) -> None:
        """A copy to the host."""
        self.x.buffer.copy_to(np.zeros(32, np.uint32), stream=stream)  # type: ignore[arg-type]


def one_stream(b: Bench) -> None:
    b.count(b.a)
    b.count(b.a)
    b.read(b.a)


def an_event(b: Bench) -> None:
    b.count(b.a)
    b.b.wait(b.a.record())
    b.count(b.b)
    b.read(b.b)


def waited_for(b: Bench) -> None:
    b.count(b.a)
    b.a.sync()
    b.count(b.b)
    b.device.sync()
    b.read(b.a)


def an_event_that_the_host_waits_for(b: Bench) -> None:
    b.count(b.a)
    b.a.record().sync()
    b.count(b.b)


def the_legacy_stream(b: Bench) -> None:
    b.a.sync()
    b.count(b.blocking)
    b.count(b.legacy)
    b.count(b.blocking)


def two_streams(b: Bench) -> None:
    b.count(b.a)
    b.count(b.b)


def an_event_recorded_too_early(b: Bench) -> None:
    event = b.a.record()
    b.count(b.a)
    b.b.wait(event)
    b.count(b.b)


def another_stream_is_waited_for(b: Bench) -> None:
    b.count(b.a)
    b.b.sync()
    b.count(b.b)


def no_wait_before_the_copy(b: Bench) -> None:
    b.count(b.a)
    b.read(b.b)


def the_legacy_stream_and_one_that_does_not_wait_for_it(b: Bench) -> None:
    b.count(b.a)
    b.count(b.legacy)


def test_a_launch_takes_checkers() -> None:
    b = Bench()
    launch(b.a, CONFIG, b.kernel, b.x, np.uint32(1), sanitize="all")
    with pytest.raises(SanitizerError, match="one of the updates may be lost") as caught:
        launch(b.a, LaunchConfig(grid=2, block=32), b.kernel, b.x, np.uint32(1), sanitize="all")
    assert {f.kind for f in caught.value.findings} == {"read-write", "write-write"}


def test_launches_share_checkers() -> None:
    b, race = Bench(), Sanitizer("race")
    launch(b.a, CONFIG, b.kernel, b.x, np.uint32(1), sanitize=race)
    launch(b.b, CONFIG, b.kernel, b.x, np.uint32(1), sanitize=race)
    assert {f.kind for f in race.errors} == {"read-write", "write-write"}


ORDERED = [one_stream, an_event, waited_for, an_event_that_the_host_waits_for, the_legacy_stream]
RACES = [
    two_streams, an_event_recorded_too_early, another_stream_is_waited_for, no_wait_before_the_copy,
    the_legacy_stream_and_one_that_does_not_wait_for_it,
]  # fmt: skip


@pytest.mark.parametrize("work", ORDERED)
def test_ordered(work: Callable[[Bench], None]) -> None:
    with sanitizing("race") as sanitizer:
        work(Bench())
    assert sanitizer.findings == ()


@pytest.mark.parametrize("work", RACES)
def test_race(work: Callable[[Bench], None]) -> None:
    with sanitizing("race") as sanitizer:
        work(Bench())
    assert sanitizer.errors
    for f in sanitizer.errors:
        assert f.space == "global" and {f.line, f.other_line} <= {13, 15, None} and "order" in f.message
