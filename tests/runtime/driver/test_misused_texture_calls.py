"""Every call about arrays, textures, surfaces and references with arguments that mean nothing: a code comes back, and nothing is lost."""

import ctypes
import inspect
import itertools
import random
from typing import Any

import numpy as np
import pytest

from ..conftest import Host, driver, model_only
from .test_textures import VARIABLES, descriptor, fill, of_array

cu: Any = driver
pytestmark = model_only
CALLS = sorted(
    n
    for n in dir(cu)
    if n.startswith(("cuArray", "cuMipmapped", "cuTex", "cuSurf", "cuModuleGetTex", "cuModuleGetSurf", "cuParamSetTexRef"))
)
MOST = 150  # of the combinations of one call's arguments that are tried
NUMBERS = 0, -1, 3, 2**31, 2**64


def garbage(kind: Any) -> Any:
    """A structure whose bytes are all ones."""
    made = kind()
    ctypes.memset(made.getPtr(), 0xFF, ctypes.sizeof(made.c_type))
    return made


class Setup:
    """One of each thing, alive and dead, by the parameters that name such things."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.array, dead_array = (host("cuArray3DCreate", descriptor(8, 4, flags=2)) for _ in range(2))
        self.mipmap, dead_mipmap = (host("cuMipmappedArrayCreate", descriptor(16, 16), 3) for _ in range(2))
        dead_level = host("cuMipmappedArrayGetLevel", dead_mipmap, 1)
        host("cuArrayDestroy", dead_array)
        host("cuMipmappedArrayDestroy", dead_mipmap)
        resource, how = of_array(self.array), cu.CUDA_TEXTURE_DESC()
        self.texture, dead_texture = (host("cuTexObjectCreate", resource, how, None) for _ in range(2))
        self.surface = host("cuSurfObjectCreate", resource)
        host("cuTexObjectDestroy", dead_texture)
        self.reference, dead_reference = host("cuTexRefCreate"), host("cuTexRefCreate")
        host("cuTexRefDestroy", dead_reference)
        module = host.load(VARIABLES)
        self.living = [self.array, self.mipmap, self.texture, self.surface, self.reference]
        arrays = [self.array, dead_array, dead_level, self.mipmap, self.texture, None, 7]
        references = [
            self.reference,
            dead_reference,
            host("cuModuleGetTexRef", module, b"picture"),
            host("cuModuleGetSurfRef", module, b"target"),
        ]
        freed = int(host("cuMemAlloc", 4096))
        host("cuMemFree", freed)
        self.values: dict[str, list[Any]] = {
            "array": arrays, "hArray": arrays, "hMipmappedArray": [*arrays, dead_mipmap], "mipmap": [*arrays, dead_mipmap],
            "texObject": [self.texture, dead_texture, self.surface, None, 77, 1 << 61], "hTexRef": [*references, None, 9],
            "pResDesc": [None, cu.CUDA_RESOURCE_DESC(), garbage(cu.CUDA_RESOURCE_DESC), of_array(dead_array), of_array(0), resource],
            "pTexDesc": [None, how, garbage(cu.CUDA_TEXTURE_DESC)], "pResViewDesc": [cu.CUDA_RESOURCE_VIEW_DESC(), garbage(cu.CUDA_RESOURCE_VIEW_DESC)],
            "desc": [None, cu.CUDA_ARRAY_DESCRIPTOR(), garbage(cu.CUDA_ARRAY_DESCRIPTOR)], "hmod": [module, None, 5], "name": [b"", b"picture", None],
            "pAllocateArray": [None, cu.CUDA_ARRAY3D_DESCRIPTOR(), garbage(cu.CUDA_ARRAY3D_DESCRIPTOR), descriptor(0), descriptor(4, flags=1)],
            "hfunc": [host("cuModuleGetFunction", module, b"k"), None], "dptr": [freed, None, 4, 2**63],
        }  # fmt: skip
        for same, name in (("hSurfRef", "hTexRef"), ("surfObject", "texObject"), ("pMipmappedArrayDesc", "pAllocateArray")):
            self.values[same] = self.values[name]


@pytest.mark.parametrize("call", CALLS)
def test_a_code_comes_back(host: Host, call: str) -> None:
    setup = Setup(host)
    before = host("cuMemGetInfo")
    names = list(inspect.signature(getattr(cu, call)).parameters)
    every = list(itertools.product(*(setup.values.get(name, NUMBERS) for name in names)))
    for arguments in random.Random(1).sample(every, min(MOST, len(every))):
        if "Destroy" in call and any(a is b for a in arguments for b in setup.living):
            continue
        code, *results = getattr(cu, call)(*arguments)
        assert isinstance(code, cu.CUresult)
        if code and results:
            assert results == [None] * len(results)
    assert host("cuMemGetInfo") == before
    contents = np.arange(32, dtype=np.float32).reshape(1, 4, 8)  # and what lives still works
    fill(host, setup.array, contents)
    fill(host, setup.array, back := np.zeros_like(contents), back=True)
    assert (back == contents).all()


def box(memory: Any, **places: int) -> Any:
    c = cu.CUDA_MEMCPY3D()
    c.srcMemoryType = c.dstMemoryType = memory
    c.srcPitch = c.dstPitch = 16
    c.srcHeight = c.dstHeight = 4
    c.WidthInBytes, c.Height, c.Depth = 16, 4, 1
    for name, value in places.items():
        setattr(c, name, value)
    return c


def test_a_box_that_leads_out_of_its_memory_is_refused(host: Host) -> None:
    kinds = cu.CUmemorytype
    at = int(host("cuMemAlloc", 4096))
    for memory in (kinds.CU_MEMORYTYPE_DEVICE, kinds.CU_MEMORYTYPE_UNIFIED):
        inside = {"srcDevice": at, "dstDevice": at + 1024}
        assert host.code("cuMemcpy3D", box(memory, **inside)) == "SUCCESS"
        for place in ({"srcZ": 1 << 30}, {"dstY": 1 << 40}, {"srcXInBytes": 1 << 40, "srcPitch": 1 << 50}, {"dstZ": 1 << 62}):
            assert host.code("cuMemcpy3D", box(memory, **inside, **place)) == "INVALID_VALUE"
    near = np.zeros(64, np.uint8)
    c = box(kinds.CU_MEMORYTYPE_DEVICE, dstDevice=at, srcHost=near.ctypes.data, srcZ=1 << 60)
    c.srcMemoryType = kinds.CU_MEMORYTYPE_HOST
    assert host.code("cuMemcpy3D", c) == "INVALID_VALUE"
