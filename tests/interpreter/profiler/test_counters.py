"""The profiler's observer: launches count what is known of them."""

import gc
from pathlib import Path
from weakref import ref

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from warplab.interpreter.launch import Launch
from warplab.interpreter.profiler import Counters, KernelProfile
from warplab.interpreter.profiler.metrics import METRICS, metrics_of
from warplab.interpreter.ptxas.register_count import kernel_registers
from warplab.isa.profiles import profile
from warplab.runtime.device.context import DeviceContext
from warplab.runtime.profiler import profiling
from warplab.runtime.run.runner import Runner
from warplab.runtime.run.runspec import from_text

SAMPLES = Path(__file__).parents[3] / "samples"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def launch(body: str, options: str, device: str = "sm_90", shared: str = "") -> KernelProfile:
    """The profile of a kernel of one parameter a; %rd1 is a, %r1 the thread index."""
    text = (
        f"{HEAD}.visible .entry k(.param .u64 a) {{ .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>; .reg .f64 %d<4>; "
        f".reg .pred %p<4>; {shared}\n ld.param.u64 %rd1, [a];\n mov.u32 %r1, %tid.x;\n{body}\n ret; }}"
    )
    with profiling() as p:
        outcome = Runner([text.encode()], ["k.ptx"], from_text(f"{options} --device {device} --device-rules-only", 1), None).run()
    assert not outcome.failure, outcome.failure
    (one,) = p.launches
    return one


def test_a_profile_keeps_no_launch_and_equals_one_of_a_launch_like_it() -> None:
    gc.freeze()  # the collector need not look at what was there before, here and in the tests that follow
    machine = Machine(
        f"{HEAD}.visible .entry k(.param .u64 a) {{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], 1; ret; }}"
    )
    place, profiles = machine.upload(np.zeros(1, np.uint32)), []
    for _ in range(2):
        counters = Counters(profile("sm_90"))
        machine.launches = 0
        machine.launch(1, 32, [place], observers=(counters,))
        profiles.append(counters.finish())
    memory = ref(machine.arena)
    del machine, counters
    gc.collect()
    one, other = profiles
    assert memory() is None
    assert one is not None and [s.warps for s in one.sites] == [1, 1, 1] and one.sites is one.sites
    assert one == other and one != one.kernel


def test_an_observed_launch_goes_when_it_is_over() -> None:
    """Its memory is not kept for the garbage collector, which would take longer than the observer."""
    launches: list[ref[Launch]] = []

    class Keeping(Counters):
        def begin(self, launch: Launch) -> None:
            super().begin(launch)
            launches.append(ref(launch))

    text = "{ .reg .b32 %r<2>; .reg .pred %p; mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 7; @%p bra L; bar.sync 0; L: ret; }"
    machine, counters = Machine(f"{HEAD}.visible .entry k() {text}"), Keeping(profile("sm_90"))
    gc.disable()
    machine.launch(2, 64, [], observers=(counters,))
    gone = launches[0]() is None
    gc.enable()
    assert gone and counters.finish() is not None


def test_vecadd() -> None:
    runner = Runner([(SAMPLES / "vecadd.ptx").read_bytes()], ["vecadd.ptx"],
                    from_text("--grid 4 --block 256 --arg a=f32[1000] --arg b=f32[1000] --arg out:c=f32[1000] --arg n=1000", 1), None)  # fmt: skip
    with profiling() as p:
        runner.run()
    (one,) = p.launches
    m = one.metrics
    assert (m["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], m["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]) == (64, 250)
    assert m["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 125
    assert (one.idle_threads, one.flops, one.dram_bytes) == (24, {"f32": 1000}, 12000)
    assert [(a.name, a.loaded, a.stored) for a in one.allocations] == [("a", 125, 0), ("b", 125, 0), ("c", 0, 125)]
    (branch,) = [s.branch for s in one.sites if s.branch]
    assert (branch.executed, branch.divergent, branch.masks) == (32, 1, ((0xFFFFFF00, 1),))
    assert one.instructions == 32 * 22 and one.thread_instructions == 1024 * 8 + 1000 * 14
    assert one.sites[0].line == 21 and sum(x.warps for x in one.lines()) == one.instructions
    assert sum(w for w, _ in one.timeline) == one.instructions


def test_reuse_in_l1_and_l2() -> None:
    body = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3]; ld.global.cg.f32 %f3, [%rd3];"
    p = launch(body, "--grid 2 --block 64 --arg a=f32[64]")
    assert [(a.units, a.hits, a.l2_sectors, a.l2_hits) for a in p.accesses] == [(16, 0, 16, 8), (16, 16, 0, 0), (16, 0, 16, 16)]
    assert p.dram_bytes == 8 * 32


