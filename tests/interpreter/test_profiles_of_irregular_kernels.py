"""Kernels whose lanes go their own ways count the same, whether their accesses wait for one another or each is followed alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.bench.irregular import FITS_L2, Irregular, irregular
from tests.interpreter.harness import Machine
from warplab.interpreter.observers import Counters
from warplab.interpreter.observers.backlog import Backlog
from warplab.interpreter.observers.known import footprints
from warplab.interpreter.observers.profile import KernelProfile
from warplab.interpreter.observers.uses import Waiting
from warplab.isa.profiles import profile

BLOCKS, THREADS = 11, 96
KERNELS = {
    x.name: x for x in irregular() if x.table.nbytes <= FITS_L2 and "shared" not in x.name and "many turns" not in x.name
}  # L1 has room


def observed(work: Irregular) -> KernelProfile:
    machine = Machine(work.text, bytes=16 << 20)
    table, out = machine.upload(work.table), machine.upload(np.zeros(work.blocks * work.threads, np.uint32))
    footprints.forget()
    counters = Counters(profile("sm_90"))
    machine.launch(work.blocks, work.threads, [table, out, np.uint32(work.mask)], observers=[counters])
    found = counters.finish()
    assert found is not None
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_what_waits_counts_as_if_it_had_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = replace(KERNELS[name], blocks=BLOCKS, threads=THREADS)
    waited: list[Waiting] = []
    add = Backlog.add

    def noted(*given: Any) -> Waiting:
        waited.append(add(*given))
        return waited[-1]

    monkeypatch.setattr(Backlog, "add", noted)
    together = observed(work)
    monkeypatch.setattr(Backlog, "takes", lambda *given: False)
    known = len(waited)
    alone = observed(work)
    assert len(waited) == known > 0
    assert (together.dram_read, together.dram_written) == (alone.dram_read, alone.dram_written)
    assert together.allocations == alone.allocations
    for one, other in zip(together.sites, alone.sites, strict=True):
        assert [replace(a, sample=None) for a in one.accesses] == [replace(a, sample=None) for a in other.accesses]
