"""`with profiling()`: every launch of the block, whoever makes it; the ladder of matrix products with the intensities of the textbook."""

from pathlib import Path

import pytest

from warplab.interpreter.plan.plan import ORDINARY
from warplab.interpreter.profiler import KernelProfile
from warplab.interpreter.vector.steps.build import code
from warplab.runtime.device.context import DeviceContext
from warplab.runtime.profiler import profiling
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import directives

SAMPLES = Path(__file__).parents[3] / "samples"


def profiles(name: str) -> list[KernelProfile]:
    """The launches that a sample's comments ask for."""
    text = (SAMPLES / name).read_text()
    with profiling() as p:
        for spec in directives(text):
            outcome = Runner([text.encode()], [name], spec, None).run()
            assert outcome.code == 0, (outcome.failure, outcome.mismatches)
    return p.launches


@pytest.mark.parametrize(
    ("name", "intensity"),
    [
        ("1_naive", 0.25), ("2_registers", 0.5), ("3_tile16", 4), ("4_tile32", 8), ("5_turned", 8), ("6_padded", 8), ("7_tile64", 16),
        ("8_float4", 16),
    ],
)  # fmt: skip
def test_the_ladder_has_the_textbooks_intensity(name: str, intensity: float) -> None:
    (p,) = profiles(f"matmul/{name}.ptx")
    assert p.intensity == intensity
    assert p.flops == {"f32": 2 * 128**3}
    assert p.dram_bytes == 3 * 128 * 128 * 4  # each matrix crosses the chip's edge once


def test_padding_takes_the_conflicts_away() -> None:
    (turned,), (padded,) = profiles("matmul/5_turned.ptx"), profiles("matmul/6_padded.ptx")
    name = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
    stores = next(s for s in turned.sites if any(a.conflicts for a in s.accesses)).accesses[0]
    assert stores.units == 32 * stores.requests
    assert turned.metrics[name] == 31 * stores.requests and padded.metrics[name] == 0


def test_four_floats_an_instruction_make_a_quarter_of_the_requests() -> None:
    (one,), (four,) = profiles("matmul/7_tile64.ptx"), profiles("matmul/8_float4.ptx")
    name = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
    assert one.metrics[name] == 4 * four.metrics[name]
    assert one.total("bytes", "global", "ld") == four.total("bytes", "global", "ld")


def test_fusing_halves_the_traffic() -> None:
    add, relu, fused = profiles("matmul/9_fused.ptx")
    assert add.dram_bytes + relu.dram_bytes == 2 * fused.dram_bytes == 2 * 2 * 16384 * 4


def test_the_block_ends_where_it_ends() -> None:
    before = DeviceContext.launch
    with profiling() as outer:
        inner = profiles("vecadd.ptx")
        assert len(outer.launches) == len(inner) == 1  # both hear of it
    assert DeviceContext.launch is before
    text = (SAMPLES / "vecadd.ptx").read_text()
    Runner([text.encode()], ["vecadd.ptx"], directives(text)[0], None).run()
    assert len(outer.launches) == 1 and repr(outer) == "<Profiling of 1 launches>"


def test_an_unobserved_run_is_planned_without_observers() -> None:
    text = (SAMPLES / "vecadd.ptx").read_text()
    runner = Runner([text.encode()], ["vecadd.ptx"], directives(text)[0], None)
    runner.run()
    kernel = runner.trail[0][0].kernel
    quiet, observed = (code(kernel, kernel.function, ORDINARY, observed=observed) for observed in (False, True))
    assert quiet is not observed and quiet.plan is observed.plan
    places = range(len(quiet.plan.segments))
    modules = [{getattr(s, "__module__", "") for pc in places for s in f.segments[pc].steps} for f in (quiet, observed)]
    assert ["warplab.interpreter.vector.observed" in m for m in modules] == [False, True]


def test_profiles_do_not_change() -> None:
    (p,) = profiles("vecadd.ptx")
    with pytest.raises(AttributeError):
        p.registers = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        p.sites[0].warps = 3  # type: ignore[misc]
