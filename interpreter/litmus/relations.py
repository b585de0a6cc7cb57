"""Relations between the events of one execution, as bit masks: bit j of row i says that event i comes before event j."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Relation = list[int]


def empty(n: int) -> Relation:
    """No two of n events are related."""
    return [0] * n


def of(n: int, pairs: Iterable[tuple[int, int]]) -> Relation:
    """Just these pairs."""
    out = [0] * n
    for i, j in pairs:
        out[i] |= 1 << j
    return out


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def union(*relations: Relation) -> Relation:
    """Related by one of them."""
    out = list(relations[0])
    for r in relations[1:]:
        for i, row in enumerate(r):
            out[i] |= row
    return out


def then(a: Relation, b: Relation) -> Relation:
    """From i to k by a, and from there to j by b."""
    out = []
    for row in a:
        mask = 0
        for k in bits(row):
            mask |= b[k]
        out.append(mask)
    return out


def closure(r: Relation) -> Relation:
    """Related in any number of steps."""
    out = list(r)
    for k in range(len(out)):
        row, bit = out[k], 1 << k
        for i in range(len(out)):
            if out[i] & bit:
                out[i] |= row
    return out


def is_acyclic(r: Relation) -> bool:
    """Does no event come before itself?"""
    return not any(row >> i & 1 for i, row in enumerate(closure(r)))
