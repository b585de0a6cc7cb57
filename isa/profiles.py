"""What one multiprocessor of each compute capability holds, and one device that had it.

A row a capability, from 1.0 to 9.0, in `PROFILES`; `profile("sm_90a")` finds the row for any spelling of a target, and
`profile_note` says when a target is not in the table and the nearest row stands for it.  A new capability is a new row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

KIB = 1024
MIB = 1024 * 1024

GlobalRule = Literal["half-warp-words", "half-warp-segments", "lines", "sectors"]
SharedRule = Literal["16-banks", "32-banks", "64-bit-banks", "modern"]


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """Limits and rates of one compute capability; sizes in bytes, throughputs per multiprocessor and clock."""

    capability: tuple[int, int]
    architecture: str
    # One device of this capability, for rooflines and for spreading blocks over multiprocessors.
    device: str
    multiprocessors: int
    clock_mhz: int
    memory_bandwidth: int
    # Launch limits.
    max_grid: tuple[int, int, int]
    max_block: tuple[int, int, int]
    max_threads_per_block: int
    # What is resident on one multiprocessor.
    max_blocks: int
    max_warps: int
    registers: int
    registers_per_block: int
    max_registers_per_thread: int
    shared: int
    shared_per_block: int
    shared_per_block_optin: int
    shared_reserved_per_block: int
    # How residency is rounded.
    register_allocation: Literal["block", "warp"]
    register_unit: int
    warp_granularity: int
    shared_unit: int
    # Memory hierarchy.
    shared_banks: int
    shared_bank_bytes: int
    shared_configs: tuple[int, ...]
    l1_and_shared: int
    l1_size: int
    l1_line: int
    l1_sector: int
    l1_caches_global: bool
    texture_cache: int
    constant_cache: int
    l2_cache: int
    local_per_thread: int
    max_instructions: int
    global_rule: GlobalRule
    shared_rule: SharedRule
    # Issue and execution.
    warp_schedulers: int
    arithmetic_latency: int
    warps_per_latency_clock: float
    fp32_throughput: int
    fp64_throughput: int
    special_throughput: int
    barrier_throughput: int
    barriers: int | None = None  # hardware barriers that resident blocks share; None: not known
    constant_memory: int = 64 * KIB  # every capability, table F-2
    warp_size: int = 32
    memory_latency: tuple[int, int] = (400, 800)  # guide 5.2.3

    @property
    def name(self) -> str:
        """The target's name, as sm_35."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    @property
    def max_threads(self) -> int:
        """Threads resident on one multiprocessor."""
        return self.max_warps * self.warp_size

    @property
    def peak_fp32(self) -> float:
        """FLOP/s of the device: a multiply-add each clock on each lane counts two."""
        return 2.0 * self.fp32_throughput * self.multiprocessors * self.clock_mhz * 1e6

    @property
    def ridge(self) -> float:
        """FLOP per byte from which the device is bound by arithmetic rather than memory."""
        return self.peak_fp32 / self.memory_bandwidth

    @property
    def features(self) -> frozenset[str]:
        """Names of `FEATURES` that this capability has."""
        return frozenset(name for name, since in FEATURES.items() if self.capability >= since)

    def has(self, feature: str) -> bool:
        """Whether this capability has a feature named in `FEATURES`."""
        return self.capability >= FEATURES[feature]


# Feature -> first capability (guide 4.2 table F-1; from 3.2 on the same table of later guides and the PTX manual's "Target
# ISA Notes").
FEATURES: dict[str, tuple[int, int]] = {
    "atomics_global": (1, 1),  # 32-bit integer, and exch.f32
    "atomics_shared": (1, 2),
    "atomics_global_64": (1, 2),
    "vote": (1, 2),  # __all, __any
    "f64": (1, 3),
    "atomics_shared_64": (2, 0),
    "atomic_add_f32": (2, 0),
    "ballot": (2, 0),
    "fence_system": (2, 0),
    "barrier_reduction": (2, 0),  # __syncthreads_count, _and, _or
    "surfaces": (2, 0),
    "grid_3d": (2, 0),
    "generic_addressing": (2, 0),
    "device_functions": (2, 0),  # real calls, recursion, function pointers
    "shuffle": (3, 0),
    "read_only_loads": (3, 2),  # ld.global.nc
    "funnel_shift": (3, 2),
    "dynamic_parallelism": (3, 5),
    "half": (5, 3),
    "atomic_add_f64": (6, 0),
    "scoped_atomics": (6, 0),
    "dp4a": (6, 1),
    "independent_thread_scheduling": (7, 0),
    "tensor_cores": (7, 0),
    "ldmatrix": (7, 5),
    "async_copy": (8, 0),
    "warp_reduction": (8, 0),  # redux.sync
    "bf16": (8, 0),
    "mbarrier": (8, 0),
    "fp8": (8, 9),
    "clusters": (9, 0),
    "tensor_memory_access": (9, 0),
    "warpgroup_mma": (9, 0),
}

