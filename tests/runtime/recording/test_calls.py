"""Values are followed through calls: an argument to what the caller gave, a result to what the function computed, recursion included."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.running.launching import runner_of, runs_of
from warplab.runtime.recording import Recording
from warplab.runtime.recording.slices import origin, why
from warplab.runtime.run.recorded import record

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
PAIR = """
.func (.param .align 8 .b8 result[16]) swapped(.param .align 8 .b8 pair[16], .param .f32 unused)
{
    .reg .f64 %a, %b;
    ld.param.v2.f64 {%a, %b}, [pair];
    st.param.f64 [result], %b;
    st.param.f64 [result+8], %a;
    ret;
}
"""
ROOT = """
.func (.reg .f32 y) root(.reg .f32 x, .reg .f32 other)
{
    sqrt.rn.f32 y, x;
    ret;
}
"""
KERNEL = """
.visible .entry k(.param .u64 out)
{
    .reg .b32 %t; .reg .f32 %f, %g; .reg .f64 %x, %y, %z; .reg .b64 %o, %fn; .reg .pred %p;
    mov.u32 %t, %tid.x;
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %t, 8, %o;
    cvt.rn.f32.u32 %f, %t;
    sub.f32 %f, %f, 0f40000000;
    mov.f32 %g, 0f00000000;
    setp.lt.u32 %p, %t, 16;
    @%p bra done;
    call (%f), root, (%f, %g);
done:
    cvt.f64.f32 %x, %f;
    mov.f64 %y, 0d4008000000000000;
    {
        .param .align 8 .b8 given[16];
        .param .f32 rest;
        .param .align 8 .b8 got[16];
        st.param.v2.f64 [given], {%y, %x};
        st.param.f32 [rest], %g;
        CALL
        ld.param.f64 %z, [got];
    }
    st.global.f64 [%o], %z;
    ret;
}
"""
DIRECT = KERNEL.replace("CALL", "call (got), swapped, (given, rest);")
INDIRECT = KERNEL.replace(
    "CALL",
    "shape: .callprototype (.param .align 8 .b8 _[16]) _ (.param .align 8 .b8 _[16], .param .f32 _);\n"
    "        mov.u64 %fn, swapped;\n        call (got), %fn, (given, rest), shape;",
)


def recorded(text: str, tmp_path: Path, **options: str) -> Recording:
    path = tmp_path / "k.ptx"
    path.write_text(text)
    files = (InputFile(str(path), path.read_bytes()),)
    (spec,) = runs_of(files, options)
    return record(runner_of(files, spec)).launches[0]


@pytest.mark.parametrize("kernel", [DIRECT, INDIRECT])
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
@pytest.mark.parametrize("lane", [5, 20])
def test_a_pair_goes_through_a_call(kernel: str, seed: int | None, lane: int, tmp_path: Path) -> None:
    options = {} if seed is None else {"schedule": str(seed)}
    rec = recorded(f"//@ run --block 32 --arg out:out=f64[32]\n{HEAD}{PAIR}{ROOT}{kernel}", tmp_path, **options)
    links = why(rec, rec.cell("out", lane), lane, rec.step_count + 1)
    texts = [one.instruction.text for one in links]
    there = lane >= 16
    assert ("sqrt.rn.f32 y, x;" in texts) == there and ("call (%f), root, (%f, %g);" in texts) == there
    assert texts[0] == "st.global.f64 [%o], %z;" and "mov.u32 %t, %tid.x;" in texts
    assert [t for t in texts if t.startswith("st.param")] == ["st.param.f64 [result], %b;", "st.param.v2.f64 [given], {%y, %x};"]
    (call,) = [one for one in links if one.instruction.text.startswith("call (got)")]
    value = np.sqrt(np.float32(lane - 2)) if there else lane - 2
    assert rec.cell_value(rec.cell("out", lane), rec.step_count + 1) == value
    assert {r.name: float(r.value) for r in call.read if r.cell} == {"given[0]": 3, "given[8]": value}, "and not `rest`, which is not used"


def test_a_result_is_named_by_its_variable(tmp_path: Path) -> None:
    rec = recorded(f"//@ run --block 32 --arg out:out=f64[32]\n{HEAD}{PAIR}{ROOT}{DIRECT}", tmp_path)
    ret = next(
        s for s in range(rec.step_count) if rec.columns.instruction(s).function == "swapped" and rec.columns.instruction(s).opcode == "ret"
    )
    (a,) = rec.stack.passed_at(ret)
    (reached,) = rec.bytes.reached(a)
    assert [rec.stack.object_at(7, at, ret).name for at in (int(reached.address[7]), a.source)] == ["got", "result"]  # type: ignore[union-attr]


def test_a_nan_is_followed_through_calls(tmp_path: Path) -> None:
    text = KERNEL.replace("CALL", "call (got), swapped, (given, rest);").replace("setp.lt.u32 %p, %t, 16", "setp.gt.u32 %p, %t, 16")
    rec = recorded(f"//@ run --block 32 --arg out:out=f64[32]\n{HEAD}{PAIR}{ROOT}{text}", tmp_path)
    found = origin(rec, "nan")
    assert found is not None and found.birth is not None
    assert found.birth.instruction.text == "sqrt.rn.f32 y, x;" and found.cell == "out[0]"


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_recursion_comes_back_to_its_arguments() -> None:
    path = Path(__file__).parents[3] / "samples/recursion.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    rec = record(runner_of(files, runs_of(files, {})[0])).launches[0]
    for lane in (2, 3):
        links = why(rec, rec.cell("out", lane), lane, rec.step_count + 1)
        leaves = [one for one in links if one.instruction.text == "mov.b32 %a, %n;" and dict(one.written)["%a"] < 2]
        assert sum(int(dict(one.written)["%a"]) for one in leaves) == fibonacci(lane)
        assert links[-1].instruction.text == "mov.u32 %t, %tid.x;"


def test_every_copy_of_a_call_is_there(tmp_path: Path) -> None:
    rec = recorded(f"//@ run --block 32 --arg out:out=f64[32]\n{HEAD}{PAIR}{ROOT}{DIRECT}", tmp_path)
    copies = [a for a in rec.track.accesses if a.kind == "call" and a.source >= 0]
    assert len(copies) == 3  # two arguments, one result
    for a in copies:
        step = rec.bytes.step_of(a)
        assert rec.columns.instruction(step).opcode in ("call", "ret")
        (reached,) = rec.bytes.reached(a)
        for lane, address in zip(reached.lane.tolist(), reached.address.tolist(), strict=True):
            after = rec.bytes.held("local", lane, address, 4 * a.count, step + 1)
            assert np.array_equal(after, rec.bytes.held("local", lane, a.source, 4 * a.count, step))


def test_a_store_that_is_done_late_is_followed_to_its_instruction() -> None:
    path = Path(__file__).parents[3] / "samples/vecadd.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    late = 0
    for seed in range(1, 6):
        rec = record(runner_of(files, runs_of(files, {"schedule": str(seed)})[0])).launches[0]
        for n in (0, 5, 300, 999):
            cell = rec.cell("c", n)
            (done,) = rec.writers(cell)
            first = why(rec, cell, 0, rec.step_count + 1)[0]
            assert first.instruction.text.startswith("st.global") and rec.issued(cell, done[0]) == first.step <= done[0]
            late += first.step < done[0]
    assert late, "some of these seeds hold stores back"
