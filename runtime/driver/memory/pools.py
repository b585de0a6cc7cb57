"""The driver's calls about allocations in a stream's order and the pools that they come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...device.graphs.resources import graph_memory, graph_memory_at
from ...device.graphs.streams import announced, in_order
from ...device.machine import machine
from ...device.memory.allocations import SPACE, AddressRange
from ...device.memory.pools import Pool
from ...errors import ApiError, invalid, unsupported
from ..api import api, behind, device_of, forget, handle_of, integer, member, object_of, stream_of
from ..tables.enums import CUmemAccess_flags, CUmemAllocationType, CUmemLocationType, CUmemPool_attribute
from ..tables.structs import CUdeviceptr, CUmemAccessDesc, CUmemLocation, CUmemoryPool, CUmemPoolProps

PoolAttribute = CUmemPool_attribute
Where = CUmemLocationType
HOST_WHERE = (Where.CU_MEM_LOCATION_TYPE_HOST, Where.CU_MEM_LOCATION_TYPE_HOST_NUMA, Where.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)


def _pool(handle: object) -> Pool:
    return object_of(handle, Pool)


def _own_pool(ordinal: int, which: str, kind: str = "device") -> Pool:
    """The default pool or the current one of a device; those of the host, and of managed memory, belong to a device, too."""
    pools = machine().device(ordinal).pools
    if (kind, "default") not in pools:
        pools[kind, "default"] = pools[kind, "current"] = Pool(ordinal, kind, default=True)
    found = pools[kind, which]
    assert isinstance(found, Pool)
    return found


@api
def cuDeviceGetDefaultMemPool(dev: object) -> CUmemoryPool:
    """The pool that a device begins with."""
    return CUmemoryPool(handle_of(_own_pool(device_of(dev).ordinal, "default")))


@api
def cuDeviceGetMemPool(dev: object) -> CUmemoryPool:
    """The pool that cuMemAllocAsync takes from."""
    return CUmemoryPool(handle_of(_own_pool(device_of(dev).ordinal, "current")))


@api
def cuDeviceSetMemPool(dev: object, pool: object) -> None:
    """Sets the pool that cuMemAllocAsync takes from."""
    d, p = device_of(dev), _pool(pool)
    if p.kind != "device" or p.ordinal != d.ordinal:
        raise invalid("the pool is of another device")
    d.pools[p.kind, "current"] = p


@api
def cuMemPoolCreate(poolProps: CUmemPoolProps | None) -> CUmemoryPool:
    """A new pool."""
    if poolProps is None:
        raise invalid("the properties are null")
    if int(poolProps.handleTypes):
        raise unsupported("pools that other processes share")
    where = poolProps.location
    try:
        kind = (
            "managed"
            if poolProps.allocType == CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
            else "host"
            if where.type in HOST_WHERE
            else "device"
        )
        if kind == "device" and where.type != Where.CU_MEM_LOCATION_TYPE_DEVICE:
            raise invalid("the pool has no location")
    except ValueError as e:
        raise invalid(str(e)) from None
    if kind == "device" and not 0 <= where.id < len(machine().devices):
        raise invalid(f"there is no device {where.id}")
    ordinal = where.id if kind == "device" else 0
    return CUmemoryPool(handle_of(Pool(ordinal, kind, maximum=poolProps.maxSize)))


@api
def cuMemPoolDestroy(pool: object) -> None:
    """Ends a pool; what it gave lives on until it is freed."""
    p = _pool(pool)
    if p.default:
        raise invalid("a device's own pool stays")
    for d in machine().devices:
        if d.pools.get((p.kind, "current")) is p:
            d.pools[p.kind, "current"] = _own_pool(d.ordinal, "default", p.kind)
    forget(p)


@api
def cuMemPoolTrimTo(pool: object, minBytesToKeep: object) -> None:
    """Gives unused memory back to the device."""
    _pool(pool).trim(integer(minBytesToKeep))


@api
def cuMemPoolGetAttribute(pool: object, attr: object) -> int:
    """One attribute of a pool."""
    p, which = _pool(pool), member(PoolAttribute, attr)
    if which in p.settings:
        return p.settings[which]
    values = {
        PoolAttribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p.threshold, PoolAttribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: p.reserved,
        PoolAttribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: p.reserved_high, PoolAttribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT: p.used,
        PoolAttribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH: p.used_high,
    }  # fmt: skip
    if which not in values:
        raise unsupported(f"{which.name} is not known")
    return values[which]


@api
def cuMemPoolSetAttribute(pool: object, attr: object, value: object) -> None:
    """Sets an attribute of a pool; the high-water marks can only be reset."""
    p, which, v = _pool(pool), member(PoolAttribute, attr), integer(value)
    if which in p.settings:
        p.settings[which] = int(bool(v))
    elif which is PoolAttribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
        p.threshold = v
    elif which is PoolAttribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH and v == 0:
        p.reserved_high = p.reserved
    elif which is PoolAttribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH and v == 0:
        p.used_high = p.used
    else:
        raise invalid(f"{which.name} can't be set to {v}")


@api
def cuMemPoolSetAccess(pool: object, map: Sequence[CUmemAccessDesc] | None, count: object) -> None:
    """Says which devices may use the pool's memory."""
    p = _pool(pool)
    for d in list(map or ())[: integer(count)]:
        if d.location.type != Where.CU_MEM_LOCATION_TYPE_DEVICE:
            continue
        machine().device(d.location.id)
        if d.location.id == p.ordinal and p.kind == "device" and int(d.flags) != 3:
            raise ApiError("CUDA_ERROR_INVALID_DEVICE", "a pool's own device always has access")
        p.access[d.location.id] = int(d.flags)
        if p.kind == "device" and d.location.id != p.ordinal:
            SPACE.lent[p] = p.access