# The values that neighbours share.  Guide 4.2 table F-2 up to 3.0; the same table of guide 8 (3.2 to 6.2), 11 and 12 for the
# rest; allocation units from the occupancy calculator that comes with the toolkit and from F-2's text in chapter 4.2.
_GRID_2D = (65535, 65535, 1)
_GRID_3D = (65535, 65535, 65535)
_GRID_31 = (2**31 - 1, 65535, 65535)
_BLOCK_512 = (512, 512, 64)
_BLOCK_1024 = (1024, 1024, 64)


def _tesla(
    capability: tuple[int, int],
    *,
    device: str,
    multiprocessors: int,
    clock_mhz: int,
    bandwidth: float,
    warps: int,
    registers: int,
    register_unit: int,
    rule: GlobalRule,
    texture: int,
    fp64: int = 0,
) -> DeviceProfile:
    """A row of capability 1.x: 8 lanes, no L1 or L2 for data, registers given out by the block."""
    return DeviceProfile(
        capability=capability,
        architecture="Tesla",
        device=device,
        multiprocessors=multiprocessors,
        clock_mhz=clock_mhz,
        memory_bandwidth=round(bandwidth * 1e9),
        max_grid=_GRID_2D,
        max_block=_BLOCK_512,
        max_threads_per_block=512,
        max_blocks=8,
        max_warps=warps,
        registers=registers,
        registers_per_block=registers,
        max_registers_per_thread=128,  # F-2
        shared=16 * KIB,
        shared_per_block=16 * KIB,
        shared_per_block_optin=16 * KIB,
        shared_reserved_per_block=0,
        register_allocation="block",
        register_unit=register_unit,
        warp_granularity=2,
        shared_unit=512,
        shared_banks=16,
        shared_bank_bytes=4,
        shared_configs=(16 * KIB,),
        l1_and_shared=16 * KIB,
        l1_size=0,
        l1_line=0,
        l1_sector=0,
        l1_caches_global=False,
        texture_cache=texture,
        constant_cache=8 * KIB,
        l2_cache=0,
        local_per_thread=16 * KIB,
        max_instructions=2_000_000,
        global_rule=rule,
        shared_rule="16-banks",
        warp_schedulers=1,
        arithmetic_latency=22,  # guide 5.2.3
        warps_per_latency_clock=0.25,  # one instruction a warp takes 4 clocks to issue
        fp32_throughput=8,  # guide table 5-1, as all throughputs here
        fp64_throughput=fp64,
        special_throughput=2,
        barrier_throughput=8,  # guide 5.4.3
    )


