"""What one multiprocessor of each compute capability holds, and one device that had it.

The table has a base per generation and a row per capability, 1.0 to 9.0, with what differs.  `profile("sm_90a")` finds the row of any
spelling of a target in `PROFILES`; `profile_note` says when a target has no row and the nearest one stands for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from .throughput import Rate, rates

PUBLISHED_LATENCY = (400, 800)  # clocks, guide 5.2.3
KIB = 1024
MIB = 1024 * 1024

GlobalRule = Literal["half-warp-words", "half-warp-segments", "lines", "sectors"]
SharedRule = Literal["16-banks", "32-banks", "64-bit-banks", "modern"]


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """Limits and rates of one compute capability; sizes in bytes."""

    capability: tuple[int, int]
    architecture: str
    # One device of this capability, for rooflines and for spreading blocks over multiprocessors.
    device: str
    multiprocessors: int
    clock_mhz: float
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
    max_parameters: int
    max_textures: int  # bound to one kernel by name, as .texref and .surfref variables are
    max_surfaces: int
    global_rule: GlobalRule
    shared_rule: SharedRule
    # Issue and execution.
    warp_schedulers: int
    arithmetic_latency: int
    warps_per_latency_clock: float
    barrier_throughput: int
    barriers: int | None = None  # hardware barriers that resident blocks share; None: not known
    constant_memory: int = 64 * KIB  # every capability, table F-2
    warp_size: int = 32
    shared_bank_mode: int = 4  # bytes of a bank's word, 4 or 8 as the host chooses, where the banks of 3.x have 8
    memory_latency: tuple[int, int] = PUBLISHED_LATENCY
    # Of a device that is described in words (own_devices.py): the words, and the rates that they change.
    words: str = ""
    own_rates: tuple[tuple[str, Rate], ...] = ()

    @property
    def name(self) -> str:
        """The target's name, as sm_35."""
        return f"sm_{self.capability[0]}{self.capability[1]}"

    def block_shared(self, shared: int, parameters: int) -> int:
        """Bytes of shared memory that a block takes: on 1.x a kernel's arguments are passed there (guide B.1.4)."""
        return shared + parameters if self.capability < (2, 0) else shared

    @property
    def max_threads(self) -> int:
        """Threads resident on one multiprocessor."""
        return self.max_warps * self.warp_size

    def throughput(self, kind: str) -> int:
        """Operations a clock of one multiprocessor, of a class named in `throughput.CLASSES`; 0 where it has no such instruction."""
        return self.rates[kind].operations

    @property
    def rates(self) -> dict[str, Rate]:
        """Class of instructions -> operations a clock."""
        return rates(self.capability) | dict(self.own_rates)

    @property
    def shared_bandwidth(self) -> float:
        """Bytes that shared memory of one multiprocessor gives in a clock: a word of each bank, before 3.0 in two clocks (guide F.3.3, F.4.3, F.5.3)."""
        return self.shared_banks * self.shared_bank_bytes / (2 if self.capability < (3, 0) else 1)

    @property
    def peak_fp32(self) -> float:
        """FLOP/s of the device: a multiply-add each clock on each lane counts two."""
        return 2.0 * self.throughput("f32") * self.multiprocessors * self.clock_mhz * 1e6

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

# ---------------------------------------------------------------- the table

# Guide 4.2 table F-2 up to 3.0; the same table of guide 8 (3.2 to 6.2), 11 and 12 for the rest;
# allocation units from the occupancy calculator that comes with the toolkit and from F-2's text in chapter 4.2.
Fields = dict[str, Any]  # of DeviceProfile


def _kib(*sizes: int) -> tuple[int, ...]:
    return tuple(size * KIB for size in sizes)


# Shared memory that the driver may set aside (guide: "Shared Memory" of each capability's section).
_CARVE_8X = _kib(0, 8, 16, 32, 64, 100)
_CARVE_80 = _kib(0, 8, 16, 32, 64, 100, 132, 164)
_CARVE_90 = _kib(0, 8, 16, 32, 64, 100, 132, 164, 196, 228)