def test_each_launch_begins_with_empty_caches() -> None:
    body = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3]; st.global.f32 [%rd3], %f1;"
    other = body.replace("mul.wide.u32 %rd2, %r1, 4", "mul.wide.u32 %rd2, %r1, 8")
    profiles = [launch(text, "--grid 3 --block 64 --arg a=f32[256]") for text in (body, body, other, body)]
    assert profiles[0].metrics == profiles[1].metrics == profiles[3].metrics != profiles[2].metrics
    assert profiles[3].dram_bytes == 2 * 8 * 32


@pytest.mark.parametrize(("kind", "used", "sectors"), [("red", False, 1), ("atom", True, 1), ("atom.f32", True, 32)])
def test_atomics_with_one_address(kind: str, used: bool, sectors: int) -> None:
    if kind == "atom.f32":
        body = "mov.f32 %f1, 0f3F800000; atom.global.add.f32 %f2, [%rd1], %f1; st.global.f32 [%rd1+4], %f2;"
    else:
        body = "atom.global.add.u32 %r2, [%rd1], %r1;" + ("st.global.u32 [%rd1+4], %r2;" if used else "")
    p = launch(body, "--grid 1 --block 32 --arg a=u32[4]")
    found = next(a for a in p.accesses if a.kind in ("red", "atom"))
    assert (found.kind, found.requests, found.units) == (kind.split(".")[0], 1, sectors)


