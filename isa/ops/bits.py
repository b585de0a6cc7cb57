"""Counting, finding, reversing and cutting out bits, and dot products of bytes (PTX ISA 9.7.1.15 to 9.7.1.25)."""

import numpy as np

from ..facts import Constant, facts
from ..notation import instruction
from ..ports import Array

WORDS = "b32 b64"
NUMBERS = "u32 u64 s32 s64"
NONE = np.uint32(0xFFFFFFFF)


@instruction("popc.type  d:u32, a", type=WORDS, ptx=2.0, sm=20, section="9.7.1.15")
def popc(a: Array) -> Array:
    """d = how many bits of a are set."""
    return np.bitwise_count(a).astype(np.uint32)


def _leading_zeros(a: Array) -> Array:
    """Zeros above the highest set bit of an unsigned array, all of them for 0, as uint32."""
    # The exponent of a double tells; clearing the bit below each set bit keeps rounding from reaching the next power of two.
    if a.itemsize == 8:
        a = a & ~(a >> np.uint64(1))
    bits = a.itemsize * 8
    exponent: Array = (a.astype(np.float64).view(np.uint64) >> np.uint64(52)).astype(np.uint32)
    return np.minimum(np.uint32(1022 + bits) - exponent, np.uint32(bits))


@instruction("clz.type  d:u32, a", type=WORDS, ptx=2.0, sm=20, section="9.7.1.16")
def clz(a: Array) -> Array:
    """d = the number of zeros above the highest set bit of a."""
    return _leading_zeros(a)


@instruction("bfind{.shiftamt}.type  d:u32, a", type=NUMBERS, ptx=2.0, sm=20, section="9.7.1.17")
def bfind(a: Array, *, shiftamt: bool = False) -> Array:
    """d = the position of the highest bit that is not a sign bit, or with .shiftamt the shift that brings it to the top; -1 if none."""
    if a.dtype.kind == "i":
        a = (a ^ (a >> (a.itemsize * 8 - 1))).view(f"u{a.itemsize}")
    zeros = _leading_zeros(a)
    bits = np.uint32(a.itemsize * 8)
    return np.where(zeros == bits, NONE, zeros) if shiftamt else bits - np.uint32(1) - zeros


def _reversed(a: Array) -> Array:
    """The bits of an unsigned array in reverse order."""
    kind = a.dtype.type
    for shift, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F)):
        pairs = kind(mask & (2 ** (a.itemsize * 8) - 1))
        a = ((a >> kind(shift)) & pairs) | ((a & pairs) << kind(shift))
    return a.byteswap()


@instruction("fns.b32  d, a, b, c:s32~", ptx=6.0, sm=30, section="9.7.1.18")
def fns(a: Array, b: Array, c: Array) -> Array:
    """d = the position of the c-th set bit of a from bit b upward, for negative c downward, for c = 0 bit b itself if set; -1 if none."""
    down = c < 0
    mask = np.where(down, _reversed(a), a)
    base = np.where(down, np.uint32(31) - b, b)
    mask = mask & np.where(base < 32, NONE << (base & np.uint32(31)), np.uint32(0))
    rank = np.where(c == 0, 1, np.abs(c.astype(np.int64)))
    found = np.full(np.broadcast_shapes(mask.shape, rank.shape), NONE)
    for bit in range(32):
        here = mask & np.uint32(1 << bit)
        rank = rank - (here != 0)
        found = np.where((rank == 0) & (here != 0), np.uint32(bit), found)
    found = np.where((c == 0) & (found != base), NONE, found)
    found = np.where(down & (found != NONE), np.uint32(31) - found, found)
    return np.where(c == np.int32(-(2**31)), np.uint32(0), found)  # its absolute value overflows, and the H200 answers 0


@instruction("brev.type  d, a", type=WORDS, ptx=2.0, sm=20, section="9.7.1.19")
def brev(a: Array) -> Array:
    """d = a with its bits in reverse order."""
    return _reversed(a)


def _without_carries(a: Array, b: Array) -> Array:
    """The lower half of the product of two 64-bit polynomials over GF(2).

    Every fourth bit is multiplied by every fourth: a column of such a product adds up at most 16 ones, which need the three bits
    above it and no more; the 16 occur in the uppermost column alone, where the carry leaves the number.
    """
    part = [np.uint64(0x1111111111111111 << i) for i in range(4)]
    x, y = [a & p for p in part], [b & p for p in part]
    d: Array = np.zeros((1, 1), np.uint64)
    for k in range(4):
        d = d | (x[0] * y[k] ^ x[1] * y[k - 1] ^ x[2] * y[k - 2] ^ x[3] * y[k - 3]) & part[k]
    return d


@instruction("clmad.mode.type  d, a, b, c", mode="lo hi", type="u64", ptx=9.1, sm=100, section="9.7.1.5")
def clmad(a: Array, b: Array, c: Array, *, mode: str) -> Array:
    """d = the lower or upper half of the carry-less product of a and b, exclusive-or c."""
    if mode == "lo":
        return _without_carries(a, b) ^ c
    return _reversed(_without_carries(_reversed(a), _reversed(b))) >> np.uint64(1) ^ c


