"""The Mandelbrot set as a picture: the kernel counts steps, the host colours them and writes a PNG with nothing but zlib.

python samples/host/mandelbrot.py OUT.png         on warplab
python samples/host/mandelbrot.py OUT.png --gpu   on a GPU, with cuda.core: nothing but the import changes
"""

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

if "--gpu" in sys.argv:
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
else:
    from warplab.runtime import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

WIDTH, HEIGHT, LIMIT = 360, 240, 60
BLOCK = (16, 8)


def colours(steps: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Points of the set are black; the others run from blue through white to brown, the later they leave."""
    stops = np.array([[0, 7, 100], [32, 107, 203], [237, 255, 255], [255, 170, 0], [106, 52, 3]], np.float64)
    at = np.sqrt(steps / LIMIT) * (len(stops) - 1)
    rgb = np.stack([np.interp(at, np.arange(len(stops)), stops[:, c]) for c in range(3)], axis=-1)
    rgb[steps == LIMIT] = 0
    return rgb.round().astype(np.uint8)


def png(rgb: NDArray[np.uint8]) -> bytes:
    """The bytes of a PNG file: a signature, and chunks of length, name, contents and CRC."""

    def chunk(name: bytes, contents: bytes) -> bytes:
        return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", zlib.crc32(name + contents))

    height, width, _ = rgb.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # eight bits a channel, red green blue
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter, 0 for none
    rows[:, 1:] = rgb.reshape(height, -1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")


def main() -> None:
    """Calculates the picture and writes it."""
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    out = Path(names[0] if names else "mandelbrot.png")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    text = (Path(__file__).parents[1] / "mandelbrot.ptx").read_text()
    kernel = Program(text, "ptx").compile("cubin").get_kernel("mandelbrot")

    host = LegacyPinnedMemoryResource().allocate(4 * WIDTH * HEIGHT)
    steps = np.from_dlpack(host).view(np.uint32).reshape(HEIGHT, WIDTH)
    on_device = device.allocate(host.size, stream=stream)
    grid = tuple(-(-size // block) for size, block in zip((WIDTH, HEIGHT), BLOCK, strict=True))
    launch(stream, LaunchConfig(grid=grid, block=BLOCK), kernel, on_device, np.uint32(WIDTH), np.uint32(HEIGHT), np.uint32(LIMIT))
    on_device.copy_to(host, stream=stream)
    stream.sync()

    out.write_bytes(png(colours(steps)))
    inside = int((steps == LIMIT).sum())
    print(f"{out.name}: {WIDTH} x {HEIGHT}, {inside} of {steps.size} points never leave, {int(steps.sum())} steps")
    for buffer in (on_device, host):
        buffer.close(stream)
    stream.close()


if __name__ == "__main__":
    main()
