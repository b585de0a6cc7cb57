"""Every pure row: the code that its meaning leaves behind gives numpy's bits."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.interpreter.plan.roles import works_on
from warplab.isa.notation import FORMS, Form
from warplab.isa.types import ScalarType

pytest.importorskip("llvmlite")

from warplab.interpreter.native.trace.code import LLVMModule, Untraceable, VectorCode
from warplab.interpreter.native.trace.meanings import traced
from warplab.interpreter.native.trace.symbol import SymbolicArray

from .compiled import run

WIDTH, COUNT, SPELLINGS = 16, 2048, 3
SINGLES = np.array(
    [0, 1 << 31, 1, 0x7FFFFF, 0x807FFFFF, 0x800000, 0x80800000, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000,
     0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x3F000000, 0x40000000, 0x34000000, 0x4F000000, 0x5F000000, 31, 32, 33, 255],
    np.uint32,
)  # fmt: skip
HALVES = np.array(
    [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7FFF, 0x7F80, 0xFF80, 0x7F81], np.uint16
)


def values(dtype: np.dtype[Any], n: int, seed: int) -> Any:
    """Bits of all kinds: any at all, special ones, ordinary numbers, small integers."""
    r = np.random.default_rng(seed)
    if dtype.kind == "b":
        return r.integers(0, 2, n).astype(bool)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    out = r.integers(0, 1 << 8 * dtype.itemsize, n, dtype=unsigned)
    kind = r.integers(0, 4, n)
    if dtype.itemsize >= 4:
        singles = SINGLES[r.integers(0, SINGLES.size, n)]
        normal = (r.standard_normal(n) * 4).astype(f"f{dtype.itemsize}").view(unsigned)
        with np.errstate(all="ignore"):
            special = singles if dtype.itemsize == 4 else singles.view(np.float32).astype(np.float64).view(unsigned)
        out = np.where(kind == 0, special, np.where(kind == 1, normal, out))
        out = np.where(kind == 2, r.integers(0, 80, n, dtype=unsigned), out) if seed % 2 else out
    elif dtype.itemsize == 2:
        out = np.where(kind == 0, HALVES[r.integers(0, HALVES.size, n)], out)
        out = np.where(kind == 1, (r.standard_normal(n) * 2).astype(np.float16).view(unsigned), out)
    return out.view(dtype)


def spellings(form: Form) -> Iterator[dict[str, str | bool]]:
    """Some settings of the words of a form."""
    choices = [([None] if s.optional else []) + list(s.words) for s in form.slots]
    combos = list(itertools.islice(itertools.product(*choices), 4096))
    random.Random(form.row).shuffle(combos)
    for combo in combos[:SPELLINGS]:
        yield {s.name: True if s.is_flag else w for s, w in zip(form.slots, combo, strict=True) if w is not None}


def operands(form: Form, settled: dict[str, str | bool], code: VectorCode) -> tuple[list[Any], list[Any], list[tuple[Any, SymbolicArray]]]:
    """Symbols, arrays that stand for them, and both for the compiled loop."""
    symbols: list[Any] = []
    arrays: list[Any] = []
    inputs: list[tuple[Any, SymbolicArray]] = []

    def one(t: ScalarType) -> tuple[SymbolicArray, Any]:
        n = len(inputs)
        elements = 1 if t.name == "b128" else t.elements
        s = SymbolicArray(code, f"%in{n}", t.dtype, WIDTH * elements)
        a = values(t.dtype, COUNT * elements, 7 * n + 1)
        inputs.append((a, s))
        return s, a.reshape(1, COUNT) if elements == 1 else a.reshape(1, COUNT, elements)

    for n, o in enumerate(form.operands):
        if (n == 0 and o.is_destination) or o.optional:
            continue
        if o.constant:
            symbols.append(0xE8 if o.name == "immLut" else 1)
            arrays.append(symbols[-1])
            continue
        t = form.type_of(o, settled)
        assert t is not None
        if t.name == "b128" or o.count != 1:
            pairs = [one(t) for _ in range(o.count if isinstance(o.count, int) and o.count != 1 else 2)]
            symbols.append(tuple(s for s, _ in pairs))
            arrays.append(tuple(a for _, a in pairs))
        else:
            s, a = one(t)
            symbols.append(s)
            arrays.append(a)
    return symbols, arrays, inputs


NUMPY_ALONE = {"cvt.rs{.relu}.satfinite.dtype.atype d:dtype, a*4:atype, b:b32"}  # its four operands become elements of one array


def pure_rows() -> list[Form]:
    rows = [form for opcode in sorted(FORMS) for form in FORMS[opcode]]
    return [f for f in rows if f.meaning is not None and not f.effect and not f.carry and works_on(f) not in ("lanes", "warps")]


@pytest.mark.parametrize("form", pure_rows(), ids=lambda f: f.row)
def test_the_code_of_a_meaning_gives_its_bits(form: Form) -> None:
    for settled in spellings(form):
        code = VectorCode(WIDTH, LLVMModule())
        symbols, arrays, inputs = operands(form, settled, code)
        if form.row in NUMPY_ALONE:
            with pytest.raises(Untraceable):
                traced(code, form.bind(settled), symbols)
            continue
        results = [r for r in traced(code, form.bind(settled), symbols) if r is not None]
        with np.errstate(all="ignore"):
            want = form.bind(settled)(*arrays)
        expected = [w for w in (want if isinstance(want, tuple) else (want,)) if w is not None]
        for got, right in zip(run(code, inputs, results, COUNT), expected, strict=True):
            shape = (1, *got.shape) if got.shape[1] > 1 else (1, COUNT)
            right = np.ascontiguousarray(np.broadcast_to(right, shape)).reshape(got.shape)
            bits = np.dtype(f"u{got.dtype.itemsize}")
            wrong = np.flatnonzero((got.view(bits) != right.view(bits)).any(axis=1))
            if wrong.size:
                lane = int(wrong[0])
                given = [a.reshape(COUNT, -1)[lane] for a, _ in inputs]
                pytest.fail(f"{settled}: {wrong.size} lanes differ; of {given} lane {lane} has {got[lane]}, not {right[lane]}")
