"""The counters by Nsight Compute's names, each with a plain name and one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warplab.isa.occupancy import Resource

from .launch_time import REASONS, LaunchTime
from .tally import EVENTS
from .totals import LaunchTotals

Value = Callable[[LaunchTotals], float]


@dataclass(frozen=True, slots=True)
class Metric:
    """One counter: the tool's name, ours, what it says, and how it is read off a profile."""

    name: str
    plain: str
    sentence: str
    value: Value
    basic: bool = False  # always shown


def total(what: str, spaces: str, kinds: str = "ld st red atom") -> Value:
    """The sum of one number of the accesses to some spaces."""
    return lambda p: p.total(what, spaces, kinds)


def limit(resource: Resource) -> Value:
    """Blocks of a multiprocessor that a resource allows."""
    return lambda p: p.occupancy.limits.get(resource, 0)


def flops(*types: str) -> Value:
    """Floating-point operations of some types."""
    return lambda p: sum(p.flops.get(t, 0) for t in types)


def percent(part: Value, whole: Value) -> Value:
    """One number as percents of another one."""
    return lambda p: 100 * part(p) / whole(p) if whole(p) else 0.0


def _branches(p: LaunchTotals) -> float:
    return sum(s.branch.executed for s in p.sites if s.branch)


def _divergent(p: LaunchTotals) -> float:
    return sum(s.branch.divergent for s in p.sites if s.branch)


def _event(number: int) -> Value:
    return lambda p: sum(s.events.get(number, 0) for s in p.sites)


def _waits(p: LaunchTotals) -> float:
    return sum(s.waits.get("barrier", 0) for s in p.sites)


def _l2_written(p: LaunchTotals) -> float:
    return p.total("l2_sectors", "global bulk surface", "st") + (
        p.total("units", "local", "st") if p.device.global_rule == "sectors" else 0
    )


