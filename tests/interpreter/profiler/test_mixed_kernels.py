"""Random mixtures of accesses, divergent ones among them: every counter and every result is what an H200 gave for the same text and memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine
from tests.interpreter.mixtures import BUFFER, COUNTERS, IN, OUT, SIZE, SOME, TABLE, checksum, kernels, memory, short
from tests.interpreter.profiler.ways import go, needs_compiler
from warplab.interpreter.profiler import Counters, KernelProfile
from warplab.interpreter.profiler.metrics import metrics_of
from warplab.isa.profiles import profile

KERNELS = kernels(Path(__file__).parents[2] / "data/memory/mixtures.json.xz")  # recorded by tests/hardware/record_mixtures.py
FAMILIES = sorted({k["name"][:2] for k in KERNELS})


def launched(k: dict[str, Any], engine: str = "numpy") -> tuple[KernelProfile, int]:
    """Its profile, and a checksum of what each thread leaves and of all words of the buffer that have changed."""
    machine, counters, image = Machine(k["text"]), Counters(profile("sm_90")), memory(k)
    start = -(-machine.arena.allocate(2 * SIZE, "block").start // SIZE) * SIZE
    block = machine.arena.bytes[start : start + SIZE]
    block[:] = image
    numbers = np.uint32(k["zero"]), np.uint32(k["trips"])
    machine.launch(
        k["grid"], k["block"], [*(start + at for at in (TABLE, IN, BUFFER, OUT)), *numbers], observers=(counters,), engine=engine
    )
    done = counters.finish()
    assert done is not None
    return done, checksum(k, image, block)


def found(number: int) -> tuple[dict[str, int], int]:
    """The counters of one of KERNELS that are not zero, and the checksum."""
    k = KERNELS[number]
    done, results = launched(k)
    of_all = {short(name): n for name, n in metrics_of(done).items()}
    every = {name: int(of_all.get(name, 0)) for name in (COUNTERS - SOME) | k["counters"].keys()}
    return {name: n for name, n in every.items() if n}, results


def recorded(k: dict[str, Any], results: int) -> tuple[dict[str, int], int]:
    """What the hardware gave; results that depend on who comes first were not kept."""
    return k["counters"], k.get("outputs", results)


@pytest.mark.parametrize("family", FAMILIES)
def test_mixtures_count_and_compute_as_on_the_hardware(family: str) -> None:
    for number, k in enumerate(KERNELS):
        if k["name"].startswith(family):
            counters, results = found(number)
            assert (counters, results) == recorded(k, results), k["name"]


@needs_compiler
@pytest.mark.parametrize("family", FAMILIES)
def test_compiled_loops_count_the_same(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for k in [k for k in KERNELS if k["name"].startswith(family)][::8]:
        go("numpy", monkeypatch)
        want = launched(k)
        go("compiled", monkeypatch)
        assert launched(k, "native") == want, k["name"]


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("setp.lt.u32 %p1, %r1, 32; @%p1 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];", 4),  # the second warp has nobody
        ("setp.eq.u32 %p1, %r1, 5; @!%p1 bra E; red.shared.max.s64 [%r3], 1; E:", 1),  # one lane, in a group of its own
    ],
)
def test_lanes_that_take_no_part(body: str, shared: int) -> None:
    head = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; and.b32 %r2, %r2, 511; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;"
    text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .pred %p<2>; .reg .b32 %r<8>; .shared .align 16 .b8 s[512];"
    machine, counters = Machine(f"{text}\n{head} {body} ret; }}"), Counters(profile("sm_90"))
    machine.launch(1, 64, [], observers=(counters,))
    done = counters.finish()
    assert done is not None and metrics_of(done)["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == shared
