"""Atomic operations on floats, halves and pairs of halves: what numpy leaves in memory and returns, natively."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests.interpreter.harness import run
from warplab.interpreter.native.fallback import Fallback

# Each operation, with the bits of an element.
OPERATIONS = {
    "global.add.f64": 64, "shared.add.f64": 64, "add.f64": 64, "global.add.f32": 32, "shared.add.f32": 32,
    "global.add.noftz.f16": 16, "shared.add.noftz.f16": 16, "global.add.noftz.bf16": 16, "global.add.noftz.f16x2": 32,
    "shared.add.noftz.f16x2": 32, "global.add.noftz.bf16x2": 32, "add.noftz.f16x2": 32, "add.noftz.bf16x2": 32,
}  # fmt: skip


def words(bits: int, seed: int) -> np.ndarray:
    """Elements of which some are special: infinities, NaNs, subnormals, zeros."""
    rng = np.random.default_rng(seed)
    narrow = rng.integers(0, 1 << 16, 4096, np.uint16)
    special = np.array([0, 0x8000, 0x7C00, 0x7E01, 0x0001, 0xFC00, 0x7F80, 0xFFC1], np.uint16)
    narrow[::61] = rng.choice(special, narrow[::61].size)
    if bits == 64:  # the special ones in the high bits
        return (narrow.astype(np.uint64)[:1024] << np.uint64(48) | rng.integers(0, 1 << 48, 1024, np.uint64)).view(np.uint32)
    return narrow.view(np.uint32)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_same_memory_and_the_same_results(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bits = OPERATIONS[operation]
    size, unit = bits // 8, f"b{bits}"
    space = "shared" if operation.startswith("shared") else "global"
    text = f""".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {{
        .reg .b64 %o, %x, %a, %s; .reg .b32 %t, %u, %b; .reg .{unit} %v, %w; .reg .pred %p; .shared .align 8 .b8 cells[128];
        ld.param.u64 %o, [out]; ld.param.u64 %x, [in]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %u, %b, 64, %t;
        mul.wide.u32 %a, %u, {size}; add.u64 %x, %x, %a; ld.global.{unit} %v, [%x]; add.u64 %x, %o, %a;
        and.b32 %u, %t, 5; mul.wide.u32 %a, %u, {size}; setp.lt.u32 %p, %t, 60;
        {"mov.u64 %s, cells;" if space == "shared" else "add.u64 %s, %o, 4096;"}
        add.u64 %s, %s, %a; st.{space}.{unit} [%s], %v; bar.sync 0;
        mov.{unit} %w, 0; @%p atom.{operation} %w, [%s], %v; st.global.{unit} [%x], %w;
        bar.sync 0; ld.{space}.{unit} %w, [%s]; st.global.{unit} [%x+2048], %w; ret; }}"""
    monkeypatch.setattr(Fallback, "run_row", lambda *_: pytest.fail("left to numpy"))
    data = words(bits, 1)
    numpy, native = (run(text, 3, 64, 2048, data, engine=engine) for engine in ("numpy", "native"))
    assert np.array_equal(numpy, native)
    assert len(np.unique(numpy)) > 20
