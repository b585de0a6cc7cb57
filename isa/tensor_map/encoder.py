"""What cuTensorMapEncodeTiled, Im2col and Im2colWide take, as recorded on an H200: wrong() says why a map can't be made.

A kernel may change a map into one that no encoder makes: unusable() says why it describes nothing.
"""

import functools
from collections.abc import Iterator

from .descriptor import IM2COL, MAX_RANK, TILED, TensorMap

UNIT = 16  # bytes: the grain of addresses, strides and rows
MAX_BOX = 256
MAX_STEP = 8
MAX_PIXELS = 1024
MAX_DIM = 1 << 32
MAX_STRIDE = 1 << 40
CORNER_BITS = {3: 16, 4: 8, 5: 5}  # of an image's corners, by rank


def wrong(m: TensorMap) -> str:
    """What is wrong with a map that is to be encoded; "" where nothing is."""
    return next(_faults(m), "")


@functools.lru_cache(256)
def unusable(m: TensorMap) -> str:
    """Why a map describes no tensor and no box; "" where it does."""
    return next(_sizes(m), "")


def _faults(m: TensorMap) -> Iterator[str]:
    least = 3 if m.mode != TILED or m.interleave else 1
    if not least <= m.rank <= MAX_RANK:
        kind = m.mode if m.mode != TILED else f"{m.interleave}B interleaved" if m.interleave else "tiled"
        yield f"rank {m.rank}: a tensor of a {kind} map has {least} to {MAX_RANK} dimensions"
        return
    grain = 32 if m.interleave == 32 else UNIT
    if m.address % grain or not 0 <= m.address < 1 << 64:
        yield f"globalAddress {m.address:#x} is not a multiple of {grain}"
    for i, stride in enumerate(m.strides):
        if stride % grain:
            yield f"globalStrides[{i}] is {stride} bytes; it must be a multiple of {grain} (dimension {i + 1})"
    yield from _sizes(m)
    if m.nan_fill and not m.type.is_float:
        yield f"NaN can't fill a tensor of {m.type.name}"
    if m.mode == TILED:
        yield from _row(m, m.box[0], "boxDim[0]")
        return
    bits = CORNER_BITS[m.rank] if m.mode == IM2COL else 16
    limit = 1 << bits - 1
    for i, corners in enumerate(zip(m.lower, m.upper, strict=True)):
        if not all(-limit <= corner < limit for corner in corners):
            yield f"corner {i} {corners} does not fit {bits} bits"
    yield from _row(m, m.channels, "channelsPerPixel")


def _sizes(m: TensorMap) -> Iterator[str]:
    for i, dim in enumerate(m.dims):
        if not 1 <= dim <= MAX_DIM:
            yield f"globalDim[{i}] is {dim}; 1 to 2**32 are allowed"
    for i, stride in enumerate(m.strides):
        if not 0 <= stride < MAX_STRIDE:
            yield f"globalStrides[{i}] is {stride} bytes; it must lie below 2**40 (dimension {i + 1})"
    for i, step in enumerate(m.steps):
        if not 1 <= step <= MAX_STEP:
            yield f"elementStrides[{i}] is {step}; 1 to {MAX_STEP} are allowed"
    yield from _box(m) if m.mode == TILED else _image(m)


def _row(m: TensorMap, elements: int, what: str) -> Iterator[str]:
    if m.interleave:
        return
    row = elements * m.type.bytes
    if row % UNIT:
        yield f"{what}: a row of {elements} x {m.type.bytes} bytes is not a multiple of {UNIT}"
    if m.swizzle and row > m.swizzle:
        yield f"{what}: a row of {row} bytes is wider than the swizzle of {m.swizzle}; choose a wider swizzle or a narrower box"


def _box(m: TensorMap) -> Iterator[str]:
    for i, size in enumerate(m.box):
        if not 1 <= size <= MAX_BOX:
            yield f"boxDim[{i}] is {size}; 1 to {MAX_BOX} are allowed"


def _image(m: TensorMap) -> Iterator[str]:
    if not 1 <= m.channels <= MAX_BOX:
        yield f"channelsPerPixel is {m.channels}; 1 to {MAX_BOX} are allowed"
    if not 1 <= m.pixels <= MAX_PIXELS:
        yield f"pixelsPerColumn is {m.pixels}; 1 to {MAX_PIXELS} are allowed"
    for i, (low, high, dim) in enumerate(zip(m.lower, m.upper, m.dims[1:], strict=False)):
        if dim - 1 + high < low:
            yield f"the bounding box is empty in dimension {i + 1}: it reaches from {low} to {dim - 1 + high}"
