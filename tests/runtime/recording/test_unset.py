"""What is read before anything has written it is found, in registers and in each memory; and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.running.launching import runner_of, runs_of
from warplab.runtime.recording import Recording, unset
from warplab.runtime.recording.slices import origin
from warplab.runtime.recording.telling import origin_lines
from warplab.runtime.run.recorded import record

SAMPLES = Path(__file__).parents[3] / "samples"
KERNEL = """//@ run --block 64 --arg out:y=u32[64] --kernel k
.version 8.0
.target sm_80
.address_size 64
.shared .b32 tile[64];
.visible .entry k(.param .u64 y)
{
    .local .align 4 .b8 buf[16];
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [y];
    mov.u64 %rd4, buf;
    st.local.u16 [%rd4], %r1;
    st.local.u16 [%rd4+2], %r1;
    ld.local.u32 %r7, [%rd4];
    mov.u64 %rd2, tile;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    add.u64 %rd1, %rd1, %rd3;
    setp.lt.u32 %p, %r1, 40;
    mov.u32 %r2, 0;
    READ
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
RUN = """sanitize = "none"
[buffers]
y = "u32[64]:noinit"
[[launch]]
grid = 1
block = 64
args = ["y"]
[[launch]]
grid = 1
block = 64
args = ["y"]
"""


def launches(text: str, tmp_path: Path) -> tuple[Recording, ...]:
    path = tmp_path / "k.ptx"
    path.write_text(text)
    files = (InputFile(str(path), path.read_bytes()),)
    return record(runner_of(files, runs_of(files, {"sanitize": "none"})[0])).launches


@pytest.mark.parametrize(
    ("read", "cell", "lane"),
    [
        ("@%p st.shared.u32 [%rd2], %r1;\n ld.shared.u32 %r2, [%rd2];", "tile[40]", 40),
        ("@%p st.shared.u16 [%rd2], %r1;\n ld.shared.u32 %r2, [%rd2];", "tile[0]", 0),
        ("st.shared.u32 [%rd2], %r1;\n ld.shared.u32 %r2, [%rd2];", None, 0),
        ("@%p atom.shared.add.u32 %r2, [%rd2], 1;", "tile[0]", 0),
        ("ld.local.u32 %r2, [%rd4+4];", "buf[4]", 0),
        ("ld.local.u32 %r2, [%rd4];", None, 0),
        ("@!%p ld.local.v2.u32 {%r2, %r3}, [%rd4];", "buf[4]", 40),
        ("@%p st.global.u32 [%rd1], %r1;\n ld.global.u32 %r2, [%rd1];", "y[40]", 40),
        ("st.global.u32 [%rd1], %r1;\n ld.global.u32 %r2, [%rd1];", None, 0),
        ("@%p bra past;\n mov.u32 %r5, 1;\npast: add.u32 %r2, %r5, %r1;", "%r5", 0),
    ],
)
@pytest.mark.parametrize("dense", [unset.DENSE, 0])
def test_the_first_read_is_found(
    read: str, cell: str | None, lane: int, dense: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(unset, "DENSE", dense)
    (rec,) = launches(KERNEL.replace("READ", read), tmp_path)
    rec.save(tmp_path / "run.wlrec")
    for one in (rec, Recording.load(tmp_path / "run.wlrec")):
        found = origin(one, "uninitialised")
        assert (None if found is None else found.cell) == cell
        if found is not None:
            assert found.birth is not None and found.birth.lane == lane
            assert "is read before anything has written it" in origin_lines(one, "uninitialised", found)[0]


def test_a_launch_that_writes_sets_memory_for_the_next_one(tmp_path: Path) -> None:
    ptx, path = tmp_path / "k.ptx", tmp_path / "k.toml"
    ptx.write_text(KERNEL.replace("READ", "@%p ld.global.u32 %r2, [%rd1];").replace("st.global", "@%p st.global"))
    path.write_text(RUN)
    files = (InputFile(str(ptx), ptx.read_bytes()),)
    first, second = record(runner_of(files, runs_of(files, {})[0])).launches
    found = origin(first, "uninitialised")
    assert found is not None and found.cell == "y[0]"
    assert origin(second, "uninitialised") is None, "the elements that the second launch reads were written by the first"


@pytest.mark.parametrize(
    "name", ["cluster", "cp_async", "scan", "bitonic_sort", "recursion", "transpose/3_padded", "softmax", "vecadd", "tensor_core"]
)
def test_nothing_is_found_in_what_is_right(name: str) -> None:
    path = SAMPLES / f"{name}.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    for spec in runs_of(files, {}):
        for rec in record(runner_of(files, spec)).launches:
            assert origin(rec, "uninitialised") is None
