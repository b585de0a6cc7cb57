"""How many blocks of a kernel one multiprocessor holds, what stops it from holding more, and what that is worth.

Pure rules over a device profile: residency with each capability's rounding, the limiter and the nearest step of every
resource, and the share of the on-chip memory that is left to L1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from .profiles import DeviceProfile

LEAST_SHARED = 32 * 1024  # bytes that are set aside for kernels that need less, at least

CachePreference = Literal["none", "shared", "L1", "equal"]  # in the order of CUfunc_cache
PREFERENCES: tuple[CachePreference, ...] = ("none", "shared", "L1", "equal")
Resource = Literal["warps", "blocks", "registers", "shared memory", "barriers"]


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """The nearest value of one resource at which a multiprocessor holds another number of blocks."""

    resource: Resource
    value: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Blocks and warps that are resident on one multiprocessor, and why not more."""

    profile: DeviceProfile
    threads: int
    registers: int
    shared: int
    limits: dict[Resource, int]
    costs: tuple[ResourceStep, ...]
    gains: tuple[ResourceStep, ...]

    @property
    def blocks(self) -> int:
        """Blocks resident on one multiprocessor; 0 when the kernel cannot be launched."""
        return min(self.limits.values())

    @property
    def limiters(self) -> tuple[Resource, ...]:
        """The resources that allow no further block."""
        return tuple(name for name, blocks in self.limits.items() if blocks == self.blocks)

    @property
    def warps(self) -> int:
        """Warps resident on one multiprocessor."""
        return self.blocks * block_warps(self.profile, self.threads)

    @property
    def fraction(self) -> float:
        """Resident warps over the most that the multiprocessor holds."""
        return self.warps / self.profile.max_warps

    @property
    def sentences(self) -> tuple[str, ...]:
        """The steps in words: at how many registers, bytes or threads fewer blocks are resident, and at how many more."""
        said = []
        for step in self.costs:
            if step.resource == "registers":
                said.append(f"at {step.value} registers per thread, {_blocks(self.blocks - step.blocks)} fewer")
            else:
                said.append(f"at {step.value} {_unit(step.resource)}, {_blocks(self.blocks - step.blocks)} fewer")
        for step in self.gains:
            said.append(f"at {step.value} {_unit(step.resource)}, {_blocks(step.blocks - self.blocks)} more")
        return tuple(said)


def _blocks(n: int) -> str:
    return "one resident block" if n == 1 else f"{n} resident blocks"


def _unit(resource: Resource) -> str:
    return {"registers": "registers per thread", "shared memory": "bytes of shared memory"}.get(resource, "threads per block")


