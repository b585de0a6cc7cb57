"""Textures and surfaces on a device: images of arrays and of memory, samplers, and the handles that stand for what was made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from warplab.interpreter.memory.arena import Allocation
from warplab.isa.textures.resources import BORDER, CLAMP, LINEAR, MIRROR, POINT, WRAP, Image, Sampler, Surface, TexelFormat, Texels, Texture

from ...errors import invalid
from .allocations import AddressSpace
from .arrays import CHANNELS, CUBEMAP, LAYERED, DeviceArray, DeviceMipmap
from .host import Bytes

Kind: TypeAlias = type[Texture] | type[Surface]

ADDRESS_MODES = (WRAP, CLAMP, MIRROR, BORDER)  # by CUaddress_mode's numbers
FILTERS = (POINT, LINEAR)  # by CUfilter_mode's
INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 1, 2, 16, 32, 64  # CU_TRSF_ flags


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """How a texture is read, in the driver's numbers."""

    address: tuple[int, int, int] = (0, 0, 0)
    filter: int = 0
    mip_filter: int = 0
    flags: int = 0
    bias: float = 0.0
    clamp: tuple[float, float] = (0.0, 0.0)
    anisotropy: int = 0
    border: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def sampler(self) -> Sampler:
        """The sampler that they describe."""
        x, y, z = (choice(ADDRESS_MODES, mode, "address mode") for mode in self.address)
        if self.flags & ~(INTEGER | NORMALIZED | SRGB | NO_TRILINEAR | SEAMLESS):
            raise invalid(f"texture flags {self.flags:#x}")
        return Sampler(
            (x, y, z), choice(FILTERS, self.filter, "filter mode"), choice(FILTERS, self.mip_filter, "filter mode between levels"),
            normalized=bool(self.flags & NORMALIZED), integer=bool(self.flags & INTEGER), srgb=bool(self.flags & SRGB),
            seamless=bool(self.flags & SEAMLESS), bias=self.bias, clamp=self.clamp, anisotropy=self.anisotropy, border=self.border,
            blends_evenly=bool(self.flags & NO_TRILINEAR),
        )  # fmt: skip


def choice(words: Sequence[str], number: int, what: str) -> str:
    """The word that a number of the driver means."""
    if not 0 <= number < len(words):
        raise invalid(f"{number} is no {what}: 0 to {len(words) - 1} are {', '.join(words)}")
    return words[number]


def texel_format(format: int, channels: int) -> TexelFormat:
    """The format that the driver's numbers mean."""
    if format not in CHANNELS or channels not in (1, 2, 4):
        raise invalid(f"{channels} channels of format {format}; there are 1, 2 or 4 channels")
    return TexelFormat(*CHANNELS[format], channels)


# ---------------------------------------------------------------- what is read


@dataclass(frozen=True, slots=True)
class ResourceView:
    """A part of an array, or its texels seen as another format."""

    texel: TexelFormat
    levels: tuple[int, int]  # the first and the last
    layers: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TexelMemory:
    """Device memory seen as texels: a line, or rows some bytes apart."""

    bytes: Bytes
    allocation: Allocation
    width: int = 0  # of rows
    height: int = 0  # 0: a line
    pitch: int = 0

    def gone(self) -> str:
        """Why the memory can't be used any more; "" while it can."""
        a = self.allocation
        return f"the {a.size}-byte {a.what} at {a.start:#x}, which the texture reads, was freed" if a.freed else ""

    def image(self, texel: TexelFormat) -> Image:
        """Its texels."""
        if not self.height:
            count = self.bytes.size // texel.bytes
            line = self.bytes[: count * texel.bytes].view(texel.dtype).reshape(1, 1, count, texel.channels)
            return Image(texel, count, 0, 0, (line,), linear=True, gone=self.gone)
        shape = 1, self.height, self.width, texel.channels
        strides = 0, self.pitch, texel.bytes, texel.dtype.itemsize
        rows: Texels = np.ndarray(shape, texel.dtype, self.bytes, 0, strides)
        return Image(texel, self.width, self.height, 0, (rows,), pitched=True, gone=self.gone)


def memory_at(space: AddressSpace, address: int, size: int, width: int = 0, height: int = 0, pitch: int = 0) -> TexelMemory:
    """The memory at an address, as a texture sees it."""
    found = space.find(address)
    if not address or found is None:
        raise invalid(f"{address:#x} is not device memory: {space.explain(address)}")
    return TexelMemory(space.device_bytes(address, size), found[1], width, height, pitch)


def array_image(array: DeviceArray | DeviceMipmap, view: ResourceView | None = None) -> Image:
    """The texels of an array, or of a part of it."""
    levels = array.levels if isinstance(array, DeviceMipmap) else (array,)
    layered, cube = bool(array.shape.flags & LAYERED), bool(array.shape.flags & CUBEMAP)
    first, last = view.levels if view is not None else (0, len(levels) - 1)
    levels = levels[first : last + 1]
    texel = view.texel if view is not None else array.shape.texel
    texels = [_texels(a, texel) for a in levels]
    s = levels[0].shape
    depth = s.depth
    if view is not None and (layered or cube) and view.layers[1] > 0:
        texels = [t[view.layers[0] : view.layers[1] + 1] for t in texels]
        depth = view.layers[1] + 1 - view.layers[0]
    return Image(texel, s.width, s.height, depth, tuple(texels), layered, cube, resident=levels[0].resident, gone=array.gone)


