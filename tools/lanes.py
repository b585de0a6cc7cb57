"""Pictures of a warp at work, drawn from launches that were watched: which lanes execute which instruction, one row after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.interpreter.harness import Machine, kernel
from warplab.assembler import parse
from warplab.assembler.flow.cfg import graph
from warplab.assembler.flow.cfg_svg import as_svg
from warplab.interpreter.observe import Observer
from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.recording import Recording
from warplab.runtime.recording.tracing import lanes_picture
from warplab.runtime.reports.svg import box, svg, text

BRANCH = """.reg .b32 %t, %v, %half; .reg .pred %p; .reg .b64 %x;
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 12;
    @%p bra FEW;
    add.u32 %v, %t, 100;
    shl.b32 %v, %v, 1;
    bra MEET;
FEW:
    mul.lo.u32 %v, %t, %t;
MEET:
    ld.param.u64 %x, [x];
    mad.wide.u32 %x, %t, 4, %x;
    st.global.u32 [%x], %v;
    ret;"""
LOOP = """.reg .b32 %t, %n; .reg .pred %p; .reg .b64 %x;
    mov.u32 %t, %tid.x;
    and.b32 %n, %t, 3;
AGAIN:
    sub.s32 %n, %n, 1;
    setp.ge.s32 %p, %n, 0;
    @%p bra AGAIN;
    ld.param.u64 %x, [x];
    mad.wide.u32 %x, %t, 4, %x;
    st.global.u32 [%x], %n;
    ret;"""
CELL, LEFT, TOP = 14, 230, 44


@dataclass
class Watch(Observer):
    """Notes every instruction with the lanes that execute it."""

    rows: list[tuple[str, frozenset[int]]] = field(default_factory=list)

    def instruction(self, site: Any, group: Any, mask: Any) -> None:
        """See Observer."""
        lanes = np.broadcast_to(group.geometry.thread, group.geometry.shape).ravel()
        some = group.alive if site.instruction.opcode == "bra" else mask
        active = lanes if some is None else lanes[np.broadcast_to(some, group.geometry.shape).ravel()]
        self.rows.append((group.wave.launch.text_of(site), frozenset(active.tolist())))


def watched(body: str) -> list[tuple[str, frozenset[int]]]:
    """What one warp did."""
    machine = Machine(kernel("p x", body))
    watch = Watch()
    machine.launch(1, 32, [machine.upload(np.zeros(32, np.uint32))], observers=(watch,))
    return watch.rows


def picture(title: str, body: str) -> str:
    """One row an instruction, one column a lane."""
    rows = watched(body)
    out = [text(8, 18, title), text(LEFT, TOP - 8, "lane 0", "start", True), text(LEFT + 32 * CELL, TOP - 8, "31", "end", True)]
    for y, (words, lanes) in enumerate(rows):
        out.append(text(8, TOP + y * CELL + 10, words))
        for lane in range(32):
            fill = "var(--good)" if lane in lanes else "var(--line)"
            out.append(box(LEFT + lane * CELL, TOP + y * CELL, CELL - 2, CELL - 3, fill, f"lane {lane}: {words}" if lane in lanes else ""))
        out.append(text(LEFT + 32 * CELL + 10, TOP + y * CELL + 10, f"{len(lanes)}", "start", True))
    busy = sum(len(lanes) for _, lanes in rows)
    share = f"{busy} of {32 * len(rows)} places are used: {busy / 32 / len(rows):.0%}"
    height = TOP + len(rows) * CELL + 26
    out.append(text(LEFT, height - 10, share, "start", True))
    return svg(LEFT + 32 * CELL + 44, height, "".join(out), title, alone=True) + "\n"


def recorded(body: str) -> str:
    """Lanes over time, of a recorded warp."""
    machine = Machine(kernel("p x", body))
    recorder = Recorder()
    machine.launch(1, 32, [machine.upload(np.zeros(32, np.uint32))], observers=(recorder,))
    rec = Recording(recorder.finish())
    return lanes_picture(rec, rec.warp_of(0))


def figures() -> dict[str, str]:
    """The pictures by their place in docs/."""
    return {
        "figures/warp_branch.svg": picture("A branch on which lanes disagree", BRANCH),
        "figures/warp_loop.svg": picture("A loop that lanes leave at different times", LOOP),
        "figures/warp_lanes.svg": recorded(LOOP),
        "figures/warp_cfg.svg": as_svg(graph(parse(text_of := kernel("p x", BRANCH)).functions["test"], text_of)) + "\n",
    }
