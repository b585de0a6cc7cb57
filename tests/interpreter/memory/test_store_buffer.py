"""Asynchronous copies under a schedule come as late as the model allows: what a program does not wait for it does not see."""

from __future__ import annotations

import numpy as np
import pytest

from warplab.interpreter.faults import Deadlock, Fault

from ..harness import Machine, kernel

SEEDS = range(14)
HEAD = """.shared .align 128 .b8 tile[512]; .shared .align 8 .b64 full; .reg .b64 %in, %out, %w; .reg .b32 %t, %at, %tile, %full, %v, %u;
    .reg .pred %p, %q; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %tile, tile; mov.u32 %full, full;
    mad.lo.u32 %at, %t, 4, %tile; mad.wide.u32 %in, %t, 4, %in; mad.wide.u32 %out, %t, 4, %out;
    st.shared.u32 [%at], 7; st.shared.u32 [%at+128], 7; setp.ne.u32 %q, %t, 0; @!%q mbarrier.init.shared.b64 [%full], 1; bar.sync 0;"""
SHOW = "ld.shared.u32 %v, [%at]; st.global.u32 [%out], %v; ld.shared.u32 %v, [%at+128]; st.global.u32 [%out+128], %v; ret;"
WAIT = "WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%full], 0; @!%p bra WAIT;"
ONE = "cp.async.ca.shared.global [%at], [%in], 4; cp.async.commit_group;"
TWO = "cp.async.ca.shared.global [%at+128], [%in+128], 4; cp.async.commit_group;"
BULK = ("@%q bra ON; mbarrier.arrive.expect_tx.shared.b64 _, [%full], 256;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%in], 256, [%full]; ON:")  # fmt: skip
BACK = "@%q bra ON; cp.async.bulk.global.shared::cta.bulk_group [%out], [%tile], 256; cp.async.bulk.commit_group;"
EXPECT = "@%q bra GO; mbarrier.arrive.expect_tx.shared.b64 _, [%full], 256; GO: bar.sync 0; ld.global.u32 %v, [%in]; ld.global.u32 %u, [%in+128];"
STORED = f"""{EXPECT} st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%at], %v, [%full];
    st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%at+128], %u, [%full];"""
REDUCED = f"""{EXPECT} sub.u32 %v, %v, 7; sub.u32 %u, %u, 7;
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%at], %v, [%full];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%at+128], %u, [%full];"""
ADDED = "@%q bra ON; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [%tile], 256; cp.async.bulk.commit_group;"
HEARD = "cp.async.mbarrier.arrive.noinc.shared.b64 [%full];"
AND_MORE = "cp.async.mbarrier.arrive.shared.b64 [%full]; mbarrier.arrive.shared.b64 _, [%full];"


def results(body: str) -> set[tuple[bool, bool]]:
    """Whether the first and the second half of the output are as copied, for several seeds."""
    found = set()
    for seed in SEEDS:
        machine = Machine(kernel("p in, p out", HEAD + body).replace(".version 8.0", ".version 8.1"))
        given, out = np.arange(100, 164, dtype=np.uint32), machine.upload(np.zeros(64, np.uint32))
        machine.launch(1, 32, [machine.upload(given), out], schedule=seed)
        got = machine.download(out)
        found.add((bool((got[:32] == given[:32]).all()), bool((got[32:] == given[32:]).all())))
    return found


@pytest.mark.parametrize(
    "body",
    [
        f"{ONE} {TWO} cp.async.wait_all; bar.sync 0; {SHOW}", f"{ONE} {TWO} cp.async.wait_group 0; bar.sync 0; {SHOW}",
        f"{BULK} {WAIT} {SHOW}", f"{STORED} {WAIT} {SHOW}", f"{REDUCED} {WAIT} {SHOW}", f"{ONE} {TWO} mbarrier.init.shared.b64 [%full], 32; bar.sync 0; {HEARD} {WAIT} {SHOW}",
        f"{ONE} {TWO} mbarrier.init.shared.b64 [%full], 32; bar.sync 0; {AND_MORE} {WAIT} {SHOW}",
    ],
)  # fmt: skip
def test_what_is_waited_for_is_there(body: str) -> None:
    assert results(body) == {(True, True)}


