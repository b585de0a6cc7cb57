"""Generic addresses of every kind of memory, natively."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import Machine, run
from warplab.interpreter.execute import execute
from warplab.interpreter.faults import ExecutionError
from warplab.interpreter.native.fallback import Fallback

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REGISTERS = {1: "u32", 2: "u16", 4: "u32", 8: "u64"}


def program(size: int, vector: int, choose: str, work: str) -> str:
    """Each lane has 64 bytes of its own in local, shared and global memory, and works in the one that it chooses."""
    t = f"u{8 * size}"
    values = [f"%v{i}" for i in range(vector)]
    one = "{" + ", ".join(values) + "}" if vector > 1 else values[0]
    v = f".v{vector}" if vector > 1 else ""
    change = " ".join(f"add.{REGISTERS[size]} {x}, {x}, {i + 3};" for i, x in enumerate(values))
    update = "cvta.to.global.u64 %a, %g; atom.add.u32 %w, [%p+8], %t; red.max.u32 [%p+12], %i;" if work == "atom" else ""
    return f"""{HEAD}.visible .entry k(.param .u64 out) {{
        .reg .u64 %o, %a, %p, %l, %s, %g; .reg .u32 %t, %b, %n, %i, %c, %w, %k; .reg .{REGISTERS[size]} %v<4>; .reg .pred %q, %z, %done;
        .local .align 16 .b8 own[64]; .shared .align 16 .b8 tile[6144];
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
        mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %a, %i, 64; add.u64 %g, %o, %a; cvta.global.u64 %g, %g;
        mov.u64 %l, own; cvta.local.u64 %l, %l;
        mov.u64 %s, tile; cvta.shared.u64 %s, %s; mul.wide.u32 %a, %t, 64; add.u64 %s, %s, %a;
        st.u64 [%l], 0; st.u64 [%l+8], 0; st.u64 [%l+16], 0; st.u64 [%l+24], 0;
        st.u64 [%s], 0; st.u64 [%s+8], 0; st.u64 [%s+16], 0; st.u64 [%s+24], 0;
        mov.u32 %k, 0;
        LOOP: {choose} rem.u32 %c, %c, 3;
        setp.eq.u32 %q, %c, 0; selp.u64 %p, %s, %g, %q; setp.eq.u32 %q, %c, 2; selp.u64 %p, %l, %p, %q;
        setp.lt.u32 %z, %k, %t;
        {"@%z " if work == "guard" else ""}ld{v}.{t} {one}, [%p+{size * vector}]; {change} {"@%z " if work == "guard" else ""}st{v}.{t} [%p+{size * vector}], {one};
        {update}
        add.u32 %k, %k, 1; setp.lt.u32 %done, %k, 6; @%done bra LOOP;
        ld.u64 %a, [%s]; st.u64 [%g+32], %a; ld.u64 %a, [%s+8]; st.u64 [%g+40], %a; ld.u64 %a, [%l]; st.u64 [%g+48], %a; ld.u64 %a, [%l+8]; st.u64 [%g+56], %a;
        ret; }}"""


CHOICES = {
    "warp": "shr.u32 %c, %t, 5; add.u32 %c, %c, %k;",
    "lane": "add.u32 %c, %t, %k;",
    "one": "mov.u32 %c, %k;",
}


@given(
    st.sampled_from([(1, 1), (2, 1), (2, 4), (4, 1), (4, 2), (8, 1), (8, 2)]),
    st.sampled_from(sorted(CHOICES)),
    st.sampled_from(["", "guard", "atom"]),
)
@settings(max_examples=8)
def test_lanes_reach_what_their_addresses_say(shape: tuple[int, int], choice: str, work: str) -> None:
    text = program(*shape, CHOICES[choice], work)
    numpy, native = (run(text, 2, 80, 2 * 80 * 64, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("work", ["", "guard", "atom"])
def test_all_of_it_is_compiled(work: str, choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[object] = []
    monkeypatch.setattr(Fallback, "run_row", lambda *_: rows.append(_))
    for shape in ((4, 1), (2, 2)) if choice == "lane" else ((8, 1),):
        run(program(*shape, CHOICES[choice], work), 2, 96, 2 * 96 * 64, engine="native")
    assert not rows


UPDATES = {
    "32 bits": "atom.add.u32 %w, [%p], %t; atom.cas.b32 %v, [%p], 3, %w; red.max.s32 [%p+4], %v;",
    "64 bits": "atom.exch.b64 %d, [%p], %d; red.add.u64 [%p+8], %d; cvt.u32.u64 %v, %d;",
    "16 bits": "atom.cas.b16 %h, [%p+2], %h, 7; cvt.u32.u16 %v, %h;",
    "pairs": "mov.b32 %w, 0x3c003c00; atom.add.noftz.f16x2 %v, [%p+4], %w;",
    "some lanes": "@%z atom.add.f32 %v, [%p], 0f3f800000; @!%z red.or.b32 [%p], %t;",
}


@pytest.mark.parametrize("wrong", [0, 2, 4096])
@pytest.mark.parametrize("update", UPDATES)
def test_lanes_update_memories_of_all_kinds_at_once(update: str, wrong: int) -> None:
    """Odd lanes update their stacks; of the others, every second updates shared memory, where they collide; one goes `wrong` bytes too far."""
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %p, %l, %s, %d; .reg .b32 %t, %v, %w, %k; .reg .b16 %h; .reg .pred %q, %z;
        .local .align 8 .b8 own[32]; .shared .align 8 .b8 tile[64];
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 16; add.u64 %o, %o, %a; cvt.u64.u32 %d, %t; cvt.u16.u32 %h, 0; mov.u32 %v, 9;
        mov.u64 %l, own; cvta.local.u64 %l, %l; mov.u64 %s, tile; cvta.shared.u64 %s, %s; st.u64 [%l], %d; st.u64 [%l+8], 5; st.u64 [%s], 0; st.u64 [%s+8], 0;
        and.b32 %k, %t, 2; setp.eq.u32 %q, %k, 0; selp.u64 %p, %s, %o, %q; and.b32 %k, %t, 1; setp.eq.u32 %q, %k, 1; selp.u64 %p, %l, %p, %q;
        setp.gt.u32 %z, %t, 11; setp.eq.u32 %q, %t, {wrong % 40}; @%q add.u64 %p, %p, {wrong}; bar.sync 0; {UPDATES[update]}
        ld.u32 %k, [%p]; xor.b32 %v, %v, %k; ld.u32 %k, [%p+4]; add.u32 %v, %v, %k; bar.sync 0; st.u32 [%o+8], %v; ret; }}"""
    ends: list[tuple[str, list[int]]] = []
    for engine in ("numpy", "native"):
        machine, end = Machine(text), ""
        out = machine.upload(np.arange(48 * 4, dtype=np.uint32))
        launch = machine.prepare(1, 48, [out], engine=engine)
        try:
            execute(launch, ())
        except ExecutionError as e:
            end = str(e)
        else:
            assert not launch.used.left_to_numpy or engine == "numpy"
        ends.append((end, machine.download(out).tolist()))
    assert ends[0][0] == ends[1][0] and bool(ends[0][0]) == bool(wrong)
    assert wrong or ends[0] == ends[1]