@api
def cuMemPoolGetAccess(memPool: object, location: CUmemLocation | None) -> CUmemAccess_flags:
    """What a device may do with the pool's memory."""
    p = _pool(memPool)
    if location is None:
        raise invalid("the location is null")
    return CUmemAccess_flags(3 if p.kind != "device" or location.id == p.ordinal else p.access.get(location.id, 0))


def take(p: Pool, size: int, stream: object) -> CUdeviceptr:
    """Allocates from a pool, in a stream's order."""
    c = behind(stream_of(stream).context)
    if not size:
        return CUdeviceptr(0)
    if stream_of(stream).capture is not None:
        m = graph_memory(c, size)
        in_order(stream_of(stream), "MEM_ALLOC", m.begin, m)
        return CUdeviceptr(m.range.start)
    if p.maximum and p.used + size > p.maximum:
        raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", f"the pool holds {p.maximum} bytes")
    if p.kind == "device" and p.ordinal != c.ordinal:
        b: AddressRange = SPACE.allocate(machine().device(p.ordinal).arena, size, "device", c)
    else:
        at = c.allocate(size) if p.kind == "device" else c.allocate_host(size) if p.kind == "host" else c.allocate_managed(size)
        b = SPACE.buffers[at]
    b.pool = p
    p.take(size)
    return CUdeviceptr(b.start)


@api
def cuMemAllocAsync(bytesize: object, hStream: object) -> CUdeviceptr:
    """Memory from the device's current pool."""
    return take(_own_pool(stream_of(hStream).context.ordinal, "current"), integer(bytesize), hStream)


@api
def cuMemAllocFromPoolAsync(bytesize: object, pool: object, hStream: object) -> CUdeviceptr:
    """Memory from a pool."""
    return take(_pool(pool), integer(bytesize), hStream)


@api
def cuMemFreeAsync(dptr: object, hStream: object) -> None:
    """Gives memory back, in a stream's order."""
    if (m := graph_memory_at(integer(dptr))) is not None:
        in_order(stream_of(hStream), "MEM_FREE", m.end, m)
        return
    if (capture := stream_of(hStream).capture) is not None:
        raise capture.refuse("memory that no graph has allocated is freed", "CUDA_ERROR_INVALID_VALUE")
    dropped, address = stream_of(hStream).context.broken, integer(dptr)
    if not address or dropped:
        return

    def give_back() -> None:
        b = SPACE.release(address, ("device", "managed", "host"))
        if isinstance(b.pool, Pool):
            b.pool.give(b.size)

    announced(stream_of(hStream), "MEM_FREE", give_back)


def pool_at(location: CUmemLocation | None, typename: object, which: str) -> CUmemoryPool:
    """The pool of a location."""
    if location is None:
        raise invalid("the location is null")
    return CUmemoryPool(handle_of(_own_pool(*_place(location, typename, which))))


def _place(location: CUmemLocation, typename: object, which: str) -> tuple[int, str, str]:
    """The device that a location's pool belongs to, which one it is, and what kind of memory it has."""
    at = location.id if location.type == Where.CU_MEM_LOCATION_TYPE_DEVICE else 0
    machine().device(at)
    if member(CUmemAllocationType, typename) == CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED:
        return at, which, "managed"
    if location.type not in (*HOST_WHERE, Where.CU_MEM_LOCATION_TYPE_DEVICE):
        raise invalid("the location is none")
    return at, which, "host" if location.type in HOST_WHERE else "device"


@api
def cuMemGetDefaultMemPool(location: CUmemLocation | None, typename: object) -> CUmemoryPool:
    """The pool that a location begins with."""
    return pool_at(location, typename, "default")


@api
def cuMemGetMemPool(location: CUmemLocation | None, typename: object) -> CUmemoryPool:
    """The pool that a location's allocations come from."""
    return pool_at(location, typename, "current")


@api
def cuMemSetMemPool(location: Any, typename: object, pool: object) -> None:
    """Sets the pool that a location's allocations come from."""
    pool_at(location, typename, "default")
    at, which, kind = _place(location, typename, "current")
    p = _pool(pool)
    if p.kind != kind or p.ordinal != at:
        raise invalid("the pool is of another location")
    machine().device(at).pools[kind, which] = p