def _cached(
    capability: tuple[int, int],
    architecture: str,
    *,
    device: str,
    multiprocessors: int,
    clock_mhz: int,
    bandwidth: float,
    blocks: int,
    warps: int,
    shared: int,
    l2: int,
    fp32: int,
    fp64: int,
    special: int,
    barrier: int,
    latency: int,
    hide: float,
    schedulers: int = 4,
    registers: int = 64 * KIB,
    registers_per_block: int = 64 * KIB,
    max_registers: int = 255,
    optin: int = 48 * KIB,
    reserved: int = 0,
    register_unit: int = 256,
    warp_granularity: int = 4,
    shared_unit: int = 256,
    bank_bytes: int = 4,
    configs: tuple[int, ...] = (),
    l1_and_shared: int = 0,
    l1: int = 0,
    caches_global: bool = True,
    texture: int = 48 * KIB,
    constant_cache: int = 8 * KIB,
    rule: GlobalRule = "sectors",
    shared_rule: SharedRule = "modern",
    barriers: int | None = None,
    grid: tuple[int, int, int] = _GRID_31,
) -> DeviceProfile:
    """A row of capability 2.0 and later: L1 and L2, registers given out by the warp."""
    return DeviceProfile(
        capability=capability,
        architecture=architecture,
        device=device,
        multiprocessors=multiprocessors,
        clock_mhz=clock_mhz,
        memory_bandwidth=round(bandwidth * 1e9),
        max_grid=grid,
        max_block=_BLOCK_1024,
        max_threads_per_block=1024,
        max_blocks=blocks,
        max_warps=warps,
        registers=registers,
        registers_per_block=registers_per_block,
        max_registers_per_thread=max_registers,
        shared=shared,
        shared_per_block=48 * KIB,
        shared_per_block_optin=optin,
        shared_reserved_per_block=reserved,
        register_allocation="warp",
        register_unit=register_unit,
        warp_granularity=warp_granularity,
        shared_unit=shared_unit,
        shared_banks=32,
        shared_bank_bytes=bank_bytes,
        shared_configs=configs or (shared,),
        l1_and_shared=l1_and_shared or shared + l1,
        l1_size=l1 or l1_and_shared - min(configs or (0,)),
        l1_line=128,
        l1_sector=128 if rule == "lines" else 32,
        l1_caches_global=caches_global,
        texture_cache=texture,
        constant_cache=constant_cache,
        l2_cache=l2,
        local_per_thread=512 * KIB,
        max_instructions=512_000_000,
        global_rule=rule,
        shared_rule=shared_rule,
        warp_schedulers=schedulers,
        arithmetic_latency=latency,
        warps_per_latency_clock=hide,
        fp32_throughput=fp32,
        fp64_throughput=fp64,
        special_throughput=special,
        barrier_throughput=barrier,
        barriers=barriers,
    )


def _kib(*sizes: int) -> tuple[int, ...]:
    return tuple(size * KIB for size in sizes)


# Shared memory that the driver may set aside (guide: "Shared Memory" of each capability's section).
_CARVE_8X = _kib(0, 8, 16, 32, 64, 100)
_CARVE_80 = _kib(0, 8, 16, 32, 64, 100, 132, 164)
_CARVE_90 = _kib(0, 8, 16, 32, 64, 100, 132, 164, 196, 228)