def _resident(p: LaunchTotals) -> float:
    """Warps on a multiprocessor that has work, of those it holds, averaged over whole and partial waves."""
    busy = min(p.blocks, p.device.multiprocessors)
    rounds = max(1, -(-p.blocks // max(1, p.device.multiprocessors * p.occupancy.blocks)))
    return p.blocks / busy / rounds * (p.warps_launched / p.blocks) / p.device.max_warps


L1_HITS, L1_SECTORS = total("hits", "global", "ld"), total("units", "global", "ld")
IN_L2 = "global bulk texture surface"
L2_HITS, L2_SECTORS = total("l2_hits", IN_L2, "ld red atom"), total("l2_sectors", IN_L2, "ld red atom")
TEX_HITS, TEX_SECTORS = total("hits", "texture"), total("units", "texture")
OPS = {"ld": "loads", "st": "stores", "red": "reductions", "atom": "atomics that return"}
LSU = {"global": "ld st red atom", "local": "ld st"}
LSU_UNITS = (
    ("requests", "requests", "Requests that warps' {} made."),
    ("sectors", "units", "32-byte sectors that {} touched, request by request."),
)
SHARED = {"ld": "ld", "st": "st", "atom": "atom red"}
SHARED_UNITS = (
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum", "passes", "units", "Passes over the 32 banks of shared memory."),
    (
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum",
        "conflicts",
        "conflicts",
        "Passes beyond those that the width of the accesses needs.",
    ),
    ("smsp__inst_executed_op_shared_{op}.sum", "instructions", "requests", "Warp instructions that reach shared memory."),
)

METRICS: tuple[Metric, ...] = (
    Metric(
        "smsp__inst_executed.sum",
        "warp instructions",
        "Instructions of PTX executed, counted once per warp.",
        lambda p: p.instructions,
        True,
    ),
    Metric(
        "sm__inst_executed.sum",
        "machine instructions",
        "Warp instructions of the machine code that ptxas makes of them, predicted.",
        lambda p: p.machine_instructions,
        True,
    ),
    Metric(
        "smsp__thread_inst_executed.sum",
        "thread instructions",
        "Instructions executed, counted once per active thread.",
        lambda p: p.thread_instructions,
        True,
    ),
    Metric(
        "smsp__thread_inst_executed_pred_on.sum",
        "thread instructions with effect",
        "Of those, the ones whose guard was true.",
        lambda p: sum(s.active for s in p.sites),
    ),
    Metric(
        "smsp__thread_inst_executed_per_inst_executed.ratio",
        "threads per warp instruction",
        "Mean number of active threads per warp instruction, of 32.",
        lambda p: 32 * p.simt_efficiency,
        True,
    ),
    Metric("smsp__sass_branch_targets.sum", "branches", "Conditional branches that warps executed.", _branches, True),
    Metric(
        "smsp__sass_branch_targets_threads_divergent.sum",
        "divergent branches",
        "Of those, the ones on which the lanes of a warp diverged.",
        _divergent,
        True,
    ),
    Metric(
        "smsp__sass_branch_targets_threads_uniform.pct",
        "uniform branches %",
        "Branches on which all lanes of the warp agreed.",
        lambda p: 100 - percent(_divergent, _branches)(p),
    ),
    Metric("warplab__barrier_waits.sum", "barrier waits", "How often part of a block waited at a barrier for the rest.", _waits),
    *(
        Metric(
            f"l1tex__t_{units}_pipe_lsu_mem_{space}_op_{op}.sum",
            f"{space} {op} {units}",
            sentence.format(f"{space} {OPS[op]}"),
            total(what, space, op),
            space == "global",
        )
        for space, ops in LSU.items()
        for op in ops.split()
        for units, what, sentence in LSU_UNITS
    ),
    Metric(
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
        "global ld sectors found in L1",
        "Sectors of loads that hit L1.",
        L1_HITS,
        True,
    ),
    Metric(
        "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct",
        "L1 hit rate %",
        "Sectors of global loads that hit L1.",
        percent(L1_HITS, L1_SECTORS),
        True,
    ),
    *(
        Metric(
            f"warplab__bulk_copy_bytes_mem_global_op_{op}.sum",
            f"bulk copy {op} bytes",
            f"Bytes of global memory that bulk and tensor copies {what}.",
            total("bytes", "bulk", op),
            True,
        )
        for op, what in (("ld", "read"), ("st", "wrote"), ("red", "changed"))
    ),
    Metric(
        "l1tex__t_requests_pipe_tex_mem_texture.sum",
        "texture requests",
        "Fetches of warps.",
        total("requests", "texture"),
        True,
    ),
    Metric(
        "l1tex__t_sectors_pipe_tex_mem_texture.sum",
        "texture sectors",
        "32-byte sectors that texels of fetches lie in, request by request.",
        TEX_SECTORS,
        True,
    ),
    Metric(
        "l1tex__t_sectors_pipe_tex_mem_texture_lookup_hit.sum",
        "texture sectors found",
        "Of those, the ones that hit L1, or the texture cache of early devices.",
        TEX_HITS,
    ),
    Metric(
        "l1tex__t_sector_pipe_tex_mem_texture_op_tex_hit_rate.pct",
        "texture hit rate %",
        "Sectors of texels that hit.",
        percent(TEX_HITS, TEX_SECTORS),
        True,
    ),
    *(
        Metric(
            f"l1tex__t_{units}_pipe_tex_mem_surface_op_{op}.sum",
            f"surface {op} {units}",
            sentence.format(f"surface {OPS[op]}"),
            total(what, "surface", op),
            True,
        )
        for op in ("ld", "st", "red")
        for units, what, sentence in LSU_UNITS
    ),
    Metric("lts__t_sectors_op_read.sum", "L2 sectors read", "Sectors that were requested from L2.", L2_SECTORS),
    Metric("lts__t_sectors_op_read_lookup_hit.sum", "L2 sectors found", "Of those, the ones that hit L2.", L2_HITS),
    Metric(
        "lts__t_sectors_op_write.sum",
        "L2 sectors written",
        "Sectors that stores sent to L2, including stores to local memory.",
        _l2_written,
    ),
    Metric("lts__t_sector_op_read_hit_rate.pct", "L2 hit rate %", "Sectors read that hit L2.", percent(L2_HITS, L2_SECTORS), True),
    Metric(
        "dram__bytes.sum",
        "device memory bytes",
        "Bytes between device memory and the chip, with cold caches at the start and all lines written back at the end.",
        lambda p: p.dram_bytes,
        True,
    ),
    *(
        Metric(name.format(op=op), f"shared {op} {units}", sentence, total(what, "shared", kinds), op != "atom" and what != "requests")
        for op, kinds in SHARED.items()
        for name, units, what, sentence in SHARED_UNITS
    ),
    Metric(
        "warplab__constant_passes.sum", "constant passes", "Passes of constant loads: one per different address.", total("units", "const")
    ),
    Metric(
        "smsp__sass_thread_inst_executed_op_fp32_flop.sum", "f32 FLOP", "f32 operations; a multiply-add counts two.", flops("f32"), True
    ),
    Metric("smsp__sass_thread_inst_executed_op_fp64_flop.sum", "f64 FLOP", "f64 operations.", flops("f64")),
    Metric("smsp__sass_thread_inst_executed_op_fp16_flop.sum", "f16 FLOP", "f16 and bf16 operations.", flops("f16", "bf16")),
    Metric("sm__ops_path_tensor.sum", "tensor operations", "Operations of matrix instructions.", flops("tensor")),
    Metric(
        "warplab__arithmetic_intensity.ratio",
        "FLOP per byte loaded",
        "FLOP per byte that threads load from global memory (CGMA).",
        lambda p: p.intensity,
        True,
    ),
    Metric(
        "warplab__dram_intensity.ratio",
        "FLOP per byte of device memory",
        "FLOP per byte of device memory traffic: the axis of the roofline.",
        lambda p: p.dram_intensity,
        True,
    ),
    Metric("launch__registers_per_thread", "registers per thread", "Estimated from live ranges.", lambda p: p.registers, True),
    Metric("launch__shared_mem_per_block_static", "static shared bytes", "Declared by the kernel.", lambda p: p.static_shared),
    Metric("launch__shared_mem_per_block_dynamic", "dynamic shared bytes", "Set by the launch.", lambda p: p.dynamic_shared),
    Metric("launch__occupancy_limit_warps", "blocks by warps", "Resident blocks that the number of warps allows.", limit("warps")),
    Metric("launch__occupancy_limit_blocks", "blocks by blocks", "The most resident blocks of a multiprocessor.", limit("blocks")),
    Metric(
        "launch__occupancy_limit_registers", "blocks by registers", "Resident blocks that the register file allows.", limit("registers")
    ),
    Metric(
        "launch__occupancy_limit_shared_mem",
        "blocks by shared memory",
        "Resident blocks that shared memory allows.",
        limit("shared memory"),
    ),
    Metric(
        "sm__maximum_warps_per_active_cycle_pct",
        "theoretical occupancy %",
        "Resident warps, of the most that a multiprocessor holds.",
        lambda p: 100 * p.occupancy.fraction,
        True,
    ),
    Metric(
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "achieved occupancy %",
        "Resident warps on a busy multiprocessor, averaged over the waves of blocks.",
        lambda p: 100 * min(p.occupancy.fraction, _resident(p)),
        True,
    ),
    Metric("launch__waves_per_multiprocessor", "waves", "How often the grid fills the device.", lambda p: p.waves, True),
    Metric("launch__thread_count", "threads", "Threads of the launch.", lambda p: p.threads),
    *(
        Metric(
            f"smsp__pmevent_{n:02}.sum",
            f"event {n}",
            f"Warps that triggered event {n} (`pmevent {n}`, `__prof_trigger({n})`).",
            _event(n),
            True,
        )
        for n in range(EVENTS)
    ),
    Metric("warplab__idle_threads.sum", "idle threads", "Threads that wrote nothing: they compute padding.", lambda p: p.idle_threads),
)


# What nvprof calls them on devices from before Nsight Compute.
_EARLY = {
    "inst_executed": "smsp__inst_executed.sum",
    "thread_inst_executed": "smsp__thread_inst_executed.sum",
    "branch": "smsp__sass_branch_targets.sum",
    "divergent_branch": "smsp__sass_branch_targets_threads_divergent.sum",
    "gld_request": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "gst_request": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "gld_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "gst_transactions": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1_global_load_hit": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1_shared_bank_conflict": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_load": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store": "smsp__inst_executed_op_shared_st.sum",
    **{f"prof_trigger_{n:02}": f"smsp__pmevent_{n:02}.sum" for n in range(8)},
}


def _timed(value: Callable[[LaunchTime], float]) -> Value:
    """A number of a prediction."""
    return lambda p: value(p.time) if p.time is not None else 0.0


def _stalled(reason: str) -> Value:
    return _timed(lambda t: t.stalls.get(reason, 0.0))


CYCLES = "sm__cycles_elapsed.max"

# Predicted, where a profile has a prediction.
TIME_METRICS: tuple[Metric, ...] = (
    Metric(CYCLES, "cycles", "Cycles of the launch, predicted.", _timed(lambda t: t.cycles), True),
    Metric("gpu__time_duration.sum", "nanoseconds", "Time of the launch, predicted.", _timed(lambda t: 1e9 * t.seconds), True),
    Metric(
        "smsp__issue_active.avg.pct_of_peak_sustained_active",
        "issue slots %",
        "Issue slots of active cycles that are used, predicted.",
        _timed(lambda t: 100 * t.issue_slots),
        True,
    ),
    *(
        Metric(
            f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",
            f"stalled {reason}",
            f"Cycles that warps wait for each instruction issued, reason {reason}, predicted.",
            _stalled(reason),
        )
        for reason in REASONS
    ),
)


BY_NAME = {m.name: m for m in METRICS + TIME_METRICS}


def metrics_of(p: LaunchTotals) -> dict[str, float]:
    """Every counter of a profile by name."""
    out = {m.name: m.value(p) for m in METRICS}
    if p.time is not None:
        out |= {m.name: m.value(p) for m in TIME_METRICS}
    if p.device.capability < (7, 0):
        out |= {early: out[name] for early, name in _EARLY.items()}
    return out
