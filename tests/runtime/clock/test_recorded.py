"""Predicted times of calls, copies and streams beside recordings on two hosts with H100s, which differ between themselves."""

from __future__ import annotations

import ctypes
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab.isa.profiles import profile
from warplab.runtime import cudart, driver
from warplab.runtime.clock.figures import SUBMIT, TELL, MemoryPlace
from warplab.runtime.clock.timeline import Timeline
from warplab.runtime.device.memory.allocations import SPACE

RECORDED = Path(__file__).parents[2] / "interpreter" / "timing" / "recorded"
H100 = replace(profile("sm_90"), memory_bandwidth=3_352_000_000_000, l2_cache=50 << 20)
MOST = 64 << 20
UP, DOWN, ACROSS = (cudart.cudaMemcpyKind(n) for n in (1, 2, 3))


def call(name: str, *args: object) -> Any:
    """A call that must succeed."""
    code, *results = getattr(cudart, name)(*args)
    assert code == 0, name
    return results[0] if results else None


class Program:
    """What a recorded program has, on a clock of its own."""

    def __init__(self) -> None:
        call("cudaSetDevice", 0)
        self.device, self.other = (int(call("cudaMalloc", MOST)) for _ in range(2))
        self.pinned, self.back = (int(call("cudaMallocHost", MOST)) for _ in range(2))
        self.memory = np.zeros(MOST, np.uint8)
        self.pageable = self.memory.ctypes.data
        self.streams = [call("cudaStreamCreate") for _ in range(4)]
        self.free = call("cudaStreamCreateWithFlags", 1)
        self.event = call("cudaEventCreate")
        SPACE.clock = self.clock = Timeline(lambda _: H100)

    def time(self, work: Callable[[], object]) -> float:
        """Microseconds of the host, on an idle device."""
        call("cudaDeviceSynchronize")
        begun = self.clock.host
        work()
        return self.clock.host - begun

    def spin(self, stream: object, cycles: int, share: float) -> None:
        """A kernel that waits."""
        s = stream_of(stream)
        self.clock.begin(s.name, s.after, 0)
        self.clock.launched("spin", cycles / 1.98e9, share, 0)
        self.clock.end()


def stream_of(handle: object) -> Any:
    from warplab.runtime.driver.api import stream_of as found

    return found(handle)


@pytest.fixture
def program() -> Iterator[Program]:
    before = None
    try:
        call("cudaFree", 0)
        before = SPACE.clock
        made = Program()
        yield made
        for memory in (made.device, made.other):
            call("cudaFree", memory)
        for memory in (made.pinned, made.back):
            call("cudaFreeHost", memory)
        for stream in (*made.streams, made.free):
            call("cudaStreamDestroy", stream)
        call("cudaEventDestroy", made.event)
    finally:
        SPACE.clock = before


def done() -> None:
    call("cudaDeviceSynchronize")


