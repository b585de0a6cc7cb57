"""A kernel that is launched again and again: what is kept from launch to launch is what the next one would find out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from warplab.interpreter.native.tiering import missing

from ..conftest import POINTER, Host, context

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
    .reg .u64 %a, %g; .reg .u32 %t, %b, %n, %s; .reg .u32 %i;
    ld.param.u64 %a, [a];
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u64 %g, %gridid; mov.u32 %s, %dynamic_smem_size;
    mad.lo.u32 %i, %b, %n, %t;
    mad.wide.u32 %a, %i, 16, %a;
    st.global.v4.u32 [%a], {%t, %b, %n, %s};
    cvt.u32.u64 %i, %g;
    st.global.u32 [%a+8], %i;
    ret;
}
"""


@pytest.fixture(params=["numpy", pytest.param("native", marks=pytest.mark.skipif(bool(missing()), reason="needs llvmlite"))])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("WARPLAB_ENGINE", request.param)
    with context() as g:
        yield g


def test_shapes_change_from_launch_to_launch(host: Host) -> None:
    kernel = host.function("k", PTX)
    cells, numbers = np.zeros((256, 4), np.uint32), []
    out = host.upload(cells)
    for grid, block, shared in ((2, 32, 0), (2, 32, 0), (4, 32, 0), (2, 64, 0), (2, 64, 256), (2, 32, 0), (1, 33, 0), (1, 33, 16)):
        assert host.launch(kernel, grid, block, (out,), (POINTER,), shared) == "SUCCESS"
        rows = host.download(out, cells)[: grid * block]
        assert rows[:, 0].tolist() == [*range(block)] * grid
        assert rows[:, 1].tolist() == [b for b in range(grid) for _ in range(block)]
        assert set(rows[:, 3].tolist()) == {shared}
        numbers.append(set(rows[:, 2].tolist()))
    first = min(numbers[0])
    assert numbers == [{first + n} for n in range(len(numbers))], "each launch has a number of its own"


def test_memory_comes_and_goes_between_launches(host: Host) -> None:
    kernel = host.function("k", PTX)
    cells = np.zeros((32, 4), np.uint32)
    for _ in range(3):
        out = host.upload(cells)
        for _ in range(2):
            assert host.launch(kernel, 1, 32, (out,), (POINTER,)) == "SUCCESS"
        assert host.download(out, cells)[:, 0].tolist() == [*range(32)]
        host("cuMemFree", out)
    assert host.launch(kernel, 1, 32, (out,), (POINTER,)) == "SUCCESS"
    assert host.code("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
