"""Products of matrices natively: any bits in, the numpy engine's bits out."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import run
from warplab.interpreter.native.fallback import Fallback

ROWS = {  # registers of A, B and C, the type of C's
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": (4, 2, 4, "f32"),
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16": (4, 2, 2, "b32"),
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": (4, 2, 4, "f32"),
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32": (4, 2, 4, "f32"),
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32": (4, 2, 4, "s32"),
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc": (4, 2, 4, "s32"),
    "mma.sync.aligned.m8n8k4.col.row.f16.f16.f16.f16": (2, 2, 4, "b32"),
    "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32": (2, 2, 8, "f32"),
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rp": (4, 2, 4, "f64"),
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": (2, 2, 4, "f32"),
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32": (4, 4, 4, "f32"),
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32": (4, 4, 4, "f32"),
    "mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8.s32": (4, 4, 4, "s32"),
    "mma.sp.sync.aligned.m16n8k128.row.col.s32.u4.s4.s32": (4, 4, 4, "s32"),
    "wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32": (8, 8, 8, "f32"),
    "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64": (1, 1, 2, "f64"),
}
SELECTORS = {"m16n8k16.f32.f16": 3, "m16n8k32.f32.bf16": 1, "m16n8k16.f32.tf32": 1}  # of metadata: the last there is, where not 0
WIDE = np.array(
    [0, 0x3C003C00, 0x7C00FC00, 0x7E01, 0x00010001, 0x80008000, 0x3F800000, 0x7F800000, 0x7FC00000, 0x7F7FFFFF, 0x00800000, 0xFFFFFFFF],
    np.uint32,
)


def inputs(count: int, seed: int) -> np.ndarray:
    """Numbers of like size, then any bits, then those at the edges of formats."""
    rng = np.random.default_rng(seed)
    mixed = rng.integers(0, 2**32, (3, 64 * count), np.uint64).astype(np.uint32)
    mixed[0] = mixed[0] & 0x83FF83FF | 0x38003800
    mixed[2] = rng.choice(WIDE, 64 * count)
    return mixed[seed % 3]


@pytest.mark.parametrize("row", ROWS)
def test_products_have_the_bits_of_numpy(row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, c, kind = ROWS[row]
    d = 4 if row.endswith("k16.f16.f32") else c
    out = "b32" if d != c else kind
    names = [[f"%{'d' if kind == 'f64' else 'r'}{i}" for i in range(first, end)] for first, end in ((0, a), (a, a + b), (a + b, a + b + c))]
    load = "\n".join(f"ld.global.u32 %r{i}, [%x+{128 * i}];" for i in range(31))
    if kind == "f32":
        load += "".join(f" mov.b32 %f{i}, {name};" for i, name in enumerate(names[2]))
        names[2] = [f"%f{i}" for i in range(c)]
    if kind == "f64":
        load += "".join(f" mov.b64 %d{i}, {{%r{2 * i}, %r{2 * i + 1}}};" for i in range(a + b + c))
    results = [f"%{ {'f32': 'g', 'f64': 'e'}.get(out, 'q') }{i}" for i in range(d)]
    lists = ", ".join("{" + ", ".join(x) + "}" for x in (results, *names))
    if ".sp." in row:
        words = row.split(".")
        lists += f", %r{a + b + c}, {SELECTORS.get('.'.join((words[4], *words[7:9])), 0)}"
    unpacked = "".join(f" mov.b64 {{%q{2 * i}, %q{2 * i + 1}}}, {r};" for i, r in enumerate(results)) if kind == "f64" else ""
    results = [f"%q{i}" for i in range(2 * d)] if kind == "f64" else results
    text = f""".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {{
        .reg .b64 %o, %x, %a; .reg .b32 %r<32>, %q<8>, %t; .reg .f32 %f<8>, %g<8>; .reg .f64 %d<16>, %e<8>;
        ld.param.u64 %o, [out]; ld.param.u64 %x, [in]; mov.u32 %t, %tid.x; shr.u32 %t, %t, 5; mul.wide.u32 %a, %t, {128 * 32}; add.u64 %x, %x, %a; add.u64 %o, %o, %a;
        mov.u32 %t, %laneid; mul.wide.u32 %a, %t, 4; add.u64 %x, %x, %a; add.u64 %o, %o, %a;
        {load} {row} {lists}; {unpacked}
        {" ".join(f"st.global.{'f32' if out == 'f32' else 'b32'} [%o+{128 * i}], {r};" for i, r in enumerate(results))} ret; }}"""
    monkeypatch.setattr(Fallback, "run_row", lambda *_: pytest.fail("left to numpy"))
    for seed in range(3):
        data = inputs(32, seed)
        numpy, native = (run(text, 1, 64, 2 * 32 * 128, data, engine=engine) for engine in ("numpy", "native"))
        assert np.array_equal(numpy, native)
