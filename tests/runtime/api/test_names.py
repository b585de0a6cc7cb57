"""Names of the host's API, and signatures of cuda.core's, against cuda.bindings and cuda.core.

The real packages need no GPU.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType

import pytest

import warplab.runtime as core
import warplab.runtime.texture as texture
from tools.api_table import FACES, MISSING
from warplab.runtime.driver.tables.layout import Struct, Union

# Members of cuda.core's classes that are not here.
ABSENT = {
    "Device": "to_system_device resources",
    "Stream": "resources",
    "Event": "ipc_descriptor from_ipc_descriptor",
    "Buffer": "from_ipc_descriptor ipc_descriptor",
    "Context": "resources close",
    "DeviceMemoryResource": "from_registry register from_allocation_handle allocation_handle",
    "PinnedMemoryResource": "from_registry register from_allocation_handle allocation_handle",
    "ManagedBuffer": "*",
    "Program": "handle",
}


def real_module(name: str) -> ModuleType:
    """A real package, or the test is skipped."""
    found: ModuleType = pytest.importorskip(name, exc_type=ImportError)
    return found


@pytest.mark.parametrize("title", FACES)
def test_enums_and_structures_are_those_of_the_real_package(title: str) -> None:
    module, name = FACES[title]
    real = real_module(name)
    for n in module.ENUMS.lines:
        theirs = {k: int(v) for k, v in getattr(real, n).__members__.items()}
        assert {k: int(v) for k, v in getattr(module, n).__members__.items()} == theirs, n
    assert {n for n in dir(real) if hasattr(getattr(real, n), "__members__")} - {"_FastEnum"} <= {*module.ENUMS.lines}
    for n in module.STRUCTS.lines:
        own = getattr(module, n)
        if issubclass(own, Struct | Union) and hasattr(real, n):
            fields = {f for f in dir(getattr(real, n)) if not f.startswith("_")} - {"getPtr"}
            assert fields <= {*own._names}, n


def test_core_has_the_names_of_the_real_package() -> None:
    real = real_module("cuda.core")
    public = {n for n in dir(real) if not n.startswith("_") and not inspect.ismodule(getattr(real, n))}
    assert public - set(core.__all__) == set(MISSING)
    for name in sorted(public & set(core.__all__)):
        theirs, ours = getattr(real, name), getattr(core, name)
        if not inspect.isclass(theirs) or ABSENT.get(name) == "*":
            continue
        own = {*dir(ours), *getattr(ours, "__annotations__", {})}
        missing = {m for m in dir(theirs) if not m.startswith("_")} - own - set(ABSENT.get(name, "").split())
        if name in ("ProgramOptions", "LinkerOptions"):
            missing -= {"as_bytes"} | set(getattr(theirs, "__dataclass_fields__", {}))
        assert not missing, (name, missing)
        for member in sorted(m for m in dir(theirs) if not m.startswith("_") and callable(getattr(theirs, m)) and hasattr(ours, m)):
            try:
                wanted = list(inspect.signature(getattr(theirs, member)).parameters)
            except ValueError:
                continue
            assert list(inspect.signature(getattr(ours, member)).parameters)[: len(wanted)] == wanted, (name, member)


def test_texture_has_the_names_of_the_real_package() -> None:
    assert texture.__all__ == real_module("cuda.core.texture").__all__


@pytest.mark.parametrize("name", texture.__all__)
def test_textures_have_the_members_of_the_real_package(name: str) -> None:
    theirs, ours = getattr(real_module("cuda.core.texture"), name), getattr(texture, name)
    own = {*dir(ours), *ours.__annotations__}
    assert {m for m in dir(theirs) if not m.startswith("_")} <= own
    for member in (m for m in dir(theirs) if not m.startswith("_") and callable(getattr(theirs, m)) and hasattr(ours, m)):
        assert [*inspect.signature(getattr(ours, member)).parameters] == [*inspect.signature(getattr(theirs, member)).parameters], member
    fields = getattr(theirs, "__dataclass_fields__", {})
    assert [*fields] == [*getattr(ours, "__dataclass_fields__", {})]
    for field, one in fields.items():
        assert ours.__dataclass_fields__[field].default == one.default, field


def test_every_public_name_loads() -> None:
    for name in core.__all__:
        assert getattr(importlib.import_module("warplab.runtime"), name) is not None
