"""A picture at twice its size, through a texture that blends, in the style of cuda.core.

python samples/host/textures.py         on warplab
python samples/host/textures.py --gpu   on a GPU, with cuda.core: nothing but the import changes
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

if "--gpu" in sys.argv:
    from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
    from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
else:
    from warplab.runtime import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
    from warplab.runtime.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

WIDTH, HEIGHT = 48, 32
BLOCK = (16, 8)


def picture() -> NDArray[np.uint8]:
    """Four channels: a ramp to the right, one down, squares, and no transparency."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    return np.stack([5 * x, 7 * y, (x // 4 + y // 4) % 2 * 255, np.full_like(x, 255)], axis=-1).astype(np.uint8)


def main() -> None:
    """Enlarges the picture and compares with what the weights of the blend say."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    text = (Path(__file__).parents[1] / "textures" / "enlarge.ptx").read_text()
    kernel = Program(text, "ptx").compile("cubin").get_kernel("enlarge")

    small = picture()
    array = device.create_opaque_array(OpaqueArrayOptions(shape=(WIDTH, HEIGHT), format="uint8", num_channels=4))
    array.copy_from(small, stream=stream)
    how = TextureObjectOptions(filter_mode="linear", read_mode="normalized_float", normalized_coords=True)
    texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array), options=how)

    host = LegacyPinnedMemoryResource().allocate(4 * WIDTH * HEIGHT * 4 * 4)
    large = np.from_dlpack(host).view(np.float32).reshape(2 * HEIGHT, 2 * WIDTH, 4)
    on_device = device.allocate(host.size, stream=stream)
    grid = tuple(-(-2 * size // block) for size, block in zip((WIDTH, HEIGHT), BLOCK, strict=True))
    size = np.uint32(2 * WIDTH), np.uint32(2 * HEIGHT)
    launch(stream, LaunchConfig(grid=grid, block=BLOCK), kernel, np.uint64(texture.handle), on_device, *size)
    on_device.copy_to(host, stream=stream)
    stream.sync()

    # A pixel lies a quarter of a texel beside a centre.
    p = small / 255.0
    wanted = (9 * p[:-1, :-1] + 3 * p[:-1, 1:] + 3 * p[1:, :-1] + p[1:, 1:]) / 16
    off = np.abs(large[1:-1:2, 1:-1:2] - wanted).max()
    print(f"{WIDTH} x {HEIGHT} to {2 * WIDTH} x {2 * HEIGHT}: {'right' if off < 1e-4 else f'off by {off}'}")
    texture.close()
    array.close()
    for buffer in (on_device, host):
        buffer.close(stream)
    stream.close()


if __name__ == "__main__":
    main()
