"""Tiles that an H200 computed: mma, mma.sp, wmma, wgmma, ldmatrix and stmatrix must give the same bits."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from warplab.isa.notation import FORMS, Form, Operand, resolve
from warplab.isa.types import TYPES

Bits = NDArray[Any]

with np.load(Path(__file__).parents[1] / "data" / "matrix" / "recorded.npz") as _file:
    ARRAYS = dict(_file)
CASES: list[dict[str, Any]] = json.loads(ARRAYS["index"].tobytes())


def cases(kind: str) -> list[Any]:
    """The recordings of one kind, each with its arrays."""
    found = []
    for i, case in enumerate(CASES):
        if kind in case:
            name = case[kind] if isinstance(case[kind], str) else case[kind][3]
            found.append(pytest.param(case, {n: ARRAYS[f"{i}.{n}"] for n in case["arrays"]}, id=f"{i}-{name}"))
    return found


class Machine:
    """One warp, and bytes that it may load and store."""

    def __init__(self, memory: Bits, warp: int = 0) -> None:
        self.memory = memory
        self.warp = warp
        self.members = np.ones((1, 32), bool)
        self.active = None

    def _places(self, address: Bits, width: int, i: int) -> Bits:
        first = np.broadcast_to(address, (1, 32)).astype(np.int64) + i * width
        assert not (first % width).any()
        return first[..., None] + np.arange(width)

    def load(self, space: str, address: Bits, type: str, count: int = 1) -> tuple[Bits, ...]:
        dtype = TYPES[type].dtype
        places = (self._places(address, dtype.itemsize, i) for i in range(count))
        return tuple(np.ascontiguousarray(self.memory[p]).view(dtype)[..., 0] for p in places)

    def store(self, space: str, address: Bits, type: str, values: Sequence[Bits]) -> None:
        dtype = TYPES[type].dtype
        for i, value in enumerate(values):
            assert value.dtype.itemsize == dtype.itemsize
            raw = np.ascontiguousarray(np.broadcast_to(value, (1, 32))).view(np.uint8)
            self.memory[self._places(address, dtype.itemsize, i)] = raw.reshape(1, 32, -1)

    def special(self, name: str) -> Bits:
        assert name == "%warpid"
        return np.array([[self.warp]], np.uint32)


def registers(form: Form, modifiers: dict[str, str | bool], place: Operand, lanes: Bits) -> Any:
    """What a meaning gets of (32, registers) bits."""
    kind = form.type_of(place, modifiers)
    assert kind is not None
    values = tuple(np.ascontiguousarray(r).view(kind.dtype)[None] for r in lanes.T)
    return values if "*" in place.text else values[0]


def bits(result: Sequence[Bits], like: Bits) -> Bits:
    return np.stack([r[0].view(like.dtype) for r in result], axis=-1)


def spelled(text: str) -> tuple[Form, dict[str, str | bool]]:
    opcode, *words = text.split(".")
    found = resolve(opcode, tuple(words))
    assert found is not None, text
    return found


@pytest.mark.parametrize(("case", "arrays"), cases("op"))
def test_mma(case: dict[str, Any], arrays: dict[str, Bits]) -> None:
    form, modifiers = spelled(case["op"])
    given = [arrays[n] for n in case["arrays"] if n != "out"]
    operands = [registers(form, modifiers, place, lanes) for place, lanes in zip(form.operands[1:], given, strict=False)]
    constants = [case["constant"]] if "constant" in case else []
    with np.errstate(all="ignore"):
        d = form.bind(modifiers)(Machine(np.zeros(0, np.uint8)), *operands, *constants)
    assert np.array_equal(bits(d, arrays["out"]), arrays["out"])


def operands_of(line: str) -> Iterator[str]:
    depth, word = 0, ""
    for ch in line.split(" ", 1)[1] + ",":
        if ch == "," and depth == 0:
            yield word.strip()
            word = ""
            continue
        depth += (ch in "{[") - (ch in "}]")
        word += ch


@pytest.mark.parametrize(("case", "arrays"), cases("wmma"))
def test_wmma(case: dict[str, Any], arrays: dict[str, Bits]) -> None:
    start = {name: 4096 * i for i, name in enumerate("abcd")}
    machine = Machine(np.zeros(4 * 4096, np.uint8))
    for name in "abc":
        raw = arrays[name].view(np.uint8)
        machine.memory[start[name] : start[name] + raw.size] = raw
    values: dict[str, Bits] = {}
    for line in case["wmma"]:
        form, modifiers = spelled(line.split(" ", 1)[0])
        stores = "store" in modifiers
        given: list[Any] = []
        written: list[str] = []
        for i, operand in enumerate(operands_of(line)):
            names = operand.strip("{}").split(", ")
            if operand[0] == "{" and i == 0 and not stores:
                written = names
            elif operand[0] == "{":
                given.append(tuple(values[n] for n in names))
            else:
                given.append(np.array([[start[operand[1]]]], np.uint64) if operand[0] == "[" else np.array([[int(operand)]], np.int32))
        with np.errstate(all="ignore"):
            result = form.bind(modifiers)(machine, *given)
        if written:
            values.update(zip(written, result, strict=True))
    expected = arrays["d"].view(np.uint8)
    assert np.array_equal(machine.memory[start["d"] : start["d"] + expected.size], expected)


@pytest.mark.parametrize(("case", "arrays"), cases("wgmma"))
def test_wgmma(case: dict[str, Any], arrays: dict[str, Bits]) -> None:
    words = tuple(case["wgmma"].split(".")[1:])
    form = next(f for f in FORMS["wgmma"] if f.match(words) is not None and ("*" in f.operands[1].text) == case["registers"])
    modifiers = form.match(words)
    assert modifiers is not None
    a, b = (np.array([[d]], np.uint64) for d in arrays["descriptors"])
    given = [registers(form, modifiers, form.operands[0], arrays["d"])]
    given += [registers(form, modifiers, form.operands[1], arrays["a"]) if case["registers"] else a, b]
    if case["selector"] is not None:
        given += [arrays["e"][None], case["selector"]]
    with np.errstate(all="ignore"):
        d = form.bind(modifiers)(Machine(arrays["memory"], case["warp"]), *given, np.array([[case["keep"]]]), *case["constants"])
    assert np.array_equal(bits(d, arrays["out"]), arrays["out"])


@pytest.mark.parametrize(("case", "arrays"), cases("move"))
def test_moving_matrices(case: dict[str, Any], arrays: dict[str, Bits]) -> None:
    form, modifiers = spelled(case["move"])
    rows = (np.arange(32, dtype=np.uint64) ^ np.uint64(case["turn"]))[None] * np.uint64(16)
    if form.opcode == "ldmatrix":
        machine = Machine(np.ascontiguousarray(arrays["in"]).view(np.uint8).ravel())
        assert np.array_equal(bits(form.bind(modifiers)(machine, rows), arrays["out"]), arrays["out"])
    else:
        machine = Machine(np.full(512, 0xA5, np.uint8))
        form.bind(modifiers)(machine, rows, registers(form, modifiers, form.operands[1], arrays["in"]))
        assert np.array_equal(machine.memory, np.ascontiguousarray(arrays["out"]).view(np.uint8).ravel())
