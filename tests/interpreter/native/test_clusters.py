"""Clusters natively: barriers of all their threads, and each other's shared memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import Machine
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.launch import EngineUse

from .test_taking_over import Handing

CLUSTER = 4
SYNC = "barrier.cluster.arrive; barrier.cluster.wait;"
ADDRESSES = """mov.u32 %s, tile; mapa.shared::cluster.u32 %s, %s, %peer; add.u32 %s, %s, %four;
    mov.u64 %g, tile; cvta.shared.u64 %g, %g; mapa.u64 %g, %g, %peer; cvt.u64.u32 %a, %four; add.u64 %g, %g, %a;"""


def kernel(work: str, end: str = "ld.shared.u32 %v, [%own];") -> str:
    """Each thread sets its word of shared memory to its index, works, and stores %v; %s and %g are the address of its word in another block."""
    return f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %g, %h; .reg .u32 %t, %b, %n, %i, %s, %own, %four, %peer, %v, %w, %r; .reg .pred %p, %q;
    .shared .align 16 .b8 tile[256]; .shared .b32 other; mov.u32 %w, other;
    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %r, %cluster_ctarank;
    mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %a, %i, 4; add.u64 %o, %o, %a; shl.b32 %four, %t, 2; mov.u32 %own, tile; add.u32 %own, %own, %four;
    st.shared.u32 [%own], %i; add.u32 %peer, %r, 1; and.b32 %peer, %peer, 3; mov.u32 %v, 0; setp.lt.u32 %p, %t, 7; rem.u32 %w, %i, 3; setp.eq.u32 %q, %w, 0;
    {ADDRESSES} {work} {end} st.global.u32 [%o], %v; ret; }}"""


def launched(text: str, engine: str, gap: int = 0) -> tuple[list[int] | str, EngineUse]:
    """What a kernel leaves, or how it fails; and what ran it."""
    machine, blocks = Machine(text, gap=gap), 3 * CLUSTER
    out = machine.upload(np.zeros(blocks * 64, np.uint32))
    launch = machine.prepare(blocks, 64, [out], cluster=(CLUSTER, 1, 1), engine=engine)
    try:
        execute(launch, ())
    except ExecutionError as e:
        return str(e), launch.used
    return machine.download(out).tolist(), launch.used


PLAIN = {
    "shared::cluster": f"{SYNC} ld.shared::cluster.u32 %v, [%s]; {SYNC} st.shared::cluster.u32 [%s], %v; {SYNC}",
    "generic": f"{SYNC} ld.u32 %v, [%g]; add.u32 %v, %v, 5; {SYNC} st.u32 [%g], %v; {SYNC}",
    "offsets": f"{SYNC} add.u64 %g, %g, 64; ld.u32 %v, [%g+-64]; {SYNC} sub.u32 %s, %s, 32; st.shared::cluster.u32 [%s+32], %v; {SYNC}",
    "updates": f"{SYNC} atom.shared::cluster.add.u32 %v, [%s], 7; red.max.u32 [%g], %t; mapa.u64 %h, %g, %w; atom.add.u32 %v, [%h], 1; {SYNC}",
    "own, others' and global": f"{SYNC} mapa.u64 %h, %g, %w; @%p mov.u64 %h, %g; ld.u32 %v, [%h]; {SYNC} st.u32 [%g], %v; {SYNC}",
    "ranks": f"{SYNC} getctarank.u64 %v, %g; getctarank.shared::cluster.u32 %w, %s; isspacep.shared::cta %q, %g; @%q add.u32 %v, %v, 9; st.shared.u32 [%own], %v;",
    "diverged": f"{SYNC} @%q bra L; ld.u32 %v, [%g]; L: {SYNC} @!%p bra M; st.u32 [%g], %v; M: {SYNC}",
    "vectors": f"{SYNC} and.b32 %s, %s, -16; ld.shared::cluster.v4.u32 {{%v, %w, %w, %w}}, [%s]; {SYNC} st.shared.u32 [%own], %w;",
}


@pytest.mark.parametrize("gap", [0, 64])
@pytest.mark.parametrize("work", PLAIN)
def test_engines_agree_on_the_memory_of_clusters(work: str, gap: int) -> None:
    want, _ = launched(kernel(PLAIN[work]), "numpy", gap)
    got, used = launched(kernel(PLAIN[work]), "native", gap)
    assert isinstance(want, list) and got == want
    assert not used.left_to_numpy and not used.numpy_blocks


APART = {
    "some arrive first": "@%p bra A; barrier.cluster.arrive; bra B; A: add.u32 %v, %v, 1; st.u32 [%g], %v; barrier.cluster.arrive; B: barrier.cluster.wait;",
    "some end": f"@%q ret; {SYNC} ld.u32 %v, [%g]; {SYNC} st.u32 [%g], %v; {SYNC}",
    "some end in between": "barrier.cluster.arrive; @%q ret; barrier.cluster.wait; ld.u32 %v, [%g]; st.shared.u32 [%own], %v;",
    "some wait later": "barrier.cluster.arrive; @%p bra B; barrier.cluster.wait; bra C; B: st.u32 [%g], %t; barrier.cluster.wait; C: add.u32 %v, %v, 1;",
    "a guard": f"{SYNC} @%p barrier.cluster.arrive; st.u32 [%g], %t; @!%p barrier.cluster.arrive; barrier.cluster.wait;",
    "nobody has arrived": "barrier.cluster.wait;",
    "not all arrive": f"{SYNC} @%p barrier.cluster.arrive; barrier.cluster.wait;",
}


@pytest.mark.parametrize("work", APART)
def test_engines_agree_on_barriers_of_clusters(work: str) -> None:
    want, got = (launched(kernel(APART[work]), engine)[0] for engine in ("numpy", "native"))
    assert got == want
    assert isinstance(want, str) == (work in ("nobody has arrived", "not all arrive"))


ILLEGAL = [
    "mapa.u64 %g, %g, 9; ld.u32 %v, [%g];", "@%p add.u64 %g, %g, 65536; st.u32 [%g], %t;", "add.u32 %s, %s, 253; ld.shared::cluster.u32 %v, [%s];",
    "atom.shared::cluster.add.u32 %v, [%s+256], 1;", "@%q st.shared::cluster.u32 [%s+64], %v;", "@%q ld.u32 %v, [%g+80];", "add.u64 %g, %g, 2; red.add.u32 [%g], 1;",
]  # fmt: skip


@pytest.mark.parametrize("gap", [0, 64])
@pytest.mark.parametrize("work", ILLEGAL)
def test_a_fault_in_the_memory_of_another_block_is_the_same(work: str, gap: int) -> None:
    want, got = (launched(kernel(SYNC + work), engine, gap)[0] for engine in ("numpy", "native"))
    assert isinstance(want, str) and got == want


@pytest.fixture(params=[(1, 1), (2, 1), (3, 2)])
def handing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Handing]:
    """Numpy begins."""
    yield Handing(monkeypatch, *request.param)


@pytest.mark.parametrize(
    "work",
    [
        PLAIN["diverged"],
        APART["some end"],
        APART["some arrive first"],
        f"barrier.cluster.arrive; @%p bra L; ld.u32 %v, [%g]; L: barrier.cluster.wait; {SYNC}",
    ],
)
def test_compiled_code_goes_on_between_barriers_of_clusters(work: str, handing: Handing) -> None:
    want, _ = launched(kernel(work), "numpy")
    handing.again()
    assert launched(kernel(work), "auto")[0] == want
