"""Tensor copies one element at a time, as an H200 was found to do them: the oracle of isa.tensor_map.boxes and isa.ops.tensor_copy.

Memory is a bytearray whose first byte has the address 0; shared memory a dict from addresses to bytes.  A copy that the machine does not do
raises Refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from warplab.isa.tensor_map.descriptor import TILED, TensorMap

UNIT = 16
NAN_BYTES = (0xF7, 0x7F)


class Refused(Exception):
    """What ends a launch with an illegal instruction."""


class Copied:
    """An element of a box: where it lies in the tensor, or that it lies outside, and where in shared memory."""

    def __init__(self, size: int, inside: bool, address: int, place: int, row: int, column: int) -> None:
        self.size, self.inside, self.address, self.place = size, inside, address, place
        self.row, self.column = row, column  # its row of the box, its place in the row


def swizzled(m: TensorMap, a: int) -> int:
    """Where a byte lies in shared memory."""
    return a ^ (a >> 3 & {0: 0, 32: 0x10, 64: 0x30, 128: 0x70}[m.swizzle])


def pitch(m: TensorMap, row: int) -> int:
    """From one row in shared memory to the next."""
    return max(row, m.swizzle) if not m.interleave else row


def tile(m: TensorMap, c: Sequence[int], at: int) -> Iterator[Copied]:
    """The elements of the box at c, to or from shared memory at `at`; units where channels are interleaved."""
    size = m.interleave or m.type.bytes
    if not m.interleave and c[0] * size % UNIT:
        raise Refused
    visits = [range(0, box, step) for box, step in zip(m.box, m.steps, strict=True)]
    if m.interleave:
        visits[m.rank - 2] = range(1)
    else:
        visits[0] = range(m.box[0])
    row = len(visits[0]) * size
    for number, outer in enumerate(itertools.product(*visits[:0:-1])):
        for column, first in enumerate(visits[0]):
            x = [at + by for at, by in zip(c, (first, *outer[::-1]), strict=True)]
            inside = all(0 <= i < dim for i, dim in zip(x, m.dims, strict=True))
            address = m.address + x[0] * size + sum(i * stride for i, stride in zip(x[1:], m.strides, strict=True))
            yield Copied(size, inside, address, at + number * pitch(m, row) + column * size, number, column)


def image(m: TensorMap, c: Sequence[int], offsets: Sequence[int], at: int) -> Iterator[Copied]:
    """The pixels from c on, each with its channels."""
    size = m.type.bytes
    if c[0] * size % UNIT:
        raise Refused
    position, n = list(c[1:-1]), c[-1]
    high = [dim - 1 + up for dim, up in zip(m.dims[1:-1], m.upper, strict=True)]
    if any(not low <= x <= up for low, x, up in zip(m.lower, position, high, strict=True)):
        raise Refused
    for pixel in range(m.pixels):
        x = [p + o for p, o in zip(position, offsets, strict=True)] + [n]
        for channel in range(m.channels):
            whole = [c[0] + channel, *x]
            inside = all(0 <= i < dim for i, dim in zip(whole, m.dims, strict=True))
            address = m.address + whole[0] * size + sum(i * stride for i, stride in zip(x, m.strides, strict=True))
            yield Copied(size, inside, address, at + pixel * pitch(m, m.channels * size) + channel * size, pixel, channel)
        for i, step in enumerate(m.steps[1:-1]):
            position[i] += step
            if position[i] <= high[i]:
                break
            position[i] = m.lower[i]
        else:
            n += 1


def elements(m: TensorMap, c: Sequence[int], offsets: Sequence[int], at: int) -> Iterator[Copied]:
    """The elements of a copy, in the order of shared memory."""
    return tile(m, c, at) if m.mode == TILED else image(m, c, offsets, at)


def tf32(bits: int) -> int:
    """float32 to the nearest tf32."""
    if bits & 0x7FFFFFFF > 0x7F800000:
        return 0x7FFFE000
    low = bits & 0x1FFF
    bits -= low
    return bits + 0x2000 if low > 0x1000 or (low == 0x1000 and bits & 0x2000) else bits


def load(m: TensorMap, c: Sequence[int], offsets: Sequence[int], memory: bytearray, shared: dict[int, int], at: int) -> int:
    """A load into shared memory; gives the bytes that the mbarrier hears of."""
    count = 0
    for e in elements(m, c, offsets, at):
        if e.inside:
            data = bytes(memory[e.address : e.address + e.size])
            if m.type.name.startswith("tf32"):
                data = b"".join(tf32(int.from_bytes(data[i : i + 4], "little")).to_bytes(4, "little") for i in range(0, e.size, 4))
        else:
            data = bytes(NAN_BYTES[i % 2] if m.nan_fill else 0 for i in range(e.size))
        for i, byte in enumerate(data):
            shared[swizzled(m, e.place + i)] = byte
        count += e.size
    return count


def writes(m: TensorMap, c: Sequence[int], offsets: Sequence[int], at: int) -> Iterator[Copied]:
    """The elements that a store or a reduction changes: of each row whole units of 16 bytes, as far as one has an element inside."""
    if any(x < 0 for x in c) or any(low < 0 for low in m.lower):
        raise Refused
    found = list(elements(m, c, offsets, at))
    kept = {(e.row, e.column * e.size // UNIT) for e in found if e.inside}
    return (e for e in found if (e.row, e.column * e.size // UNIT) in kept)


def store(m: TensorMap, c: Sequence[int], offsets: Sequence[int], memory: bytearray, shared: dict[int, int], at: int) -> None:
    """A store from shared memory."""
    reduce(m, c, offsets, memory, shared, at, lambda old, new, bits: new)


def reduce(
    m: TensorMap, c: Sequence[int], offsets: Sequence[int], memory: bytearray, shared: dict[int, int], at: int,
    change: Callable[[int, int, int], int],
) -> None:  # fmt: skip
    """A reduction by change(old, new, bits)."""
    size = m.type.bytes
    for e in writes(m, c, offsets, at):
        for k in range(0, e.size, size):
            new = int.from_bytes(bytes(shared[swizzled(m, e.place + k + i)] for i in range(size)), "little")
            old = int.from_bytes(memory[e.address + k : e.address + k + size], "little")
            changed = change(old, new, 8 * size) & (1 << 8 * size) - 1
            memory[e.address + k : e.address + k + size] = changed.to_bytes(size, "little")
