"""A warp whose lanes disagree about a branch, or leave a loop at different times: which lanes execute which instruction, drawn from a launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.observe import Observer

from ..device.launches.observing import observing
from ..errors import UsageError
from ..reports.drawn.svg import box, svg, text
from ..reports.tables import counted
from ..run.runner import Runner
from ..run.runspec import from_text
from .figure import Figure
from .lanes import WARP, of_lanes

CELL, LEFT, TOP = 14, 230, 44
FIRST = 4  # instructions that read the lane's number, before what is drawn
MOST = 64  # instructions of a side, or turns
HEAD = """.version 7.0
.target sm_50
.address_size 64
.visible .entry warp(.param .u64 x) {{
    .reg .b32 %t, %n, %v; .reg .pred %p; .reg .b64 %x;
    ld.param.u64 %x, [x];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %x, %t, 4, %x;
    ld.global.u32 %n, [%x];
{}
    ret;
}}
"""
Row = tuple[str, frozenset[int]]


@dataclass
class WatchedLanes(Observer):
    """Notes every instruction with the lanes that execute it."""

    rows: list[Row] = field(default_factory=list)

    def instruction(self, site: Any, group: Any, mask: Any) -> None:
        """See Observer."""
        lanes = np.broadcast_to(group.geometry.thread, group.geometry.shape).ravel()
        some = group.alive if site.instruction.form.effect == "branch" else mask
        active = lanes if some is None else lanes[np.broadcast_to(some, group.geometry.shape).ravel()]
        self.rows.append((group.wave.launch.text_of(site), frozenset(active.tolist())))


def divergence(condition: str = "lane < 12", *, then: int = 1, otherwise: int = 2, turns: str | None = None) -> Figure:
    """Lanes for which the condition holds execute `then` instructions, the others `otherwise`; or each lane makes as many turns of a loop as `turns` says."""
    if turns is None:
        for option, n in (("--then", then), ("--else", otherwise)):
            if not 0 <= n <= MOST:
                raise UsageError(f"{option} {n}: a side has 0 to {MOST} instructions")
        numbers = (of_lanes(condition, "--condition") != 0).astype(np.int64)
        sides = "\n".join(["    add.u32 %v, %v, 1;"] * otherwise), "\n".join(["    sub.u32 %v, %v, 1;"] * then)
        body = f"    setp.ne.u32 %p, %n, 0;\n    @%p bra THEN;\n{sides[0]}\n    bra MEET;\nTHEN:\n{sides[1]}\nMEET:\n    st.global.u32 [%x], %v;"
        title = f"{condition}: {counted(then, 'instruction')}, else {otherwise}"
    else:
        numbers = of_lanes(turns, "--turns")
        if numbers.min() < 1 or numbers.max() > MOST:
            raise UsageError(f"--turns {turns!r}: each lane makes 1 to {MOST} turns")
        body = "AGAIN:\n    sub.u32 %n, %n, 1;\n    setp.ne.u32 %p, %n, 0;\n    @%p bra AGAIN;\n    st.global.u32 [%x], %v;"
        title = f"a loop of {turns} turns"
    return lanes_figure(title, _watched(HEAD.format(body), numbers)[FIRST:-1])


def _watched(program: str, numbers: NDArray[np.int64]) -> list[Row]:
    """What a warp with these numbers did."""
    values = ",".join(map(str, numbers.tolist()))
    with observing(lambda _: WatchedLanes()) as watched:
        outcome = Runner(
            [program.encode()], ["warp.ptx"], from_text(f"--grid 1 --block {WARP} --arg x=u32[{WARP}]:[{values}]", 1), None
        ).run()
    assert not outcome.failure, outcome.failure
    return watched[0].rows


def lanes_figure(title: str, rows: list[Row]) -> Figure:
    """One row an instruction, one column a lane."""
    out = [text(8, 18, title), text(LEFT, TOP - 8, "lane 0", "start", True), text(LEFT + WARP * CELL, TOP - 8, "31", "end", True)]
    for y, (words, lanes) in enumerate(rows):
        out.append(text(8, TOP + y * CELL + 10, words))
        for lane in range(WARP):
            fill = "var(--good)" if lane in lanes else "var(--line)"
            out.append(box(LEFT + lane * CELL, TOP + y * CELL, CELL - 2, CELL - 3, fill, f"lane {lane}: {words}" if lane in lanes else ""))
        out.append(text(LEFT + WARP * CELL + 10, TOP + y * CELL + 10, f"{len(lanes)}", "start", True))
    busy = sum(len(lanes) for _, lanes in rows)
    share = f"{busy} of {WARP * len(rows)} places are used: {busy / WARP / len(rows):.0%}"
    height = TOP + len(rows) * CELL + 26
    out.append(text(LEFT, height - 10, share, "start", True))
    return Figure(svg(LEFT + WARP * CELL + 44, height, "".join(out), title, alone=True), f"{title}: {share}")
