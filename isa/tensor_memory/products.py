"""Matrices from the bytes that tensor cores read, and their products.

How the fifth-generation tensor cores add is not known: no manual says it, and none has been recorded.  Sums are made as by wgmma on
sm_90 for 16-bit elements, for all floats alike: all products of one instruction and D are added at once, terms cut to 25 bits below the
largest, the sum cut to f32 or rounded to f16; a product with its two factors is one term.
"""

from __future__ import annotations

import numpy as np

from ..floats import tensor
from ..floats.tensor import Terms
from ..ports import Array
from .descriptors import MmaShape

ELEMENTS = 1 << 18  # products that are added at once: their arrays stay small
PACKED = {"e2m1": 4, "e2m3": 6, "e3m2": 6}  # bits of elements that lie packed in shared memory, 16 in each 16 bytes
GROUP = 16


def unpacked(pieces: Array, bits: int) -> Array:
    """The 16 elements of so many bits at the beginning of each piece of 16 bytes (last axis), one a byte."""
    first = np.arange(GROUP) * bits
    wide = pieces[..., first >> 3] | pieces[..., (first >> 3) + 1].astype(np.uint16) << np.uint16(8)
    found: Array = (wide >> (first & 7).astype(np.uint16) & np.uint16((1 << bits) - 1)).astype(np.uint8)
    return found


def decompressed(pieces: Array, bits: int) -> Array:
    """As unpacked, but as tensor memory has the elements: one of 4 bits stands in the middle of its byte."""
    elements = unpacked(pieces, bits)
    return elements << np.uint8(2) if bits == 4 else elements


def _plain(rows: Array, kind: str, bits: int) -> Array:
    """Rows of bytes as codes of elements."""
    if bits == 4:
        return np.stack([rows & 15, rows >> 4], axis=-1).reshape(len(rows), -1)
    return np.ascontiguousarray(rows).view(f"u{bits // 8}")


def from_shared(pieces: Array, shape: MmaShape, kind: str, turned: bool) -> Array:
    """The codes of a matrix, (rows, k), from its pieces (outer, inner, 16); a turned one has `outer` pieces for each k."""
    if turned:
        size = shape.bits // 8
        across = np.ascontiguousarray(pieces).view(f"u{size}")  # (outer, k, elements of a piece)
        return np.ascontiguousarray(np.moveaxis(across, 1, 2)).reshape(-1, pieces.shape[1])
    if kind in PACKED and shape.bits == 8:
        return unpacked(pieces, PACKED[kind]).reshape(len(pieces), -1)
    return _plain(pieces.reshape(len(pieces), -1), kind, shape.bits)


def from_tensor(words: Array, shape: MmaShape, kind: str) -> Array:
    """The codes of A, (rows, stored), from its words in tensor memory."""
    codes = _plain(np.ascontiguousarray(words).view(np.uint8), kind, shape.bits)
    if kind in PACKED and shape.bits == 8:
        return codes >> np.uint8(2) & np.uint8(15) if kind == "e2m1" else codes & np.uint8(63)
    return codes


def numbers(codes: Array, kind: str, negated: bool) -> Terms:
    """The numbers of a matrix (rows, k), k first as the adder has it."""
    found = tensor.terms(np.ascontiguousarray(codes.T), kind)
    return Terms(-found.value, found.exponent) if negated else found


def zeroed(b: Terms, zeros: Array) -> Terms:
    """B, (k, n), with zeros in some columns."""
    return Terms(np.where(zeros, 0.0, b.value), np.where(zeros, tensor.NOTHING, b.exponent))


def accumulator(words: Array, kind: str, scale: int) -> Terms:
    """D as it was, times 2**-scale, which is exact here."""
    d = tensor.terms(words.astype(np.uint16), "f16") if kind == "f16" else tensor.terms(words, "f32")
    exponent = np.where(np.abs(d.exponent) < tensor.LARGE, d.exponent - np.int16(scale), d.exponent)
    return Terms(d.value * 2.0**-scale, exponent)


def float_product(a: Terms, b: Terms, c: Terms, kept: Array | None, kind: str) -> Array:
    """The words of D, (m, n), from a (stored, m), b (k, n) and c (m, n); `kept` are the columns that a sparse A's elements stand in, (m, stored)."""
    m, n = c.value.shape
    step = max(ELEMENTS // max(len(a.value) * n, 1), 1)
    words = np.empty((m, n), np.uint32)
    for start in range(0, m, step):
        rows = slice(start, start + step)
        own = b[..., None] if kept is None else b[kept[rows].T][..., None]
        total = tensor.add_products(a[:, rows, None], own, c[rows, :, None])[..., 0]
        if kind == "f16":
            words[rows] = tensor.to_f16(total).view(np.uint16)
        else:
            words[rows] = tensor.to_f32(total).view(np.uint32)
    return words


def integer_product(a: Array, b: Array, c: Array, kept: Array | None, types: tuple[str, str], saturates: bool) -> Array:
    """As float_product, from codes a (m, stored) and b (n, k)."""
    x, y = tensor.signed(a, types[0]), tensor.signed(b, types[1])
    if kept is not None:
        whole = np.zeros((len(x), y.shape[1]), np.float32)
        np.add.at(whole, (np.arange(len(x))[:, None], kept), x)
        x = whole
    product = tensor.dot(x[..., None], np.ascontiguousarray(y.T)[..., None])[..., 0]
    words: Array = tensor.add_integers(product, c.view(np.int32), saturates).view(np.uint32)
    return words
