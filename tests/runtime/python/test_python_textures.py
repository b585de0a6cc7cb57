"""Arrays, textures and surfaces in cuda.core's manner."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from warplab.isa.textures.resources import Surface, Texture
from warplab.runtime import CUDAError, Device, to_opaque, to_surface, to_texture
from warplab.runtime.driver.api import STATE
from warplab.runtime.python.launcher import _raw
from warplab.runtime.texture import MipmappedArray, OpaqueArray, ResourceDescriptor, TextureObjectOptions

from ..conftest import Host


@pytest.fixture
def device(host: Host) -> Iterator[Device]:
    """A fresh device."""
    d = Device(0)
    d.set_current()
    yield d


def test_an_array_holds_what_is_copied_to_it(device: Device) -> None:
    data = np.arange(5 * 7 * 2, dtype=np.uint16).reshape(7, 5, 2)
    with device.create_opaque_array({"shape": (5, 7), "format": "uint16", "num_channels": 2}) as a:
        assert (a.shape, a.format, a.num_channels, a.element_bytes, a.size_bytes) == ((5, 7), "uint16", 2, 4, 140)
        a.copy_from(data, stream=device.default_stream)
        assert np.array_equal(a.copy_to_host(), data)
        buffer = device.allocate(140)
        assert a.copy_to(buffer, stream=device.default_stream) is buffer
        a.copy_from(bytes(140), stream=device.default_stream)
        assert not a.copy_to_host().any()
        a.copy_from(buffer, stream=device.default_stream)
        assert np.array_equal(a.copy_to_host(), data)
        for wrong in (data[:6], data[:, ::2], device.allocate(100)):
            with pytest.raises(ValueError):
                a.copy_from(wrong, stream=device.default_stream)
        read_only = data.copy()
        read_only.flags.writeable = False
        with pytest.raises(ValueError, match="writable"):
            a.copy_to(read_only, stream=device.default_stream)
    assert a.is_closed and "closed" in repr(a)
    with pytest.raises(RuntimeError):
        a.copy_to_host()


@pytest.mark.parametrize(
    "options", [{"shape": ()}, {"shape": (4, 0)}, {"shape": (1, 2, 3, 4)}, {"format": "float64"}, {"format": "red"}, {"num_channels": 3}]
)
def test_options_that_are_refused(device: Device, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        device.create_opaque_array({"shape": (4, 4), "format": np.float32, "num_channels": 1} | options)
    with pytest.raises(ValueError):
        device.create_mipmapped_array({"shape": (4, 4), "format": np.float32, "num_channels": 1, "num_levels": 1} | options)


def test_levels_end_with_their_array(device: Device) -> None:
    m = device.create_mipmapped_array(
        {"shape": (8, 4), "format": "float32", "num_channels": 1, "num_levels": 3, "is_surface_load_store": True}
    )
    level = m.get_level(1)
    assert level.shape == (4, 2) and isinstance(level, OpaqueArray) and isinstance(m, MipmappedArray)
    level.copy_from(np.ones((2, 4), np.float32), stream=device.default_stream)
    level.close()
    assert m.get_level(1).copy_to_host().all()
    with pytest.raises(ValueError, match="there are 3"):
        m.get_level(3)
    t = device.create_texture_object(
        resource=ResourceDescriptor.from_mipmapped_array(m), options={"normalized_coords": True, "max_mipmap_level_clamp": 2.0}
    )
    found = STATE.stack[-1].resources.get(t.handle)
    assert isinstance(found, Texture) and len(found.image.levels) == 3 and found.sampler.clamp == (0.0, 2.0)
    s = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(m.get_level(2)))
    assert isinstance(STATE.stack[-1].resources.get(s.handle), Surface)
    m.close()
    assert found.image.gone() == "the array was destroyed"


def test_textures_of_numpy_arrays_are_arguments(device: Device) -> None:
    data = np.arange(48, dtype=np.float32).reshape(3, 4, 4)
    with to_texture(data, 4, filter_mode="linear", address_mode=("wrap", "mirror"), border_color=(1.0, 0.0, 0.0, 0.0)) as t:
        found = STATE.stack[-1].resources.get(t.handle)
        assert isinstance(found, Texture)
        assert (found.image.width, found.image.height, found.image.depth, found.image.format.channels) == (4, 3, 0, 4)
        assert found.sampler.address == ("wrap", "mirror", "mirror") and found.sampler.filter == "linear"
        assert _raw(t) == (t.handle.to_bytes(8, "little"), "a TextureObject")
    with pytest.raises(ValueError, match="closed"):
        _raw(t)
    volume = to_opaque(data)
    assert volume.shape == (4, 4, 3)
    surface = to_surface(np.zeros((4, 4), np.int32))
    assert not surface.resource.source.copy_to_host().any()
    with pytest.raises(ValueError, match="surface"):
        device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(volume))
    with pytest.raises(ValueError, match="channels"):
        to_texture(np.zeros((3, 5), np.float32), 4)
    volume.close()
    with pytest.raises(RuntimeError, match="closed"):
        to_texture(volume)


def test_memory_as_a_texture(device: Device) -> None:
    b = device.allocate(1024)
    line = ResourceDescriptor.from_linear(b, format="float32", num_channels=1, size_bytes=400)
    t = device.create_texture_object(resource=line)
    found = STATE.stack[-1].resources.get(t.handle)
    assert isinstance(found, Texture) and found.image.linear and found.image.width == 100
    rows = ResourceDescriptor.from_pitch2d(b, format="uint8", num_channels=4, width=15, height=4, pitch_bytes=64)
    assert device.create_texture_object(resource=rows).options == TextureObjectOptions()
    with pytest.raises(ValueError):
        ResourceDescriptor.from_linear(b, format="float32", num_channels=1, size_bytes=2000)
    with pytest.raises(ValueError):
        ResourceDescriptor.from_pitch2d(b, format="uint8", num_channels=4, width=17, height=4, pitch_bytes=64)
    with pytest.raises(CUDAError, match="multiple of 32"):
        device.create_texture_object(
            resource=ResourceDescriptor.from_pitch2d(b, format="uint8", num_channels=4, width=15, height=4, pitch_bytes=65)
        )
    with pytest.raises(TypeError):
        device.create_texture_object(resource=b)  # type: ignore[arg-type]
    b.close()
    with pytest.raises(RuntimeError, match="closed"):
        device.create_texture_object(resource=line)


@pytest.mark.parametrize(
    "options", [{"address_mode": "tile"}, {"address_mode": ()}, {"filter_mode": "cubic"}, {"read_mode": "raw"}, {"border_color": (1.0,)}]
)
def test_sampling_that_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        TextureObjectOptions(**options)
