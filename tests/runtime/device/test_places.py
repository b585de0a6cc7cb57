"""Where allocations begin, on a device whose memory nobody has used: what was freed leaves gaps."""

from typing import Any

from warplab.runtime.device.memory.allocations import AddressSpace, DeviceArena

PAGE = 2 << 20


def test_large_allocations_begin_with_a_page_and_small_ones_fill_the_gaps() -> None:
    space, arena = AddressSpace(), DeviceArena(1 << 30, 1 << 38)
    nobody: Any = None

    def place(size: int) -> int:
        return space.allocate(arena, size, "device", nobody).start

    large = [place(size) for size in (PAGE, 1, 3 * PAGE + 4, PAGE // 2 + 1)]
    assert [at % PAGE for at in large[::2]] == [0, 0] and large[3] % PAGE == 0
    between = place(1024)
    assert between % PAGE and between < max(large), "the rest of a page serves others"
