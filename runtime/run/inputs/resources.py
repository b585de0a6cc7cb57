"""The textures and surfaces of a run: arrays or memory on its device, with the handles that kernels take for them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.textures.resources import Surface, Texture

from ...device.context import DeviceContext
from ...device.memory.arrays import CHANNELS, CUBEMAP, LAYERED, SURFACE, ArrayShape, DeviceArray, DeviceMipmap, new_array
from ...device.memory.textures import TexelMemory, TextureSettings, array_image, memory_at
from ...device.modules.kernels import LoadedModule
from ...errors import ApiError
from .texels import SHAPING, ResourceText, sampling
from .values import BufferValue, parse_value

Array = NDArray[Any]
PITCH = 32  # what rows of memory are a multiple of
FORMATS = {f"{k}{bits}": n for n, (kind, bits) in CHANNELS.items() for k in ({"u": "ub"}.get(kind, kind))}


@dataclass(frozen=True, slots=True)
class RunTexels:
    """What a texture reads or a surface writes."""

    of: DeviceArray | DeviceMipmap | TexelMemory
    type: str
    shape: tuple[int, ...]  # with the channels as the last axis

    @property
    def levels(self) -> tuple[DeviceArray, ...]:
        """The array's levels; none of memory."""
        return () if isinstance(self.of, TexelMemory) else self.of.levels if isinstance(self.of, DeviceMipmap) else (self.of,)

    def level(self, k: int) -> RunTexels:
        """One level on its own."""
        a = self.levels[k]
        sides = tuple(n for n in (a.shape.depth, a.shape.height, a.shape.width) if n)
        return RunTexels(a, self.type, (*sides, a.shape.channels))

    def contents(self, dtype: np.dtype[Any]) -> Array:
        """A copy of the texels of the first level, without an axis for one channel."""
        if isinstance(self.of, TexelMemory):
            height, row = max(self.of.height, 1), self.shape[-2] * self.shape[-1] * dtype.itemsize
            raw: Array = np.ndarray((height, row), np.uint8, self.of.bytes, 0, (self.of.pitch or row, 1))
        else:
            raw = self.levels[0].contents
        shape = self.shape[:-1] if self.shape[-1] == 1 else self.shape
        return np.ascontiguousarray(raw).reshape(-1).view(dtype).reshape(shape)


@dataclass(frozen=True, slots=True)
class RunResource:
    """A texture or a surface of a run."""

    handle: int
    texels: RunTexels
    value: BufferValue | None  # what its texels began as; None where they are another one's


