"""What the host reports of a device model beside its profile: memory, names, and every attribute by CUDA's name for it."""

from __future__ import annotations

from warplab.isa.profiles import DeviceProfile

MIB = 1 << 20
# MiB of device memory of the device that stands for each capability.
_MEMORY = {
    (1, 0): 768, (1, 1): 512, (1, 2): 512, (1, 3): 4096, (2, 0): 3072, (2, 1): 1024, (3, 0): 2048, (3, 2): 1892, (3, 5): 5120,
    (3, 7): 12288, (5, 0): 2048, (5, 2): 4096, (5, 3): 3983, (6, 0): 16384, (6, 1): 8192, (6, 2): 7850, (7, 0): 16384, (7, 2): 15692,
    (7, 5): 15360, (8, 0): 40960, (8, 6): 24576, (8, 7): 30536, (8, 9): 23034, (9, 0): 143771,
}  # fmt: skip


def memory_size(profile: DeviceProfile) -> int:
    """Bytes of device memory."""
    return _MEMORY.get(profile.capability, 16384) * MIB
