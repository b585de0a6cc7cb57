"""Kernels of one access pattern each: every counter is what an H200 counted, instruction by instruction as its assembler makes them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from warplab.interpreter.profiler import Counters
from warplab.interpreter.profiler.metrics import metrics_of
from warplab.isa.profiles import profile

DATA = Path(__file__).parents[2] / "data/memory"
KERNELS = [k for name in ("kernels", "more_kernels", "assembled") for k in json.loads((DATA / f"{name}.json").read_text())["kernels"]]
FAMILIES = sorted({k["name"].split("_")[0] for k in KERNELS})
BYTES = 1 << 20  # of each buffer, and what it is aligned to: the slices of L1 are chosen by address
RESULTS = 1 << 19  # where each thread's result goes
COUNTERS = {name for k in KERNELS for name in k["counters"]}
HEAD = """.version 8.5
.target sm_90
.address_size 64
.extern .shared .align 128 .b8 dyn[];
"""
KERNEL = """.visible .entry NAME(.param .u64 pin, .param .u64 pout, .param .u64 ptab) OPTIONS
{
.reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %d<64>; .reg .f64 %g<32>; .reg .b128 %q<8>;
.reg .b32 %t, %b, %gid, %x, %acc, %lane, %s, %nt; .reg .b64 %in, %out, %tab, %a, %a2;
VARIABLES
ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout]; ld.param.u64 %tab, [ptab];
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %nt, %ntid.x; mad.lo.u32 %gid, %b, %nt, %t;
mov.u32 %acc, 0; mov.u32 %lane, %laneid; mov.u32 %s, dyn;
BODY
RESULT
ret;
}
"""
RESULT = f"mul.wide.u32 %a, %gid, 4; add.u64 %a, %a, %out; st.global.u32 [%a+{RESULTS}], %acc;"


def text_of(k: dict[str, Any]) -> str:
    parts = {"NAME": "test", "OPTIONS": k.get("options", ""), "VARIABLES": k.get("variables", ""), "BODY": k["body"]}
    text = KERNEL.replace("RESULT", RESULT if k.get("result", True) else "")
    for word, part in parts.items():
        text = text.replace(word, part)
    return HEAD + text


def counted(k: dict[str, Any]) -> dict[str, int]:
    machine, counters = Machine(text_of(k)), Counters(profile("sm_90"))
    buffers = -(-machine.arena.allocate(4 * BYTES, "buffers").start // BYTES) * BYTES
    table = np.array(k.get("table", [0]), np.uint32)
    machine.arena.bytes[buffers + 2 * BYTES :][: table.nbytes] = table.view(np.uint8)
    cluster = (2, 1, 1) if "options" in k else None
    machine.launch(
        k["grid"], k["block"], [buffers + n * BYTES for n in range(3)], shared=k["shared"], cluster=cluster, observers=(counters,)
    )
    done = counters.finish()
    assert done is not None
    short = {name.removeprefix("l1tex__").replace("pipe_lsu_", "").removesuffix(".sum"): n for name, n in metrics_of(done).items()}
    return {name: int(n) for name, n in short.items() if name in COUNTERS and n}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_counter_is_the_hardwares(family: str) -> None:
    for k in KERNELS:
        if k["name"].split("_")[0] == family:
            assert counted(k) == k["counters"], k["name"]