# 8 lanes, no L1 or L2 for data, registers allocated per block.
_TESLA: Fields = {
    "architecture": "Tesla",
    "max_grid": (65535, 65535, 1), "max_block": (512, 512, 64), "max_threads_per_block": 512,
    "max_blocks": 8, "max_warps": 24, "registers": 8 * KIB, "registers_per_block": 8 * KIB, "max_registers_per_thread": 128,
    "shared": 16 * KIB, "shared_per_block": 16 * KIB, "shared_per_block_optin": 16 * KIB, "shared_reserved_per_block": 0,
    "register_allocation": "block", "register_unit": 256, "warp_granularity": 2, "shared_unit": 512,
    "shared_banks": 16, "shared_bank_bytes": 4, "shared_configs": _kib(16), "l1_and_shared": 16 * KIB,
    "l1_size": 0, "l1_line": 0, "l1_sector": 0, "l1_caches_global": False, "l2_cache": 0,
    "texture_cache": 8 * KIB,  # F-2 gives 6 to 8 KB
    "constant_cache": 8 * KIB, "local_per_thread": 16 * KIB, "max_instructions": 2_000_000,
    "max_parameters": 256, "max_textures": 128, "max_surfaces": 0,
    "global_rule": "half-warp-words", "shared_rule": "16-banks", "warp_schedulers": 1,
    "arithmetic_latency": 22,  # guide 5.2.3
    "warps_per_latency_clock": 0.25,  # one instruction of a warp needs 4 clocks to issue
    "barrier_throughput": 8,  # guide 5.4.3
}  # fmt: skip
# What 1.2 and 1.3 add: twice the registers, segments instead of half-warp words.
_TESLA_12: Fields = _TESLA | {
    "max_warps": 32, "registers": 16 * KIB, "registers_per_block": 16 * KIB, "register_unit": 512, "global_rule": "half-warp-segments",
}  # fmt: skip
# L1 and L2, registers allocated per warp.
_FERMI: Fields = _TESLA | {
    "architecture": "Fermi",
    "max_grid": (65535, 65535, 65535), "max_block": (1024, 1024, 64), "max_threads_per_block": 1024,
    "max_warps": 48, "registers": 32 * KIB, "registers_per_block": 32 * KIB, "max_registers_per_thread": 63,
    "shared": 48 * KIB, "shared_per_block": 48 * KIB, "shared_per_block_optin": 48 * KIB,
    "register_allocation": "warp", "register_unit": 64, "shared_unit": 128,
    "shared_banks": 32, "shared_configs": _kib(16, 48), "l1_and_shared": 64 * KIB,
    "l1_size": 48 * KIB, "l1_line": 128, "l1_sector": 128, "l1_caches_global": True, "l2_cache": 512 * KIB,
    "texture_cache": 12 * KIB, "local_per_thread": 512 * KIB, "max_instructions": 512_000_000,
    "max_parameters": 4352, "max_surfaces": 8,
    "global_rule": "lines", "shared_rule": "32-banks", "warp_schedulers": 2, "warps_per_latency_clock": 1,
    "barrier_throughput": 16,
}  # fmt: skip
_KEPLER: Fields = _FERMI | {
    "architecture": "Kepler",
    "max_grid": (2**31 - 1, 65535, 65535), "max_blocks": 16, "max_warps": 64,
    "registers": 64 * KIB, "registers_per_block": 64 * KIB, "max_registers_per_thread": 255,
    "register_unit": 256, "warp_granularity": 4, "shared_unit": 256,
    "shared_bank_bytes": 8, "shared_configs": _kib(16, 32, 48),
    "l1_caches_global": False,  # guide F.5.2: L1 serves local memory only
    "texture_cache": 48 * KIB, "shared_rule": "64-bit-banks", "max_textures": 256, "max_surfaces": 16,
    "warp_schedulers": 4, "arithmetic_latency": 11, "warps_per_latency_clock": 8,
    "barrier_throughput": 128,
}  # fmt: skip
_MAXWELL: Fields = _KEPLER | {
    "architecture": "Maxwell",
    "max_blocks": 32, "shared": 64 * KIB, "shared_bank_bytes": 4, "shared_configs": _kib(64), "l1_and_shared": 88 * KIB,
    "l1_size": 24 * KIB, "l1_sector": 32, "l1_caches_global": True, "l2_cache": 2 * MIB, "texture_cache": 24 * KIB,
    "global_rule": "sectors", "shared_rule": "modern", "arithmetic_latency": 6, "warps_per_latency_clock": 4,
    "barrier_throughput": 64,
}  # fmt: skip
# 5.2 and 6.1: more shared memory, a larger L1.
_LARGE: Fields = {
    "shared": 96 * KIB, "shared_configs": _kib(96), "l1_and_shared": 144 * KIB, "l1_size": 48 * KIB, "texture_cache": 48 * KIB,
}  # fmt: skip
_PASCAL: Fields = _MAXWELL | {"architecture": "Pascal"}
# From here on L1 and shared memory are one, and all of it may be L1 and texture cache.
_VOLTA: Fields = _PASCAL | {
    "architecture": "Volta", "max_parameters": 32764, "max_surfaces": 32,
    "shared": 96 * KIB, "shared_per_block_optin": 96 * KIB, "shared_configs": _kib(0, 8, 16, 32, 64, 96),
    "l1_and_shared": 128 * KIB, "l1_size": 128 * KIB, "texture_cache": 128 * KIB, "arithmetic_latency": 4,
    "barrier_throughput": 16,
}  # fmt: skip
_TURING: Fields = _VOLTA | {
    "architecture": "Turing",
    "max_blocks": 16, "max_warps": 32, "shared": 64 * KIB, "shared_per_block_optin": 64 * KIB, "shared_configs": _kib(32, 64),
    "l1_and_shared": 96 * KIB, "l1_size": 64 * KIB, "texture_cache": 64 * KIB,
}  # fmt: skip
_AMPERE: Fields = _VOLTA | {
    "architecture": "Ampere",
    "shared": 164 * KIB, "shared_per_block_optin": 163 * KIB, "shared_reserved_per_block": 1 * KIB, "shared_configs": _CARVE_80,
    "shared_unit": 128, "l1_and_shared": 192 * KIB, "l1_size": 192 * KIB, "texture_cache": 192 * KIB,
}  # fmt: skip
# 8.6, 8.7 and 8.9: 48 warps, twice the lanes of single precision and few of double precision.
_AMPERE_86: Fields = _AMPERE | {"max_blocks": 16, "max_warps": 48}
# 8.6 and 8.9: less shared memory.
_SMALL: Fields = {
    "shared": 100 * KIB, "shared_per_block_optin": 99 * KIB, "shared_configs": _CARVE_8X,
    "l1_and_shared": 128 * KIB, "l1_size": 128 * KIB, "texture_cache": 128 * KIB,
}  # fmt: skip
_ADA: Fields = _AMPERE_86 | _SMALL | {"architecture": "Ada", "max_blocks": 24}
_HOPPER: Fields = _AMPERE | {
    "architecture": "Hopper",
    "shared": 228 * KIB, "shared_per_block_optin": 227 * KIB, "shared_configs": _CARVE_90,
    "l1_and_shared": 256 * KIB, "l1_size": 256 * KIB, "texture_cache": 256 * KIB, "l2_cache": 60 * MIB,
    "barriers": 64,  # recorded: a kernel that claims all 16 holds 4 blocks
}  # fmt: skip


