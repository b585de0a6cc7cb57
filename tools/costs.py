"""What the engine's ways of doing things cost, measured: the table in docs/engine.md.

    python -m tools.costs            prints it
    python -m tools.costs --write    puts it into the page

A cost is the time of one instruction of a wave, from a loop of many copies of it less the loop without them; the quickest of several runs.
"""

from __future__ import annotations

import platform
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.interpreter.harness import Machine, kernel
from warplab.assembler import parse
from warplab.interpreter.observe import Observer
from warplab.interpreter.profiler import Counters
from warplab.isa.profiles import profile

from .markdown import table

PAGE = Path(__file__).parents[1] / "docs" / "engine.md"
MARKS = re.compile(r"(<!-- costs -->\n).*?(<!-- /costs -->)", re.S)
COPIES, TURNS, RUNS = 16, 100, 7
WAVE = 16384  # lanes

DECLARED = """.reg .b32 %i, %j, %t, %u, %v, %n, %k; .reg .f32 %f, %g; .reg .b64 %a, %b, %c, %d, %o; .reg .pred %p, %q; .shared .b32 cell[256];
mov.u32 %t, %tid.x; mov.u32 %k, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %k, %k, %n, %t; ld.param.u64 %o, [x];
mad.wide.u32 %a, %k, 4, %o; mul.lo.u32 %u, %k, 40503; and.b32 %u, %u, 16383; mad.wide.u32 %b, %u, 4, %o; mov.b64 %c, %o;
and.b32 %v, %t, 15; mov.u32 %i, %ctaid.x; shl.b32 %i, %i, 5; add.u32 %v, %v, %i; mad.wide.u32 %d, %v, 4, %o;
cvt.rn.f32.u32 %f, %k; mov.f32 %g, 0f3F19999A; and.b32 %v, %t, 1; setp.eq.u32 %q, %v, 0; shl.b32 %v, %t, 2; mov.u32 %j, cell; add.u32 %v, %v, %j;
mov.u32 %n, 0; mov.u32 %i, 0;
LOOP:
"""
END = "\nadd.u32 %i, %i, 1; setp.lt.u32 %p, %i, TURNS; @%p bra LOOP;\nadd.u32 %u, %u, %n; st.global.u32 [%a], %u; st.global.f32 [%a], %f; ret;"


def seconds(body: Callable[[int], str], lanes: int = WAVE, **options: Any) -> float:
    """The time of a launch whose loop holds COPIES of an instruction."""
    text = kernel("p x", DECLARED + "\n".join(body(k) for k in range(COPIES)) + END.replace("TURNS", str(TURNS)))
    machine = Machine(text)
    x = machine.upload(np.zeros(max(lanes, WAVE), np.uint32))
    block = min(lanes, 256)
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        machine.launch(lanes // block, block, [x], wave_lanes=lanes, **options)
        times.append(time.process_time() - start)
    return min(times)


def cost(instruction: str, lanes: int = WAVE, **options: Any) -> float:
    """Microseconds of one instruction of a wave."""
    empty = seconds(lambda k: "", lanes, **options)
    return (seconds(lambda k: instruction.replace("@k", str(k)), lanes, **options) - empty) / (COPIES * TURNS) * 1e6


# One turn of an inner loop: its instructions, and those of them that cost passes over the lanes; the others are the same for all of them.
TURNS_OF = {
    "a chain of multiply-adds": (4, ("a multiply-add in single precision",)),
    "a product of matrices": (8, ("a load that repeats for every row of a tile",) * 2 + ("a multiply-add in single precision",)),
    "a product of tiles in shared memory": (3, ("a load from shared memory",) * 2 + ("a multiply-add in single precision",)),
}

BRANCH = "@%q bra ODD@k; add.u32 %u, %u, 1; bra JOIN@k; ODD@k: add.u32 %u, %u, 2; JOIN@k:"
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "an addition, different values in all lanes": ("add.u32 %u, %u, %k;", {}),
    "the same, equal values in all lanes": ("add.u32 %n, %n, 3;", {}),
    "the same, with a divergent guard": ("@%q add.u32 %u, %u, %k;", {}),
    "a multiply-add in single precision": ("fma.rn.f32 %f, %f, %g, %g;", {}),
    "a load of consecutive words": ("ld.global.u32 %u, [%a];", {}),
    "a load of words in random order": ("ld.global.u32 %u, [%b];", {}),
    "a load that repeats for every row of a tile": ("ld.global.u32 %u, [%d];", {}),
    "a load of one word for all lanes": ("ld.global.u32 %n, [%c];", {}),
    "a load from shared memory": ("ld.shared.u32 %u, [%v];", {}),
    "a barrier": ("bar.sync 0;", {}),
    "a shuffle": ("shfl.sync.bfly.b32 %u, %u, 1, 31, -1;", {}),
    "a branch that diverges in every warp, with an addition on each side": (BRANCH, {}),
    "an addition with an observer": ("add.u32 %u, %u, %k;", {"observers": (Observer(),)}),
    "an addition that the profiler counts": ("add.u32 %u, %u, %k;", {"observers": "counters"}),
}