def _field(b: Array, bits: int) -> Array:
    """A position or length, where all beyond the width counts as the width; a 32-bit field takes the low byte of it, a 64-bit one all."""
    return np.minimum(b & np.uint32(255) if bits == 32 else b, np.uint32(bits))


_BYTE = range(256)
facts("brev szext", takes_bits="a")
facts("bfe", takes_bits="a", constants=(Constant("b", _BYTE), Constant("c", _BYTE)))
facts("bfi", takes_bits="a b", constants=(Constant("c", _BYTE), Constant("e", _BYTE)))


@instruction("bfe.type  d, a, b:u32, c:u32", type=NUMBERS, ptx=2.0, sm=20, section="9.7.1.20")
def bfe(a: Array, b: Array, c: Array) -> Array:
    """d = the c bits of a from bit b on; signed types extend the field's top bit, or a's own where the field sticks out."""
    bits = a.itemsize * 8
    kind = a.dtype
    position, length = _field(b, bits), _field(c, bits)
    if kind.kind == "u":
        ones = ~(~kind.type(0) << length.astype(kind))
        d: Array = (a >> position.astype(kind)) & ones
        return d
    above = np.uint32(bits) - np.minimum(position + length, np.uint32(bits))
    down = np.minimum(above + position, np.uint32(bits - 1))
    field = (a << above.astype(kind)) >> down.astype(kind)
    d = field * (length != 0).astype(kind)
    return d


@instruction("bfi.type  d, a, b, c:u32, e:u32", type=WORDS, ptx=2.0, sm=20, section="9.7.1.21")
def bfi(a: Array, b: Array, c: Array, e: Array) -> Array:
    """d = b with its e bits from bit c on replaced by the low bits of a."""
    bits, kind = a.itemsize * 8, a.dtype
    position, length = _field(c, bits).astype(kind), _field(e, bits).astype(kind)
    mask = ~(~kind.type(0) << length) << position
    d: Array = b ^ ((b ^ (a << position)) & mask)
    return d


@instruction("szext.mode.type  d, a, b:u32", mode="clamp wrap", type="u32 s32", ptx=7.6, sm=70, section="9.7.1.22")
def szext(a: Array, b: Array, *, mode: str) -> Array:
    """d = the low b bits of a, zero- or sign-extended; b counts modulo 32 with .wrap, and 32 and above keep a with .clamp."""
    length = b & np.uint32(31) if mode == "wrap" else np.minimum(b, np.uint32(32))
    above = (np.uint32(32) - length).astype(a.dtype)
    d: Array = ((a << above) >> above) * (length != 0).astype(a.dtype)
    return d


@instruction("bmsk.mode.b32  d:u32, a:u32, b:u32", mode="clamp wrap", ptx=7.6, sm=70, section="9.7.1.23")
def bmsk(a: Array, b: Array, *, mode: str) -> Array:
    """d = b ones from bit a on; both count modulo 32 with .wrap, and at most to 32 with .clamp."""
    limit = np.uint32(31 if mode == "wrap" else 32)
    start, length = (a & limit, b & limit) if mode == "wrap" else (np.minimum(a, limit), np.minimum(b, limit))
    return ~(NONE << length) << start


def _parts(a: Array, bits: int, kind: str) -> list[Array]:
    """The bytes or halves of 32-bit words, lowest first, extended to int32 as .u32 or .s32 says."""
    if kind == "u32":
        word: Array = a.view(np.uint32)
        return [((word >> np.uint32(at)) & np.uint32(2**bits - 1)).view(np.int32) for at in range(0, 32, bits)]
    signed: Array = a.view(np.int32)
    return [(signed << (32 - bits - at)) >> (32 - bits) for at in range(0, 32, bits)]


@instruction("dp4a.atype.btype  d:s32, a:atype, b:btype, c:s32", atype="u32 s32", btype="u32 s32", ptx=5.0, sm=61, section="9.7.1.24")
def dp4a(a: Array, b: Array, c: Array, *, atype: str, btype: str) -> Array:
    """d = c + the sum of the products of the four bytes of a and b."""
    for x, y in zip(_parts(a, 8, atype), _parts(b, 8, btype), strict=True):
        c = c + x * y
    return c


facts("dp2a", leading="lo hi")


@instruction("dp2a.half.atype.btype  d:s32, a:atype, b:btype, c:s32", half="lo hi", atype="u32 s32", btype="u32 s32",
             ptx=5.0, sm=61, section="9.7.1.25")  # fmt: skip
def dp2a(a: Array, b: Array, c: Array, *, half: str, atype: str, btype: str) -> Array:
    """d = c + the sum of the products of the two halves of a with the lower or upper two bytes of b."""
    bytes_ = _parts(b, 8, btype)
    for x, y in zip(_parts(a, 16, atype), bytes_[:2] if half == "lo" else bytes_[2:], strict=True):
        c = c + x * y
    return c
