"""The driver's copies of bytes between any two places, and memset."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..device.context import DeviceContext
from ..device.memory import SPACE, host_bytes
from ..errors import invalid
from .api import api, context_of, current, integer
from .graphs import queue
from .layout import address_of


def copy(dst: int, src: int, size: int, to_host: bool | None = None, from_host: bool | None = None) -> None:
    """Moves bytes; each side is device memory, host memory, or either."""
    if size == 0:
        return

    def side(address: int, host: bool | None) -> Any:
        if host is False:
            return SPACE.device_bytes(address, size)
        if host is True and not SPACE.is_device_range(address):
            return host_bytes(address, size)
        return SPACE.bytes_at(address, size)

    source, target = side(src, from_host), side(dst, to_host)
    target[:] = source.copy() if np.shares_memory(source, target) else source


def now(c: DeviceContext) -> None:
    """A call that waits for all work before it goes on."""
    c.synchronize()


@api()
def cuMemcpy(dst: object, src: object, ByteCount: object) -> None:
    """Copies between any two places."""
    now(current())
    copy(address_of(dst), address_of(src), integer(ByteCount))


@api()
def cuMemcpyAsync(dst: object, src: object, ByteCount: object, hStream: object) -> None:
    """As cuMemcpy, in a stream."""
    queue(hStream, "MEMCPY", lambda: copy(address_of(dst), address_of(src), integer(ByteCount)))


@api()
def cuMemcpyHtoD(dstDevice: object, srcHost: object, ByteCount: object) -> None:
    """Host to device."""
    now(current())
    copy(integer(dstDevice), address_of(srcHost), integer(ByteCount), False, True)


@api()
def cuMemcpyHtoDAsync(dstDevice: object, srcHost: object, ByteCount: object, hStream: object) -> None:
    """Host to device, in a stream."""
    queue(hStream, "MEMCPY", lambda: copy(integer(dstDevice), address_of(srcHost), integer(ByteCount), False, True))


@api()
def cuMemcpyDtoH(dstHost: object, srcDevice: object, ByteCount: object) -> None:
    """Device to host."""
    now(current())
    copy(address_of(dstHost), integer(srcDevice), integer(ByteCount), True, False)


@api()
def cuMemcpyDtoHAsync(dstHost: object, srcDevice: object, ByteCount: object, hStream: object) -> None:
    """Device to host, in a stream."""
    queue(hStream, "MEMCPY", lambda: copy(address_of(dstHost), integer(srcDevice), integer(ByteCount), True, False))


@api()
def cuMemcpyDtoD(dstDevice: object, srcDevice: object, ByteCount: object) -> None:
    """Device to device."""
    now(current())
    copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyDtoDAsync(dstDevice: object, srcDevice: object, ByteCount: object, hStream: object) -> None:
    """Device to device, in a stream."""
    queue(hStream, "MEMCPY", lambda: copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False))


@api()
def cuMemcpyPeer(dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object) -> None:
    """From one device's memory to another's, with peer access or without."""
    for c in (context_of(dstContext), context_of(srcContext)):
        now(c)
    copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyPeerAsync(
    dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object, hStream: object
) -> None:
    """As cuMemcpyPeer, in a stream."""
    context_of(dstContext), context_of(srcContext)
    queue(hStream, "MEMCPY", lambda: copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False))


@api()
def cuMemcpyBatchAsync(
    dsts: Sequence[Any], srcs: Sequence[Any], sizes: Sequence[int], count: object, attrs: object, attrsIdxs: object, numAttrs: object,
    hStream: object,
) -> None:  # fmt: skip
    """Several copies."""
    for d, s, n in list(zip(dsts, srcs, sizes, strict=True))[: integer(count)]:
        queue(hStream, "MEMCPY", partial(copy, address_of(d), address_of(s), integer(n)))


@api()
def cuMemcpyWithAttributesAsync(dst: object, src: object, size: object, attr: object, hStream: object) -> None:
    """As cuMemcpyAsync; what the attributes allow changes no result here."""
    queue(hStream, "MEMCPY", lambda: copy(address_of(dst), address_of(src), integer(size)))


def fill(address: int, pitch: int, value: object, element: int, width: int, height: int) -> None:
    """Sets elements, row by row."""
    if address % element or (height > 1 and pitch % element):
        raise invalid(f"{address:#x} is not aligned to {element} bytes")
    if not width or not height:
        return
    if height > 1 and pitch < width * element:
        raise invalid(f"rows of {width * element} bytes do not fit a pitch of {pitch}")
    raw = integer(value) & ((1 << 8 * element) - 1)
    for y in range(height):
        SPACE.device_bytes(address + y * pitch, width * element).view(f"u{element}")[:] = raw


def _memset(address: object, value: object, element: int, n: object) -> None:
    _element(value, element)
    current().check()
    fill(integer(address), 0, value, element, integer(n), 1)


def _element(value: object, size: int) -> None:
    if not 0 <= integer(value) < 1 << 8 * size:
        raise OverflowError(f"{value} is no unsigned number of {8 * size} bits")


def _memset_async(address: object, value: object, element: int, n: object, stream: object) -> None:
    _element(value, element)
    queue(stream, "MEMSET", lambda: fill(integer(address), 0, value, element, integer(n), 1))


def _memset_2d(address: object, pitch: object, value: object, element: int, width: object, height: object) -> None:
    _element(value, element)
    current().check()
    fill(integer(address), integer(pitch), value, element, integer(width), integer(height))


@api()
def cuMemsetD8(dstDevice: object, uc: object, N: object) -> None:
    """Sets N bytes."""
    _memset(dstDevice, uc, 1, N)


@api()
def cuMemsetD16(dstDevice: object, us: object, N: object) -> None:
    """Sets N 16-bit words."""
    _memset(dstDevice, us, 2, N)


@api()
def cuMemsetD32(dstDevice: object, ui: object, N: object) -> None:
    """Sets N 32-bit words."""
    _memset(dstDevice, ui, 4, N)


@api()
def cuMemsetD8Async(dstDevice: object, uc: object, N: object, hStream: object) -> None:
    """Sets N bytes, in a stream."""
    _memset_async(dstDevice, uc, 1, N, hStream)


@api()
def cuMemsetD16Async(dstDevice: object, us: object, N: object, hStream: object) -> None:
    """Sets N 16-bit words, in a stream."""
    _memset_async(dstDevice, us, 2, N, hStream)


@api()
def cuMemsetD32Async(dstDevice: object, ui: object, N: object, hStream: object) -> None:
    """Sets N 32-bit words, in a stream."""
    _memset_async(dstDevice, ui, 4, N, hStream)


@api()
def cuMemsetD2D8(dstDevice: object, dstPitch: object, uc: object, Width: object, Height: object) -> None:
    """Sets rows of bytes."""
    _memset_2d(dstDevice, dstPitch, uc, 1, Width, Height)


@api()
def cuMemsetD2D16(dstDevice: object, dstPitch: object, us: object, Width: object, Height: object) -> None:
    """Sets rows of 16-bit words."""
    _memset_2d(dstDevice, dstPitch, us, 2, Width, Height)


@api()
def cuMemsetD2D32(dstDevice: object, dstPitch: object, ui: object, Width: object, Height: object) -> None:
    """Sets rows of 32-bit words."""
    _memset_2d(dstDevice, dstPitch, ui, 4, Width, Height)


@api()
def cuMemsetD2D8Async(dstDevice: object, dstPitch: object, uc: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of bytes, in a stream."""
    queue(hStream, "MEMSET", lambda: fill(integer(dstDevice), integer(dstPitch), uc, 1, integer(Width), integer(Height)))


@api()
def cuMemsetD2D16Async(dstDevice: object, dstPitch: object, us: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of 16-bit words, in a stream."""
    queue(hStream, "MEMSET", lambda: fill(integer(dstDevice), integer(dstPitch), us, 2, integer(Width), integer(Height)))


@api()
def cuMemsetD2D32Async(dstDevice: object, dstPitch: object, ui: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of 32-bit words, in a stream."""
    queue(hStream, "MEMSET", lambda: fill(integer(dstDevice), integer(dstPitch), ui, 4, integer(Width), integer(Height)))