def _texels(a: DeviceArray, texel: TexelFormat) -> Texels:
    """A level's texels: its own bytes as (slices, rows, columns, channels)."""
    slices, rows, _ = a.shape.rows
    shape = slices, rows, a.shape.width, texel.channels
    if not a.resident:
        return np.broadcast_to(np.zeros(1, texel.dtype), shape)
    return a.contents.view(texel.dtype).reshape(shape)


# ---------------------------------------------------------------- references


@dataclass(frozen=True, slots=True)
class TextureSettings:
    """What is bound to a texture reference, and how it is read."""

    of: DeviceArray | DeviceMipmap | TexelMemory | None = None
    address: int = 0  # of memory
    format: int = 32  # of memory; an array knows its own
    channels: int = 1
    sampling: SamplerSettings = SamplerSettings()

    def texture(self) -> Texture | None:
        """The texture that a kernel reads."""
        if self.of is None:
            return None
        image = self.of.image(texel_format(self.format, self.channels)) if isinstance(self.of, TexelMemory) else array_image(self.of)
        return Texture(image, self.sampling.sampler())


@dataclass(eq=False)
class TextureReference:
    """A .texref variable of a module, or a reference that the host made; what is set counts from the next launch on."""

    name: str = ""  # of the variable
    settings: TextureSettings = field(default_factory=TextureSettings)
    alive: bool = True
    _made: tuple[TextureSettings, Texture | None] | None = None

    @property
    def bound(self) -> Texture | None:
        """The texture that a kernel reads."""
        if self._made is None or self._made[0] is not self.settings:
            self._made = self.settings, self.settings.texture()
        return self._made[1]

    def sample(self, **changes: object) -> None:
        """Changes how it is read."""
        self.settings = replace(self.settings, sampling=replace(self.settings.sampling, **changes))  # type: ignore[arg-type]


@dataclass(eq=False)
class SurfaceReference:
    """A .surfref variable of a module."""

    name: str
    array: DeviceArray | None = None
    alive: bool = True
    bound: Surface | None = None

    def bind(self, array: DeviceArray) -> None:
        """From the next launch on it is this array."""
        self.array, self.bound = array, Surface(array_image(array))


# ---------------------------------------------------------------- handles


class ResourceTable:
    """What the handles of a context stand for: small numbers for objects, high ones for variables of modules.

    The number of an object that was destroyed is not given again, so that its use is found.
    """

    def __init__(self) -> None:
        self.objects: dict[int, Texture | Surface] = {}
        self._described: dict[int, object] = {}  # what the host made an object from
        self._destroyed: dict[int, str] = {}
        self._variables: dict[int, tuple[str, str]] = {}  # (type, name) of the variable at a handle
        self.references: dict[int, TextureReference | SurfaceReference] = {}

    def add(self, made: Texture | Surface, described: object, handle: int = 0) -> int:
        """A new object's handle: the next one, or one that is wanted."""
        handle = handle or len(self.objects) + len(self._destroyed) + 1
        if handle in self.objects:
            raise invalid(f"another object has the handle {handle}")
        self.objects[handle], self._described[handle] = made, described
        return handle

    def described(self, handle: int, kind: Kind) -> object:
        """What an object was made from."""
        self._check(handle, kind)
        return self._described[handle]

    def destroy(self, handle: int, kind: Kind) -> None:
        """Ends an object."""
        self._check(handle, kind)
        del self.objects[handle], self._described[handle]
        self._destroyed[handle] = kind.__name__.lower()

    def _check(self, handle: int, kind: Kind) -> None:
        found = self.objects.get(handle)
        if not isinstance(found, kind):
            other = "" if found is None else f"{handle} is a {type(found).__name__.lower()} object"
            raise invalid(other or self.explain(handle))

    def declare(self, variables: Mapping[int, tuple[str, str]]) -> None:
        """The variables of a module that was loaded."""
        self._variables |= variables

    def undeclare(self, variables: Mapping[int, tuple[str, str]]) -> None:
        """The module was unloaded, and what was bound to its variables is not any more."""
        for handle in variables:
            self._variables.pop(handle, None)
            reference = self.references.pop(handle, None)
            if reference is not None:
                reference.alive = False

    # ------------------------------------------------------------ what a launch asks

    def get(self, handle: int) -> Texture | Surface | None:
        """What a handle stands for."""
        reference = self.references.get(handle)
        return self.objects.get(handle) if reference is None else reference.bound

    def kind(self, handle: int) -> str:
        """The type of the variable that a handle stands for."""
        return self._variables.get(handle, ("", ""))[0]

    def explain(self, handle: int) -> str:
        """Why a handle stands for nothing."""
        if handle in self._destroyed:
            return f"{self._destroyed[handle]} object {handle} was destroyed"
        if handle in self._variables:
            return f"nothing is bound to the variable {self._variables[handle][1]}"
        return f"no texture or surface has the handle {handle:#x}"
