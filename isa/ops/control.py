"""Control flow and CTA-wide barriers (PTX ISA 9.7.14, 9.7.15.1-3, 9.7.21): rows whose effect the engine itself performs."""

from ..facts import Constant, Need, facts, when
from ..notation import accepted

accepted(
    "bra{.uni}  target",
    effect="branch",
    section="9.7.14.3",
    doc="Continues at target; .uni promises that all active lanes of the warp do.",
)
facts("brx", leading="idx")
accepted("brx.idx{.uni}  a:u32, targets", effect="branch_table", ptx=6.0, sm=30, section="9.7.14.4",
         doc="Branches to label number a of the .branchtargets list.")  # fmt: skip
facts("call", passes_on=True)
accepted("call{.uni}  callee", effect="call", section="9.7.14.5",
         doc="Calls a function; an indirect call names its .callprototype or .calltargets.")  # fmt: skip
accepted("ret{.uni}", effect="return", section="9.7.14.6", doc="Returns to the caller; in an entry the lane ends.")
accepted("exit", effect="exit", section="9.7.14.7", doc="The lane ends.")
accepted("trap", effect="trap", section="9.7.21.4", doc="Ends the launch with a fault.")
accepted(
    "brkpt",
    effect="breakpoint",
    sm=11,
    section="9.7.21.1",
    doc="A stop for a debugger; without one the launch ends with a fault.",
)

_OF_CTA = when(without="warp cluster")
facts("bar", leading="cta red warp sync arrive", aligned=when(without="warp"))
facts(
    "barrier",
    leading="cta red cluster sync arrive wait",
    acquires=(when(also="cluster wait"),),
    aligned=when(also="aligned"),
)
facts(
    "bar barrier",
    constants=(
        Constant("a", range(16), _OF_CTA, "there are barriers 0 to 15, no barrier {value}", is_unsigned=True),
        Constant("b", None, _OF_CTA, "{value} threads are not a whole number of warps", multiple=32, help="a multiple of 32"),
    ),
)
_CTA = Need(7.8)
accepted("bar{.cta}.sync  a:u32{, b:u32}", effect="barrier", section="9.7.15.1", needs={"cta": _CTA},
         doc="Waits at barrier a until b threads (all threads of the CTA where b is missing) have arrived.")  # fmt: skip
accepted("bar{.cta}.arrive  a:u32, b:u32", effect="barrier", ptx=2.0, sm=20, section="9.7.15.1", needs={"cta": _CTA},
         doc="Arrives at barrier a of b threads, without waiting.")  # fmt: skip
accepted("bar{.cta}.red.popc.u32  d, a:u32{, b:u32}, {!}c", effect="barrier", ptx=2.0, sm=20, section="9.7.15.1", needs={"cta": _CTA},
         doc="As bar.sync; d = in how many threads c holds.")  # fmt: skip
accepted("bar{.cta}.red.op.pred  p, a:u32{, b:u32}, {!}c", op="and or", effect="barrier", ptx=2.0, sm=20, section="9.7.15.1",
         needs={"cta": _CTA}, doc="As bar.sync; p = c holds in all (.and) or in any (.or) of the threads.")  # fmt: skip
accepted("barrier{.cta}.sync{.aligned}  a:u32{, b:u32}", effect="barrier", ptx=6.0, sm=30, section="9.7.15.1", needs={"cta": _CTA},
         doc="As bar.sync; without .aligned the lanes of a warp may arrive apart.")  # fmt: skip
accepted("barrier{.cta}.arrive{.aligned}  a:u32, b:u32", effect="barrier", ptx=6.0, sm=30, section="9.7.15.1", needs={"cta": _CTA},
         doc="As bar.arrive; without .aligned the lanes of a warp may arrive apart.")  # fmt: skip
accepted("barrier{.cta}.red.popc{.aligned}.u32  d, a:u32{, b:u32}, {!}c", effect="barrier", ptx=6.0, sm=30, section="9.7.15.1",
         needs={"cta": _CTA}, doc="As bar.red.popc.")  # fmt: skip
accepted("barrier{.cta}.red.op{.aligned}.pred  p, a:u32{, b:u32}, {!}c", op="and or", effect="barrier", ptx=6.0, sm=30, section="9.7.15.1",
         needs={"cta": _CTA}, doc="As bar.red.and and bar.red.or.")  # fmt: skip
accepted("bar.warp.sync  a:b32", effect="warp_barrier", ptx=6.0, sm=30, section="9.7.15.2",
         doc="Waits until the lanes of the membermask a have arrived.")  # fmt: skip
accepted("barrier.cluster.arrive{.sem}{.aligned}", sem="release relaxed", effect="cluster_arrive", ptx=7.8, sm=90, section="9.7.15.3",
         needs={"release": Need(8.0, 90), "relaxed": Need(8.0, 90)},
         doc="Marks the thread's arrival at the barrier of its cluster, without waiting.")  # fmt: skip
accepted("barrier.cluster.wait{.acquire}{.aligned}", effect="cluster_wait", ptx=7.8, sm=90, section="9.7.15.3",
         needs={"acquire": Need(8.0, 90)},
         doc="Waits until all threads of the cluster have arrived.")  # fmt: skip