def _round_up(n: int, unit: int) -> int:
    return -(-n // unit) * unit


def block_warps(profile: DeviceProfile, threads: int) -> int:
    """Warps of a block: the last one may be partly empty."""
    return -(-threads // profile.warp_size)


def register_blocks(profile: DeviceProfile, threads: int, registers: int) -> int:
    """Blocks that the register file allows."""
    if registers == 0:
        return profile.max_blocks
    if registers > profile.max_registers_per_thread:
        return 0
    warps = block_warps(profile, threads)
    if profile.register_allocation == "block":  # guide 4.2: ceil(ceil(W, G_W) * 32 * R, G_T) a block
        block = _round_up(_round_up(warps, profile.warp_granularity) * profile.warp_size * registers, profile.register_unit)
        return profile.registers // block
    # Each of the register file's parts serves the warps of its own scheduler, so a part never holds a fraction of a warp.
    warp = _round_up(profile.warp_size * registers, profile.register_unit)
    if _round_up(warps, profile.warp_granularity) * warp > profile.registers_per_block:
        return 0
    parts = profile.warp_granularity
    return profile.registers // parts // warp * parts // warps


def shared_blocks(profile: DeviceProfile, shared: int, limit: int | None = None) -> int:
    """Blocks that shared memory allows; each also takes what the system reserves, and none may use more than `limit`."""
    if shared > (profile.shared_per_block_optin if limit is None else limit):
        return 0
    block = _round_up(shared + profile.shared_reserved_per_block, profile.shared_unit)
    return profile.shared // block if block else profile.max_blocks


def block_limits(
    profile: DeviceProfile, threads: int, registers: int, shared: int, *, shared_limit: int | None = None, barriers: int = 1
) -> dict[Resource, int]:
    """Blocks that each resource alone allows on one multiprocessor."""
    if not 1 <= threads <= profile.max_threads_per_block:
        return {"warps": 0, "blocks": profile.max_blocks, "registers": 0, "shared memory": 0}
    limits: dict[Resource, int] = {
        "warps": profile.max_warps // block_warps(profile, threads),
        "blocks": profile.max_blocks,
        "registers": register_blocks(profile, threads, registers),
        "shared memory": shared_blocks(profile, shared, shared_limit),
    }
    if profile.barriers is not None and barriers:
        limits["barriers"] = profile.barriers // barriers
    return limits


@lru_cache(maxsize=512)
def occupancy(
    profile: DeviceProfile, threads: int, registers: int, shared: int, *, shared_limit: int | None = None, barriers: int = 1
) -> Occupancy:
    """Residency of blocks of `threads` threads with `registers` registers each and `shared` bytes (static and dynamic).

    `shared_limit` is what the function may use (48 KB unless it opted in to more); `barriers` is how many named barriers a
    block claims: all 16 when an instruction takes the barrier's number from a register.
    """

    def blocks(threads: int = threads, registers: int = registers, shared: int = shared) -> int:
        return min(limits_of(threads, registers, shared).values())

    def limits_of(threads: int, registers: int, shared: int) -> dict[Resource, int]:
        return block_limits(profile, threads, registers, shared, shared_limit=shared_limit, barriers=barriers)

    now = blocks()
    dials: tuple[tuple[Resource, int, int, int, Callable[[int], int]], ...] = (
        ("registers", registers, 1, profile.max_registers_per_thread, lambda n: blocks(registers=n)),
        ("shared memory", shared, 0, profile.shared_per_block_optin, lambda n: blocks(shared=n)),
        ("warps", threads, 1, profile.max_threads_per_block, lambda n: blocks(threads=n)),
    )
    costs, gains = [], []
    for resource, value, low, high, at in dials:
        if value < high and at(high) < now:
            step = _first(value, high, lambda n, at=at: at(n) < now)  # type: ignore[misc]
            costs.append(ResourceStep(resource, step, at(step)))
        if value > low and at(low) > now:
            step = _first(value, low, lambda n, at=at: at(n) > now)  # type: ignore[misc]
            gains.append(ResourceStep(resource, step, at(step)))
    return Occupancy(profile, threads, registers, shared, limits_of(threads, registers, shared), tuple(costs), tuple(gains))


def _first(start: int, end: int, holds: Callable[[int], bool]) -> int:
    """The value nearest to start, towards end, at which holds becomes true; it is false at start and true at end."""
    no, yes = start, end
    while abs(yes - no) > 1:
        middle = (no + yes) // 2
        if holds(middle):
            yes = middle
        else:
            no = middle
    return yes


def max_registers(profile: DeviceProfile, threads: int, blocks: int) -> int:
    """The most registers a thread may have for `blocks` blocks of `threads` threads to be resident; 0 if none will do."""
    fitting = (n for n in range(profile.max_registers_per_thread, 0, -1) if register_blocks(profile, threads, n) >= blocks)
    return next(fitting, 0)


def configured(
    profile: DeviceProfile, shared: int, *, prefers: CachePreference = "none", carveout: int = -1, l1: int | None = None
) -> DeviceProfile:
    """The device as a kernel finds it whose blocks take `shared` bytes, where the host says how L1 and shared memory share one memory.

    `l1` names a size of L1, `carveout` a percentage of the most shared memory; both come before what the host prefers.  The next larger
    configuration serves, and one that holds a block at least.
    """
    sizes, most = profile.shared_configs, max(profile.shared_configs)
    if l1 is not None:
        wanted = float(profile.l1_and_shared - l1)
    elif carveout >= 0:
        wanted = most * carveout / 100
    else:
        wanted = {"none": -1, "shared": most, "L1": 0, "equal": profile.l1_and_shared / 2}[prefers]
    if len(sizes) == 1 or wanted < 0:
        return profile
    block = _round_up(shared + profile.shared_reserved_per_block, profile.shared_unit)
    carve = min((size for size in sizes if size >= max(wanted, block)), default=most)
    return replace(profile, shared=carve, shared_configs=(carve,))


def l1_sizes(profile: DeviceProfile) -> tuple[int, ...]:
    """The sizes that L1 may have."""
    if len(profile.shared_configs) == 1:
        return (profile.l1_size,)
    return tuple(sorted(profile.l1_and_shared - size for size in profile.shared_configs))


def l1_bytes(profile: DeviceProfile, shared: int, blocks: int) -> int:
    """What is left to L1 when `blocks` resident blocks take `shared` bytes each.

    Up to 3.x, the driver begins with the most shared memory (guide F.4.1, F.5.1).  Later ones set aside the smallest configuration that
    holds the blocks, and 32 KB at least.  On the H200 a kernel without shared
    memory leaves 224 KB, in blocks of 32 threads or of 256, one with 16 KB a block 28 KB: measured by reading arrays of rising size twice.
    """
    if profile.l1_and_shared == profile.shared + profile.l1_size or not profile.l1_size:
        return profile.l1_size
    most = max(profile.shared_configs)
    if profile.shared_rule != "modern":
        return profile.l1_and_shared - most
    used = blocks * _round_up(shared + profile.shared_reserved_per_block, profile.shared_unit)
    carve = min((size for size in profile.shared_configs if size >= max(used, LEAST_SHARED)), default=most)
    return profile.l1_and_shared - carve


def waves(profile: DeviceProfile, grid_blocks: int, blocks_per_multiprocessor: int) -> float:
    """How often the device fills: grid blocks over those resident at once; a fraction left over is a tail."""
    return grid_blocks / (blocks_per_multiprocessor * profile.multiprocessors)
