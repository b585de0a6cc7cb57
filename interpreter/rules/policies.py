"""What each cache operator does to L1, fitted to the H200's counters: which loads and stores allocate, which instructions empty it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

from warplab.isa.facts import facts_of, when


class LoadPolicy(Enum):
    """How a load treats L1, and the spellings that ask for it."""

    CACHE = "allocate"  # plain, .ca, .cs, .nc, .L1::evict_*, .relaxed.cta, .acquire.cta, cp.async.ca
    STREAM = "bring sectors into lines that are there, but no line"  # .lu, .L1::no_allocate
    BYPASS = "take the line out, read L2"  # .cg, .cv, .volatile, .relaxed.gpu and wider, .mmio, cp.async.cg


class StorePolicy(Enum):
    """How a store treats L1; every store is written through to L2."""

    KEEP = "allocate"  # plain, .wb, .cg, .cs, .wt, .volatile, .relaxed, .release
    STREAM = "update what is there, bring nothing in"  # .L1::no_allocate


_LOADS: dict[str, LoadPolicy] = {
    **dict.fromkeys(("ca", "cs", "nc", "weak", "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first"), LoadPolicy.CACHE),
    "L1::evict_last": LoadPolicy.CACHE,
    **dict.fromkeys(("lu", "L1::no_allocate"), LoadPolicy.STREAM),
    **dict.fromkeys(("cg", "cv", "volatile", "mmio"), LoadPolicy.BYPASS),
}
_STRONG = ("relaxed", "acquire")
_ACQUIRES = (when("acquire acq_rel", without="cta"),)


def load_policy(modifiers: Iterable[str]) -> LoadPolicy:
    """What the modifiers of a load (without their dots) ask of L1.

    >>> load_policy(["relaxed", "gpu"]).name, load_policy(["relaxed", "cta"]).name, load_policy(["nc", "L1::no_allocate"]).name
    ('BYPASS', 'CACHE', 'STREAM')
    >>> load_policy(["cg"]).name, load_policy(["cg", "nc"]).name
    ('BYPASS', 'CACHE')
    """
    words = set(modifiers)
    found = {_LOADS[word] for word in words if word in _LOADS}
    if "nc" in words:  # read-only data may always be kept
        found.discard(LoadPolicy.BYPASS)
    if words.intersection(_STRONG) and "cta" not in words:
        found.add(LoadPolicy.BYPASS)
    for policy in (LoadPolicy.BYPASS, LoadPolicy.STREAM):
        if policy in found:
            return policy
    return LoadPolicy.CACHE


def store_policy(modifiers: Iterable[str]) -> StorePolicy:
    """What the modifiers of a store ask of L1."""
    return StorePolicy.STREAM if "L1::no_allocate" in set(modifiers) else StorePolicy.KEEP


def empties_l1(opcode: str, modifiers: Collection[str]) -> bool:
    """Whether an instruction makes its multiprocessor forget all of L1.

    Fences wider than the block do, and so does everything that acquires at such a scope, cluster barriers and waiting for bulk
    copies to be written included; releases do not.

    >>> empties_l1("membar", ["gl"]), empties_l1("fence", ["acq_rel", "cta"]), empties_l1("atom", ["release", "gpu"])
    (True, False, False)
    >>> empties_l1("barrier", ["cluster", "wait"]), empties_l1("cp", ["async", "bulk", "wait_group"]), empties_l1("cp", ["async", "wait_all"])
    (True, True, False)
    """
    return any(condition.holds(modifiers) for condition in facts_of(opcode).acquires or _ACQUIRES)
