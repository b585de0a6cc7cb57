"""Physical memory, address ranges, mappings and multicast objects, through the driver's calls and in kernels of one and two devices."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from warplab.runtime.device.machine import Machine, machine
from warplab.runtime.device.memory.virtual_memory import VIRTUAL

from ..conftest import POINTER, Host, forget_contexts, model_only
from ..conftest import driver as cu

pytestmark = model_only  # what a driver does depends on how many GPUs there are, and how they are connected

G = 2 << 20
DEVICE = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
BOTH, READ, NONE = (cu.CUmemAccess_flags(n) for n in (3, 1, 0))
HEAD = ".version 8.1\n.target sm_90\n.address_size 64\n"
# d[i] of the block's thread i: stored, loaded, or by multimem.
TEXT = (
    HEAD
    + """
.visible .entry put(.param .u64 d) { .reg .b64 %d, %i; .reg .b32 %r;
    ld.param.u64 %d, [d]; mov.u32 %r, %tid.x; mul.wide.u32 %i, %r, 4; add.u64 %d, %d, %i; st.global.u32 [%d], %r; ret; }
.visible .entry twice(.param .u64 d, .param .u64 e) { .reg .b64 %d, %e, %i; .reg .b32 %r, %x;
    ld.param.u64 %d, [d]; ld.param.u64 %e, [e]; mov.u32 %r, %tid.x; mul.wide.u32 %i, %r, 4; add.u64 %d, %d, %i; add.u64 %e, %e, %i;
    ld.global.u32 %x, [%d]; add.u32 %x, %x, %x; st.global.u32 [%e], %x; ret; }
.visible .entry all(.param .u64 m, .param .u64 e) { .reg .b64 %d, %e, %i; .reg .b32 %r, %x;
    ld.param.u64 %d, [m]; ld.param.u64 %e, [e]; mov.u32 %r, %tid.x; mul.wide.u32 %i, %r, 4; add.u64 %d, %d, %i; add.u64 %e, %e, %i;
    multimem.ld_reduce.relaxed.sys.global.add.u32 %x, [%d]; st.global.u32 [%e], %x;
    multimem.red.relaxed.sys.global.add.u32 [%d], 1000; ret; }
.visible .entry fill(.param .u64 m) { .reg .b64 %d, %i; .reg .b32 %r;
    ld.param.u64 %d, [m]; mov.u32 %r, %tid.x; mul.wide.u32 %i, %r, 4; add.u64 %d, %d, %i; multimem.st.u32 [%d], %r; ret; }
"""
)


def second() -> int:
    """The other device of the same model, which need not be the next one."""
    found = next((d for d in machine().devices[1:] if d.architecture == "sm_90"), None) or machine().add("sm_90")
    return found.ordinal


@pytest.fixture(name="other")
def _other(host: Host) -> Iterator[int]:
    """A second device; what the test has mapped is gone after it."""
    yield second()
    for m in list(VIRTUAL.mappings.values()):
        VIRTUAL.unmap(m.start, m.size)
    VIRTUAL.reserved.clear()
    forget_contexts()


def on(host: Host, ordinal: int) -> Any:
    """Makes a device's primary context current."""
    c = host("cuDevicePrimaryCtxRetain", ordinal)
    host("cuCtxSetCurrent", c)
    return c


def properties(ordinal: int) -> Any:
    p = cu.CUmemAllocationProp()
    p.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.location.type, p.location.id = DEVICE, ordinal
    return p


def access(ordinal: int, flags: Any = BOTH) -> Any:
    d = cu.CUmemAccessDesc()
    d.location.type, d.location.id, d.flags = DEVICE, ordinal, flags
    return d


def multicast(count: int, size: int = G) -> Any:
    p = cu.CUmulticastObjectProp()
    p.numDevices, p.size = count, size
    return p


def mapped(host: Host, handle: Any, size: int, *who: int) -> int:
    """An address of all of a handle's memory."""
    at = int(host("cuMemAddressReserve", size, 0, 0, 0))
    host("cuMemMap", at, size, 0, handle, 0)
    host("cuMemSetAccess", at, size, [access(o) for o in who], len(who))
    return at


