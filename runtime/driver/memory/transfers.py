"""The driver's copies of bytes between any two places, and memset: each call has a twin that works in a stream's order."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...device.context import DeviceContext
from ...device.graphs.pending import QUEUE, Work
from ...device.graphs.streams import LEGACY, announced, wait_for
from ...device.memory.allocations import SPACE
from ...device.memory.boxes import move_rows
from ...device.memory.host import Bytes, host
from ...errors import invalid
from ..api import api, context_of, current, integer, stream_of
from ..graphs.graphs import queue
from ..tables.layout import address_of

Call = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Twins:
    """Makes two calls of a function that checks its arguments and returns the work: one works at once, one in a stream's order."""

    api: Callable[[Callable[..., None]], Call]
    context: Callable[[], DeviceContext]
    stream: str  # the name of the stream's parameter
    kind: str  # MEMCPY, which waits for all earlier work, or MEMSET

    def at_once(self, prepare: Callable[..., Work]) -> Call:
        """The call that works at once."""

        @functools.wraps(prepare)
        def call(*args: object, **kwargs: object) -> None:
            c = self.context()
            work = prepare(*args, **kwargs)
            legacy = c.default_stream(LEGACY)
            if self.kind == "MEMCPY":
                wait_for(c, legacy)
                c.ring.flush()
                c.tell()
            else:
                c.check()
            announced(legacy, self.kind, work)
            if self.kind == "MEMCPY":
                wait_for(c, legacy)
                c.copied()

        return self.api(call)

    def in_stream(self, call: Call) -> Call:
        """The twin of such a call, with the stream as its last parameter."""
        prepare = inspect.unwrap(call)
        return self.queued(prepare, f"{prepare.__name__}Async")

    def queued(self, prepare: Callable[..., Work], name: str = "") -> Call:
        """The call that works in a stream's order."""
        own = inspect.signature(prepare)
        signature = own.replace(
            parameters=[*own.parameters.values(), inspect.Parameter(self.stream, inspect.Parameter.POSITIONAL_OR_KEYWORD)],
            return_annotation=None,
        )

        def queued(*args: object, **kwargs: object) -> None:
            self.context()
            given = signature.bind(*args, **kwargs).arguments
            stream = given.pop(self.stream)
            work = prepare(**given)
            s = stream_of(stream)
            if not QUEUE.of_stream(s) or s.capture is not None:
                queue(stream, self.kind, work)
                return
            work, waits = staged(work)
            queue(stream, self.kind, work)
            if waits:
                self.context().synchronize(s)

        queued.__name__ = queued.__qualname__ = name or prepare.__name__
        queued.__doc__ = f"As {prepare.__name__}, in a stream." if name else prepare.__doc__
        queued.__signature__ = signature  # type: ignore[attr-defined]
        return self.api(queued)


def staged(work: Work) -> tuple[Work, bool]:
    """A copy that has to wait for its turn: what it reads of memory that is not pinned is read now; does the call return only when it is done?"""
    if not isinstance(work, functools.partial) or work.func is not copy:
        return work, isinstance(work, functools.partial) and work.func is not fill  # of boxes no bytes are kept
    target, source, size, to_host, from_host = (*work.args, None, None)[:5]

    def is_pageable(address: int, is_host: bool | None) -> bool:
        return not SPACE.means_device(address, is_host) and SPACE.buffer_at(address) is None

    if not is_pageable(source, from_host):
        return work, is_pageable(target, to_host)
    kept = host().read(source, size).copy()

    def write() -> None:
        for at, n in SPACE.pieces(size, target):
            SPACE.device_bytes(target + at, n)[:] = kept[at : at + n]
        if (clock := SPACE.clock) is not None:
            clock.copied(SPACE.place(source, from_host), SPACE.place(target, to_host), size)

    return (work, True) if is_pageable(target, to_host) else (write, False)


COPIES = Twins(api, current, "hStream", "MEMCPY")
SETS = Twins(api, current, "hStream", "MEMSET")


def copy(dst: int, src: int, size: int, to_host: bool | None = None, from_host: bool | None = None) -> None:
    """Moves bytes; each side is device memory, host memory, or either."""
    if size == 0:
        return

    def side(address: int, size: int, is_host: bool | None, writes: bool) -> Bytes | int:
        if SPACE.means_device(address, is_host):
            return SPACE.device_bytes(address, size, writes)
        return address

    pieces = list(SPACE.pieces(size, dst, src))
    ends = [(side(dst + at, n, to_host, True), side(src + at, n, from_host, False), n) for at, n in pieces]  # all, before a byte is moved
    for target, source, n in ends:
        move_rows([target], [source], n)
    if (clock := SPACE.clock) is not None:
        clock.copied(SPACE.place(src, from_host), SPACE.place(dst, to_host), size)


@COPIES.at_once
def cuMemcpy(dst: object, src: object, ByteCount: object) -> Work:
    """Copies between any two places."""
    return functools.partial(copy, address_of(dst), address_of(src), integer(ByteCount))


