"""Litmus tests with loops that wait, tests of which an order does not end, and atomic operations between loads and stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

HEAD = """.version 8.0
.target sm_90
.address_size 64
.global .u32 next, serving, x, y, r0, r1, r2;
.visible .entry k()
{
    .reg .pred %p, %q;
    .reg .u32 %t, %s, %v;
    mov.u32 %t, %ctaid.x;
"""
ADD = "ld.global.u32 %v, [x];\nadd.u32 %v, %v, 1;\nst.global.u32 [x], %v;\n"
TICKET = (
    "atom.relaxed.gpu.global.add.u32 %t, [next], 1;\nL: ld.acquire.gpu.global.u32 %s, [serving];\nsetp.ne.u32 %p, %s, %t;\n@%p bra L;\n"
    + ADD
    + "add.u32 %s, %s, 1;\nst.release.gpu.global.u32 [serving], %s;\nret;\n}\n"
)
SWAP = (
    "L: atom.acquire.gpu.global.cas.b32 %s, [next], 0, 1;\nsetp.ne.u32 %p, %s, 0;\n@%p bra L;\n"
    + ADD
    + "st.release.gpu.global.u32 [next], 0;\nret;\n}\n"
)
EXCHANGE = SWAP.replace("cas.b32 %s, [next], 0, 1", "exch.b32 %s, [next], 1")
LOCKS = {"a ticket lock": TICKET, "compare and swap": SWAP, "an exchange": EXCHANGE}


def litmus(folder: Path, body: str, *conditions: str, launch: str = "--grid 2 --block 1", seeds: int = 3) -> tuple[int, str]:
    path = folder / "t.ptx"
    path.write_text(f"//@ run {launch}\n" + "".join(f"//@ {c}\n" for c in conditions) + HEAD + body)
    result = CliRunner().invoke(main, ["litmus", str(path), "--schedules", str(seeds)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("name", LOCKS)
def test_two_threads_with_a_lock(tmp_path: Path, name: str) -> None:
    code, text = litmus(tmp_path, LOCKS[name], "allows x=2", "forbids x=1", "forbids x=0")
    assert code == 0 and "left out" not in text, text
    code, text = litmus(tmp_path, LOCKS[name].replace(".acquire", ".relaxed"), "allows x=2", "allows x=1")
    assert code == 0, text


def test_a_loop_that_counts_its_turns_is_followed_as_far_as_the_model_goes(tmp_path: Path) -> None:
    body = """setp.eq.u32 %p, %t, 1;
    @%p bra P1;
    mov.u32 %s, 0;
L:  ld.relaxed.gpu.global.u32 %v, [y];
    add.u32 %s, %s, 1;
    setp.eq.u32 %p, %v, 0;
    @%p bra L;
    st.global.u32 [r0], %s;
    ret;
P1: st.relaxed.gpu.global.u32 [y], 1;
    ret;
}
"""
    code, text = litmus(tmp_path, body, "allows r0=1", "allows r0=3", "forbids r0=0")
    assert code == 0 and "left out" in text


def test_two_threads_that_wait_for_each_other_get_nothing_out_of_thin_air(tmp_path: Path) -> None:
    body = """setp.eq.u32 %p, %t, 1;
    @%p bra P1;
L:  ld.relaxed.gpu.global.u32 %v, [y];
    setp.eq.u32 %p, %v, 0;
    @%p bra L;
    st.relaxed.gpu.global.u32 [x], 1;
    ret;
P1: ld.relaxed.gpu.global.u32 %v, [x];
    setp.eq.u32 %p, %v, 0;
    @%p bra P1;
    st.relaxed.gpu.global.u32 [y], 1;
    ret;
}
"""
    code, text = litmus(tmp_path, body, "forbids x=1", "forbids y=1")
    assert code == 0 and "4 orders did not end" in text


ONE_WAY = """setp.eq.u32 %p, %t, 1;
    @%p bra P1;
    ld.relaxed.gpu.global.u32 %v, [x];
    setp.eq.u32 %p, %v, 0;
    @%p bra L;
    st.global.u32 [r0], 1;
    ret;
L:  ld.relaxed.gpu.global.u32 %v, [y];
    setp.eq.u32 %p, %v, 0;
    @%p bra L;
    ret;
P1: st.relaxed.gpu.global.u32 [x], 1;
    ret;
}
"""


def test_orders_that_do_not_end_are_told(tmp_path: Path) -> None:
    code, text = litmus(tmp_path, ONE_WAY, "allows r0=1", "forbids r0=0", seeds=8)
    assert code == 0 and "orders did not end, first the default order" in text and "r0=1  allowed  seen in" in text


def test_a_thread_that_waits_for_nothing(tmp_path: Path) -> None:
    body = "L: ld.relaxed.gpu.global.u32 %v, [y];\nsetp.eq.u32 %p, %v, 0;\n@%p bra L;\nret;\n}\n"
    code, text = litmus(tmp_path, body, "forbids y=0")
    assert code == 0 and "no execution ends: a thread waits for a value that no thread stores" in text
    assert litmus(tmp_path, body, "allows y=0")[0] == 1


@pytest.mark.parametrize(("store", "verdict"), [("st.global", "allows"), ("st.relaxed.gpu.global", "forbids")])
def test_what_an_atomic_operation_reads_is_not_observed(tmp_path: Path, store: str, verdict: str) -> None:
    """LB with an atomic operation between the store and the load: a weak store is not ordered before it."""
    body = f"""mov.u32 %t, %tid.x;
    setp.eq.u32 %p, %t, 1;
    @%p bra P1;
    setp.eq.u32 %p, %t, 2;
    @%p bra P2;
    ld.acquire.gpu.global.u32 %v, [y];
    {store}.u32 [x], 1;
    st.global.u32 [r0], %v;
    ret;
P1: atom.relaxed.gpu.global.add.u32 %v, [x], 1;
    st.global.u32 [r1], %v;
    ret;
P2: ld.relaxed.gpu.global.u32 %v, [x];
    st.release.gpu.global.u32 [y], 1;
    st.global.u32 [r2], %v;
    ret;
}}
"""
    code, text = litmus(tmp_path, body, f"{verdict} r0=1 r1=1 r2=2", launch="--grid 1 --block 3", seeds=0)
    assert code == 0, text