# Clock, bandwidth and multiprocessors are the vendor's published figures of the named board.
_ROWS: tuple[DeviceProfile, ...] = (
    _tesla(
        (1, 0),
        device="GeForce 8800 GTX",
        multiprocessors=16,
        clock_mhz=1350,
        bandwidth=86.4,
        warps=24,
        registers=8 * KIB,
        register_unit=256,
        rule="half-warp-words",
        texture=8 * KIB,  # F-2 gives 6 to 8 KB
    ),
    _tesla(
        (1, 1),
        device="GeForce 9800 GTX",
        multiprocessors=16,
        clock_mhz=1688,
        bandwidth=70.4,
        warps=24,
        registers=8 * KIB,
        register_unit=256,
        rule="half-warp-words",
        texture=8 * KIB,
    ),
    _tesla(
        (1, 2),
        device="GeForce GT 240",
        multiprocessors=12,
        clock_mhz=1340,
        bandwidth=54.4,
        warps=32,
        registers=16 * KIB,
        register_unit=512,
        rule="half-warp-segments",
        texture=8 * KIB,
    ),
    _tesla(
        (1, 3),
        device="Tesla C1060",
        multiprocessors=30,
        clock_mhz=1296,
        bandwidth=102.4,
        warps=32,
        registers=16 * KIB,
        register_unit=512,
        rule="half-warp-segments",
        texture=8 * KIB,
        fp64=1,
    ),
    _cached(
        (2, 0),
        "Fermi",
        device="Tesla C2050",
        multiprocessors=14,
        clock_mhz=1150,
        bandwidth=144,
        blocks=8,
        warps=48,
        registers=32 * KIB,
        registers_per_block=32 * KIB,
        max_registers=63,
        shared=48 * KIB,
        register_unit=64,
        warp_granularity=2,
        shared_unit=128,
        configs=_kib(16, 48),
        l1_and_shared=64 * KIB,
        texture=12 * KIB,
        l2=768 * KIB,
        rule="lines",
        shared_rule="32-banks",
        grid=_GRID_3D,
        schedulers=2,
        latency=22,
        hide=1,
        fp32=32,
        fp64=16,
        special=4,
        barrier=16,
    ),
    _cached(
        (2, 1),
        "Fermi",
        device="GeForce GTX 460",
        multiprocessors=7,
        clock_mhz=1350,
        bandwidth=115.2,
        blocks=8,
        warps=48,
        registers=32 * KIB,
        registers_per_block=32 * KIB,
        max_registers=63,
        shared=48 * KIB,
        register_unit=64,
        warp_granularity=2,
        shared_unit=128,
        configs=_kib(16, 48),
        l1_and_shared=64 * KIB,
        texture=12 * KIB,
        l2=512 * KIB,
        rule="lines",
        shared_rule="32-banks",
        grid=_GRID_3D,
        schedulers=2,
        latency=22,
        hide=2,
        fp32=48,
        fp64=4,
        special=8,
        barrier=16,
    ),
    _cached(
        (3, 0),
        "Kepler",
        device="GeForce GTX 680",
        multiprocessors=8,
        clock_mhz=1006,
        bandwidth=192.256,
        blocks=16,
        warps=64,
        max_registers=63,
        shared=48 * KIB,
        bank_bytes=8,
        configs=_kib(16, 32, 48),
        l1_and_shared=64 * KIB,
        caches_global=False,  # guide F.5.2: L1 serves local memory only
        texture=12 * KIB,
        l2=512 * KIB,
        rule="lines",
        shared_rule="64-bit-banks",
        latency=11,
        hide=8,
        fp32=192,
        fp64=8,
        special=32,
        barrier=128,
    ),
    _cached(
        (3, 2),
        "Kepler",
        device="Tegra K1",
        multiprocessors=1,
        clock_mhz=852,
        bandwidth=14.9,
        blocks=16,
        warps=64,
        registers_per_block=32 * KIB,
        shared=48 * KIB,
        bank_bytes=8,
        configs=_kib(16, 32, 48),
        l1_and_shared=64 * KIB,
        caches_global=False,
        l2=128 * KIB,
        rule="lines",
        shared_rule="64-bit-banks",
        latency=11,
        hide=8,
        fp32=192,
        fp64=8,
        special=32,
        barrier=128,
    ),
    _cached(
        (3, 5),
        "Kepler",
        device="Tesla K20",
        multiprocessors=13,
        clock_mhz=706,
        bandwidth=208,
        blocks=16,
        warps=64,
        shared=48 * KIB,
        bank_bytes=8,
        configs=_kib(16, 32, 48),
        l1_and_shared=64 * KIB,
        caches_global=False,
        l2=1280 * KIB,
        rule="lines",
        shared_rule="64-bit-banks",
        latency=11,
        hide=8,
        fp32=192,
        fp64=64,
        special=32,
        barrier=128,
    ),
    _cached(
        (3, 7),
        "Kepler",
        device="Tesla K80 (one of its two GPUs)",
        multiprocessors=13,
        clock_mhz=875,
        bandwidth=240,
        blocks=16,
        warps=64,
        registers=128 * KIB,
        shared=112 * KIB,
        bank_bytes=8,
        configs=_kib(80, 96, 112),
        l1_and_shared=128 * KIB,
        l2=1536 * KIB,
        rule="lines",
        shared_rule="64-bit-banks",
        latency=11,
        hide=8,
        fp32=192,
        fp64=64,
        special=32,
        barrier=128,
    ),
    _cached(
        (5, 0),
        "Maxwell",
        device="GeForce GTX 750 Ti",
        multiprocessors=5,
        clock_mhz=1020,
        bandwidth=86.4,
        blocks=32,
        warps=64,
        shared=64 * KIB,
        l1=24 * KIB,
        texture=24 * KIB,
        l2=2 * MIB,
        latency=6,
        hide=4,
        fp32=128,
        fp64=4,
        special=32,
        barrier=64,
    ),
    _cached(
        (5, 2),
        "Maxwell",
        device="GeForce GTX 980",
        multiprocessors=16,
        clock_mhz=1126,
        bandwidth=224,
        blocks=32,
        warps=64,
        shared=96 * KIB,
        l1=48 * KIB,
        l2=2 * MIB,
        latency=6,
        hide=4,
        fp32=128,
        fp64=4,
        special=32,
        barrier=64,
    ),
    _cached(
        (5, 3),
        "Maxwell",
        device="Tegra X1",
        multiprocessors=2,
        clock_mhz=998,
        bandwidth=25.6,
        blocks=32,
        warps=64,
        registers_per_block=32 * KIB,
        shared=64 * KIB,
        l1=24 * KIB,
        texture=24 * KIB,
        l2=256 * KIB,
        latency=6,
        hide=4,
        fp32=128,
        fp64=4,
        special=32,
        barrier=64,
    ),
    _cached(
        (6, 0),
        "Pascal",
        device="Tesla P100",
        multiprocessors=56,
        clock_mhz=1480,
        bandwidth=732,
        blocks=32,
        warps=64,
        warp_granularity=2,  # two register files of 32768, not four
        shared=64 * KIB,
        l1=24 * KIB,
        texture=24 * KIB,
        constant_cache=4 * KIB,
        l2=4 * MIB,
        schedulers=2,
        latency=6,
        hide=2,
        fp32=64,
        fp64=32,
        special=16,
        barrier=32,
    ),
    _cached(
        (6, 1),
        "Pascal",
        device="GeForce GTX 1080",
        multiprocessors=20,
        clock_mhz=1733,
        bandwidth=320,
        blocks=32,
        warps=64,
        shared=96 * KIB,
        l1=48 * KIB,
        l2=2 * MIB,
        latency=6,
        hide=4,
        fp32=128,
        fp64=4,
        special=32,
        barrier=64,
    ),
    _cached(
        (6, 2),
        "Pascal",
        device="Tegra X2",
        multiprocessors=2,
        clock_mhz=1300,
        bandwidth=58.3,
        blocks=32,
        warps=64,
        registers_per_block=32 * KIB,
        shared=64 * KIB,
        l1=24 * KIB,
        texture=24 * KIB,
        l2=512 * KIB,
        latency=6,
        hide=4,
        fp32=128,
        fp64=4,
        special=32,
        barrier=64,
    ),
    _cached(
        (7, 0),
        "Volta",
        device="Tesla V100",
        multiprocessors=80,
        clock_mhz=1530,
        bandwidth=900,
        blocks=32,
        warps=64,
        shared=96 * KIB,
        optin=96 * KIB,
        configs=_kib(0, 8, 16, 32, 64, 96),
        l1_and_shared=128 * KIB,
        texture=128 * KIB,
        l2=6 * MIB,
        latency=4,
        hide=4,
        fp32=64,
        fp64=32,
        special=16,
        barrier=16,
    ),
    _cached(
        (7, 2),
        "Volta",
        device="Jetson AGX Xavier",
        multiprocessors=8,
        clock_mhz=1377,
        bandwidth=136.5,
        blocks=32,
        warps=64,
        shared=96 * KIB,
        optin=96 * KIB,
        configs=_kib(0, 8, 16, 32, 64, 96),
        l1_and_shared=128 * KIB,
        texture=128 * KIB,
        l2=512 * KIB,
        latency=4,
        hide=4,
        fp32=64,
        fp64=32,
        special=16,
        barrier=16,
    ),
    _cached(
        (7, 5),
        "Turing",
        device="T4",
        multiprocessors=40,
        clock_mhz=1590,
        bandwidth=320,
        blocks=16,
        warps=32,
        shared=64 * KIB,
        optin=64 * KIB,
        configs=_kib(32, 64),
        l1_and_shared=96 * KIB,
        texture=64 * KIB,
        l2=4 * MIB,
        latency=4,
        hide=4,
        fp32=64,
        fp64=2,
        special=16,
        barrier=16,
    ),
    _cached(
        (8, 0),
        "Ampere",
        device="A100 (40 GB)",
        multiprocessors=108,
        clock_mhz=1410,
        bandwidth=1555,
        blocks=32,
        warps=64,
        shared=164 * KIB,
        optin=163 * KIB,
        reserved=1 * KIB,
        shared_unit=128,
        configs=_CARVE_80,
        l1_and_shared=192 * KIB,
        texture=192 * KIB,
        l2=40 * MIB,
        latency=4,
        hide=4,
        fp32=64,
        fp64=32,
        special=16,
        barrier=16,
    ),
    _cached(
        (8, 6),
        "Ampere",
        device="GeForce RTX 3090",
        multiprocessors=82,
        clock_mhz=1695,
        bandwidth=936.2,
        blocks=16,
        warps=48,
        shared=100 * KIB,
        optin=99 * KIB,
        reserved=1 * KIB,
        shared_unit=128,
        configs=_CARVE_8X,
        l1_and_shared=128 * KIB,
        texture=128 * KIB,
        l2=6 * MIB,
        latency=4,
        hide=4,
        fp32=128,
        fp64=2,
        special=16,
        barrier=16,
    ),
    _cached(
        (8, 7),
        "Ampere",
        device="Jetson AGX Orin",
        multiprocessors=16,
        clock_mhz=1300,
        bandwidth=204.8,
        blocks=16,
        warps=48,
        shared=164 * KIB,
        optin=163 * KIB,
        reserved=1 * KIB,
        shared_unit=128,
        configs=_CARVE_80,
        l1_and_shared=192 * KIB,
        texture=192 * KIB,
        l2=4 * MIB,
        latency=4,
        hide=4,
        fp32=128,
        fp64=2,
        special=16,
        barrier=16,
    ),
    _cached(
        (8, 9),
        "Ada",
        device="L4",
        multiprocessors=58,
        clock_mhz=2040,
        bandwidth=300,
        blocks=24,
        warps=48,
        shared=100 * KIB,
        optin=99 * KIB,
        reserved=1 * KIB,
        shared_unit=128,
        configs=_CARVE_8X,
        l1_and_shared=128 * KIB,
        texture=128 * KIB,
        l2=48 * MIB,
        latency=4,
        hide=4,
        fp32=128,
        fp64=2,
        special=16,
        barrier=16,
    ),
    _cached(
        (9, 0),
        "Hopper",
        device="H200",
        # Recorded from the driver's device attributes: multiprocessors, clock, blocks, threads, registers, shared memory
        # (per multiprocessor, per block, opt-in, reserved) and L2.  Bandwidth: 3201 MHz, two transfers a clock, 6016 bits.
        multiprocessors=132,
        clock_mhz=1980,
        bandwidth=2 * 3.201 * 6016 / 8,
        blocks=32,
        warps=64,
        shared=233472,
        optin=232448,
        reserved=1024,
        shared_unit=128,
        configs=_CARVE_90,
        l1_and_shared=256 * KIB,
        texture=256 * KIB,
        l2=62914560,
        latency=4,
        hide=4,
        fp32=128,
        fp64=64,
        special=16,
        barrier=16,
        barriers=64,  # recorded: a kernel that claims all 16 holds 4 blocks
    ),
)

