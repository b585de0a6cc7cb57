"""What the words of an instruction say about the order of memory: is it strong, for which threads, does it acquire or release (PTX ISA 8)."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler.ir import Instruction

SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}
CTA, CLUSTER, GPU, SYS = range(4)


@dataclass(frozen=True, slots=True)
class MemoryOrder:
    """One instruction that accesses memory, or orders accesses."""

    strong: bool = False
    scope: int = GPU
    acquires: bool = False
    releases: bool = False
    fence: bool = False
    sequential: bool = False  # fence.sc
    proxy: bool = False  # a fence between proxies


def order_of(i: Instruction) -> MemoryOrder:
    """What an instruction is; one without such words orders nothing."""
    if i.form is None:
        return MemoryOrder()
    facts, words = i.form.facts, frozenset(i.modifiers)
    scope = SYS if words & {"volatile", "mmio"} else max((SCOPES[w] for w in words if w in SCOPES), default=GPU)
    barrier = facts.opaque and facts.unit == "barrier"  # an mbarrier
    if barrier and not words & SCOPES.keys():
        scope = CTA
    atomic = facts.access in ("atomic", "reduction") or barrier
    fence = facts.orders_memory
    both = (fence and not words & {"acquire", "release"}) or bool(words & {"acq_rel", "sc"}) or (barrier and "relaxed" not in words)
    return MemoryOrder(
        atomic or fence or bool(words & {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}), scope,
        both or "acquire" in words, both or "release" in words, fence, facts.sequential is not None and facts.sequential.holds(words),
        fence and "proxy" in words,
    )  # fmt: skip


def lets_out(i: Instruction) -> MemoryOrder | None:
    """The fence that an instruction is, or has before it, for the stores of its threads; a barrier is one for the threads that meet there."""
    if i.form is None:
        return None
    match i.form.effect:
        case "barrier" | "warp_barrier":
            return MemoryOrder(True, CTA, True, True, True, True)
        case "cluster_arrive" if "relaxed" not in i.modifiers:
            return MemoryOrder(True, CLUSTER, True, True, True, True)
    order = order_of(i)
    return order if order.releases or order.sequential or order.proxy else None
