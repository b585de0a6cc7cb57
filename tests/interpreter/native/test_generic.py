"""Generic addresses of every kind of memory, natively."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interpreter.harness import run
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
        LOOP: {choose} rem.u32 %c, %c, {2 if work == "atom" else 3};
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


def test_warps_in_one_memory_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[object] = []
    monkeypatch.setattr(Fallback, "run_row", lambda *_: rows.append(_))
    for shape in ((4, 1), (2, 2), (8, 1)):
        run(program(*shape, CHOICES["warp"], ""), 2, 96, 2 * 96 * 64, engine="native")
    assert not rows


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
