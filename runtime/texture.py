"""The names of cuda.core.texture: arrays for textures and surfaces, and the objects that kernels take."""

from __future__ import annotations

from .python.opaque import MipmappedArray, MipmappedArrayOptions, OpaqueArray, OpaqueArrayOptions
from .python.textures import ResourceDescriptor, SurfaceObject, TextureObject, TextureObjectOptions

__all__ = [
    "MipmappedArray",
    "MipmappedArrayOptions",
    "OpaqueArray",
    "OpaqueArrayOptions",
    "ResourceDescriptor",
    "SurfaceObject",
    "TextureObject",
    "TextureObjectOptions",
]