PROFILES: dict[str, DeviceProfile] = {row.name: row for row in _ROWS}
NEWEST: DeviceProfile = _ROWS[-1]

_SPELLING = re.compile(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)")


def target_capability(name: str) -> tuple[int, int]:
    """(9, 0) of "sm_90", "sm_90a", "compute_90" or "9.0"; ValueError for anything else.

    >>> target_capability("sm_103f")
    (10, 3)
    """
    match = _SPELLING.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} names no target; write it as sm_90 or 9.0")
    return int(match[1]), int(match[2])


def profile(name: str) -> DeviceProfile:
    """The row of a target, or of the newest capability in the table that is not newer than it.

    >>> profile("sm_90a").device, profile("3.5").name, profile("sm_120").name
    ('H200', 'sm_35', 'sm_90')
    """
    wanted = target_capability(name)
    older = [row for row in _ROWS if row.capability <= wanted]
    if not older:
        raise ValueError(f"{name!r} is older than compute capability 1.0")
    return older[-1]


def profile_note(name: str) -> str | None:
    """A sentence when a target has no row of its own, else None.

    >>> profile_note("sm_100")
    'no profile of compute capability 10.0; sm_90 stands for it'
    """
    wanted = target_capability(name)
    row = profile(name)
    if row.capability == wanted:
        return None
    return f"no profile of compute capability {wanted[0]}.{wanted[1]}; {row.name} stands for it"