def test_shared_conflicts_and_generic_addresses() -> None:
    body = """mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 128, %r2; st.shared.u32 [%r3], %r1;
        cvta.shared.u64 %rd2, s; mul.wide.u32 %rd3, %r1, 8; add.u64 %rd3, %rd3, %rd2; ld.u32 %r4, [%rd3]; st.global.u32 [%rd1], %r4;"""
    p = launch(body, "--grid 3 --block 32 --arg a=u32[4]", shared=".shared .align 4 .b8 s[4096];")
    assert p.metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] == 3 * 32
    assert p.metrics["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] == 3 * 31
    assert p.metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == 3 * 2
    assert p.occupancy.shared == 4096


@pytest.mark.parametrize("guard", ["", "@%p1 "])
def test_stores_behind_a_matrix_are_requests(guard: str) -> None:
    matrix = "mov.u32 %r2, s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r2];"
    body = f"setp.lt.u32 %p1, %r1, 7; {matrix} {guard}st.shared.b32 [%r2], %r4;"
    m = launch(body, "--grid 1 --block 32 --arg a=u32[4]", shared=".shared .align 16 .b8 s[512];").metrics
    assert (m["smsp__inst_executed_op_shared_ld.sum"], m["smsp__inst_executed_op_shared_st.sum"]) == (1, 1)


def test_flops_by_type() -> None:
    body = "fma.rn.f32 %f1, %f2, %f3, %f4; add.f32 %f1, %f1, %f2; cvt.f64.f32 %d1, %f1; mul.f64 %d1, %d1, %d1; st.global.f64 [%rd1], %d1;"
    p = launch(body, "--grid 1 --block 64 --arg a=f64[4]")
    assert p.flops == {"f32": 192, "f64": 64}


def test_barrier_waits_are_counted_where_part_of_a_block_waits() -> None:
    body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra first; add.u32 %r2, %r1, 1; bar.sync 0; bra done; first: bar.sync 0; done:"
    p = launch(body, "--grid 1 --block 64 --arg a=u32[4]")
    assert p.metrics["warplab__barrier_waits.sum"] >= 1
    assert not any(s.branch.divergent for s in p.sites if s.branch)  # whole warps go each way


def test_lanes_that_leave_a_loop_are_not_counted_in_it() -> None:
    body = """mul.lo.u32 %r2, %r1, 7; and.b32 %r2, %r2, 63; mov.u32 %r3, 0;
        again: add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r2; @%p1 bra again; st.global.u32 [%rd1], %r3;"""
    p = launch(body, "--grid 3 --block 64 --arg a=u32[4]")
    turns = ((np.arange(64) * 7 & 63) + 1).reshape(2, 32)
    (loop,) = [s for s in p.sites if s.branch]
    assert loop.branch is not None
    assert (loop.threads, loop.warps, loop.active) == (3 * turns.sum(), 3 * turns.max(axis=1).sum(), 3 * (turns - 1).sum())
    parted = sum(len(np.unique(w)) - 1 for w in turns)  # some lanes leave while others stay
    assert (loop.branch.executed, loop.branch.divergent) == (loop.warps, 3 * parted)
    assert sum(n for _, n in loop.branch.masks) <= 3 * parted and sum(t for _, t in p.timeline) == p.thread_instructions


def test_shuffles_count_once() -> None:
    p = launch("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; st.global.u32 [%rd1], %r2;", "--grid 1 --block 64 --arg a=u32[4]")
    assert [s.warps for s in p.sites if s.opcode == "shfl"] == [2]


@pytest.mark.parametrize(("device", "transactions"), [("sm_10", 32), ("sm_12", 3), ("sm_20", 2), ("sm_30", 5), ("sm_90", 5)])
def test_devices_have_their_own_rules(device: str, transactions: int) -> None:
    body = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; ld.global.f32 %f1, [%rd3+4]; add.f32 %f1, %f1, %f1;"
    found = launch(body, "--grid 1 --block 32 --arg a=f32[64]", device).accesses[0]
    # A warp one word off: 32 single words; 128 bytes for one half and 64 + 32 for the other; two lines; five sectors.
    assert found.units == transactions


def test_every_metric_has_a_name_of_its_own() -> None:
    p = launch("st.global.u32 [%rd1], %r1;", "--grid 1 --block 32 --arg a=u32[4]")
    assert len({m.name for m in METRICS}) == len({m.plain for m in METRICS}) == len(METRICS)
    assert set(p.metrics) == {m.name for m in METRICS}
    assert all(m.sentence.endswith(".") for m in METRICS)
    assert metrics_of(p) == p.metrics


def test_a_fault_leaves_what_was_done_until_then() -> None:
    text = f"{HEAD}.visible .entry k() {{ .reg .b64 %rd<2>; .reg .b32 %r<2>; mov.u64 %rd1, 0; st.global.u32 [%rd1], 1; ret; }}"
    with profiling() as p:
        outcome = Runner([text.encode()], ["k.ptx"], from_text("--grid 1 --block 32", 1), None).run()
    assert outcome.failure and p.launches[0].instructions == 2


@pytest.mark.parametrize(
    ("name", "assembler"), [("1_naive", 26), ("2_registers", 32), ("4_tile32", 32), ("7_tile64", 50), ("8_float4", 54), ("9_fused", 10)]
)
def test_registers_come_close_to_the_assemblers(name: str, assembler: int) -> None:
    kernels = DeviceContext("sm_90").load([(SAMPLES / f"matmul/{name}.ptx").read_bytes()], [name]).program.kernels
    assert max(kernel_registers(k) for k in kernels.values()) == pytest.approx(assembler, rel=0.4)


def test_pmevent_counts_the_warps_that_trigger_an_event() -> None:
    body = """setp.lt.u32 %p1, %r1, 40; setp.lt.u32 %p2, %r1, 0;
        pmevent 3; @%p1 pmevent 4; @%p2 pmevent 5; pmevent.mask 0x8006; @%p1 bra L; pmevent 7; L:"""
    p = launch(body, "--grid 2 --block 96 --arg out:a=u32[1]")
    counts = {name.split("_")[-1].removesuffix(".sum"): n for name, n in metrics_of(p).items() if "pmevent" in name and n}
    assert counts == {"01": 6, "02": 6, "03": 6, "04": 4, "07": 4, "15": 6}
    early = metrics_of(launch("pmevent 2;", "--grid 3 --block 64 --arg out:a=u32[1]", device="sm_35"))
    assert (early["prof_trigger_02"], early["prof_trigger_01"]) == (6, 0)


@pytest.mark.parametrize(("device", "division"), [("sm_35", 9), ("sm_52", 9), ("sm_75", 11), ("sm_90", 10)])
def test_operations_count_as_the_machine_instructions_of_the_device(device: str, division: int) -> None:
    body = """cvt.rn.f32.u32 %f1, %r1; ld.global.f32 %f2, [%rd1];
        div.rn.f32 %f3, %f1, %f2;
        mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f3;"""
    p = launch(body, "--grid 2 --block 64 --arg a=f32[64]", device)
    (line,) = [x for x in p.lines() if x.line == 8]
    assert (line.warps, line.machine) == (4, 4 * division)
    assert p.metrics["sm__inst_executed.sum"] == sum(x.machine for x in p.lines())


def test_turns_that_become_one_count_once() -> None:
    """A loop of 8 turns that ptxas writes out has neither its counter nor its branch."""
    loop = "mov.u32 %r2, 0; L: ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f2, %f1; add.u64 %rd1, %rd1, 4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 8;\n@%p1 bra L;"
    p = launch(f"mov.f32 %f2, 0f00000000; {loop} st.global.f32 [%rd1], %f2;", "--grid 1 --block 32 --arg a=f32[64]")
    (load,) = [s for s in p.sites if s.opcode == "ld" and "global" in s.text]
    (branch,) = [s for s in p.sites if s.opcode == "bra"]
    assert (load.warps, load.machine, branch.warps) == (8, 8, 8) and branch.machine <= 1