@COPIES.at_once
def cuMemcpyHtoD(dstDevice: object, srcHost: object, ByteCount: object) -> Work:
    """Host to device."""
    return functools.partial(copy, integer(dstDevice), address_of(srcHost), integer(ByteCount), False, True)


@COPIES.at_once
def cuMemcpyDtoH(dstHost: object, srcDevice: object, ByteCount: object) -> Work:
    """Device to host."""
    return functools.partial(copy, address_of(dstHost), integer(srcDevice), integer(ByteCount), True, False)


@COPIES.at_once
def cuMemcpyDtoD(dstDevice: object, srcDevice: object, ByteCount: object) -> Work:
    """Device to device."""
    return functools.partial(copy, integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


cuMemcpyAsync = COPIES.in_stream(cuMemcpy)
cuMemcpyHtoDAsync = COPIES.in_stream(cuMemcpyHtoD)
cuMemcpyDtoHAsync = COPIES.in_stream(cuMemcpyDtoH)
cuMemcpyDtoDAsync = COPIES.in_stream(cuMemcpyDtoD)


@api
def cuMemcpyPeer(dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object) -> None:
    """From one device's memory to another's, with peer access or without."""
    for c in (context_of(dstContext), context_of(srcContext)):
        c.synchronize()
    announced(
        c.default_stream(LEGACY),
        "MEMCPY",
        functools.partial(copy, integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False),
    )
    c.copied()


@api
def cuMemcpyPeerAsync(
    dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object, hStream: object
) -> None:
    """As cuMemcpyPeer, in a stream."""
    context_of(dstContext), context_of(srcContext)
    queue(hStream, "MEMCPY", functools.partial(copy, integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False))


@api
def cuMemcpyBatchAsync(
    dsts: Sequence[Any], srcs: Sequence[Any], sizes: Sequence[int], count: object, attrs: object, attrsIdxs: object, numAttrs: object,
    hStream: object,
) -> None:  # fmt: skip
    """Several copies."""
    for d, s, n in list(zip(dsts, srcs, sizes, strict=True))[: integer(count)]:
        queue(hStream, "MEMCPY", functools.partial(copy, address_of(d), address_of(s), integer(n)))


@api
def cuMemcpyWithAttributesAsync(dst: object, src: object, size: object, attr: object, hStream: object) -> None:
    """As cuMemcpyAsync; what the attributes allow changes no result here."""
    queue(hStream, "MEMCPY", functools.partial(copy, address_of(dst), address_of(src), integer(size)))


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
        row = address + y * pitch
        for at, n in SPACE.pieces(width * element, row):
            SPACE.device_bytes(row + at, n).view(f"u{element}")[:] = raw
    if (clock := SPACE.clock) is not None:
        clock.filled(width * element * height)


def _set(address: object, value: object, element: int, n: object, pitch: object = 0, rows: object = 1) -> Work:
    if not 0 <= integer(value) < 1 << 8 * element:
        raise OverflowError(f"{value} is not an unsigned number of {8 * element} bits")
    return functools.partial(fill, integer(address), integer(pitch), integer(value), element, integer(n), integer(rows))


@SETS.at_once
def cuMemsetD8(dstDevice: object, uc: object, N: object) -> Work:
    """Sets N bytes."""
    return _set(dstDevice, uc, 1, N)


@SETS.at_once
def cuMemsetD16(dstDevice: object, us: object, N: object) -> Work:
    """Sets N 16-bit words."""
    return _set(dstDevice, us, 2, N)


@SETS.at_once
def cuMemsetD32(dstDevice: object, ui: object, N: object) -> Work:
    """Sets N 32-bit words."""
    return _set(dstDevice, ui, 4, N)


@SETS.at_once
def cuMemsetD2D8(dstDevice: object, dstPitch: object, uc: object, Width: object, Height: object) -> Work:
    """Sets rows of bytes."""
    return _set(dstDevice, uc, 1, Width, dstPitch, Height)


@SETS.at_once
def cuMemsetD2D16(dstDevice: object, dstPitch: object, us: object, Width: object, Height: object) -> Work:
    """Sets rows of 16-bit words."""
    return _set(dstDevice, us, 2, Width, dstPitch, Height)


@SETS.at_once
def cuMemsetD2D32(dstDevice: object, dstPitch: object, ui: object, Width: object, Height: object) -> Work:
    """Sets rows of 32-bit words."""
    return _set(dstDevice, ui, 4, Width, dstPitch, Height)


cuMemsetD8Async = SETS.in_stream(cuMemsetD8)
cuMemsetD16Async = SETS.in_stream(cuMemsetD16)
cuMemsetD32Async = SETS.in_stream(cuMemsetD32)
cuMemsetD2D8Async = SETS.in_stream(cuMemsetD2D8)
cuMemsetD2D16Async = SETS.in_stream(cuMemsetD2D16)
cuMemsetD2D32Async = SETS.in_stream(cuMemsetD2D32)
