"""A traced meaning as a loop over arrays, compiled and run."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from warplab.interpreter.native.jit import CompiledLibrary, compiled
from warplab.interpreter.native.trace.code import VectorCode, scalar_type
from warplab.interpreter.native.trace.symbol import SymbolicArray


def run(code: VectorCode, inputs: Sequence[tuple[Any, SymbolicArray]], results: Sequence[SymbolicArray], count: int) -> list[Any]:
    """The results for `count` lanes of input arrays."""
    before, after, arrays = [], [], []
    for n, (a, s) in enumerate(inputs):
        stored = np.uint8 if s.dtype.kind == "b" else s.dtype
        arrays.append(np.ascontiguousarray(a).astype(stored))
        t = scalar_type(np.dtype(stored))
        before += [f"  %a{n} = mul i64 %p, {s.each}", f"  %b{n} = getelementptr {t}, ptr %i{n}, i64 %a{n}"]
        if s.dtype.kind == "b":
            before += [f"  %c{n} = load <{s.lanes} x i8>, ptr %b{n}, align 1", f"  {s.value} = trunc <{s.lanes} x i8> %c{n} to {s.type}"]
        else:
            before.append(f"  {s.value} = load {s.type}, ptr %b{n}, align {s.itemsize}")
    outs = []
    for n, r in enumerate(results):
        stored = np.dtype(np.uint8) if r.dtype.kind == "b" else r.dtype
        outs.append(np.zeros((count, r.each), stored))
        value = r.value
        if r.dtype.kind == "b":
            after.append(f"  %z{n} = zext {r.type} {r.value} to <{r.lanes} x i8>")
            value = f"%z{n}"
        t = scalar_type(stored)
        after += [f"  %q{n} = mul i64 %p, {r.each}", f"  %w{n} = getelementptr {t}, ptr %o{n}, i64 %q{n}",
                  f"  store <{r.lanes} x {t}> {value}, ptr %w{n}, align {stored.itemsize}"]  # fmt: skip
    names = [f"ptr %i{n}" for n in range(len(inputs))] + [f"ptr %o{n}" for n in range(len(outs))]
    body = "\n".join([*before, *code.lines, *after])
    text = "\n".join([
        *code.module.head(), f"define void @f({', '.join(names)}) {{", "entry:", "  br label %loop", "loop:",
        "  %p = phi i64 [0, %entry], [%next, %loop]", body, f"  %next = add i64 %p, {code.width}",
        f"  %more = icmp ult i64 %next, {count}", "  br i1 %more, label %loop, label %exit", "exit:", "  ret void", "}",
    ])  # fmt: skip
    library = CompiledLibrary(compiled(text), ["f"])
    f = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(names))(library.addresses["f"])
    f(*[a.ctypes.data for a in arrays], *[o.ctypes.data for o in outs])
    return [o.astype(bool) if r.dtype.kind == "b" else o for o, r in zip(outs, results, strict=True)]