def _row(
    base: Fields, capability: tuple[int, int], device: str, multiprocessors: int, clock_mhz: int, gigabytes: float, **own: Any
) -> DeviceProfile:
    """One device, its memory's bandwidth in GB/s, and the fields in which its capability differs from the base of its generation."""
    named: Fields = {"capability": capability, "device": device, "multiprocessors": multiprocessors, "clock_mhz": clock_mhz}
    return DeviceProfile(**base | named | {"memory_bandwidth": round(gigabytes * 1e9)} | own)


# Multiprocessors, clock (MHz) and bandwidth (GB/s) are the vendor's published figures of the named board.  The H200's were recorded
# from the driver's device attributes, as were its blocks, threads, registers, shared memory and L2; its bandwidth is that of
# 3201 MHz, two transfers a clock, 6016 bits.
_ROWS: tuple[DeviceProfile, ...] = (
    _row(_TESLA, (1, 0), "GeForce 8800 GTX", 16, 1350, 86.4),
    _row(_TESLA, (1, 1), "GeForce 9800 GTX", 16, 1688, 70.4),
    _row(_TESLA_12, (1, 2), "GeForce GT 240", 12, 1340, 54.4),
    _row(_TESLA_12, (1, 3), "Tesla C1060", 30, 1296, 102.4),
    _row(_FERMI, (2, 0), "Tesla C2050", 14, 1150, 144, l2_cache=768 * KIB),
    _row(_FERMI, (2, 1), "GeForce GTX 460", 7, 1350, 115.2,
         warps_per_latency_clock=2),
    _row(_KEPLER, (3, 0), "GeForce GTX 680", 8, 1006, 192.256, max_registers_per_thread=63, texture_cache=12 * KIB),
    _row(_KEPLER, (3, 2), "Tegra K1", 1, 852, 14.9, registers_per_block=32 * KIB, l2_cache=128 * KIB),
    _row(_KEPLER, (3, 5), "Tesla K20", 13, 706, 208, l2_cache=1280 * KIB),
    _row(_KEPLER, (3, 7), "Tesla K80 (one of its two GPUs)", 13, 875, 240, registers=128 * KIB, shared=112 * KIB,
         shared_configs=_kib(80, 96, 112), l1_and_shared=128 * KIB, l1_caches_global=True, l2_cache=1536 * KIB),
    _row(_MAXWELL, (5, 0), "GeForce GTX 750 Ti", 5, 1020, 86.4),
    _row(_MAXWELL | _LARGE, (5, 2), "GeForce GTX 980", 16, 1126, 224),
    _row(_MAXWELL, (5, 3), "Tegra X1", 2, 998, 25.6, registers_per_block=32 * KIB, l2_cache=256 * KIB),
    _row(_PASCAL, (6, 0), "Tesla P100", 56, 1480, 732,
         warp_granularity=2,  # two register files of 32768, not four
         constant_cache=4 * KIB, l2_cache=4 * MIB, warp_schedulers=2, warps_per_latency_clock=2, barrier_throughput=32),
    _row(_PASCAL | _LARGE, (6, 1), "GeForce GTX 1080", 20, 1733, 320),
    _row(_PASCAL, (6, 2), "Tegra X2", 2, 1300, 58.3, registers_per_block=32 * KIB, l2_cache=512 * KIB),
    _row(_VOLTA, (7, 0), "Tesla V100", 80, 1530, 900, l2_cache=6 * MIB),
    _row(_VOLTA, (7, 2), "Jetson AGX Xavier", 8, 1377, 136.5, l2_cache=512 * KIB),
    _row(_TURING, (7, 5), "T4", 40, 1590, 320, l2_cache=4 * MIB),
    _row(_AMPERE, (8, 0), "A100 (40 GB)", 108, 1410, 1555, l2_cache=40 * MIB),
    _row(_AMPERE_86 | _SMALL, (8, 6), "GeForce RTX 3090", 82, 1695, 936.2, l2_cache=6 * MIB),
    _row(_AMPERE_86, (8, 7), "Jetson AGX Orin", 16, 1300, 204.8, l2_cache=4 * MIB),
    _row(_ADA, (8, 9), "L4", 58, 2040, 300, l2_cache=48 * MIB),
    _row(_HOPPER, (9, 0), "H200", 132, 1980, 2 * 3.201 * 6016 / 8),
)  # fmt: skip