class ResourceMaker:
    """Makes the textures and surfaces of a run on its device."""

    def __init__(self, context: DeviceContext, module: LoadedModule, folder: Path | None) -> None:
        self.context, self.module, self.folder = context, module, folder
        self.made: dict[str, RunTexels] = {}

    def make(self, r: ResourceText) -> RunResource:
        """One texture or surface; what it shares was made before it."""
        if r.name in self.made:
            raise r.flaw("there is one of this name already")
        if not r.shares and "level" in r.options:
            raise r.flaw("level selects one of another surface's or texture's levels: write its name as the value")
        value = None if r.shares else self._value(r)
        texels = self._shared(r) if value is None else self._memory(r, value) if "memory" in r.options else self._array(r, value)
        self.made[r.name] = texels
        v = self.module.program.variables.get(r.name)
        kind = "" if v is None or v.dims else v.handle
        if kind in ("texref", "surfref") and kind != f"{r.kind}ref":
            raise r.flaw(f"the variable is a .{kind}: use --{kind.removesuffix('ref')}")
        if r.kind == "surf":
            if kind == "surfref":
                self.module.surface(r.name).bind(texels.levels[0])
            return RunResource(self._added(r, Surface(array_image(texels.levels[0]))), texels, value)
        format, channels = FORMATS[texels.type], texels.shape[-1]
        settings = TextureSettings(texels.of, 0, format, channels, sampling(r, len(texels.levels)))
        if kind == "texref":
            self.module.texture(r.name).settings = settings
        texture = settings.texture()
        assert texture is not None
        return RunResource(self._added(r, texture), texels, value)

    def _added(self, r: ResourceText, made: Texture | Surface) -> int:
        try:
            return self.context.resources.add(made, None, r.number("handle", lambda text: int(text, 0), 0))
        except ApiError as e:
            raise r.flaw(e.message) from None

    def _shared(self, r: ResourceText) -> RunTexels:
        found = self.made.get(r.value)
        if found is None:
            raise r.flaw(f"no texture or surface before it is called {r.value}; there are {' '.join(self.made) or 'none'}")
        if settled := [o for o in (*SHAPING, "memory") if o in r.options]:
            raise r.flaw(f"{settled[0]} is settled by {r.value}")
        if r.kind == "tex":
            return found
        k, levels = r.number("level", int, 0), len(found.levels)
        if not 0 <= k < levels:
            raise r.flaw(f"level {k}: {r.value} has {levels}" if levels else f"{r.value} is memory, a surface is an array")
        return found.level(k)

    def _value(self, r: ResourceText) -> BufferValue:
        """The value, with its channels as the last axis."""
        value = parse_value(r.value, self.folder)
        if not isinstance(value, BufferValue):
            raise r.flaw(f"{r.value} is not an array: write @picture.png, @file.npy, DTYPE[SHAPE][:INIT] or the name of another one")
        array, channels = value.array, r.number("channels", int, 1)
        if r.value.lower().endswith(".png") and "channels" not in r.options and array.ndim == 3:
            channels = array.shape[2]
            if channels == 3:  # alpha makes it a texel
                array, channels = np.concatenate([array, np.full_like(array[:, :, :1], 255)], axis=2), 4
        if value.type not in FORMATS:
            raise r.flaw(f"texels are not made of {value.type}; there are {' '.join(k for k in FORMATS if k[0] != 'b')}")
        if channels not in (1, 2, 4) or (channels > 1 and array.shape[-1] != channels):
            raise r.flaw(f"a texel has 1, 2 or 4 channels, the last axis of the array; it has channels={channels} and shape {array.shape}")
        sides = array.shape if channels == 1 else array.shape[:-1]
        if not array.size:
            raise r.flaw(f"an array of shape {array.shape} has no elements")
        if not 1 <= len(sides) <= 3:
            raise r.flaw(f"an array of shape {array.shape} with channels={channels} has {len(sides)} dimensions; there are one to three")
        return BufferValue(value.type, np.ascontiguousarray(array.reshape(*sides, channels)), value.poisoned)

    def _array(self, r: ResourceText, value: BufferValue) -> RunTexels:
        *sides, channels = value.array.shape
        layered, cube = "layered" in r.options, "cube" in r.options
        depth, height, width = (0, 0, *sides)[-3:]
        if layered and len(sides) == 2:
            depth, height = sides[0], 0
        if layered and len(sides) == 1:
            raise r.flaw("a layered array has its layers as the first axis")
        if cube and (len(sides) != 3 or sides[0] % 6 or sides[1] != sides[2]):
            raise r.flaw(f"a cube map has six square faces, or six for each cube: shape (6, n, n), not {tuple(sides)}")
        flags = SURFACE | (CUBEMAP if cube else 0) | (LAYERED if layered or (cube and depth > 6) else 0)
        shape = ArrayShape(width, height, depth, FORMATS[value.type], channels, flags)
        wanted = r.options.get("levels", "1")
        levels = shape.most_levels if wanted == "all" else r.number("levels", int, 1)
        if not 1 <= levels <= shape.most_levels:
            raise r.flaw(f"levels={wanted}; the array has 1 to {shape.most_levels}, or all")
        made = new_array(self.context.space, self.context.arena, self.context, shape, levels)
        texels = value.array.reshape(max(depth, 1), max(height, 1), width, channels)
        for level in made:
            level.contents[...] = np.ascontiguousarray(texels).view(np.uint8).reshape(level.contents.shape)
            texels = halved(texels, planes=not (layered or cube))
        return RunTexels(DeviceMipmap(shape, made) if levels > 1 else made[0], value.type, value.array.shape)

    def _memory(self, r: ResourceText, value: BufferValue) -> RunTexels:
        *sides, channels = value.array.shape
        if len(sides) > 2 or set(r.options) & {"levels", "layered", "cube"}:
            raise r.flaw("memory is a line or rows of texels, without levels and layers")
        width, height = sides[-1], sides[0] if len(sides) == 2 else 0
        row = width * channels * value.array.dtype.itemsize
        pitch, rows = (-(-row // PITCH) * PITCH if height else row), max(height, 1)
        address = self.context.allocate(pitch * rows)
        self.context.bytes_at(address, pitch * rows).reshape(rows, pitch)[:, :row] = (
            value.array.reshape(-1).view(np.uint8).reshape(rows, row)
        )
        return RunTexels(memory_at(self.context.space, address, pitch * rows, width, height, pitch), value.type, value.array.shape)


def halved(texels: Array, planes: bool) -> Array:
    """The next level of (planes, rows, columns, channels): each texel is the mean of those that it stands for; layers stay."""
    out = texels.astype(np.float64)
    for axis in (0, 1, 2) if planes else (1, 2):
        n = out.shape[axis]
        if n > 1:
            out = np.take(out, range(0, n - 1, 2), axis) / 2 + np.take(out, range(1, n, 2), axis) / 2
    return (np.floor(out + 0.5) if texels.dtype.kind in "iu" else out).astype(texels.dtype)
