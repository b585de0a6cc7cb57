"""The roofs of devices and of launches, and how much of a launch's arithmetic is useful."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.timing.roofs import attainable, l2_bandwidth, lowest, memories, peak, roofs
from warplab.isa.profiles import PROFILES, profile
from warplab.runtime.profiler import profiling
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives, from_text

ROOT = Path(__file__).parents[3]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
START = """.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .f64 %g<4>; .shared .f32 s[64];
    ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2;
"""


def launched(body: str, options: str = "--grid 2 --block 32 --arg a=f32[256]") -> KernelProfile:
    text = f"{HEAD}.visible .entry k(.param .u64 a) {{ {START} {body} ret; }}"
    with profiling() as p:
        outcome = Runner([text.encode()], ["k.ptx"], from_text(options, 1), None).run()
    assert not outcome.failure, outcome.failure
    (one,) = p.launches
    return one


def of_sample(name: str, run: int = 0) -> KernelProfile:
    text = (ROOT / "samples" / name).read_text()
    with profiling() as p:
        Runner([text.encode()], [name], directives(text)[run], None).run()
    return p.launches[0]


def rates(p: KernelProfile) -> dict[str, float]:
    return {r.name: r.rate for r in roofs(p)}


def test_rates_are_those_of_the_tables() -> None:
    p = launched(
        "ld.global.f32 %f1, [%d2]; fma.rn.f32 %f1, %f1, %f1, %f1; sin.approx.f32 %f2, %f1; st.shared.f32 [s], %f2; st.global.f32 [%d2], %f2;"
    )
    hz, d = 132 * 1.98e9, p.device
    assert rates(p)["FP32"] == pytest.approx(2 * 128 * hz) and rates(p)["special functions"] == pytest.approx(16 * hz)
    assert rates(p)["shared memory"] == pytest.approx(128 * hz) and rates(p)["device memory"] == d.memory_bandwidth
    work = {r.name: r.work for r in roofs(p)}
    assert work["FP32"] == 64 * 3 and work["special functions"] == 64  # a sine is an operation, and one result of the special functions


@pytest.mark.parametrize(("device", "bytes_a_clock"), [("sm_13", 32), ("sm_20", 64), ("sm_35", 256), ("sm_52", 128), ("sm_90", 128)])
def test_shared_memory_gives_a_word_of_each_bank(device: str, bytes_a_clock: int) -> None:
    assert profile(device).shared_bandwidth == bytes_a_clock


def test_every_device_has_roofs_in_order() -> None:
    for d in PROFILES.values():
        if d.l2_cache:
            assert 0 < d.memory_bandwidth < l2_bandwidth(d) * d.multiprocessors * d.clock_mhz * 1e6, d.name


def test_the_lowest_roof_bounds() -> None:
    few = launched("ld.global.f32 %f1, [%d2]; add.f32 %f1, %f1, %f1; st.global.f32 [%d2], %f1;")
    lower = lowest(few)
    assert lower is not None and lower.name == "device memory"
    assert attainable(few) == pytest.approx(few.dram_intensity * few.device.memory_bandwidth)
    many = launched("ld.global.f32 %f1, [%d2];" + "fma.rn.f32 %f1, %f1, %f1, %f1;" * 400 + "st.global.f32 [%d2], %f1;")
    upper = lowest(many)
    assert upper is not None and upper.name == "FP32" and attainable(many) == pytest.approx(many.device.peak_fp32)


def test_the_peak_is_that_of_the_types_that_a_launch_uses() -> None:
    doubles = launched(
        "ld.global.f32 %f1, [%d2]; cvt.f64.f32 %g1, %f1; fma.rn.f64 %g1, %g1, %g1, %g1; cvt.rn.f32.f64 %f1, %g1; st.global.f32 [%d2], %f1;"
    )
    assert peak(doubles) == pytest.approx(doubles.device.peak_fp32 / 2)
    assert lowest(launched("")) is None and attainable(launched("")) == 0


def test_intensity_as_the_text_has_it_and_as_caches_make_it() -> None:
    p = of_sample("matmul/1_naive.ptx")
    seen = {r.name: r.intensity for r in memories(p)}
    assert p.intensity == 0.25 and p.text_intensity == pytest.approx(0.25, rel=0.01)  # of 2 n**3 loads, n**2 stores hardly count
    assert seen["device memory"] > seen["L2"] > p.text_intensity, "caches load a byte once for many threads"


def test_arithmetic_beyond_the_data_is_not_useful() -> None:
    assert of_sample("matmul/10_edges.ptx").useful_arithmetic == pytest.approx(36 * 36 / (64 * 64))
    assert of_sample("matmul/8_float4.ptx").useful_arithmetic == 1


GUARDED = "setp.lt.u32 %p1, %r1, 48; ld.global.f32 %f1, [%d2]; mul.f32 %f1, %f1, %f1; @%p1 st.global.f32 [%d2], %f1;"


@pytest.mark.parametrize(
    ("body", "useful"),
    [
        (GUARDED, 0.75),
        ("setp.ge.u32 %p1, %r1, 48; @%p1 bra E; ld.global.f32 %f1, [%d2]; mul.f32 %f1, %f1, %f1; st.global.f32 [%d2], %f1; E:", 1.0),
        # Each thread makes as many operations as it has a number: none of them in vain.
        ("mov.u32 %r4, 0; mov.f32 %f1, 0f3F800000; L: add.f32 %f1, %f1, %f1; add.u32 %r4, %r4, 1; setp.le.u32 %p1, %r4, %r1; @%p1 bra L; st.global.f32 [%d2], %f1;", 1.0),
        # Threads store one or two results, with as many operations for each.
        ("mul.f32 %f1, %f0, %f0; st.global.f32 [%d2], %f1; setp.lt.u32 %p1, %r1, 16; @%p1 mul.f32 %f2, %f0, %f0; @%p1 st.global.f32 [%d2+512], %f2;", 1.0),
        # Results that other threads read.
        ("mul.f32 %f1, %f0, %f0; st.shared.f32 [s], %f1; @%p1 st.global.f32 [%d2], %f1;", None),
        ("mul.f32 %f1, %f0, %f0; shfl.sync.idx.b32 %f1, %f1, 0, 31, -1; st.global.f32 [%d2], %f1;", None),
        ("mul.f32 %f1, %f0, %f0; red.global.add.f32 [%d1], %f1;", None),
        ("st.global.u32 [%d2], %r1;", None),
    ],
)  # fmt: skip
def test_what_is_useful(body: str, useful: float | None) -> None:
    found = launched(f"mov.f32 %f0, 0f40000000; setp.eq.u32 %p1, %r1, 0; {body}").useful_arithmetic
    assert found == (None if useful is None else pytest.approx(useful))
