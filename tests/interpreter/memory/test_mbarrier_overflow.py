"""An mbarrier counts what mbarrier.init announced, and 2**20 - 1 bytes; any sequence beyond that ends the launch, and no other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warplab.interpreter.faults import Fault

from ..harness import Machine

MOST = (1 << 20) - 1
HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>; .reg .b64 %d<4>; .shared .align 8 .b64 bar;
    mov.u32 %r1, bar;
"""


def run(*body: str, lanes: int = 1) -> None:
    """Runs instructions that find the address of an mbarrier in %r1."""
    machine = Machine(HEAD + "\n".join(body) + "\nret;\n}\n", "sm_90a")
    machine.launch(1, lanes, [machine.upload(np.zeros(1))])


def init(count: int) -> str:
    return f"mbarrier.init.shared.b64 [%r1], {count};"


@given(st.integers(1, 5), st.lists(st.integers(1, 4), max_size=5), st.sampled_from(["arrive", "arrive_drop"]))
def test_arrivals_beyond_the_pending_count(expected: int, arrivals: list[int], what: str) -> None:
    pending, beyond = expected, False
    phase = expected
    for n in arrivals:
        beyond |= n > pending
        pending, phase = pending - n, phase - n * (what == "arrive_drop")
        pending = pending or phase
    body = [init(expected), *[f"mbarrier.{what}.shared.b64 %d1, [%r1], {n};" for n in arrivals]]
    if not beyond:
        run(*body)
        return
    with pytest.raises(Fault) as e:
        run(*body)
    assert e.value.kind == "mbarrier-overflow"


@pytest.mark.parametrize("first", [1, -1])
def test_bytes_beyond_the_range_of_an_object(first: int) -> None:
    change = "expect_tx" if first > 0 else "complete_tx"
    most = [init(1), f"mbarrier.{change}.relaxed.cta.shared::cta.b64 [%r1], {MOST};"]
    run(*most)
    with pytest.raises(Fault, match=f"would wait for {first << 20} bytes") as e:
        run(*most, f"mbarrier.{change}.relaxed.cta.shared::cta.b64 [%r1], 1;")
    assert e.value.instruction.startswith(f"mbarrier.{change}")


def test_only_lanes_at_fault_are_named() -> None:
    body = ["mov.u32 %r2, %tid.x;", ".reg .pred %p; setp.eq.u32 %p, %r2, 0;", "@%p " + init(4), "bar.sync 0;"]
    with pytest.raises(Fault) as e:
        run(*body, "add.u32 %r2, %r2, 1;", "mbarrier.arrive.shared.b64 %d1, [%r1], %r2;", lanes=3)
    assert (e.value.thread, e.value.lanes) == ((2, 0, 0), 1)
