"""clusterlaunchcontrol: a CTA takes over the work of a cluster that has not started (PTX ISA 9.7.15.17).

The answer is opaque to programs.  Here it is four words: the %ctaid of the cluster's first CTA, and 1; all are 0 where no cluster was left.
"""

from typing import Any

import numpy as np

from ..facts import Need, facts
from ..notation import instruction
from ..ports import Addresses, Array, Lanes, Mask
from ..spaces import cluster_address
from .mbarrier import complete_tx

facts("clusterlaunchcontrol", leading="try_cancel async query_cancel is_canceled")

_ROW: dict[str, Any] = {"ptx": 8.6, "sm": 100, "section": "9.7.15.17"}
Halves = tuple[Array, Array]  # of a register of 128 bits
_BYTES = 16  # of an answer


@instruction(
    "clusterlaunchcontrol.try_cancel.async{.ss}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128  [a], [b]",
    ss="shared::cta", needs={"multicast::cluster::all": Need(8.6, 100, "af")}, **_ROW,
)  # fmt: skip
def try_cancel(lanes: Lanes, a: Addresses, b: Addresses, *, ss: str = "generic", multicast_cluster_all: bool = False) -> None:
    """Asks for a cluster that has not started, which then never does; the answer goes to a, and the mbarrier b counts its 16 bytes.

    With .multicast::cluster::all it goes to the same place in each CTA of the cluster, and to the mbarrier there.  A further question
    after one that found no cluster, which the manual leaves undefined, finds none either.
    """
    answer = lanes.take_clusters()
    if not multicast_cluster_all:
        lanes.store(ss, a, "b32", answer)
        complete_tx(lanes, ss, b, _BYTES)
        return
    space = "generic" if ss == "generic" else "shared::cluster"
    for rank in range(int(lanes.special("%cluster_nctarank").max())):
        where = np.full((1, 1), rank, np.uint32)
        lanes.store(space, cluster_address(a, where), "b32", answer)
        complete_tx(lanes, space, cluster_address(b, where), _BYTES)


def _word(a: Halves, i: int) -> Array:
    """A word of an answer that a register of 128 bits holds."""
    return (a[i // 2] >> np.uint64(32 * (i % 2))).astype(np.uint32)


@instruction("clusterlaunchcontrol.query_cancel.is_canceled.pred.type  p, a", type="b128", **_ROW)
def is_canceled(a: Halves) -> Mask:
    """p = "the answer a contains a cluster"."""
    given: Mask = _word(a, 3) != 0
    return given


@instruction("clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d*4:u32~, a", **_ROW)
def first_ctaid(a: Halves) -> tuple[Array, ...]:
    """d = the %ctaid of that cluster's first CTA, and a word without meaning."""
    return tuple(_word(a, i) for i in range(4))


@instruction(
    "clusterlaunchcontrol.query_cancel.axis.b32.b128  d:u32~, a",
    axis="get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z", **_ROW,
)  # fmt: skip
def first_ctaid_part(a: Halves, *, axis: str) -> Array:
    """d = one component of the %ctaid of that cluster's first CTA."""
    return _word(a, "xyz".index(axis[-1]))