def launch(host: Host, name: str, *addresses: int, block: int = 32) -> str:
    values = (addresses, (POINTER,) * len(addresses))
    f = host("cuModuleGetFunction", host("cuModuleLoadData", TEXT.encode()), name.encode())
    host("cuLaunchKernel", f, 1, 1, 1, block, 1, 1, 0, 0, values, 0)
    return host.code("cuCtxSynchronize")


def words(host: Host, at: int, count: int = 32) -> list[int]:
    out = np.zeros(count, np.uint32)
    host("cuMemcpyDtoH", out, at, out.nbytes)
    return out.tolist()


def says(what: str) -> bool:
    from warplab.runtime import last_fault

    return what in str(last_fault())


# ---------------------------------------------------------------- mappings


def test_two_addresses_of_the_same_memory(host: Host, other: int) -> None:
    on(host, 0)
    free, _ = host("cuMemGetInfo")
    handle = host("cuMemCreate", G, properties(0), 0)
    assert host("cuMemGetInfo")[0] == free - G
    a, b = mapped(host, handle, G, 0), mapped(host, handle, G, 0)
    assert a != b and a % G == 0
    assert launch(host, "put", a) == "SUCCESS" and launch(host, "twice", b, a) == "SUCCESS"
    assert words(host, b) == [2 * i for i in range(32)]
    assert host("cuMemRetainAllocationHandle", a + 100) == handle
    host("cuMemRelease", handle)
    assert host("cuMemGetAllocationPropertiesFromHandle", handle).location.id == 0
    host("cuMemRelease", handle)
    assert host.code("cuMemRelease", handle) == "INVALID_VALUE"
    assert words(host, a)[1] == 2  # mappings keep the memory
    host("cuMemUnmap", a, G), host("cuMemUnmap", b, G)
    host("cuMemAddressFree", a, G), host("cuMemAddressFree", b, G)
    assert host("cuMemGetInfo")[0] == free


