"""The driver's calls about parts of a device: its multiprocessors, groups of them, and green contexts, which are made of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warplab.isa.profiles import DeviceProfile

from ..device.graphs.pending import QUEUE
from ..device.graphs.streams import DevicePart
from ..device.machine import machine
from ..device.modules.kernels import CLUSTER_PARTS
from ..device.state import DeviceState
from ..errors import ApiError, invalid
from .api import STATE, api, behind, context_or_part, current, device_of, forget, handle_of, integer, object_of, stream_of
from .events import event_of, hold_up, record_behind
from .tables.enums import CUdevResourceType, CUdevSmResourceSplitByCount_flags
from .tables.structs import CUcontext, CUdevResource, CUdevResourceDesc, CUgreenCtx, CUstream

Kind, Flag = CUdevResourceType, CUdevSmResourceSplitByCount_flags
BACKFILL = 1  # a flag of a group: multiprocessors of any place may fill it up
MOST_TOGETHER = 32  # multiprocessors that are scheduled together, where clusters exist
MAKES_DEFAULT_STREAM = 1  # the flag with which green contexts are made
SINGLE = 2  # multiprocessors of a group at least, and a group's steps, where their neighbourhood does not matter
MOST_FLAGS = 4


@dataclass(frozen=True)
class ResourceSum:
    """What a green context is to have; its description."""

    multiprocessors: int


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
    """The multiprocessors of a context: all of its device, or those of a green context."""
    return _of(context_or_part(hCtx) if integer(hCtx) else STATE.part or current(), typename)


@api
def cuStreamGetDevResource(hStream: object, typename: object) -> CUdevResource:
    """The multiprocessors of a stream: all of its device, or those of its green context."""
    s = stream_of(hStream)
    return _of(s.part or s.context, typename)


def _of(found: DeviceState | DevicePart, kind: object) -> CUdevResource:
    whole = _whole(behind(found).profile, kind)
    if isinstance(found, DevicePart):
        return _multiprocessors(found.multiprocessors, whole.sm.minSmPartitionSize, whole.sm.smCoscheduledAlignment)
    return whole


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


@api
def cuDevSmResourceSplit(
    nbGroups: object, input_: Any, flags: object, groupParams: Sequence[Any]
) -> tuple[list[CUdevResource], CUdevResource]:
    """Groups as their parameters ask for, one after the other, and what remains; a group that asks for no number gets all that fit, and is told."""
    if integer(flags):
        raise invalid("the flags must be 0")
    if input_.type != Kind.CU_DEV_RESOURCE_TYPE_SM:
        raise ApiError("CUDA_ERROR_INVALID_RESOURCE_TYPE", "only multiprocessors can be split")
    usual = input_.sm.smCoscheduledAlignment or SINGLE
    total = input_.sm.smCount
    left = list(CLUSTER_PARTS.get(((9, 0), total), (total,)))
    left += [SINGLE] * ((total - sum(left)) // SINGLE)  # those that lie within no part
    groups = []
    for wanted in list(groupParams or ())[: integer(nbGroups)]:
        together = wanted.coscheduledSmCount or usual
        wanted.smCount = _take(left, wanted.smCount, together, MOST_TOGETHER if usual > SINGLE else SINGLE, bool(wanted.flags & BACKFILL))
        groups.append(_multiprocessors(wanted.smCount, together, together))
    return groups, _multiprocessors(sum(left))


def _take(left: list[int], size: int, together: int, most: int, any_place: bool) -> int:
    """Takes a group out of what is left of a device's parts; how many multiprocessors it has."""
    fit = sum(n // together for n in left)
    wanted = size or (sum(left) if any_place else fit * together)
    whole = min(wanted // together, fit)
    if (
        together % SINGLE
        or together > most
        or wanted % SINGLE
        or not whole
        or wanted > sum(left)
        or (whole * together != wanted and not any_place)
    ):
        why = f"no group of {wanted} multiprocessors, {together} of them together, can be made of the {sum(left)} that are left"
        raise ApiError("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", why)
    more = wanted - whole * together
    for n, size in enumerate(left):
        taken = min(size // together, whole)
        whole, left[n] = whole - taken, size - taken * together
    for n, size in enumerate(left):
        taken = min(size, more)
        more, left[n] = more - taken, size - taken
    return wanted


@api
def cuDevResourceGenerateDesc(resources: Sequence[Any], nbResources: object) -> CUdevResourceDesc:
    """Resources together, to make a green context of."""
    given = list(resources or ())[: integer(nbResources)]
    if not given:
        raise invalid("no resource is given")
    if any(r.type != Kind.CU_DEV_RESOURCE_TYPE_SM or not r.sm.smCount for r in given):
        raise ApiError("CUDA_ERROR_INVALID_RESOURCE_TYPE", "only multiprocessors are a resource here")
    return CUdevResourceDesc(handle_of(ResourceSum(sum(r.sm.smCount for r in given))))


@api
def cuGreenCtxCreate(desc: object, dev: object, flags: object) -> CUgreenCtx:
    """A part of a device, with the memory and the code of its primary context."""
    found, d = object_of(desc, ResourceSum, "CUDA_ERROR_INVALID_VALUE"), device_of(dev)
    if integer(flags) != MAKES_DEFAULT_STREAM:
        raise invalid(f"flags {integer(flags):#x}; CU_GREEN_CTX_DEFAULT_STREAM must be given")
    if found.multiprocessors > d.profile.multiprocessors:
        raise ApiError(
            "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", f"{found.multiprocessors} of {d.profile.multiprocessors} multiprocessors"
        )
    return CUgreenCtx(handle_of(DevicePart(d.retain(), found.multiprocessors)))


def part_of(handle: object) -> DevicePart:
    """A green context by its handle."""
    return object_of(handle, DevicePart, "CUDA_ERROR_INVALID_CONTEXT")


@api
def cuGreenCtxDestroy(hCtx: object) -> None:
    """Ends a green context and its streams."""
    part = part_of(hCtx)
    if part in STATE.stack:
        STATE.stack[:] = [c for c in STATE.stack if c is not part]
    part.close()
    forget(part)
    machine().devices[part.context.ordinal].release()


@api
def cuCtxFromGreenCtx(hCtx: object) -> CUcontext:
    """What can be made current: the green context itself."""
    return CUcontext(handle_of(part_of(hCtx)))


@api
def cuGreenCtxGetDevResource(hCtx: object, typename: object) -> CUdevResource:
    """The multiprocessors of a green context."""
    return _of(part_of(hCtx), typename)


@api
def cuGreenCtxGetId(greenCtx: object) -> int:
    """A number that no other green context has."""
    return part_of(greenCtx).number


@api
def cuGreenCtxStreamCreate(greenCtx: object, flags: object, priority: object) -> CUstream:
    """A stream whose kernels run on the multiprocessors of a green context."""
    if integer(flags) != 1:
        raise invalid("the stream must be non-blocking")
    return CUstream(handle_of(part_of(greenCtx).stream(1, max(-5, min(0, integer(priority))))))


@api
def cuStreamGetGreenCtx(hStream: object) -> CUgreenCtx:
    """The green context of a stream, or null."""
    part = stream_of(hStream).part
    return CUgreenCtx(handle_of(part) if part is not None else 0)


@api
def cuGreenCtxRecordEvent(hCtx: object, hEvent: object) -> None:
    """Records an event behind all work of a green context."""
    part, e = part_of(hCtx), event_of(hEvent)
    record_behind(e, [p for s in part.streams for p in QUEUE.of_stream(s)], part.legacy)


@api
def cuGreenCtxWaitEvent(hCtx: object, hEvent: object) -> None:
    """All later work of a green context waits for an event."""
    hold_up(part_of(hCtx).streams, event_of(hEvent))
