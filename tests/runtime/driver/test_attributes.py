"""Every device attribute that the header of the toolkit names has a value on every device, and cudaDeviceProp repeats them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from warplab.isa.profiles import PROFILES, profile
from warplab.runtime import cudart as rt
from warplab.runtime import driver as cu
from warplab.runtime.device import models
from warplab.runtime.device.machine import machine
from warplab.runtime.exec.handlers.cuda12 import DROPPED

ENUM, RUNTIME_ENUM = cu.CUdevice_attribute, rt.cudaDeviceAttr


def header(name: str) -> str:
    nvcc = shutil.which("nvcc")
    file = Path(nvcc).resolve().parent.parent / "include" / name if nvcc else Path()
    if not file.is_file():
        pytest.skip(f"there is no toolkit with {name}")
    return file.read_text()


def enumerators(text: str, prefix: str) -> dict[str, int]:
    """Name and number; one that is another's name has that one's number, and one without a number the next."""
    found: dict[str, int] = {}
    number = -1
    for name, value in re.findall(rf"^\s+({prefix}\w+)(?:\s*=\s*(\w+))?\s*,?\s*(?:/\*.*)?$", text, re.M):
        number = found[name] = number + 1 if not value else found[value] if value in found else int(value, 0)
    return found


@pytest.mark.parametrize("device", PROFILES)
def test_each_device_has_every_attribute(device: str) -> None:
    known = models.attributes(profile(device))
    assert {a.name.removeprefix("CU_DEVICE_ATTRIBUTE_") for a in ENUM} - {"MAX"} <= set(known)
    assert all(f"CU_DEVICE_ATTRIBUTE_{name}" in ENUM.__members__ for name in known)
    assert all(type(v) is int and -1 <= v < 1 << 31 for v in known.values())
    positive = "MAX_THREADS_PER_BLOCK MULTIPROCESSOR_COUNT CLOCK_RATE MEMORY_CLOCK_RATE GLOBAL_MEMORY_BUS_WIDTH WARP_SIZE"
    assert all(known[name] > 0 for name in positive.split())
    block, most, whole = (known[f"MAX_SHARED_MEMORY_PER_{what}"] for what in ("BLOCK", "BLOCK_OPTIN", "MULTIPROCESSOR"))
    assert block <= most <= whole
    assert known["MAX_PERSISTING_L2_CACHE_SIZE"] <= known["L2_CACHE_SIZE"]


def test_the_header_of_the_driver() -> None:
    named = enumerators(header("cuda.h"), "CU_DEVICE_ATTRIBUTE_")
    last = named.pop("CU_DEVICE_ATTRIBUTE_MAX")
    cu.cuInit(0)
    assert len(set(named.values())) > 130
    for name, number in named.items():
        assert int(ENUM[name]) == number
        assert cu.cuDeviceGetAttribute(ENUM[name], 0)[0] == 0, name
    for number in {0, *range(1, last)} - set(named.values()) | {1 << 20, -1}:
        if number not in set(ENUM):
            assert cu.cuDeviceGetAttribute(number, 0)[0] == cu.CUresult.CUDA_ERROR_INVALID_VALUE, number


def test_the_header_of_the_runtime_says_the_same_as_the_driver() -> None:
    named = enumerators(header("driver_types.h"), "cudaDevAttr")
    for name, number in named.items():
        if name == "cudaDevAttrMax":
            continue
        assert int(RUNTIME_ENUM[name]) == number
        assert rt.cudaDeviceGetAttribute(RUNTIME_ENUM[name], 0) == cu.cuDeviceGetAttribute(ENUM(number), 0), name


def test_the_properties_repeat_the_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another number for each attribute, each field has one of the numbers, and no two fields have the same."""
    d = machine().devices[0]
    monkeypatch.setitem(d.__dict__, "attributes", {name: 1000 + i for i, name in enumerate(d.attributes)})
    error, found = rt.cudaGetDeviceProperties(0)
    assert error == 0
    others = {"name", "uuid", "luid", "luidDeviceNodeMask", "totalGlobalMem", "major", "minor", "reserved"}
    values: list[int] = []
    for field, *_ in rt.cudaDeviceProp.c_type._fields_:
        if field not in others:
            value = getattr(found, field)
            values += value if isinstance(value, list) else [value]
    assert min(values) >= 1000 and len(set(values)) == len(values)


def test_the_fields_that_only_cuda_12_has_are_attributes() -> None:
    for _, field, attribute in DROPPED:
        assert rt.cudaDeviceGetAttribute(RUNTIME_ENUM[f"cudaDevAttr{attribute}"], 0)[0] == 0, field


def test_the_runtime_tells_what_only_the_driver_names() -> None:
    """An H200's does."""
    for name, value in (("VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED", 1), ("GENERIC_COMPRESSION_SUPPORTED", 0), ("NUMA_CONFIG", 0)):
        assert rt.cudaDeviceGetAttribute(int(ENUM[f"CU_DEVICE_ATTRIBUTE_{name}"]), 0) == (0, value), name
    assert rt.cudaDeviceGetAttribute(9999, 0)[0] == 1


def test_where_models_differ() -> None:
    known = {device: models.attributes(profile(device)) for device in ("sm_10", "sm_72", "sm_80", "sm_86", "sm_87", "sm_90")}
    assert [a["CONCURRENT_MANAGED_ACCESS"] for a in known.values()] == [0, 0, 1, 1, 0, 1]
    assert [a["MAX_PERSISTING_L2_CACHE_SIZE"] for a in known.values()] == [0, 0, 31457280, 4325376, 2883584, 39321600]
    assert (known["sm_10"]["CAN_MAP_HOST_MEMORY"], known["sm_86"]["CAN_MAP_HOST_MEMORY"]) == (0, 1)