def test_a_range_of_several_mappings_is_copied_and_set_as_one(host: Host, other: int) -> None:
    on(host, 0)
    at = int(host("cuMemAddressReserve", 4 * G, 0, 0, 0))
    for i in (1, 0, 2):  # the memory does not lie in the order of the addresses
        host("cuMemMap", at + i * G, G, 0, host("cuMemCreate", G, properties(0), 0), 0)
    host("cuMemSetAccess", at, 3 * G, [access(0)], 1)
    data = np.arange(3 * G // 4, dtype=np.uint32)
    host("cuMemcpyHtoD", at, data, data.nbytes)
    back = np.zeros_like(data)
    host("cuMemcpyDtoH", back, at, data.nbytes)
    assert (back == data).all()
    assert words(host, at + G - 64) == list(range(G // 4 - 16, G // 4 + 16))
    host("cuMemsetD32", at + G - 8, 7, 4)
    assert words(host, at + G - 12, 6) == [G // 4 - 3, 7, 7, 7, 7, G // 4 + 2]
    assert launch(host, "twice", at + G, at + 2 * G) == "SUCCESS"
    assert words(host, at + 2 * G)[:3] == [14, 14, G // 2 + 4]
    assert host.code("cuMemcpyDtoH", back, at + 3 * G - 4, 8) == "INVALID_VALUE"  # the fourth part is not mapped
    assert int(host("cuMemAddressReserve", G, 0, at + 8 * G, 0)) == at + 8 * G
    assert host.code("cuMemUnmap", at, G + G // 2) == "INVALID_VALUE"
    host("cuMemUnmap", at, 2 * G)
    assert host.code("cuMemAddressFree", at, 4 * G) == "INVALID_VALUE"  # a part is mapped yet
    host("cuMemUnmap", at + 2 * G, G)
    host("cuMemAddressFree", at, 4 * G)


def test_what_is_known_of_a_mapping(host: Host, other: int) -> None:
    on(host, 0)
    at = mapped(host, host("cuMemCreate", 2 * G, properties(second()), 0), 2 * G, 0)
    attribute = cu.CUpointer_attribute
    assert host("cuPointerGetAttribute", attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at + 8) == other
    assert host("cuPointerGetAttribute", attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == 2
    assert not host("cuPointerGetAttribute", attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED, at)
    assert int(host("cuPointerGetAttribute", attribute.CU_POINTER_ATTRIBUTE_CONTEXT, at)) == 0
    assert tuple(map(int, host("cuMemGetAddressRange", at + G))) == (at, 2 * G)
    assert host("cuMemGetAccess", access(0).location, at) == 3 and host("cuMemGetAccess", access(second()).location, at) == 0
    assert host.code("cuMemFree", at) == "INVALID_VALUE"


def test_devices_without_access_fault(host: Host, other: int) -> None:
    on(host, 0)
    handle = host("cuMemCreate", G, properties(second()), 0)
    at = mapped(host, handle, G, other)
    assert launch(host, "put", at) == "ILLEGAL_ADDRESS" and says("device 0 has no access there: cuMemSetAccess gives it")
    host("cuDevicePrimaryCtxReset", 0)
    on(host, 0)
    host("cuMemSetAccess", at, G, [access(0, READ)], 1)
    out = int(host("cuMemAlloc", 128))
    assert launch(host, "twice", at, out) == "SUCCESS"
    assert launch(host, "put", at) == "ILLEGAL_ADDRESS" and says("read-only mapping")
    host("cuDevicePrimaryCtxReset", 0)
    on(host, 0)
    host("cuMemSetAccess", at, G, [access(0)], 1)
    assert launch(host, "put", at) == "SUCCESS" and words(host, at)[5] == 5
    host("cuMemUnmap", at, G)
    assert launch(host, "put", at) == "ILLEGAL_ADDRESS" and says("nothing is mapped there")
    host("cuDevicePrimaryCtxReset", 0)


def test_lanes_reach_several_allocations_of_another_device(other: int) -> None:
    arena = machine().device(other).arena
    a, b = arena.allocate(256), arena.allocate(256)
    at = np.array([a.start, b.start, b.end], np.uint64)
    assert arena.holds_each(at, 4, True).tolist() == [True, True, False]


WRONG: list[tuple[str, Any, str]] = [
    ("a size that is not a multiple", lambda h: ("cuMemCreate", G + 1, properties(0), 0), "INVALID_VALUE"),
    ("no size", lambda h: ("cuMemCreate", 0, properties(0), 0), "INVALID_VALUE"),
    ("no such device", lambda h: ("cuMemCreate", G, properties(99), 0), "INVALID_DEVICE"),
    ("no properties", lambda h: ("cuMemCreate", G, None, 0), "INVALID_VALUE"),
    ("a type that is not set", lambda h: ("cuMemCreate", G, cu.CUmemAllocationProp(), 0), "INVALID_VALUE"),
    ("too much", lambda h: ("cuMemCreate", 1 << 50, properties(0), 0), "OUT_OF_MEMORY"),
    ("no handle", lambda h: ("cuMemRelease", 12345), "INVALID_VALUE"),
    ("another object's handle", lambda h: ("cuMemRelease", h("cuStreamCreate", 0)), "INVALID_VALUE"),
    ("a range of no size", lambda h: ("cuMemAddressReserve", 0, 0, 0, 0), "INVALID_VALUE"),
    ("an odd range", lambda h: ("cuMemAddressReserve", 4097, 0, 0, 0), "INVALID_VALUE"),
    ("an odd alignment", lambda h: ("cuMemAddressReserve", G, 3, 0, 0), "INVALID_VALUE"),
    ("a range that nobody reserved", lambda h: ("cuMemAddressFree", 1 << 45, G), "INVALID_VALUE"),
    ("a mapping outside", lambda h: ("cuMemMap", 1 << 45, G, 0, h("cuMemCreate", G, properties(0), 0), 0), "INVALID_VALUE"),
    ("a mapping of a part", lambda h: ("cuMemMap", h("cuMemAddressReserve", G, 0, 0, 0), G, 0, h("cuMemCreate", 2 * G, properties(0), 0), 0),
     "INVALID_VALUE"),
    ("an offset", lambda h: ("cuMemMap", h("cuMemAddressReserve", G, 0, 0, 0), G, G, h("cuMemCreate", 2 * G, properties(0), 0), 0),
     "INVALID_VALUE"),
    ("a mapping over another", lambda h: ("cuMemMap", mapped(h, h("cuMemCreate", G, properties(0), 0), G, 0), G, 0,
     h("cuMemCreate", G, properties(0), 0), 0), "INVALID_VALUE"),
    ("access to nothing", lambda h: ("cuMemSetAccess", h("cuMemAddressReserve", G, 0, 0, 0), G, [access(0)], 1), "INVALID_VALUE"),
    ("access for nobody", lambda h: ("cuMemSetAccess", mapped(h, h("cuMemCreate", G, properties(0), 0), G, 0), G, [], 0), "INVALID_VALUE"),
    ("access for no device", lambda h: ("cuMemSetAccess", mapped(h, h("cuMemCreate", G, properties(0), 0), G, 0), G, [access(99)], 1),
     "INVALID_DEVICE"),
    ("nothing is mapped", lambda h: ("cuMemUnmap", 1 << 45, G), "INVALID_VALUE"),
    ("nothing to retain", lambda h: ("cuMemRetainAllocationHandle", 1 << 45), "INVALID_VALUE"),
    ("a handle that was not requested", lambda h: ("cuMemExportToShareableHandle", h("cuMemCreate", G, properties(0), 0), 1, 0), "INVALID_VALUE"),
    ("too many members", lambda h: ("cuMulticastCreate", multicast(99)), "INVALID_VALUE"),
    ("a team of none", lambda h: ("cuMulticastCreate", multicast(0)), "INVALID_VALUE"),
    ("an odd object", lambda h: ("cuMulticastCreate", multicast(1, G + 1)), "INVALID_VALUE"),
    ("memory is not an object", lambda h: ("cuMulticastAddDevice", h("cuMemCreate", G, properties(0), 0), 0), "INVALID_VALUE"),
    ("an object is not memory", lambda h: ("cuMemGetAllocationPropertiesFromHandle", h("cuMulticastCreate", multicast(1))), "INVALID_VALUE"),
    ("bound before all have joined", lambda h: ("cuMulticastBindMem", h("cuMulticastCreate", multicast(2)), 0,
     h("cuMemCreate", G, properties(0), 0), 0, G, 0), "INVALID_VALUE"),
    ("nothing to unbind", lambda h: ("cuMulticastUnbind", team(h, 1), 0, 0, G), "INVALID_VALUE"),
    ("no member", lambda h: ("cuMulticastBindMem", team(h, 1), 0, h("cuMemCreate", G, properties(second()), 0), 0, G, 0), "INVALID_DEVICE"),
    ("beyond the object", lambda h: ("cuMulticastBindMem", team(h, 1), G, h("cuMemCreate", G, properties(0), 0), 0, G, 0), "INVALID_VALUE"),
    ("beyond the memory", lambda h: ("cuMulticastBindMem", team(h, 1), 0, h("cuMemCreate", G, properties(0), 0), G, G, 0), "INVALID_VALUE"),
    ("an address of no device", lambda h: ("cuMulticastBindAddr", team(h, 1), 0, 1 << 45, G, 0), "INVALID_VALUE"),
    ("access for no member", lambda h: ("cuMemSetAccess", mapped(h, team(h, 1), G, 0), G, [access(second())], 1), "INVALID_DEVICE"),
]  # fmt: skip


def team(host: Host, count: int, size: int = G) -> Any:
    """A multicast object that all its devices have joined."""
    handle = host("cuMulticastCreate", multicast(count, size))
    for ordinal in (0, second())[:count]:
        host("cuMulticastAddDevice", handle, ordinal)
    return handle


@pytest.mark.parametrize(("name", "make", "code"), WRONG, ids=[w[0] for w in WRONG])
def test_what_is_refused(host: Host, other: int, name: str, make: Any, code: str) -> None:
    on(host, 0)
    assert host.code(*make(host)) == code


# ---------------------------------------------------------------- multicast objects


def test_devices_that_are_not_alone_say_that_they_have_multicast(host: Host, other: int) -> None:
    name = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
    assert host("cuDeviceGetAttribute", name, other) == 1
    assert (
        Machine("sm_90").devices[0].attributes["MULTICAST_SUPPORTED"] == 1
        and not Machine("sm_80").devices[0].attributes["MULTICAST_SUPPORTED"]
    )


def test_multimem_instructions_reach_the_memory_of_all_members(host: Host, other: int) -> None:
    on(host, 0)
    mc = team(host, 2, 2 * G)
    memory = [host("cuMemCreate", 2 * G, properties(o), 0) for o in (0, other)]
    for handle in memory:
        host("cuMulticastBindMem", mc, 0, handle, 0, 2 * G, 0)
    m = mapped(host, mc, 2 * G, 0, other)
    own = [mapped(host, handle, 2 * G, 0, other) for handle in memory]
    out = int(host("cuMemAlloc", 128))
    data = np.arange(32, dtype=np.uint32)
    host("cuMemcpyHtoD", own[0] + G, data, 128), host("cuMemcpyHtoD", own[1] + G, data * 100, 128)
    assert launch(host, "all", m + G, out) == "SUCCESS"
    assert words(host, out) == [101 * i for i in range(32)]
    assert words(host, own[0] + G) == [i + 1000 for i in range(32)] and words(host, own[1] + G) == [100 * i + 1000 for i in range(32)]
    on(host, other)
    assert launch(host, "fill", m) == "SUCCESS"
    assert words(host, own[0]) == words(host, own[1]) == list(range(32))
    assert launch(host, "put", m) == "ILLEGAL_ADDRESS" and says("which only multimem instructions reach")
    host("cuDevicePrimaryCtxReset", other)


@pytest.mark.parametrize("plain", [False, True])
def test_multimem_on_other_addresses_faults(host: Host, other: int, plain: bool) -> None:
    on(host, 0)
    at = int(host("cuMemAlloc", 256)) if plain else mapped(host, host("cuMemCreate", G, properties(0), 0), G, 0)
    assert launch(host, "fill", at) == "ILLEGAL_ADDRESS" and says("multimem instructions reach what a multicast object is mapped to")
    host("cuDevicePrimaryCtxReset", 0)


def test_what_is_not_bound_or_not_aligned_faults(host: Host, other: int) -> None:
    on(host, 0)
    mc = team(host, 2, 2 * G)
    host("cuMulticastBindMem", mc, 0, host("cuMemCreate", 2 * G, properties(0), 0), 0, 2 * G, 0)
    host("cuMulticastBindMem_v2", mc, other, 0, host("cuMemCreate", 2 * G, properties(second()), 0), G, G, 0)
    m = mapped(host, mc, 2 * G, 0)
    assert launch(host, "fill", m) == "SUCCESS"
    assert launch(host, "fill", m + G) == "ILLEGAL_ADDRESS" and says("device 1 of the multicast object has no memory bound there")
    host("cuDevicePrimaryCtxReset", 0)
    on(host, 0)
    assert launch(host, "fill", m + 2) == "MISALIGNED_ADDRESS"
    host("cuDevicePrimaryCtxReset", 0)
    on(host, 0)
    host("cuMulticastUnbind", mc, 0, 0, 2 * G)
    assert launch(host, "fill", m) == "ILLEGAL_ADDRESS" and says("device 0 of the multicast object has no memory bound there")
    host("cuDevicePrimaryCtxReset", 0)


def test_memory_is_bound_by_its_address(host: Host, other: int) -> None:
    on(host, 0)
    mc = team(host, 1, 2 * G)
    least, best = (host("cuMulticastGetGranularity", multicast(1, G), option) for option in (0, 1))
    assert (least, best % least) == (G, 0) and host("cuMemGetAllocationGranularity", properties(0), 0) == G
    first = mapped(host, host("cuMemCreate", G, properties(0), 0), G, 0)
    whole = int(host("cuMemAlloc", 3 * G))
    second = -(-whole // G) * G
    host("cuMulticastBindAddr", mc, 0, first, G, 0)
    host("cuMulticastBindAddr", mc, G, second, G, 0)
    assert host.code("cuMulticastBindAddr", mc, G, second, G, 0) == "INVALID_VALUE"  # something is bound there
    m = mapped(host, mc, 2 * G, 0)
    assert launch(host, "fill", m) == launch(host, "fill", m + G) == "SUCCESS"
    assert words(host, first) == words(host, second) == list(range(32))
    host("cuMemRelease", mc)
    host("cuMemUnmap", m, 2 * G)  # the object and what it held end with its last mapping
