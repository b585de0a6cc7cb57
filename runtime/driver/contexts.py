"""The driver's calls about contexts: which is current, limits, configuration, peers."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ..device.context import DeviceContext
from ..device.machine import machine
from ..errors import ApiError, invalid
from .api import STATE, api, context_of, context_or_part, current, device_of, handle_of, integer, member, object_of
from .tables.enums import CUfunc_cache, CUlimit, CUsharedconfig
from .tables.structs import CUcontext, CUdevice

API_VERSION = 3020
_users: WeakKeyDictionary[DeviceContext, int] = WeakKeyDictionary()  # of contexts to which somebody has attached
MAP_HOST = 8  # the flag that every context has, with one address space for host and devices


def _check_flags(flags: int) -> None:
    if flags & ~0x3FF or (flags & 7) not in (0, 1, 2, 4):
        raise invalid(f"flags {flags:#x}")


@api
def cuCtxCreate(ctxCreateParams: object, flags: object, dev: object) -> CUcontext:
    """A new context, current for this thread."""
    _check_flags(integer(flags))
    if ctxCreateParams is not None:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", "parts of a device can't be had")
    c = device_of(dev).new_context(integer(flags))
    STATE.stack.append(c)
    return CUcontext(handle_of(c))


@api
def cuCtxDestroy(ctx: object) -> None:
    """Ends a context and all that it owns."""
    _destroy(object_of(ctx, DeviceContext, "CUDA_ERROR_INVALID_CONTEXT"))


def _destroy(c: DeviceContext) -> None:
    if any(d.primary is c for d in machine().devices):
        raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "a primary context is released, not destroyed")
    c.close()
    if STATE.stack and STATE.stack[-1] is c:
        STATE.stack.pop()


@api
def cuCtxAttach(flags: object) -> CUcontext:
    """The current context, which has one user more."""
    if integer(flags):
        raise invalid("the flags must be 0")
    c = current()
    _users[c] = _users.get(c, 1) + 1
    return CUcontext(handle_of(c))


@api
def cuCtxDetach(ctx: object) -> None:
    """One user less of the current context, which ends with the last."""
    c = object_of(ctx, DeviceContext, "CUDA_ERROR_INVALID_CONTEXT")
    if not STATE.stack or STATE.stack[-1] is not c:
        raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "the context is not current")
    users = _users.get(c, 1) - 1
    if not users:
        _destroy(c)
    _users[c] = users


@api
def cuCtxPushCurrent(ctx: object) -> None:
    """Makes a context current, above the one that is."""
    if not integer(ctx):
        raise invalid("the context is null")
    STATE.stack.append(context_or_part(ctx))


@api
def cuCtxPopCurrent() -> CUcontext:
    """Takes the current context off."""
    if not STATE.stack:
        raise ApiError("CUDA_ERROR_INVALID_CONTEXT", "no context is current")
    return CUcontext(handle_of(STATE.stack.pop()))


@api
def cuCtxSetCurrent(ctx: object) -> None:
    """Replaces the current context; null takes it off."""
    if not integer(ctx):
        if STATE.stack:
            STATE.stack.pop()
        return
    STATE.stack[-1:] = [context_or_part(ctx)]


@api
def cuCtxGetCurrent() -> CUcontext:
    """The current context, or null."""
    return CUcontext(handle_of(STATE.stack[-1]) if STATE.stack else 0)


@api
def cuCtxGetDevice() -> CUdevice:
    """The current context's device."""
    return CUdevice(current().ordinal)


@api
def cuCtxGetDevice_v2(ctx: object) -> CUdevice:
    """A context's device."""
    return CUdevice(context_of(ctx).ordinal)


@api
def cuCtxGetFlags() -> int:
    """The current context's flags."""
    return current().flags | MAP_HOST


@api
def cuCtxSetFlags(flags: object) -> None:
    """Sets the current context's flags."""
    _check_flags(integer(flags))
    current().flags = integer(flags)


@api
def cuCtxGetId(ctx: object) -> int:
    """A number that no other context of the process has."""
    return context_of(ctx).number


@api
def cuCtxGetApiVersion(ctx: object) -> int:
    """The version of the interface that made the context."""
    context_of(ctx)
    return API_VERSION


@api
def cuCtxSynchronize() -> None:
    """Waits for all work; tells what went wrong in it."""
    c = current()
    c.unsafe("all work is waited for", anywhere=True)
    c.synchronize()


@api
def cuCtxSynchronize_v2(ctx: object) -> None:
    """Waits for all work of a context."""
    c = context_of(ctx)
    c.unsafe("all work is waited for", anywhere=True)
    c.synchronize()


def _limit(limit: object) -> str:
    return str(member(CUlimit, limit).name).removeprefix("CU_LIMIT_").lower()


@api
def cuCtxSetLimit(limit: object, value: object) -> None:
    """Sets a limit."""
    current().set_limit(_limit(limit), integer(value))


@api
def cuCtxGetLimit(limit: object) -> int:
    """A limit."""
    return current().limit(_limit(limit))


@api
def cuCtxGetCacheConfig() -> CUfunc_cache:
    """How L1 and shared memory are meant to share."""
    return CUfunc_cache(current().cache_config)


@api
def cuCtxSetCacheConfig(config: object) -> None:
    """Says how L1 and shared memory should share."""
    current().cache_config = member(CUfunc_cache, config)


@api
def cuCtxGetSharedMemConfig() -> CUsharedconfig:
    """The width of shared memory's banks, four bytes where the device has no choice."""
    c = current()
    if c.profile.capability[0] != 3:
        return CUsharedconfig.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE
    return CUsharedconfig(c.bank_config or 1)


@api
def cuCtxSetSharedMemConfig(config: object) -> None:
    """Asks for a width of shared memory's banks."""
    current().bank_config = member(CUsharedconfig, config)


@api
def cuCtxGetStreamPriorityRange() -> tuple[int, int]:
    """(least, greatest) priority."""
    return (0, -5) if current().profile.capability >= (3, 5) else (0, 0)


@api
def cuCtxResetPersistingL2Cache() -> None:
    """Lines that should stay in L2 may go; nothing that a program sees depends on it."""
    current().check()


@api
def cuCtxEnablePeerAccess(peerContext: object, Flags: object) -> None:
    """Kernels of the current context may use the memory of another device's."""
    c, peer = current(), object_of(peerContext, DeviceContext, "CUDA_ERROR_INVALID_CONTEXT")
    if integer(Flags):
        raise invalid("the flags must be 0")
    if c.ordinal == peer.ordinal:
        raise ApiError("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "both are on one device")
    if min(c.profile.capability, peer.profile.capability) < (2, 0):
        raise ApiError("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "a device is too old")
    if peer in c.peers:
        raise ApiError("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "it is enabled already")
    c.peers.add(peer)
    if (clock := c.space.clock) is not None:
        clock.access.add((c.ordinal, peer.ordinal))


@api
def cuCtxDisablePeerAccess(peerContext: object) -> None:
    """Ends what cuCtxEnablePeerAccess allowed."""
    c, peer = current(), object_of(peerContext, DeviceContext, "CUDA_ERROR_INVALID_CONTEXT")
    if peer not in c.peers:
        raise ApiError("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "it is not enabled")
    c.peers.remove(peer)
    if (clock := c.space.clock) is not None:
        clock.access.discard((c.ordinal, peer.ordinal))


@api
def cuProfilerStart() -> None:
    """Nothing to start: profiles are made by observing launches."""
    current()


@api
def cuProfilerStop() -> None:
    """Nothing to stop."""
    current()
