"""What the words of an instruction say about its place in the order of memory."""

from __future__ import annotations

from dataclasses import dataclass

from ...plan.plan import Site

SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}
SCOPE_NAMES = ("cta", "cluster", "gpu", "sys")
CTA, CLUSTER, GPU, SYS = range(4)


@dataclass(frozen=True, slots=True)
class Kind:
    """One instruction."""

    strong: bool
    scope: int
    acquires: bool
    releases: bool
    mbarrier: bool = False
    copies: bool = False  # its accesses are a copy of their own, which no meaning announces as one
    reads_async: bool = False  # those of tensor cores
    async_proxy: bool = False
    fence: bool = False
    proxy_fence: bool = False
    warp_barrier: bool = False


def kind_of(site: Site) -> Kind:
    """What an instruction is."""
    i = site.instruction
    words, form = frozenset(i.modifiers), i.form
    facts = None if form is None else form.facts
    scope = max((SCOPES[w] for w in words if w in SCOPES), default=GPU)
    if "volatile" in words or "mmio" in words:
        scope = SYS
    atomic = facts is not None and facts.access in ("atomic", "reduction")
    mbarrier = facts is not None and facts.opaque and facts.unit == "barrier"
    strong = atomic or not words.isdisjoint(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
    fence = facts is not None and facts.orders_memory
    every = fence and words.isdisjoint(("acquire", "release"))
    return Kind(
        strong, scope, every or not words.isdisjoint(("acquire", "acq_rel", "sc")), every or not words.isdisjoint(("release", "acq_rel", "sc")),
        mbarrier, facts is not None and facts.access != "" and "async" in words, "mma_async" in words, "bulk" in words,
        fence and "proxy" not in words, fence and "proxy" in words and not words.isdisjoint(("async", "async::generic")),
        form is not None and form.effect == "warp_barrier",
    )  # fmt: skip
