"""Fences, dependent launches, hints and the cluster's addresses (PTX ISA 9.7.10.23-24, 9.7.15.4, 9.7.15.13, 9.7.21).

Memory is coherent and in order here, so a fence has nothing left to do; its rows exist for their spelling.
"""

from ..facts import Constant, Need, facts, when
from ..notation import instruction
from ..ports import Array, Lanes
from ..spaces import cluster_address, cluster_rank

FENCE = "9.7.15.4"
SCOPES = "cta cluster gpu sys"
_CLUSTER = {"cluster": Need(7.8, 90)}


facts("membar fence", leading="proxy", orders_memory=True)
facts("membar", acquires=(when(also="proxy alias"), when(without="proxy cta")), sequential=when(without="proxy"))
facts(
    "fence",
    sequential=when("sc"),
    acquires=(
        when(also="proxy alias"),
        when("sc acq_rel acquire", without="proxy cta"),
        when(without="proxy release mbarrier_init cta"),
    ),
)
facts("fence", tensor_map="a", constants=(Constant("n", (128,)),))


@instruction("membar.level", level="cta gl sys", ptx=1.4, sm=10, needs={"sys": Need(2.0, 20)}, section=FENCE)
def membar(lanes: Lanes, *, level: str) -> None:
    """Orders the thread's earlier memory accesses before its later ones, for the CTA, the device or the system."""


@instruction("membar.proxy.alias", ptx=7.5, sm=60, section=FENCE)
@instruction("fence.proxy.alias", ptx=7.5, sm=70, section=FENCE)
@instruction("fence.proxy.async{.ss}", ss="global shared::cta shared::cluster", ptx=8.0, sm=90, section=FENCE)
@instruction("fence.proxy.tensormap::generic.release.scope", scope=SCOPES, ptx=8.3, sm=90, section=FENCE)
@instruction("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster", ptx=8.6, sm=90, section=FENCE)
@instruction("fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster", ptx=8.6, sm=90, section=FENCE)
def fence_proxy(lanes: Lanes, *, ss: str = "", scope: str = "") -> None:
    """Orders accesses made in different ways: through aliases, by asynchronous copies, of tensor maps."""


@instruction("fence.proxy.tensormap::generic.acquire.scope  [a], #n", scope=SCOPES, ptx=8.3, sm=90, section=FENCE)
def fence_proxy_acquire(lanes: Lanes, a: Array, n: int, *, scope: str) -> None:
    """Orders later uses of the tensor map at a, n = 128 bytes, behind earlier writes to it."""


@instruction("fence{.sem}.scope", sem="sc acq_rel acquire release", scope=SCOPES, ptx=6.0, sm=70, needs=_CLUSTER, section=FENCE)
@instruction("fence.mbarrier_init.release.cluster", ptx=8.0, sm=90, section=FENCE)
@instruction("fence.acquire.sync_restrict::shared::cluster.cluster", ptx=8.6, sm=90, section=FENCE)
@instruction("fence.release.sync_restrict::shared::cta.cluster", ptx=8.6, sm=90, section=FENCE)
def fence(lanes: Lanes, *, sem: str = "acq_rel", scope: str = "cluster") -> None:
    """Orders the thread's memory accesses before and after it, as threads of .scope see them."""


@instruction("griddepcontrol.action", action="launch_dependents wait", ptx=7.8, sm=90, section="9.7.15.13")
def griddepcontrol(lanes: Lanes, *, action: str) -> None:
    """Lets dependent grids start, or waits for those this one depends on; grids run one after the other here."""


facts(
    "setmaxnreg",
    leading="inc dec",
    constants=(Constant("n", range(24, 257, 8), message="{value} is not a multiple of 8 between 24 and 256"),),
)


@instruction("setmaxnreg.action.sync.aligned.u32  #n", action="inc dec", ptx=8.0, sm=90, arch="af", section="9.7.21.5")
def setmaxnreg(lanes: Lanes, n: int, *, action: str) -> None:
    """Requests or releases registers, n per thread; here all registers of a program always exist."""


facts(
    "pmevent",
    triggers_events=True,
    constants=(Constant("n", range(1 << 16), when("mask")), Constant("n", range(16), when(without="mask"))),
)


@instruction("pmevent  #n", ptx=1.4, sm=10, section="9.7.21.3")
@instruction("pmevent.mask  #n", ptx=3.0, sm=20, section="9.7.21.3")
def pmevent(lanes: Lanes, n: int) -> None:
    """Triggers performance monitor event n, or those in the mask n: a profile counts the warps that do so."""


facts("nanosleep", pauses=True)


@instruction("nanosleep.u32  a:u32", ptx=6.2, sm=70, section="9.7.21.2")
def nanosleep(lanes: Lanes, a: Array) -> None:
    """Suspends the thread for about a nanoseconds."""
    lanes.pause()


facts("mapa getctarank", variables="shared")


@instruction("mapa{.ss}.type  d, a, b:u32", ss="shared::cluster", type="u32 u64", ptx=7.8, sm=90, section="9.7.10.23")
def mapa(a: Array, b: Array, *, ss: str = "generic") -> Array:
    """d = the address that a has in the shared memory of the cluster's CTA b."""
    return cluster_address(a, b)


@instruction("getctarank{.ss}.type  d:u32, a", ss="shared::cluster", type="u32 u64", ptx=7.8, sm=90, section="9.7.10.24")
def getctarank(lanes: Lanes, a: Array, *, ss: str = "generic") -> Array:
    """d = the rank of the cluster's CTA in whose shared memory a lies."""
    return cluster_rank(a, lanes.special("%cluster_ctarank"))
