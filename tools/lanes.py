"""Pictures of a warp at work, drawn from launches that were watched: which lanes execute which instruction, one row after the other."""

from __future__ import annotations

import numpy as np

from tests.interpreter.harness import Machine, kernel
from warplab.assembler import parse
from warplab.assembler.flow.cfg import graph
from warplab.assembler.flow.cfg_svg import as_svg
from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.figures.divergence import WatchedLanes, lanes_figure
from warplab.runtime.recording import Recording
from warplab.runtime.recording.tracing import lanes_picture

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


def watched(body: str) -> list[tuple[str, frozenset[int]]]:
    """What one warp did."""
    machine = Machine(kernel("p x", body))
    watch = WatchedLanes()
    machine.launch(1, 32, [machine.upload(np.zeros(32, np.uint32))], observers=(watch,))
    return watch.rows


def picture(title: str, body: str) -> str:
    """One row an instruction, one column a lane."""
    return lanes_figure(title, watched(body)).svg + "\n"


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
