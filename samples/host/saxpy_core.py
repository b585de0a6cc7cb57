"""cuda.core style: y = a * x + y, and a sum in shared memory.

python samples/host/saxpy_core.py           on warplab
python samples/host/saxpy_core.py --gpu     on a GPU, with cuda.core: nothing but the import changes
"""

import sys
from pathlib import Path

import numpy as np

if "--gpu" in sys.argv:
    from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
else:
    from warplab.runtime import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

N, BLOCK = 100_000, 256


def main() -> None:
    """Runs both kernels and checks what they give."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    print(f"{device.name}, compute capability {'.'.join(map(str, device.compute_capability))}")

    code = Program((Path(__file__).parent / "saxpy.ptx").read_text(), "ptx").compile("cubin")
    saxpy, total = code.get_kernel("saxpy"), code.get_kernel("total")

    pinned = LegacyPinnedMemoryResource()
    host_x, host_y, host_sum = (pinned.allocate(size) for size in (4 * N, 4 * N, 4))
    x, y, result = (np.from_dlpack(b).view(np.float32) for b in (host_x, host_y, host_sum))
    x[:], y[:], result[:] = np.arange(N) % 7, 1, 0

    device_x, device_y, device_sum = (device.allocate(b.size, stream=stream) for b in (host_x, host_y, host_sum))
    for target, source in ((device_x, host_x), (device_y, host_y), (device_sum, host_sum)):
        target.copy_from(source, stream=stream)

    timed = EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    grid = LaunchConfig(grid=-(-N // BLOCK), block=BLOCK)
    launch(stream, grid, saxpy, np.float32(2), device_x, device_y, np.uint32(N))
    launch(stream, grid, total, device_y, device_sum, np.uint32(N))
    end = stream.record(options=timed)

    device_y.copy_to(host_y, stream=stream)
    device_sum.copy_to(host_sum, stream=stream)
    stream.sync()

    want = 2 * x + 1
    assert (y == want).all()
    assert result[0] == want.sum(dtype=np.float64), (result[0], want.sum(dtype=np.float64))
    print(f"y[:8] = {y[:8].tolist()}, sum {result[0]:.0f}, right; registers {saxpy.attributes.num_regs}, {end - start:.3f} ms")

    for buffer in (device_x, device_y, device_sum, host_x, host_y, host_sum):
        buffer.close(stream)
    stream.close()


if __name__ == "__main__":
    main()
