"""The driver's calls about parts of a device: its multiprocessors, and groups of them.  No context of a group can be made."""

from __future__ import annotations

from typing import Any

from warplab.isa.profiles import DeviceProfile

from ..device.modules.kernels import CLUSTER_PARTS
from ..errors import ApiError, invalid
from .api import api, context_of, device_of, integer, stream_of
from .tables.enums import CUdevResourceType, CUdevSmResourceSplitByCount_flags
from .tables.structs import CUdevResource

Kind, Flag = CUdevResourceType, CUdevSmResourceSplitByCount_flags
SINGLE = 2  # multiprocessors of a group at least, and a group's steps, where their neighbourhood does not matter
MOST_FLAGS = 4


def _least(p: DeviceProfile) -> tuple[int, int]:
    """(multiprocessors of a group at least, the steps by which it grows)."""
    if p.capability >= (9, 0):
        return 8, 8
    return (4, 2) if p.capability >= (8, 0) else (2, 2) if p.capability >= (7, 0) else (2, 1)


def _multiprocessors(count: int, least: int = 0, step: int = 0) -> CUdevResource:
    out = CUdevResource()
    if count:
        out.type = Kind.CU_DEV_RESOURCE_TYPE_SM
    sm = out.sm
    sm.smCount, sm.minSmPartitionSize, sm.smCoscheduledAlignment = count, least, step
    out.sm = sm
    return out


def _whole(p: DeviceProfile, kind: object) -> CUdevResource:
    if integer(kind) != Kind.CU_DEV_RESOURCE_TYPE_SM:
        raise ApiError("CUDA_ERROR_INVALID_RESOURCE_TYPE", "only multiprocessors are a resource here")
    return _multiprocessors(p.multiprocessors, *_least(p))


@api
def cuDeviceGetDevResource(device: object, typename: object) -> CUdevResource:
    """The multiprocessors of a device."""
    return _whole(device_of(device).profile, typename)


@api
def cuCtxGetDevResource(hCtx: object, typename: object) -> CUdevResource:
    """The multiprocessors of a context: all of its device."""
    return _whole(context_of(hCtx).profile, typename)


@api
def cuStreamGetDevResource(hStream: object, typename: object) -> CUdevResource:
    """The multiprocessors of a stream: all of its device."""
    return _whole(stream_of(hStream).context.profile, typename)


@api
def cuDevSmResourceSplitByCount(
    nbGroups: object, input_: Any, flags: object, minCount: object
) -> tuple[list[CUdevResource], int, CUdevResource]:
    """Groups of at least so many multiprocessors (none made for 0 groups), how many there are, and what remains: as an H100 splits."""
    apart = integer(flags) & Flag.CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING
    total, least, step = input_.sm.smCount, input_.sm.minSmPartitionSize, input_.sm.smCoscheduledAlignment
    if integer(flags) > MOST_FLAGS or integer(flags) == 3 or not step:
        raise invalid("flags that exclude each other, or a group in place of a device's multiprocessors")
    if integer(minCount) > total:
        raise ApiError("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", f"{minCount} of {total} multiprocessors")
    if apart:
        least, step = SINGLE, SINGLE
    size = min(max(least, -(-integer(minCount) // step) * step), total)
    parts = CLUSTER_PARTS.get(((9, 0), total), (total,)) if size == least and not apart else (total,)
    most = sum(n // size for n in parts)
    made = min(integer(nbGroups), most) if integer(nbGroups) else most
    groups = [_multiprocessors(size) for _ in range(made if integer(nbGroups) else 0)]
    return groups, made, _multiprocessors(total - made * size)