def measured() -> str:
    """The table."""
    rows = []
    costs: dict[str, float] = {}
    for name, (instruction, options) in CASES.items():
        more = dict(options)
        if more.get("observers") == "counters":
            more["observers"] = (Counters(profile("sm_90")),)
        us = cost(instruction, **more)
        costs[name] = us
        rows.append((name, f"{us:.1f}", f"{us * 1000 / (WAVE // 32):.1f}"))
    one = table(("one instruction of a wave of 16,384 lanes", "µs", "ns per warp"), rows, right=(1, 2))
    bounds = []
    for name, (count, work) in TURNS_OF.items():
        us = sum(costs[w] for w in work)
        passes = " + ".join(f"{costs[w]:.1f}" for w in work)
        bounds.append((name, str(count), passes, f"{count * WAVE / us:,.0f}"))
    loops = table(
        ("an inner loop", "instructions", "µs of array work per iteration", "at most, millions of thread instructions a second"),
        bounds,
        right=(1, 3),
    )
    sizes = []
    for lanes in (32, 256, 1024, 4096, 16384, 65536):
        us = cost("add.u32 %u, %u, %k;", lanes)
        sizes.append((f"{lanes:,}", f"{us:.2f}", f"{us * 1000 / (lanes // 32):.1f}"))
    waves = table(("lanes in a wave", "µs per addition", "ns per warp"), sizes, right=range(3))
    text = kernel("p x", DECLARED + "add.u32 %u, %u, %k;\n" * 2000 + END.replace("TURNS", "1"))
    start = time.process_time()
    parse(text)
    per_line = (time.process_time() - start) / 2000 * 1e6
    machine = Machine(kernel("p x", "ret;"))
    x = machine.upload(np.zeros(1, np.uint32))
    machine.launch(1, 32, [x])
    start = time.process_time()
    for _ in range(200):
        machine.launch(1, 32, [x])
    launch = (time.process_time() - start) / 200 * 1e6
    rest = f"Reading one instruction takes {per_line:.1f} µs, a launch of one warp that returns at once {launch:.0f} µs."
    where = f"Python {platform.python_version()}, numpy {np.__version__}, one core of {platform.machine()}."
    return "\n\n".join((one, loops, waves, f"{rest} Measured with {where}"))


def main(write: bool) -> None:
    """Prints the table or puts it into the page."""
    found = measured()
    if write:
        PAGE.write_text(MARKS.sub(lambda m: f"{m[1]}\n{found}\n\n{m[2]}", PAGE.read_text(encoding="utf-8")))
    else:
        print(found)


if __name__ == "__main__":
    main("--write" in sys.argv)
