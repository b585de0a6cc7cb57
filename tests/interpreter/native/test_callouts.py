"""Rows that numpy runs on the registers of compiled code, for whatever lanes come to them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import Machine
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.frame import Frame
from warplab.interpreter.native.lane_lists import ListedLanes
from warplab.interpreter.native.registers import NativeRegisters
from warplab.interpreter.native.uniformity import UNIFORM, VARYING

HEAD = ".version 8.4\n.target sm_90a\n.address_size 64\n"
RUNTIME = """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a); .extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p); .global .b8 fmt[4] = {104, 105, 10, 0};
.func (.reg .b32 n) say(.reg .b64 m) { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], m; st.param.b64 [a], 0; call.uni (r), vprintf, (f, a); ld.param.b32 n, [r]; add.u32 n, n, 3; ret; }"""
LANES = {
    "all": "setp.ge.u32 %q, %t, 0;",
    "one of each block": "setp.eq.u32 %q, %t, 37;",
    "every third": "rem.u32 %c, %t, 3; setp.eq.u32 %q, %c, 0;",
    "a block": "setp.eq.u32 %q, %b, 1;",
    "anyhow": "mad.lo.u32 %c, %g, 0x9E3779B1, 12345; shr.u32 %c, %c, 27; setp.lt.u32 %q, %c, 11;",
}
WORK = {
    "128 bits": "mov.b128 %w, {%d, %d}; atom.global.exch.b128 %w, [%p], %w; mov.b128 {%d, %e}, %w; add.u64 %d, %d, %e;",
    "printf": "st.param.b64 [f], %m; st.param.b64 [a], 0; call.uni (r), vprintf, (f, a); ld.param.b32 %c, [r]; cvt.u64.u32 %e, %c; add.u64 %d, %d, %e;",
    "printf under a guard": """st.param.b64 [f], %m; st.param.b64 [a], 0; and.b32 %c, %t, 4; setp.eq.u32 %z, %c, 0; mov.u32 %c, 77; @%z call.uni (%c), say, (%m);
        cvt.u64.u32 %e, %c; add.u64 %d, %d, %e; @!%z call.uni (r), vprintf, (f, a); ld.param.b32 %c, [r]; cvt.u64.u32 %e, %c; add.u64 %d, %d, %e;""",
    "malloc": """st.param.b64 [f], 16; call.uni (a), malloc, (f); ld.param.b64 %e, [a]; st.u64 [%e], %d; ld.u64 %d, [%e]; add.u64 %d, %d, 1;
        st.param.b64 [f], %e; call.uni free, (f);""",
}


def program(lanes: str, work: str) -> str:
    """Lanes that a predicate names work four times; the others wait for them behind."""
    return f"""{HEAD}{RUNTIME} .visible .entry k(.param .u64 out) {{ .param .b64 f; .param .b64 a; .param .b32 r;
        .reg .u64 %o, %p, %d, %e, %m; .reg .u32 %t, %b, %n, %g, %c, %i; .reg .b128 %w; .reg .pred %q, %z;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %g, %b, %n, %t; mov.u64 %m, fmt;
        mul.wide.u32 %p, %g, 32; add.u64 %p, %o, %p; cvt.u64.u32 %d, %g; mov.u32 %i, 0; {LANES[lanes]}
        L: @!%q bra SKIP; {WORK[work]} SKIP: add.u64 %d, %d, 3; add.u32 %i, %i, 1; setp.lt.u32 %z, %i, 4; @%z bra L;
        st.u64 [%p+16], %d; ret; }}"""


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("lanes", LANES)
def test_lanes_get_what_numpy_gives_them(lanes: str, work: str) -> None:
    """Of three blocks, whose last warps are half empty."""
    found = []
    for engine in ("numpy", "native"):
        machine = Machine(program(lanes, work))
        out = machine.upload(np.arange(3 * 80 * 8, dtype=np.uint32))
        used = machine.launch(3, 80, [out], engine=engine).used
        assert (used.native_blocks, used.numpy_blocks) == ((3, 0) if engine == "native" else (0, 3))
        found.append((machine.download(out).tolist(), machine.prints.lines))
    assert found[0] == found[1]


def test_what_is_printed_stands_in_the_order_of_numpy() -> None:
    """Lanes of two ways print in a loop, the fewer first."""
    text = f"""{HEAD}{RUNTIME} .global .b8 other[4] = {{111, 104, 10, 0}};
        .visible .entry k(.param .u64 out) {{ .param .b64 f; .param .b64 a; .param .b32 r; .reg .u64 %m; .reg .u32 %t, %i, %c; .reg .pred %q, %z;
        mov.u32 %t, %tid.x; mov.u32 %i, 0; rem.u32 %c, %t, 5; setp.eq.u32 %q, %c, 0;
        L: @%q bra A; mov.u64 %m, fmt; bra.uni B; A: mov.u64 %m, other; B: mov.u64 %m, %m; @!%q bra C;
        st.param.b64 [f], %m; st.param.b64 [a], 0; call.uni (r), vprintf, (f, a); bra.uni D;
        C: st.param.b64 [f], %m; st.param.b64 [a], 0; call.uni (r), vprintf, (f, a);
        D: add.u32 %i, %i, 1; setp.lt.u32 %z, %i, %c; @%z bra L; ret; }}"""
    lines = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        machine.launch(2, 48, [machine.upload(np.zeros(1, np.uint32))], engine=engine)
        lines.append(machine.prints.lines)
    assert lines[0] == lines[1] and set(lines[0]) == {"hi\n", "oh\n"}


def test_an_illegal_access_of_a_warp_tells_what_numpy_tells() -> None:
    """Behind it, registers hold what they held."""
    text = f"""{HEAD} .visible .entry k(.param .u64 out) {{ .reg .u64 %o, %p; .reg .u32 %t, %v; .reg .pred %q; ld.param.u64 %o, [out];
        mov.u32 %t, %tid.x; mul.wide.u32 %p, %t, 4; add.u64 %p, %o, %p; setp.eq.u32 %q, %t, 70; @%q add.u64 %p, %p, 0x100000; ld.u32 %v, [%p];
        add.u32 %v, %v, %t; st.u32 [%p], %v; ret; }}"""
    told = []
    for engine in ("numpy", "native"):
        machine = Machine(text)
        out = machine.upload(np.arange(96, dtype=np.uint32))
        with pytest.raises(ExecutionError) as e:
            execute(machine.prepare(1, 96, [out], engine=engine), ())
        told.append((str(e.value), machine.download(out).tolist()))
    assert told[0] == told[1]


@given(st.data())
@settings(max_examples=60)
def test_registers_come_back_as_they_were_put(data: st.DataObject) -> None:
    """Only in the lanes that are named, in every dtype, whole waves and parts, and warps that are not full."""
    blocks, threads = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 31, 32, 40, 64]))
    dtypes = dict(enumerate(map(np.dtype, ("u8", "f4", "u2", "?"))))
    frame = Frame(32, lambda _: 0, {}, dtypes, 4, False, 64, 0, 0, (), (), False, False).place(dtypes, 0, [])
    registers = NativeRegisters(frame, blocks, threads)
    shape = (blocks, threads)
    random = np.random.default_rng(data.draw(st.integers(0, 999)))
    chosen = random.random(shape) < data.draw(st.sampled_from([0.05, 0.5, 1]))
    if data.draw(st.booleans()):
        chosen = np.broadcast_to(chosen[:1], shape)
    if not chosen.any():
        return
    lanes = ListedLanes(registers.masks(chosen).astype(np.uint32), blocks, threads)
    whole = registers.all_of(blocks)
    for slot, dtype in dtypes.items():
        before, values = (random.integers(0, 2 if dtype.kind == "b" else 999, shape).astype(dtype) for _ in range(2))
        registers.put(slot, VARYING, before, whole)
        part = values if lanes.selection is None else lanes.selection.take_array(values)
        registers.put(slot, VARYING, part, lanes)
        assert np.array_equal(registers.get(slot, VARYING, lanes), part)
        assert np.array_equal(registers.get(slot, VARYING, whole), np.where(chosen, values, before))
        registers.put(slot, VARYING, values[:1, :1], lanes)
        assert (registers.get(slot, VARYING, lanes) == values[0, 0]).all()
        registers.put(slot, UNIFORM, values[:1, :1], lanes)
        assert registers.get(slot, UNIFORM, lanes) == values[0, 0]
