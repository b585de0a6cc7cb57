"""Cache hints (PTX ISA 9.7.10.15-18): prefetch, prefetchu, applypriority, discard, createpolicy.

No value that a program may rely on depends on them.  What discard leaves behind is undefined: here, what was there.
"""

import numpy as np

from ..facts import ALWAYS, Constant, Need, facts, when
from ..notation import instruction
from ..ports import Array, Lanes

PREFETCH = "9.7.10.15"
_L2 = Need(7.4, 80)


facts("prefetch", is_indexed=True, memory_only=when("tensormap"), word_addresses=when("tensormap"))
facts("prefetchu", generic_only=True)
facts("prefetch prefetchu applypriority discard", has_wide_addresses=True)


@instruction("prefetch{.ss}.level  [a]", ss="global local", level="L1 L2", ptx=2.0, sm=20, section=PREFETCH)
@instruction("prefetch{.global}.level  [a]", level="L2::evict_last L2::evict_normal", ptx=7.4, sm=80, section=PREFETCH)
@instruction("prefetch{.ss}.tensormap  [a]", ss="const param", ptx=8.0, sm=90, section=PREFETCH)
def prefetch(lanes: Lanes, a: Array, *, ss: str = "generic", level: str = "", global_: bool = False) -> None:
    """Brings the line at a into the cache of .level, or the tensor map at a within reach."""


@instruction("prefetchu.L1  [a]", ptx=2.0, sm=20, section=PREFETCH)
def prefetchu(lanes: Lanes, a: Array) -> None:
    """Brings the line at the generic address a into the uniform cache."""


@instruction("applypriority{.global}.L2::evict_normal  [a], #n", ptx=7.4, sm=80, section="9.7.10.16")
def applypriority(lanes: Lanes, a: Array, n: int, *, global_: bool = False) -> None:
    """Gives the n = 128 bytes at a the normal eviction priority again."""


@instruction("discard{.global}.L2  [a], #n", ptx=7.4, sm=80, section="9.7.10.17")
def discard(lanes: Lanes, a: Array, n: int, *, global_: bool = False) -> None:
    """Drops the n = 128 bytes at a from the cache without writing them back; their value is undefined until written again."""


facts("applypriority discard", constants=(Constant("n", (128,)),))

PRIORITIES = "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"
SECOND = "L2::evict_first L2::evict_unchanged"
POLICY = "9.7.10.18"
_CODE = {"L2::evict_unchanged": 0, "L2::evict_first": 2, "L2::evict_last": 4, "L2::evict_normal": 6}


def _policy(range_: bool, first: str, second: str) -> np.uint64:
    """The top byte of a policy, as an H200 makes it; programs may only hand it on."""
    return np.uint64((0x10 | range_ << 3 | _CODE[first] | (second == "L2::evict_first")) << 56)


facts(
    "createpolicy",
    opaque=True,
    leading="fractional range cvt",
    memory_only=ALWAYS,
    word_addresses=ALWAYS,
    constants=(
        Constant("a", None, when("fractional"), "{value} is not a fraction above 0 and up to 1", is_fraction=True),
        Constant("b", None, when("range"), "{value} is more than the {limit} bytes of the whole", most="c", is_unsigned=True),
    ),
)


@instruction("createpolicy.fractional.first{.second}.b64  d{, a:f32}", first=PRIORITIES, second=SECOND, ptx=7.4, sm=80, section=POLICY)
def createpolicy_fractional(a: Array | None = None, *, first: str, second: str = "L2::evict_unchanged") -> Array:
    """d = a policy: the fraction a (1 where missing) of the accesses gets the first priority, the others the second."""
    fraction = np.ones((1, 1), np.float32) if a is None else np.nan_to_num(a)
    sixteenths = np.clip(np.ceil(fraction * np.float32(16)), 1, 16).astype(np.uint64) - np.uint64(1)
    policy: Array = sixteenths << np.uint64(52) | _policy(False, first, second)
    return policy


@instruction(
    "createpolicy.range{.global}.first{.second}.b64  d, [a], b:u32, c:u32",
    first=PRIORITIES,
    second=SECOND,
    ptx=7.4,
    sm=80,
    section=POLICY,
)
def createpolicy_range(
    lanes: Lanes, a: Array, b: Array, c: Array, *, first: str, second: str = "L2::evict_unchanged", global_: bool = False
) -> Array:
    """d = a policy: the first priority for the b bytes from a on, the second for the rest of the c bytes around them.

    Addresses and sizes are kept in granules, of which 128 make no less than c bytes.
    """
    granule = np.uint64(12) + np.searchsorted(np.uint64(128) << np.arange(12, 32, dtype=np.uint64), c.astype(np.uint64)).astype(np.uint64)
    last = (np.uint64(1) << granule) - np.uint64(1)
    many = np.minimum((a & last) + b + last >> granule, np.uint64(127))
    policy: Array = (granule - np.uint64(12)) << np.uint64(52) | (a >> granule & np.uint64(0x7F)) << np.uint64(44)
    return np.asarray(policy | many << np.uint64(37) | _policy(True, first, second))


@instruction("createpolicy.cvt.L2.b64  d, a", ptx=7.4, sm=80, section=POLICY)
def createpolicy_cvt(a: Array) -> Array:
    """d = the policy that the access property a describes."""
    return a