PROFILES: dict[str, DeviceProfile] = {row.name: row for row in _ROWS}
NEWEST: DeviceProfile = _ROWS[-1]

# The first PTX version that knows each target.
TARGETS: dict[str, tuple[int, int]] = {
    f"sm_{name}": (int(version[0]), int(version[2]))
    for version, names in {
        "1.0": "10 11", "1.2": "12 13", "2.0": "20 21", "3.0": "30", "3.1": "35", "4.0": "32 50", "4.1": "37 52", "4.2": "53",
        "5.0": "60 61 62", "5.1": "70", "6.1": "72", "6.2": "82", "6.3": "75", "7.0": "80", "7.1": "86", "7.3": "88", "7.4": "87",
        "7.8": "89 90", "8.0": "90a", "8.6": "100 100a 101 101a", "8.7": "120 120a",
        "8.8": "100f 101f 103 103a 103f 120f 121 121a 121f", "9.0": "110 110a 110f",
    }.items()
    for name in names.split()
}  # fmt: skip
_SPELLING = re.compile(r"(?:sm_|compute_)?(\d+)\.?(\d)([af]?)")


def target_capability(name: str) -> tuple[int, int]:
    """(9, 0) of "sm_90", "sm_90a", "compute_90" or "9.0"; ValueError for anything else.

    >>> target_capability("sm_103f")
    (10, 3)
    """
    match = _SPELLING.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a target; write it as sm_90 or 9.0")
    return int(match[1]), int(match[2])


def runs_on(target: str, device: str) -> bool:
    """Whether a device runs code for a target: an older one, or its own; with `a` only its own, with `f` one of its family.

    >>> runs_on("sm_80", "sm_90"), runs_on("sm_90", "sm_80"), runs_on("sm_80a", "sm_90"), runs_on("sm_100f", "sm_103")
    (True, False, False, True)
    """
    wanted, own = target_capability(target), target_capability(device)
    if target.endswith("a"):
        return wanted == own
    return wanted <= own and (not target.endswith("f") or wanted[0] == own[0])


def profile(name: str) -> DeviceProfile:
    """The row of a target, or of the newest capability in the table that is not newer than it.

    >>> profile("sm_90a").device, profile("3.5").name, profile("sm_120").name
    ('H200', 'sm_35', 'sm_90')
    """
    wanted = target_capability(name)
    if f"sm_{wanted[0]}{wanted[1]}" not in TARGETS:
        near = get_close_matches(name, TARGETS, 1, 0)
        raise ValueError(f"{name!r} is not a target; is {near[0]} meant?")
    return [row for row in _ROWS if row.capability <= wanted][-1]


def profile_note(name: str) -> str | None:
    """A sentence when a target has no row of its own, else None.

    >>> profile_note("sm_100")
    'no model of compute capability 10.0: the model of sm_90 is used'
    """
    wanted = target_capability(name)
    row = profile(name)
    if row.capability == wanted:
        return None
    return f"no model of compute capability {wanted[0]}.{wanted[1]}: the model of {row.name} is used"
