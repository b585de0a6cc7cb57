"""tcgen05.mma in all its forms: tensor memory as a program leaves it, and as the model of one element at a time does.

No machine has recorded any of this: the model is what PTX ISA 9.7.18 says.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from warplab.interpreter.faults import Fault

from .reference_tensor import Product, multiply, place
from .tensor_programs import COLUMNS, LANES, SHARED, matrix_descriptor, program, run

A_AT, B_AT = 0x1000, 0x4000
D, A, E, X, Y = 8, 256, 300, 320, 340  # columns
MODES = {"none": 0, "128B": 2, "64B": 4, "32B": 6, "128B of 32B": 1}
NIBBLES = (0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110)  # that the manual gives a meaning
WORDS = {"i8": "i8", "f16": "f16", "tf32": "tf32"}


def finite(rng: np.random.Generator, kind: str, count: int) -> NDArray[Any]:
    """Codes of finite numbers of moderate size, as bytes."""
    if kind in ("f16", "bf16"):
        x = (rng.normal(size=count) * 2.0 ** rng.integers(-4, 5, count)).astype(np.float32)
        bits = x.astype(np.float16).view(np.uint16) if kind == "f16" else (x.view(np.uint32) >> 16).astype(np.uint16)
        return bits.view(np.uint8)
    if kind == "tf32":
        return rng.normal(size=count).astype(np.float32).view(np.uint8)
    codes = rng.integers(0, 256, count, dtype=np.uint8)
    if kind == "e4m3":
        codes[codes & 0x7F == 0x7F] = 3
    if kind == "e5m2":
        codes[codes & 0x7C == 0x7C] = 5
    return codes


def images(p: Product, seed: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Random tensor memory and shared memory, in which all that may be read are numbers."""
    rng = np.random.default_rng(seed)
    size = {"f16": 2, "bf16": 2, "tf32": 4}
    tensor = rng.normal(size=(p.ctas, LANES, COLUMNS)).astype(np.float32)
    words: NDArray[np.uint32] = tensor.view(np.uint32)
    if p.d == "f16":
        words = rng.normal(size=words.shape).astype(np.float16).view(np.uint16).astype(np.uint32)
    if p.d == "s32":
        words = rng.integers(0, 2**32, words.shape, dtype=np.uint32)
    cells = p.ctas * LANES * 32
    words[..., A : A + 32] = finite(rng, p.a, cells * 4 // size.get(p.a, 1)).view(np.uint32).reshape(p.ctas, LANES, 32)
    nibbles = rng.choice(NIBBLES if p.bits < 32 else (0b0100, 0b1110), size=(p.ctas, LANES, 4, 8)).astype(np.uint32)
    words[..., E : E + 4] = (nibbles << 4 * np.arange(8, dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)
    factors = rng.integers(120, 134, (p.ctas, 1, 32, 64), dtype=np.uint8)
    if p.factors == "ue4m3":
        factors = rng.integers(1, 0x7F, factors.shape, dtype=np.uint8)
    words[..., X : X + 16] = np.broadcast_to(factors, (p.ctas, 4, 32, 64)).reshape(p.ctas, LANES, 64).view(np.uint32)
    words[..., Y : Y + 16] = np.broadcast_to(factors[..., ::-1], (p.ctas, 4, 32, 64)).reshape(p.ctas, LANES, 64).copy().view(np.uint32)
    shared = np.empty((p.ctas, SHARED), np.uint8)
    for cta in range(p.ctas):
        shared[cta, :B_AT] = finite(rng, p.a, B_AT // size.get(p.a, 1))
        shared[cta, B_AT:] = finite(rng, p.b, (SHARED - B_AT) // size.get(p.b, 1))
    return words, shared


def descriptor(start: int, mode: str, rows: int) -> int:
    """Of a K-major or MN-major matrix that lies without overlaps below 12 KiB."""
    return matrix_descriptor(start, 128 if mode == "none" else 2048, 256 if mode == "none" else 1024, MODES[mode])


def check(
    p: Product, *, a_in_tensor: bool = False, mode: str = "none", text: str = "", lane: int = 0, seed: int = 1, words: str = "", **more: Any
) -> None:
    """Runs one instruction and compares every cell of tensor memory."""
    tensor, shared = images(p, seed)
    d, a, e = (lane << 16 | x for x in (D, A, E))
    x, y = X, Y
    a_operand = a if a_in_tensor else descriptor(A_AT, mode, p.m)
    b = descriptor(B_AT, mode, p.n)
    disabled = more.get("disabled", 0)
    head = f"tcgen05.mma{'.ws' if p.ws else ''}{'.sp' if p.sparse else ''}.cta_group::{p.ctas}.kind::{p.kind}{words}"
    operands = ["[%w0]", "[%w1]" if a_in_tensor else "%a1", "%a2"] + ["[%w3]"] * p.sparse + ["%w4"]
    if p.chunks:
        operands += ["[%w5]", "[%w6]"]
    if disabled:
        names = []
        for i in range(4 * p.ctas):
            names.append(f"%r{i + 3}" if i else "%r15")
        text += " ".join(f"mov.b32 {name}, {disabled >> 32 * i & 0xFFFFFFFF};" for i, name in enumerate(names))
        operands.append("{" + ", ".join(names) + "}")
    operands.append("%true" if more.get("keeps", True) else "%false")
    if "scale" in more:
        operands.append(str(more["scale"]))
    if "zero_mask" in more:
        operands.append("%a7")
    descriptor_word = p.descriptor | more.pop("shift_limit", 0) << 30
    after = run(
        program(text + f"\n    {head} {', '.join(operands)};\n mov.u32 %r10, done;", group=p.ctas),
        tensor, shared, [d, a_operand, b, e, descriptor_word, x, y, more.get("zero_mask", 0)],
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    elements = [(row, int(rng.integers(p.n))) for row in range(0, p.m, 3)] + [(int(rng.integers(p.m)), column) for column in range(p.n)]
    wanted = multiply(
        p, tensor.tolist(), [s.tobytes() for s in shared], d, a_operand, a_in_tensor, b, e, x, y, elements=elements, **more
    )  # fmt: skip
    different = [(cell, hex(after[cell]), hex(word)) for cell, word in wanted.items() if after[cell] != word]
    assert not different, different[:4]
    for row in range(p.m):
        for column in range(p.n):
            cta, row_lane, at = place(p, row, column)
            after[cta, row_lane + lane, at + D] = tensor[cta, row_lane + lane, at + D]
    assert (after == tensor).all()


F16 = Product("f16", 128, 8, "f16", "f16", "f32")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("a_in_tensor", [False, True])
def test_16_bit_floats(mode: str, a_in_tensor: bool) -> None:
    check(F16, mode=mode, a_in_tensor=a_in_tensor)


@pytest.mark.parametrize("d", ["f16", "f32"])
@pytest.mark.parametrize("keeps", [False, True])
def test_results_and_types(d: str, keeps: bool) -> None:
    check(replace(F16, d=d, n=24, negates=(True, False)), keeps=keeps)


def test_bfloat16_negated() -> None:
    check(replace(F16, a="bf16", b="bf16", negates=(True, True)))
    check(replace(F16, a="bf16", b="bf16", negates=(False, True)), scale=3)


@pytest.mark.parametrize("mode", ["none", "128B", "64B", "32B"])
def test_transposed(mode: str) -> None:
    check(replace(F16, turned=(True, True), n=16), mode=mode)
    check(Product("f8f6f4", 128, 16, "e4m3", "e5m2", "f32", turned=(True, True)), mode=mode)
    check(Product("i8", 64, 16, "u8", "s8", "s32", turned=(False, True)), mode=mode)


def test_transposed_32_bit_elements() -> None:
    check(Product("tf32", 128, 8, "tf32", "tf32", "f32", turned=(True, True)), mode="128B of 32B")


LAYOUTS = {
    "A": Product("f16", 256, 16, "f16", "f16", "f32", ctas=2),
    "B": Product("f16", 128, 32, "f16", "f16", "f32", ctas=2),
    "C": Product("f16", 128, 16, "f16", "f16", "f32", ctas=2, sparse=True),
    "D": Product("f16", 128, 8, "f16", "f16", "f32"),
    "E": Product("f16", 64, 64, "f16", "f16", "f32", ws=True),
    "F": Product("f16", 64, 8, "f16", "f16", "f32"),
    "G": Product("f16", 32, 64, "f16", "f16", "f32", ws=True),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("a_in_tensor", [False, True])
def test_layouts(name: str, a_in_tensor: bool) -> None:
    p = LAYOUTS[name]
    check(p, a_in_tensor=a_in_tensor)
    if name in "CF":
        check(p, a_in_tensor=a_in_tensor, lane=16)


@pytest.mark.parametrize("name", ["A", "B", "D", "F"])
def test_disabled_lanes(name: str) -> None:
    rng = np.random.default_rng(4)
    p = LAYOUTS[name]
    check(p, disabled=int.from_bytes(rng.bytes(16 * p.ctas), "little"))


@pytest.mark.parametrize("kinds", [("e4m3", "e5m2"), ("e2m1", "e2m3"), ("e3m2", "e2m1"), ("e5m2", "e4m3")])
@pytest.mark.parametrize("a_in_tensor", [False, True])
def test_narrow_floats(kinds: tuple[str, str], a_in_tensor: bool) -> None:
    check(Product("f8f6f4", 128, 8, *kinds, "f32"), a_in_tensor=a_in_tensor)
    check(Product("f8f6f4", 64, 8, *kinds, "f16", sparse=True), a_in_tensor=a_in_tensor)


@pytest.mark.parametrize("saturates", [False, True])
def test_integers(saturates: bool) -> None:
    check(Product("i8", 128, 16, "s8", "u8", "s32", saturates=saturates))
    check(Product("i8", 128, 8, "u8", "s8", "s32", saturates=saturates, sparse=True), a_in_tensor=True)


@pytest.mark.parametrize("kind", ["f16", "tf32", "i8", "f8f6f4"])
@pytest.mark.parametrize("selector", [0, 1])
def test_sparse(kind: str, selector: int) -> None:
    types = {"f16": ("bf16", "f16", "f32"), "tf32": ("tf32", "tf32", "f32"), "i8": ("s8", "s8", "s32"), "f8f6f4": ("e4m3", "e4m3", "f32")}
    p = Product(kind, 128, 8, *types[kind], sparse=True, selector=selector if kind in ("f16", "tf32") else 0)
    check(p)
    check(replace(p, m=64), lane=16)
    check(replace(p, m=64, n=64, ws=True))


SCALED = [
    (Product("mxf8f6f4", 128, 8, "e4m3", "e2m1", "f32", chunks=1, factors="ue8m0", ids=(3, 1)), ".block_scale.block32"),
    (Product("mxf8f6f4", 128, 40, "e3m2", "e5m2", "f32", chunks=1, factors="ue8m0"), ".block_scale"),
    (Product("mxf4", 128, 8, "e2m1", "e2m1", "f32", chunks=2, factors="ue8m0", ids=(2, 0)), ".block_scale.scale_vec::2X"),
    (Product("mxf4nvf4", 128, 8, "e2m1", "e2m1", "f32", chunks=4, factors="ue4m3"), ".block_scale.scale_vec::4X"),
    (Product("mxf4nvf4", 128, 8, "e2m1", "e2m1", "f32", chunks=4, factors="ue8m0"), ".block_scale.block16"),
    (Product("mxf4nvf4", 128, 8, "e2m1", "e2m1", "f32", chunks=2, factors="ue8m0"), ".block_scale.block32"),
    (Product("mxf4nvf4", 128, 8, "e2m1", "e2m1", "f32", chunks=6, factors="ue4m3", ids=(2, 0), k=96), ".block_scale.block16"),
    (Product("mxf4", 128, 8, "e2m1", "e2m1", "f32", chunks=3, factors="ue8m0", ids=(3, 1), k=96), ".block_scale.block32"),
    (Product("mxf4", 128, 8, "e2m1", "e2m1", "f32", chunks=2, factors="ue8m0", sparse=True), ".block_scale.block32"),
    (Product("mxf8f6f4", 128, 8, "e5m2", "e2m3", "f32", chunks=1, factors="ue8m0", sparse=True), ".block_scale.block32"),
    (Product("mxf8f6f4", 256, 16, "e4m3", "e4m3", "f32", ctas=2, chunks=1, factors="ue8m0"), ".block_scale.block32"),
    (Product("mxf4nvf4", 128, 32, "e2m1", "e2m1", "f32", ctas=2, chunks=4, factors="ue4m3"), ".block_scale.block16"),
]


@pytest.mark.parametrize(("p", "words"), SCALED, ids=[f"{p.kind}-{p.m}-{p.chunks}-{p.sparse}" for p, _ in SCALED])
@pytest.mark.parametrize("a_in_tensor", [False, True])
def test_factors_for_blocks(p: Product, words: str, a_in_tensor: bool) -> None:
    check(p, words=words, a_in_tensor=a_in_tensor)


@pytest.mark.parametrize("words", [".collector::a::fill", ".collector::a::lastuse"])
def test_collectors_change_nothing(words: str) -> None:
    check(F16, words=words)


def test_rows_of_a_are_shifted() -> None:
    check(F16, words=".ashift", a_in_tensor=True, shifts=True)


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [{}, {"scale": 2}])
@pytest.mark.parametrize(("a_in_tensor", "shifts"), [(False, False), (True, False), (True, True)])
def test_every_form(ctas: int, sparse: bool, masked: bool, scale: dict[str, int], a_in_tensor: bool, shifts: bool) -> None:
    p = Product("f16", 128 * ctas, 8 * ctas, "f16", "bf16", "f32", ctas=ctas, sparse=sparse)
    mask = {"disabled": int.from_bytes(np.random.default_rng(2).bytes(16 * ctas), "little")} if masked else {}
    check(p, words=".ashift" if shifts else "", a_in_tensor=a_in_tensor, shifts=shifts, **mask, **scale)


VECTORS = {
    "mxf8f6f4": (("e4m3", 1, ".scale_vec::1X"), ("e2m3", 1, ".block32"), ("e5m2", 1, "")),
    "mxf4": (("e2m1", 2, ".scale_vec::2X"), ("e2m1", 2, ".block32"), ("e2m1", 2, "")),
    "mxf4nvf4": (("e2m1", 2, ".scale_vec::2X"), ("e2m1", 4, ".scale_vec::4X"), ("e2m1", 4, ".block16"), ("e2m1", 2, ".block32")),
}


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in VECTORS.items() for case in cases])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("a_in_tensor", [False, True])
def test_every_form_with_factors(kind: str, case: tuple[str, int, str], sparse: bool, a_in_tensor: bool) -> None:
    element, chunks, words = case
    p = Product(kind, 128, 16, element, element, "f32", chunks=chunks, factors="ue8m0", sparse=sparse, negates=(True, False))
    check(p, words=f".block_scale{words}", a_in_tensor=a_in_tensor)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("a_in_tensor", [False, True])
@pytest.mark.parametrize("m", [32, 64, 128])
def test_every_form_that_keeps_b(sparse: bool, a_in_tensor: bool, m: int) -> None:
    check(Product("f16", m, 64, "f16", "f16", "f32", ws=True, sparse=sparse), a_in_tensor=a_in_tensor, words=".collector::b2::fill")


SPECIALS = {"inf": 0x7C00, "-inf": 0xFC00, "nan": 0x7E00}


@pytest.mark.parametrize(
    ("a", "b", "wanted"), [("inf", 0x3C00, 0x7F800000), ("-inf", 0x3C00, 0xFF800000), ("inf", 0, 0x7FFFFFFF), ("nan", 0, 0x7FFFFFFF)]
)
def test_infinity_and_nan(a: str, b: int, wanted: int) -> None:
    """A row of A begins with a special number and goes on with zeros; so does a column of B with a number."""
    tensor, shared = np.zeros((1, LANES, COLUMNS), np.uint32), np.zeros((1, SHARED), np.uint8)
    shared[0, A_AT : A_AT + 2] = np.array([SPECIALS[a]], np.uint16).view(np.uint8)
    shared[0, B_AT : B_AT + 2] = np.array([b], np.uint16).view(np.uint8)
    arguments = [D, descriptor(A_AT, "none", 128), descriptor(B_AT, "none", 8), 0, F16.descriptor]
    after = run(program("tcgen05.mma.cta_group::1.kind::f16 [%w0], %a1, %a2, %w4, %true;"), tensor, shared, arguments)
    assert after[0, 0, D] == wanted
    assert (after[0, 1:] == 0).all()


# PTX ISA 9.7.18.4.3, examples 2 to 4, and shifts: masks begin at any column of a span.
MASKS = [
    (128, 1 << 39 | 2 << 40 | 3 << 48),
    (64, 1 << 39 | 1 << 32 | 2 << 40 | 3 << 48),
    (32, 1 << 39 | 0b0011 << 32 | 1 << 24 | 2 << 16 | 1 << 8 | 2 << 40 | 3 << 48 | 2 << 56),
    (128, 17 << 56),
]


@pytest.mark.parametrize(("m", "mask"), MASKS)
def test_columns_of_zeros(m: int, mask: int) -> None:
    check(Product("f16", m, 64, "f16", "f16", "f32", ws=True), zero_mask=mask, shift_limit=3)
    check(Product("i8", m, 64, "s8", "s8", "s32", ws=True), zero_mask=mask, shift_limit=3)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here")
@pytest.mark.parametrize("group", [1, 2])
def test_ptxas_takes_the_program(group: int, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(
        program("tcgen05.mma.cta_group::GROUP.kind::f16 [%w0], %a1, %a2, %w4, %true;".replace("GROUP", str(group)), group=group)
    )
    subprocess.run(["ptxas", "-arch=sm_100a", tmp_path / "k.ptx", "-o", tmp_path / "k.o"], check=True, capture_output=True)


FORMS = (
    "tcgen05.mma.cta_group::1.kind::{kind} [%w0], %a1, %a2, %w4, %true;",
    "tcgen05.mma.sp.cta_group::2.kind::{kind} [%w0], [%w3], %a2, [%w5], %w4, %true;",
    "tcgen05.mma.ws.cta_group::1.kind::{kind} [%w0], %a1, %a2, %w4, %true, %a7;",
    "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%w0], [%w3], %a2, %w4, [%w5], [%w6], %true;",
    "tcgen05.cp.cta_group::1.128x256b [%w0], %a1;",
    "tcgen05.shift.cta_group::2.down [%w0];",
)
KINDS = {"f16": ("bf16", "f16", "f32"), "tf32": ("tf32", "tf32", "f32"), "f8f6f4": ("e2m1", "e5m2", "f16"), "i8": ("u8", "s8", "s32")}
ADDRESSES = st.one_of(st.sampled_from((0, 8, 16 << 16, 300, 511)), st.integers(0, 2**32 - 1))
MATRICES = st.one_of(
    st.builds(matrix_descriptor, st.integers(0, SHARED), st.integers(0, 2048), st.integers(0, 2048), st.integers(0, 7)),
    st.integers(0, 2**64 - 1),
)  # fmt: skip


@settings(max_examples=80)
@given(
    st.sampled_from(FORMS), st.sampled_from(sorted(KINDS)), st.lists(ADDRESSES, min_size=4, max_size=4), MATRICES, MATRICES,
    st.integers(0, 2**64 - 1), st.one_of(st.just(0), st.integers(0, 2**32 - 1)), st.integers(0, 255),
)  # fmt: skip
def test_any_operands_give_a_result_or_a_fault(
    form: str, kind: str, addresses: list[int], a: int, b: int, zeros: int, flips: int, byte: int
) -> None:
    group = 2 if "cta_group::2" in form else 1
    p = Product(kind, 128, 64, *KINDS[kind], ctas=group, ws=".ws" in form, sparse=".sp" in form)
    tensor, shared = np.full((group, LANES, COLUMNS), byte * 0x01010101, np.uint32), np.full((group, SHARED), byte, np.uint8)
    d, e, x, y = addresses
    with contextlib.suppress(Fault):
        run(program(form.format(kind=kind), group=group), tensor, shared, [d, a, b, e, p.descriptor ^ flips, x, y, zeros])