@pytest.mark.parametrize("space", ["const", "global", "param"])
def test_spaces_that_allocations_belong_to(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[object] = []
    monkeypatch.setattr(Fallback, "run_row", lambda *_: rows.append(_))
    text = f"""{HEAD} .const .b32 c[3]; .const .b32 d = 5; .global .b32 e;
        .visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %p, %l; .reg .u32 %t, %r, %c; .reg .pred %q; .local .b32 own; .shared .b32 tile;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a; and.b64 %a, %a, 12; rem.u32 %c, %t, 6;
        mov.u64 %l, c; cvta.const.u64 %p, %l; add.u64 %p, %p, %a; mov.u64 %l, d; cvta.const.u64 %l, %l; setp.eq.u32 %q, %c, 1; selp.u64 %p, %l, %p, %q;
        mov.u64 %l, e; setp.eq.u32 %q, %c, 2; selp.u64 %p, %l, %p, %q; mov.b64 %l, out; cvta.param.u64 %l, %l; setp.eq.u32 %q, %c, 3; selp.u64 %p, %l, %p, %q;
        mov.u64 %l, own; cvta.local.u64 %l, %l; setp.eq.u32 %q, %c, 4; selp.u64 %p, %l, %p, %q;
        mov.u64 %l, tile; cvta.shared.u64 %l, %l; setp.eq.u32 %q, %c, 5; selp.u64 %p, %l, %p, %q;
        isspacep.{{space}} %q, %p; selp.u32 %r, 1, 2, %q; st.global.u32 [%o], %r; ret; }}""".replace("{space}", space)
    numpy, native = (run(text, 1, 48, np.zeros(48, np.uint32), engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native) and set(native) == {1, 2} and not rows


@pytest.mark.parametrize("space", ["shared", "shared::cta", "shared::cluster", "local"])
def test_windows_of_generic_addresses(space: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[object] = []
    monkeypatch.setattr(Fallback, "run_row", lambda *_: rows.append(_))
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %p, %l; .reg .u32 %t, %r; .reg .pred %q;
        .local .b32 own; .shared .b32 tile;
        ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a;
        mov.u64 %p, tile; cvta.shared.u64 %p, %p; mov.u64 %l, own; cvta.local.u64 %l, %l;
        mul.wide.u32 %a, %t, 0x800000; add.u64 %p, %p, %a; setp.eq.u32 %q, %t, 5; selp.u64 %p, %l, %p, %q;
        isspacep.{space} %q, %p; selp.u32 %r, 1, 2, %q; st.global.u32 [%o], %r; ret; }}"""
    numpy, native = (run(text, 1, 32, np.zeros(32, np.uint32), engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native) and set(native) == {1, 2} and not rows


def test_parameters_have_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each lane reads a part of the address that the kernel is given, and where that lies depends on the launch."""
    rows: list[object] = []
    monkeypatch.setattr(Fallback, "run_row", lambda *_: rows.append(_))
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %p; .reg .u32 %t, %r;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a;
        mov.b64 %p, out; cvta.param.u64 %p, %p; and.b64 %a, %a, 4; add.u64 %p, %p, %a; ld.u32 %r, [%p]; st.global.u32 [%o], %r; ret; }}"""
    numpy, native = (run(text, 1, 32, np.zeros(32, np.uint32), engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native) and len(set(native)) == 2 and not rows


@pytest.mark.parametrize(
    "work",
    [
        "mov.b32 %x, out; cvt.u64.u32 %p, %x; cvta.param.u64 %p, %p; and.b64 %a, %a, 4; add.u64 %p, %p, %a; ld.u32 %r, [%p];",
        "mov.b32 %x, out; and.b32 %t, %t, 1; mad.lo.u32 %x, %t, 4, %x; ld.param.u32 %r, [%x];",
        "mov.b32 %x, out; cvt.u64.u32 %p, %x; ld.param.u32 %r, [%p+4];",
    ],
)
def test_half_of_the_address_of_a_parameter(work: str) -> None:
    """As Triton writes it: 32 bits of an address that has more."""
    text = f"""{HEAD}.visible .entry k(.param .u64 out) {{ .reg .u64 %o, %a, %p; .reg .u32 %t, %r, %x;
        ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a; {work} st.global.u32 [%o], %r; ret; }}"""
    found = []
    for engine in ("numpy", "native"):
        machine = Machine(text, base=0x4002000000)
        out = machine.upload(np.zeros(32, np.uint32))
        used = machine.launch(1, 32, [out], engine=engine).used
        assert not used.left_to_numpy
        found.append(machine.download(out).tolist())
    assert found[0] == found[1] and set(found[1]) <= {out.start & 0xFFFFFFFF, out.start >> 32}
