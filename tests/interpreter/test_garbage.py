"""The garbage collector and observed launches: it looks rarely while much is kept, and there is nothing for it."""

import gc
from contextlib import nullcontext

import pytest

from tests.bench.bench_observed import of_everyday
from tests.bench.everyday import everyday
from tests.interpreter.harness import Machine
from warplab.interpreter.faults import Fault
from warplab.interpreter.launch import KEPT, Launch
from warplab.interpreter.observers import Counters
from warplab.isa.profiles import profile

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


class Watching(Counters):
    """Notes how often the garbage collector works."""

    def __init__(self, *, keeps_much: bool) -> None:
        super().__init__(profile("sm_90"))
        self.keeps_much, self.often = keeps_much, 0

    def begin(self, launch: Launch) -> None:
        super().begin(launch)
        self.often = gc.get_threshold()[0]


@pytest.mark.parametrize("faulty", [False, True])
@pytest.mark.parametrize(("often", "then"), [(700, KEPT), (0, 0), (2 * KEPT, 2 * KEPT)])
def test_the_garbage_collector_rests_while_much_is_kept(often: int, then: int, *, faulty: bool) -> None:
    """And afterwards it does what it did before, whatever became of the launch."""
    load = "mov.u64 %rd1, 4; ld.global.u32 %r1, [%rd1];" if faulty else ""
    machine, before = Machine(f"{HEAD}.visible .entry k() {{ .reg .b32 %r<2>; .reg .b64 %rd<2>; {load} ret; }}"), gc.get_threshold()
    for keeps_much in (True, False):
        watching = Watching(keeps_much=keeps_much)
        try:
            gc.set_threshold(often, *before[1:])
            with pytest.raises(Fault) if faulty else nullcontext():
                machine.launch(1, 32, [], observers=(watching,))
            assert gc.get_threshold()[0] == often and watching.often == (then if keeps_much else often)
        finally:
            gc.set_threshold(*before)


@pytest.mark.parametrize("name", ["bfs_flags", "box_rows", "list_walk", "mixed_fields", "spmv_csr", "transpose_tiled"])
def test_an_observed_launch_leaves_nothing_in_circles(name: str) -> None:
    """For nobody would look for it while the launch goes on."""
    run = of_everyday(next(work for work in everyday(1 << 12) if work.name == name))
    run(True)
    gc.collect()
    gc.disable()
    try:
        run(True)
        found = gc.collect()
    finally:
        gc.enable()
    assert found == 0