def copies(p: Program, s: object, t: object) -> dict[str, Callable[[int], object]]:
    """Copies and fills of n bytes, by what the recording calls them."""
    return {
        "h2d pageable": lambda n: (call("cudaMemcpy", p.device, p.pageable, n, UP), done()),
        "d2h pageable": lambda n: call("cudaMemcpy", p.pageable, p.device, n, DOWN),
        "h2d pinned": lambda n: (call("cudaMemcpy", p.device, p.pinned, n, UP), done()),
        "d2h pinned": lambda n: call("cudaMemcpy", p.pinned, p.device, n, DOWN),
        "d2d": lambda n: (call("cudaMemcpy", p.other, p.device, n, ACROSS), done()),
        "memset": lambda n: (call("cudaMemset", p.device, 0, n), done()),
        "both directions pinned": lambda n: (
            call("cudaMemcpyAsync", p.device, p.pinned, n, UP, s),
            call("cudaMemcpyAsync", p.back, p.other, n, DOWN, t),
            done(),
        ),
        "two h2d pinned in two streams": lambda n: (
            call("cudaMemcpyAsync", p.device, p.pinned, n // 2, UP, s),
            call("cudaMemcpyAsync", p.device + n // 2, p.pinned + n // 2, n // 2, UP, t),
            done(),
        ),
    }


def rectangles(p: Program) -> dict[str, Callable[[int], object]]:
    """Rectangles of 4096 rows of so many bytes."""
    return {
        "2D h2d pinned": lambda w: (call("cudaMemcpy2D", p.device, 8192, p.pinned, w, w, 4096, UP), done()),
        "2D d2h pinned": lambda w: call("cudaMemcpy2D", p.pinned, w, p.device, 8192, w, 4096, DOWN),
        "2D h2d pageable": lambda w: (call("cudaMemcpy2D", p.device, 8192, p.pageable, w, w, 4096, UP), done()),
        "2D d2h pageable": lambda w: call("cudaMemcpy2D", p.pageable, w, p.device, 8192, w, 4096, DOWN),
        "2D d2d": lambda w: (call("cudaMemcpy2D", p.device, 8192, p.other, w, w, 4096, ACROSS), done()),
    }


def returning(p: Program, s: object) -> dict[str, Callable[[int], object]]:
    """Calls, which may return before their work is done."""
    return {
        "cudaMemcpy h2d pageable": lambda n: call("cudaMemcpy", p.device, p.pageable, n, UP),
        "cudaMemcpyAsync h2d pageable": lambda n: call("cudaMemcpyAsync", p.device, p.pageable, n, UP, s),
        "cudaMemcpyAsync d2h pageable": lambda n: call("cudaMemcpyAsync", p.pageable, p.device, n, DOWN, s),
        "cudaMemcpyAsync d2h pinned": lambda n: call("cudaMemcpyAsync", p.pinned, p.device, n, DOWN, s),
        "cudaMemcpy d2d": lambda n: call("cudaMemcpy", p.other, p.device, n, ACROSS),
        "cudaMalloc, cudaFree": lambda n: call("cudaFree", call("cudaMalloc", n)),
        "cudaMallocHost, cudaFreeHost": lambda n: call("cudaFreeHost", call("cudaMallocHost", n)),
    }


def errors(p: Program, name: str, made: dict[str, Callable[[int], object]]) -> dict[tuple[str, int], float]:
    """Predicted over recorded, less 1."""
    out = {}
    for r in json.loads((RECORDED / name).read_text()):
        if r["what"] in made and r["bytes"] <= MOST:
            out[r["what"], r["bytes"]] = p.time(lambda r=r: made[r["what"]](r["bytes"])) / r["us"] - 1
    return out


@pytest.mark.parametrize(
    ("name", "make", "count", "most", "median"),
    [
        ("transfers.json", lambda p: copies(p, *p.streams[:2]), 72, 0.35, 0.06),
        ("host_calls.json", rectangles, 20, 0.45, 0.2),
        ("host_calls.json", lambda p: returning(p, p.streams[0]), 41, 1.0, 0.2),
    ],
)
def test_times_are_near_the_recorded_ones(
    program: Program, name: str, make: Callable[[Program], dict[str, Callable[[int], object]]], count: int, most: float, median: float
) -> None:
    """The greatest errors are those of small copies, and of calls on a host that is not the one whose costs the model has."""
    found = errors(program, name, make(program))
    assert len(found) == count
    assert max(map(abs, found.values())) <= most, {k: round(v, 2) for k, v in found.items() if abs(v) > most}
    assert statistics.median(map(abs, found.values())) <= median


def pipeline(p: Program, parts: int) -> None:
    """Copies to the device, kernels, and copies back, in so many parts with a stream each."""
    size = (48 << 20) // parts
    for k, s in enumerate(p.streams[:parts]):
        call("cudaMemcpyAsync", p.device + k * size, p.pinned + k * size, size, UP, s)
        p.spin(s, 1_600_000 // parts, 1 / 1056)
        call("cudaMemcpyAsync", p.back + k * size, p.device + k * size, size, DOWN, s)
    done()


def awaited(p: Program) -> None:
    """A stream waits for another one's event."""
    p.spin(p.streams[0], 400_000, 0)
    call("cudaEventRecord", p.event, p.streams[0])
    call("cudaStreamWaitEvent", p.streams[1], p.event, 0)
    p.spin(p.streams[1], 400_000, 0)
    done()


def graph(p: Program) -> None:
    """One call that gives the device twenty kernels."""
    s = stream_of(p.streams[0])
    p.clock.begin(s.name, s.after, 0)
    for n in range(20):
        p.clock.begin(f"node {n}", [s.name, f"node {n - 1}"], 0)
        p.clock.launched("nothing", 0.0, 0, 0)
    p.clock.begin(s.name, ["node 19"], 0)
    p.clock.end()
    done()


SPINS = {  # kernels of so many cycles: their streams, and the part of the device that each takes
    "one kernel": ("s", 1 / 1056),
    "kernels in two streams": ("st", 1 / 1056),
    "kernels that fill the device": ("st", 1.0),
    "kernels that fill half of it": ("st", 0.5),
    "a stream and the legacy stream": ("s0", 1 / 1056),
    "a non-blocking stream and the legacy stream": ("f0", 1 / 1056),
}


def overlaps(p: Program) -> dict[tuple[str, int], Callable[[], object]]:
    """What the recordings call work in several streams."""
    s, t = p.streams[:2]
    of = {"s": s, "t": t, "f": p.free, "0": 0}
    small = lambda n, cycles=0: [p.spin(s, cycles, 0) for _ in range(n)]  # noqa: E731 - one line in the table below
    return {
        **{
            (what, 0): lambda streams=streams, share=share: ([p.spin(of[w], 400_000, share) for w in streams], done())
            for what, (streams, share) in SPINS.items()
        },
        ("a stream waits for an event", 0): lambda: awaited(p),
        ("kernel and pageable h2d", 4 << 20): lambda: (
            p.spin(s, 400_000, 0),
            call("cudaMemcpyAsync", p.device, p.pageable, 4 << 20, UP, t),
            done(),
        ),
        **{("h2d, kernel, d2h: streams", n): lambda n=n: pipeline(p, n) for n in (1, 2, 4)},
        ("graph of 20 kernels", 0): lambda: graph(p),
        ("20 kernels", 0): lambda: (small(20), done()),
        ("launch and synchronize", 0): lambda: (small(1), done()),
        ("1000 launches", 0): lambda: (small(1000), done()),
        ("1000 copies of 64 bytes", 64000): lambda: (
            [call("cudaMemcpyAsync", p.device, p.pinned, 64, UP, s) for _ in range(1000)],
            done(),
        ),
        ("kernel beside a copy", 64 << 20): lambda: (
            p.spin(s, 2_000_000, 0),
            call("cudaMemcpyAsync", p.device, p.pinned, 64 << 20, UP, t),
            done(),
        ),
    }


def test_what_overlaps_takes_as_long_as_recorded(program: Program) -> None:
    """Streams, the legacy default stream, events, copies in both directions, graphs: within 15 %."""
    recorded = {
        (r["what"], r["bytes"]): r["us"]
        for name in ("transfers.json", "host_calls.json")
        for r in json.loads((RECORDED / name).read_text())
    }
    made = overlaps(program)
    found = {key: program.time(work) / recorded[key] - 1 for key, work in made.items()}
    assert max(map(abs, found.values())) <= 0.15, found


@pytest.mark.parametrize(
    ("what", "kernels", "cycles"),
    [("nothing between", 0, 0), ("an empty kernel", 1, 0), ("ten empty kernels", 10, 0), ("a kernel of 200000 cycles", 1, 200_000)],
)
def test_events_tell_the_recorded_times(program: Program, what: str, kernels: int, cycles: int) -> None:
    """In steps of 32 ns."""
    recorded = {r["what"]: r["us"] for r in json.loads((RECORDED / "transfers.json").read_text())}
    start, end, s = program.event, call("cudaEventCreate"), program.streams[0]
    call("cudaEventRecord", start, s)
    for _ in range(kernels):
        program.spin(s, cycles, 0)
    call("cudaEventRecord", end, s)
    call("cudaEventSynchronize", end)
    time = call("cudaEventElapsedTime", start, end) * 1000
    assert time == pytest.approx(recorded[f"events: {what}"], rel=0.15)
    assert time / 0.032 == pytest.approx(round(time / 0.032))


@pytest.mark.parametrize(("access", "what"), [(False, "peer copy without access"), (True, "peer copy with access")])
def test_copies_between_devices(program: Program, access: bool, what: str) -> None:
    """Through NVLink where access is enabled, else through the host."""
    if access:
        program.clock.access.add((0, 1))
    figures = program.clock.figures(0)
    for r in json.loads((RECORDED / "host_calls.json").read_text()):
        if r["what"] == what:
            cost = figures.copy(MemoryPlace("device", 0), MemoryPlace("device", 1), r["bytes"], 1, access)
            assert SUBMIT + TELL + cost.call + cost.busy == pytest.approx(r["us"], rel=0.3)


TOUCH = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry touch(.param .u64 p, .param .u64 n)
{
    .reg .b32 %r<5>;
    .reg .b64 %d<6>;
    .reg .f32 %f;
    .reg .pred %p;
    ld.param.u64 %d0, [p];
    ld.param.u64 %d1, [n];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.lo.u32 %r3, %r4, %r1;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    cvt.u64.u32 %d2, %r0;
    cvt.u64.u32 %d3, %r3;
next:
    setp.ge.u64 %p, %d2, %d1;
    @%p ret;
    shl.b64 %d4, %d2, 2;
    add.u64 %d4, %d0, %d4;
    ld.global.f32 %f, [%d4];
    add.f32 %f, %f, 0f3F800000;
    st.global.f32 [%d4], %f;
    add.u64 %d2, %d2, %d3;
    bra next;
}"""


def touching(program: Program) -> Callable[[str, int], None]:
    """Launches of one kernel over memory of some kind, so many bytes."""
    kernel = call("cudaLibraryGetKernel", call("cudaLibraryLoadData", TOUCH.encode() + b"\0", [], [], 0, [], [], 0), b"touch")
    program.clock.timed = True
    config = driver.CUlaunchConfig()
    config.gridDimX, config.blockDimX = 264, 256
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1

    def launch(where: str, size: int) -> None:
        given = (getattr(program, where), size // 4), (ctypes.c_uint64, ctypes.c_uint64)
        code, *_ = driver.cuLaunchKernelEx(config, driver.CUfunction(int(kernel)), given, 0)
        assert code == 0
        done()

    return launch


@pytest.mark.parametrize(("where", "what"), [("pinned", "kernel over mapped"), ("device", "kernel over device")])
def test_kernels_reach_memory_of_the_host_through_its_link(program: Program, where: str, what: str) -> None:
    """At most; what the device's own memory needs is the model of time's."""
    launch = touching(program)
    recorded = {r["bytes"]: r["us"] for r in json.loads((RECORDED / "transfers.json").read_text()) if r["what"] == what}
    for size in (1 << 20, 4 << 20, *([16 << 20] if where == "pinned" else [])):  # the recording found 16 MiB of device memory in L2
        assert program.time(partial(launch, where, size)) == pytest.approx(recorded[size], rel=0.3), size


def test_a_launch_over_other_memory_is_another_launch(program: Program) -> None:
    launch = touching(program)
    own = program.time(partial(launch, "device", 1 << 20))
    assert program.time(partial(launch, "pinned", 1 << 20)) > 2 * own
