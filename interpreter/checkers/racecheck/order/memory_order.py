"""What the words of an instruction say about its place in the order of memory."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler.listing import listing
from warplab.isa.types import TYPES

from ....launch import Launch
from ....plan.plan import Site

SCOPES = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}
SCOPE_NAMES = ("cta", "cluster", "gpu", "sys")
CTA, CLUSTER, GPU, SYS = range(4)
SPACES = ("global", "shared")  # whose accesses are ordered


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
    sequential: bool = False  # a fence.sc
    fenced: tuple[str, ...] = SPACES  # the memory that a proxy fence is for

    @property
    def plain(self) -> bool:
        """Is an access of its the thread's own, and weak?"""
        return not (self.strong or self.mbarrier or self.copies or self.reads_async or self.async_proxy)

    @property
    def orders_some(self) -> bool:
        """Does it order threads otherwise than by a barrier of their block, or work beside its thread?"""
        return self.fence or self.warp_barrier or self.mbarrier or self.copies or self.reads_async or self.acquires or self.releases


def kind_of(site: Site) -> Kind:
    """What an instruction is."""
    i = site.instruction
    words, form = frozenset(i.modifiers), i.form
    facts = None if form is None else form.facts
    scope = max((SCOPES[w] for w in words if w in SCOPES), default=GPU)
    if "volatile" in words or "mmio" in words:
        scope = SYS
    atomic = facts is not None and (facts.access in ("atomic", "reduction") or (facts.copies and "reduce" in words))
    mbarrier = facts is not None and facts.opaque and facts.unit == "barrier"
    strong = atomic or not words.isdisjoint(("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"))
    fence = facts is not None and facts.orders_memory
    named = {w.split("::")[0] for w in words}
    every = fence and words.isdisjoint(("acquire", "release"))
    return Kind(
        strong, scope, every or not words.isdisjoint(("acquire", "acq_rel", "sc")), every or not words.isdisjoint(("release", "acq_rel", "sc")),
        mbarrier, facts is not None and facts.access != "" and "async" in words, "mma_async" in words, not words.isdisjoint(("bulk", "mma_async")),
        fence and "proxy" not in words, fence and "proxy" in words and not words.isdisjoint(("async", "async::generic")),
        form is not None and form.effect == "warp_barrier", fence and ("sc" in words or "level" in (i.settled or {})),
        tuple(s for s in SPACES if s in named) or SPACES,
    )  # fmt: skip


def only_barriers(launch: Launch) -> bool:
    """Do all threads of a block meet wherever some of them synchronise?  Then nothing but whole blocks is ever asked for."""
    for f in launch.kernel.reached:
        for i in listing(f).instructions:
            form = i.form
            if form is None:
                continue
            if kind_of(Site(i, None, f.name)).orders_some or form.facts.copies or form.effect in ("cluster_arrive", "cluster_wait"):
                return False
            if form.effect == "barrier" and ("arrive" in i.modifiers or len(i.operands) > 1):
                return False
    return True


def is_uneven(launch: Launch) -> bool:
    """May strong accesses of the launch race among each other, since they have several sizes, or scopes narrower than .gpu?"""
    sizes = set[int]()
    for f in launch.kernel.reached:
        for i in listing(f).instructions:
            kind = kind_of(Site(i, None, f.name))
            if kind.strong and not (kind.fence or kind.mbarrier):
                if kind.scope < GPU:
                    return True
                t = TYPES.get(str((i.settled or {}).get("type")))
                sizes |= set() if t is None else {t.bytes}
    return len(sizes) > 1