@pytest.mark.parametrize("body", [f"{given} bar.sync 0; {SHOW}" for given in (f"{ONE} {TWO}", BULK, STORED, REDUCED)])
def test_what_is_not_waited_for_may_come_later(body: str) -> None:
    assert (False, False) in results(body)


def test_a_wait_for_all_but_one_group_leaves_the_last() -> None:
    found = results(f"{ONE} {TWO} cp.async.wait_group 1; bar.sync 0; {SHOW}")
    assert found == {(True, True), (True, False)}


def test_a_store_comes_before_the_end() -> None:
    machine = Machine(kernel("p in, p out", HEAD + f"{BACK} ON: ret;"))
    for seed in SEEDS:
        out = machine.upload(np.zeros(64, np.uint32))
        machine.launch(1, 32, [machine.upload(np.zeros(64, np.uint32)), out], schedule=seed)
        assert (machine.download(out) == 7).all()


def test_a_store_reads_what_is_there_when_it_comes() -> None:
    """A tile that is written again before the wait spoils the store, for some seeds."""
    change = "cp.async.bulk.wait_group.read 0; ON: bar.sync 0; st.shared.u32 [%at], 8; st.shared.u32 [%at+128], 8; bar.sync 0; ret;"

    def seen(body: str) -> set[int]:
        found: set[int] = set()
        for seed in SEEDS:
            machine = Machine(kernel("p in, p out", HEAD + body))
            out = machine.upload(np.zeros(64, np.uint32))
            machine.launch(1, 32, [machine.upload(np.zeros(64, np.uint32)), out], schedule=seed)
            found |= set(machine.download(out).tolist())
        return found

    assert seen(f"{BACK} {change}") == {7}
    assert seen(f"{BACK} {change.replace('cp.async.bulk.wait_group.read 0;', '')}") == {7, 8}


def test_at_once_without_a_schedule() -> None:
    machine = Machine(kernel("p in, p out", f"{HEAD} {ONE} {TWO} bar.sync 0; {SHOW}"))
    given, out = np.arange(64, dtype=np.uint32), machine.upload(np.zeros(64, np.uint32))
    machine.launch(1, 32, [machine.upload(given), out])
    assert (machine.download(out) == given).all()


@pytest.mark.parametrize("seed", [None, *SEEDS])
def test_a_fault_names_the_copy_and_its_thread(seed: int | None) -> None:
    body = f"{HEAD} setp.eq.u32 %p, %t, 9;\n@%p add.u64 %in, %in, 4096;\n{ONE}\nbar.sync 0;\ncp.async.wait_all;\n{SHOW}"
    machine = Machine(kernel("p in, p out", body))
    with pytest.raises(Fault) as e:
        machine.launch(1, 32, [machine.upload(np.zeros(64, np.uint32)), machine.upload(np.zeros(64, np.uint32))], schedule=seed)
    assert e.value.instruction.startswith("cp.async.ca") and e.value.thread == (9, 0, 0)


@pytest.mark.parametrize("seed", [None, *SEEDS])
def test_bytes_that_never_come_are_a_deadlock(seed: int | None) -> None:
    machine = Machine(kernel("p in, p out", f"{HEAD} {BULK.replace('[%full], 256;', '[%full], 272;', 1)} {WAIT} {SHOW}"))
    with pytest.raises(Deadlock):
        machine.launch(1, 32, [machine.upload(np.zeros(64, np.uint32)), machine.upload(np.zeros(64, np.uint32))], schedule=seed)


@pytest.mark.parametrize("given", [BACK, ADDED])
def test_a_wait_for_reads_lets_writes_come_later(given: str) -> None:
    """The thread that has waited for .read alone may find in global memory what was there before."""
    look = "ld.volatile.global.u32 %v, [%out]; st.global.u32 [%in], %v; ON: ret;"

    def seen(wait: str) -> set[int]:
        found = set()
        for seed in SEEDS:
            machine = Machine(kernel("p in, p out", f"{HEAD} {given} {wait} {look}"))
            place, out = machine.upload(np.zeros(64, np.uint32)), machine.upload(np.zeros(64, np.uint32))
            machine.launch(1, 32, [place, out], schedule=seed)
            found.add(int(machine.download(place)[0]))
            assert (machine.download(out) == 7).all()
        return found

    assert seen("cp.async.bulk.wait_group 0;") == {7}
    assert seen("cp.async.bulk.wait_group.read 0;") == {0, 7}
    assert seen("cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;") == {7}
