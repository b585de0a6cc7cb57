"""What a launch did in all: its shape, and totals over its instructions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from warplab.isa.occupancy import Occupancy
from warplab.isa.occupancy import waves as waves_of
from warplab.isa.profiles import DeviceProfile

from .launch_time import LaunchTime
from .sites import AccessProfile, AllocationProfile, SiteProfile


@dataclass(frozen=True, repr=False, eq=False)
class LaunchTotals:
    """One launch on one device."""

    kernel: str
    number: int
    device: DeviceProfile
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    registers: int  # estimated from live ranges
    static_shared: int
    dynamic_shared: int
    occupancy: Occupancy
    counted: Callable[[], tuple[SiteProfile, ...]] = field(compare=False)  # puts the counts of instructions together
    allocations: tuple[AllocationProfile, ...]
    timeline: tuple[tuple[int, int], ...]  # (warp instructions, thread instructions) of consecutive stretches of the launch
    idle_threads: int  # that never wrote anything: padding, if others did
    useful_arithmetic: float | None  # the part of the floating-point operations whose results are stored; None: not known
    dram_written: int  # sectors that became dirty in L2
    texts: Mapping[str, str]  # module -> its PTX text
    timed: Callable[[], LaunchTime] | None = field(default=None, compare=False)  # predicts how long it takes

    @cached_property
    def time(self) -> LaunchTime | None:
        """How long the launch takes, predicted; None if nobody asked for it."""
        return None if self.timed is None else self.timed()

    @cached_property
    def sites(self) -> tuple[SiteProfile, ...]:
        """What each instruction did, in the order of the text; the kernel's own before those of functions."""
        return self.counted()

    # ------------------------------------------------------------ totals

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def block_threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return self.blocks * self.block_threads

    @property
    def warps_launched(self) -> int:
        """Warps of the launch."""
        return self.blocks * -(-self.block_threads // 32)

    @cached_property
    def instructions(self) -> int:
        """Warp instructions."""
        return sum(s.warps for s in self.sites)

    @cached_property
    def machine_instructions(self) -> int:
        """Warp instructions of the machine code that ptxas makes of the kernel for this device, predicted."""
        return sum(s.machine for s in self.sites)

    @cached_property
    def thread_instructions(self) -> int:
        """Thread instructions, whether the guard held or not."""
        return sum(s.threads for s in self.sites)

    @property
    def simt_efficiency(self) -> float:
        """Threads of an average warp instruction, of 32."""
        return self.thread_instructions / (32 * self.instructions) if self.instructions else 0.0

    @cached_property
    def flops(self) -> dict[str, int]:
        """Floating-point operations by type."""
        out: dict[str, int] = {}
        for s in self.sites:
            for t, n in s.flops.items():
                out[t] = out.get(t, 0) + n
        return out

    @cached_property
    def accesses(self) -> tuple[AccessProfile, ...]:
        """All accesses of all instructions."""
        return tuple(a for s in self.sites for a in s.accesses)

    def total(self, what: str, spaces: str, kinds: str = "ld st red atom") -> int:
        """The sum of one number of the accesses to some spaces."""
        return sum(getattr(a, what) for a in self.accesses if a.space in spaces.split() and a.kind in kinds.split())

    # ------------------------------------------------------------ intensity

    @property
    def global_bytes(self) -> int:
        """Bytes of global memory that the threads asked for."""
        return self.total("bytes", "global")

    @property
    def dram_bytes(self) -> int:
        """Bytes between the device's memory and its chip, caches cold at the start and written back at the end."""
        if not self.device.l2_cache:
            return self.total("moved", "global")
        return self.dram_read + 32 * self.dram_written

    @property
    def dram_read(self) -> int:
        """Bytes from the device's memory to its chip."""
        kinds = "ld red atom"
        if not self.device.l2_cache:
            return self.total("moved", "global", kinds)
        return 32 * (self.total("l2_sectors", "global bulk texture", kinds) - self.total("l2_hits", "global bulk texture", kinds))

    @property
    def intensity(self) -> float:
        """FLOP for each byte that the threads load from global memory: the course's compute-to-global-memory-access ratio."""
        loaded = self.total("bytes", "global bulk", "ld")
        return sum(self.flops.values()) / loaded if loaded else 0.0

    @property
    def dram_intensity(self) -> float:
        """FLOP for each byte that came from or went to the device's memory."""
        return sum(self.flops.values()) / self.dram_bytes if self.dram_bytes else 0.0

    @property
    def text_intensity(self) -> float:
        """FLOP for each byte of global memory that the threads load and store: what the text of the program asks for, without caches."""
        moved = self.total("bytes", "global bulk")
        return sum(self.flops.values()) / moved if moved else 0.0

    # ------------------------------------------------------------ quantization

    @property
    def waves(self) -> float:
        """How often the grid fills the device."""
        return waves_of(self.device, self.blocks, self.occupancy.blocks) if self.occupancy.blocks else 0.0

    @property
    def wave_efficiency(self) -> float:
        """The part of all places for blocks, over whole waves, that the grid fills."""
        whole = -(-self.blocks // max(1, self.occupancy.blocks * self.device.multiprocessors))
        return self.waves / whole if whole else 0.0

    @property
    def padding_lanes(self) -> int:
        """Lanes of the blocks' last warps that no thread has."""
        return self.warps_launched * 32 - self.threads
