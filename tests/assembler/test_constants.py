"""Literals and constant expressions, as ptxas 13.0 folds them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from warplab.assembler import PtxError, assemble, parse
from warplab.assembler.ir import leaves_of
from warplab.assembler.objects import load
from warplab.runtime.device.context import DeviceContext

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
MASK = (1 << 64) - 1


def value(expression: str, type: str = "u64") -> object:
    module = parse(f"{HEADER}.global .{type} x = {expression};\n")
    return module.variables["x"].initial


@pytest.mark.parametrize(
    ("expression", "bits"),
    [  # the 64 bits that ptxas 13.0 puts into a .u64
        ("1+2*3", 7), ("7/2", 3), ("-7/2", -3), ("-7U/2", 0x7FFFFFFFFFFFFFFC), ("-7 % 3", 0), ("7 % 3", 1), ("1<<5|3", 35), ("-16>>2", -4),
        ("0xF0000000>>4", 0xF000000), ("~0", -1), ("~0>>1", 0x7FFFFFFFFFFFFFFF), ("!7", 0), ("-1<0", 1), ("-1<0U", 0), ("0?10:20", 20),
        ("(3)<<(4294967296)", 3), ("(7)>>(65)", 3), ("1<<63>>63", -1), ("1U<<63>>63", 1), ("0x8000000000000000>>31", 0x100000000),
        ("(0x8000000000000000)/(63)", 0x208208208208208), ("(2>>5)<(~31)", 1), ("(0?1U:-1)/2", 0), ("5-6U>>1", 0x7FFFFFFFFFFFFFFF),
        ("(.s64)-1>>1", -1), ("(.u64)-1>>1", 0x7FFFFFFFFFFFFFFF), ("WARP_SZ*2", 64), ("017+0b101", 20), ("0xFFFFFFFFU+1", 0x100000000),
        ("(5>3)-2>>1", -1), ("1.5>1.0", 1), ("1|2^3&4", 3), ("100-3-2", 95), ("5||0", 1), ("5&&0", 0), ("-0x10", -16),
        ("((7 << 7)+1) >= (-(5 % 5))", 1),
    ],
)  # fmt: skip
def test_folding(expression: str, bits: int) -> None:
    found = value(expression)
    assert isinstance(found, int)
    assert found & MASK == bits & MASK


@pytest.mark.parametrize(
    ("expression", "type", "bits"),
    [
        ("1.5", "f32", 0x3FC00000), ("0.1", "f32", 0x3DCCCCCD), ("1e40", "f32", 0x7F800000), ("0f7FFFFFFF", "f32", 0x7FFFFFFF),
        ("0d3FF8000000000000", "f32", 0x3FC00000), ("-(1.5)", "f32", 0xBFC00000), (".5", "f32", 0x3F000000), ("-0.0", "f32", 0x80000000),
        ("0.1", "b32", 0x3DCCCCCD), ("0f3F800000", "b32", 0x3F800000), ("0d3FF0000000000000", "b32", 0x3F800000),
    ],
)  # fmt: skip
def test_singles(expression: str, type: str, bits: int) -> None:
    found = value(expression, type)
    got = found if isinstance(found, int) else int.from_bytes(struct.pack("<f", found), "little")
    assert got == bits


@pytest.mark.parametrize(
    ("expression", "type", "bits"),
    [
        ("0.1", "f64", 0x3FB999999999999A), ("1.5/0.5", "f64", 0x4008000000000000), ("-0d3FF0000000000000", "f64", 0xBFF0000000000000),
        ("0f3F800000", "f64", 0x3F800000), ("0f3F800000", "b64", 0x3F800000), ("1.5", "b64", 0x3FF8000000000000), ("0.1", "b16", 0x999A),
        ("0.1", "b8", 0x9A), ("0d3FF0000000000000+1.0", "f64", 0x4000000000000000),
    ],
)  # fmt: skip
def test_doubles(expression: str, type: str, bits: int) -> None:
    found = value(expression, type)
    assert (found if isinstance(found, int) else int.from_bytes(struct.pack("<d", found), "little")) == bits


@pytest.mark.parametrize(
    ("expression", "type", "code"),
    [
        ("1/0", "u64", "division-by-zero"), ("1%0", "u64", "syntax"), ("1 % 0", "u64", "division-by-zero"),
        ("1.0/0.0", "f64", "division-by-zero"),
        ("99999999999999999999", "u64", "constant-overflow"), ("0xfffffffffffffffff", "u64", "constant-overflow"),
        ("1.5*2", "f64", "not-a-constant"),
        ("!1.5", "u64", "not-a-constant"), ("~1.5", "f64", "not-a-constant"), ("1.5?1:2", "u64", "not-a-constant"),
        ("1?1.5:2.5", "f64", "not-a-constant"),
        ("(.s64)1.5", "u64", "not-a-constant"), ("(.u32)1", "u64", "syntax"), ("0f3F800000+1.0", "f64", "syntax"),
        ("-0f3F800000", "f32", "syntax"),
        ("1", "f32", "bad-initialiser"), ("1.5", "u32", "bad-initialiser"), ("1.5", "f16", "bad-initialiser"),
        ("nowhere", "u64", "undeclared-name"),
        ("09", "u64", "syntax"), ("0x", "u64", "syntax"), ("5L", "u64", "syntax"), ("0xFFu", "u64", "syntax"), ("0f3F80", "f32", "syntax"),
    ],
)  # fmt: skip
def test_refused(expression: str, type: str, code: str) -> None:
    with pytest.raises(PtxError) as caught:
        value(expression, type)
    assert [d.code for d in caught.value.diagnostics] == [code]


def test_a_giant_number_takes_no_time() -> None:
    with pytest.raises(PtxError):
        value("9" * 100_000)


TERMS = 5000


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("+".join(["1"] * TERMS), TERMS),
        ("(" * TERMS + "7" + ")" * TERMS, 7),
        ("-" * TERMS + "1", 1),
        ("0?2:" * TERMS + "3", 3),
        ("1+(" * 200 + "1" + ")" * 200, 201),
    ],
)
def test_expressions_of_many_terms(expression: str, value: int) -> None:
    assert parse(f"{HEADER}.global .b32 a = {expression};\n").variables["a"].initial == value


def test_initial_values_that_are_nested_deep() -> None:
    depth = 500
    text = f"{HEADER}.global .b32 a{'[1]' * (depth - 1)}[3] = {'{' * depth}4, 5{'}' * depth};\n"
    (a,) = parse(text).variables.values()
    assert list(leaves_of(a.initial)) == [4, 5]
    again = load(assemble(text)).variables["a"]
    assert (again.dims, list(leaves_of(again.initial))) == (a.dims, [4, 5])
    program = DeviceContext().load([text])
    address, size = program.variable("a")
    assert program.context.bytes_at(address, size).view(np.uint32).tolist() == [4, 5, 0]
