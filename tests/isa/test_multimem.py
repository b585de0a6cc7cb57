"""multimem against one lane, one element and one device at a time: whole numbers, and floats by fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from .test_memory_operations import Bits, Port

Bound = Callable[[str], Callable[..., Any]]
DEVICES, STRIDE, LANES = 3, 1024, 8
few = settings(max_examples=8)
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
WHOLE = [("add", t) for t in ("u32", "s32", "u64")] + [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
WHOLE += [(op, t) for op in ("and", "or", "xor") for t in ("b32", "b64")]
PYTHON: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y, "min": min, "max": max, "and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y,
}  # fmt: skip


class Fabric(Port):
    """Memory of three devices, one after the other; odd lanes address a multicast object that the last has not joined."""

    def replicas(self, address: Bits, size: int) -> list[tuple[Bits, Bits]]:
        odd = np.arange(LANES)[None] % 2 == 1
        active = np.broadcast_to(True if self.active is None else self.active, (1, LANES))
        return [(address + np.uint64(k * STRIDE), active & ~odd if k == 2 else active) for k in range(DEVICES)]


def devices(lane: int) -> range:
    return range(DEVICES - lane % 2)


def fabric(rng: np.random.Generator, some: bool) -> Fabric:
    port = Fabric(rng.random((1, LANES)) < 0.7 if some else None)
    port.memory[:] = rng.integers(0, 256, port.memory.size)
    return port


def active(port: Fabric) -> list[int]:
    return list(range(LANES)) if port.active is None else np.flatnonzero(port.active[0]).tolist()


def addresses(size: int) -> Bits:
    return (np.arange(LANES, dtype=np.uint64) * np.uint64(size))[None]


def number(raw: bytes, type: str) -> int:
    return int.from_bytes(raw, "little", signed=type[0] == "s")


@pytest.mark.parametrize("order", ["", ".relaxed.sys"])
@pytest.mark.parametrize(("op", "type"), WHOLE)
@few
@given(seeds, st.booleans())
def test_whole_numbers(bound: Bound, op: str, type: str, order: str, rng: np.random.Generator, some: bool) -> None:
    port, size = fabric(rng, some), int(type[1:]) // 8
    before = port.memory.copy()
    d = bound(f"multimem.ld_reduce{order}.global.{op}.{type}")(port, addresses(size))
    b = rng.integers(0, 256, (1, LANES, size), np.uint8).view(d.dtype)[..., 0]
    bound(f"multimem.red{order}.global.{op}.{type}")(port, addresses(size), b)
    wanted = before.copy()
    for lane in active(port):
        total = None
        for k in devices(lane):
            at = slice(k * STRIDE + lane * size, k * STRIDE + (lane + 1) * size)
            one = number(before[at].tobytes(), type)
            total = one if total is None else PYTHON[op](total, one)
            wanted[at] = np.frombuffer((PYTHON[op](one, int(b[0, lane])) % 2 ** (8 * size)).to_bytes(size, "little"), np.uint8)
        assert total is not None and int(d[0, lane]) % 2 ** (8 * size) == total % 2 ** (8 * size)
    assert (port.memory == wanted).all()


STORED = [("b64", 8), ("v4.f32", 16), ("v8.f16", 16), ("v4.e4m3x4", 16), ("v4.e5m2x2", 8), ("f16x2", 4), ("v2.bf16x2", 8)]


@pytest.mark.parametrize("order", ["", ".weak.global", ".release.gpu"])
@pytest.mark.parametrize(("words", "size"), STORED)
@few
@given(seeds, st.booleans())
def test_stores_go_to_every_device(bound: Bound, order: str, words: str, size: int, rng: np.random.Generator, some: bool) -> None:
    port = fabric(rng, some)
    wanted = port.memory.copy()
    raw = rng.integers(0, 256, (1, LANES, size), np.uint8)
    type, vec = words.split(".")[-1], words.split(".")[-2] if "." in words else ""
    count = int(vec[1:]) if vec[:1] == "v" else 1
    each = raw.reshape(1, LANES, count, -1)
    dtype: Any = {"b64": np.uint64, "f32": np.float32, "f16": np.float16, "f16x2": np.float16, "bf16x2": np.uint16}.get(type, np.uint8)
    values = [each[:, :, i].copy().view(dtype) for i in range(count)]
    flat = [v if "x" in type else v[..., 0] for v in values]
    bound(f"multimem.st{order}.{words}")(port, addresses(size), flat if type != "b64" else flat[0])
    for lane in active(port):
        for k in devices(lane):
            wanted[k * STRIDE + lane * size : k * STRIDE + (lane + 1) * size] = raw[0, lane]
    assert (port.memory == wanted).all()


def halves(rng: np.random.Generator, count: int) -> NDArray[np.float16]:
    return (rng.standard_normal(count) * np.exp2(rng.integers(-6, 7, count))).astype(np.float16)


def nearest(x: Fraction, dtype: Any) -> float:
    """x rounded to nearest even; a double holds each sum of two halves or singles here exactly."""
    return float(dtype(float(x)))


@pytest.mark.parametrize("order", ["", ".acquire.cluster"])
@pytest.mark.parametrize("acc", ["", ".acc::f32"])
@pytest.mark.parametrize("packed", [False, True])
@few
@given(seeds)
def test_sums_of_halves(bound: Bound, order: str, acc: str, packed: bool, rng: np.random.Generator) -> None:
    port = Fabric()
    values = halves(rng, DEVICES * LANES * 4).reshape(DEVICES, LANES, 4)
    for k in range(DEVICES):
        port.memory[k * STRIDE :][: LANES * 8] = values[k].view(np.uint8).ravel()
    d = bound(f"multimem.ld_reduce{order}.add{acc}{'.v2.f16x2' if packed else '.v4.f16'}")(port, addresses(8))
    found = np.concatenate(d, axis=-1).reshape(LANES, 4) if packed else np.stack(d, axis=-1)[0]
    for lane in range(LANES):
        for i in range(4):
            ones = [Fraction(float(values[k, lane, i])) for k in devices(lane)]
            total = ones[0]
            for x in ones[1:]:
                total = Fraction(nearest(total + x, np.float32 if acc else np.float16))
            assert float(found[lane, i]) == nearest(total, np.float16)


@pytest.mark.parametrize("order", [".weak", ".acquire.sys"])
@pytest.mark.parametrize("op", ["min", "max", "add", "add.acc::f16"])
@pytest.mark.parametrize("type", ["e4m3x4", "v2.e4m3x2"])
@few
@given(seeds)
def test_bytes_of_floating_point(bound: Bound, order: str, op: str, type: str, rng: np.random.Generator) -> None:
    port = Fabric()
    codes = rng.integers(0, 0x7F, (DEVICES, LANES, 4), np.uint8) | rng.integers(0, 2, (DEVICES, LANES, 4), np.uint8) << 7
    for k in range(DEVICES):
        port.memory[k * STRIDE :][: LANES * 4] = codes[k].ravel()
    d = np.concatenate(bound(f"multimem.ld_reduce{order}.{op}.{type}")(port, addresses(4)), axis=-1)

    def value(code: int) -> float:
        exponent, fraction = code >> 3 & 15, code & 7
        return (-1.0 if code >> 7 else 1.0) * 2.0 ** (max(exponent, 1) - 10) * (fraction + 8 * (exponent > 0))

    magnitudes = [value(c) for c in range(0x7F)]
    for lane in range(LANES):
        for i in range(4):
            ones = [value(int(codes[k, lane, i])) for k in devices(lane)]
            got = value(int(d[0, lane, i]))
            if op in ("min", "max"):
                assert got == (min if op == "min" else max)(ones)
            else:
                total = np.float16(ones[0])
                for x in ones[1:]:
                    total = np.float16(float(total) + x)
                least = min(abs(abs(float(total)) - m) for m in magnitudes)
                assert abs(abs(got) - abs(float(total))) == least and (got >= 0) == (total >= 0)


@pytest.mark.parametrize("order", ["", ".release.sys"])
@few
@given(seeds)
def test_reductions_of_singles(bound: Bound, order: str, rng: np.random.Generator) -> None:
    port = Fabric()
    values = rng.integers(-100, 100, (DEVICES, LANES, 4)).astype(np.float32)
    for k in range(DEVICES):
        port.memory[k * STRIDE :][: LANES * 16] = values[k].view(np.uint8).ravel()
    b = rng.integers(-100, 100, (4, 1, LANES)).astype(np.float32)
    bound(f"multimem.red{order}.add.v4.f32")(port, addresses(16), tuple(b))
    found = bound(f"multimem.ld_reduce{order.replace('release', 'acquire')}.add.v4.f32")(port, addresses(16))
    for lane in range(LANES):
        for i in range(4):
            assert found[i][0, lane] == sum(values[k, lane, i] + b[i, 0, lane] for k in devices(lane))


@pytest.mark.parametrize("order", ["", ".relaxed.gpu"])
@pytest.mark.parametrize("op", ["add", "min", "max"])
@pytest.mark.parametrize("packed", [False, True])
@few
@given(seeds)
def test_reductions_of_halves(bound: Bound, order: str, op: str, packed: bool, rng: np.random.Generator) -> None:
    port = Fabric()
    values = halves(rng, DEVICES * LANES * 4).reshape(DEVICES, LANES, 4)
    for k in range(DEVICES):
        port.memory[k * STRIDE :][: LANES * 8] = values[k].view(np.uint8).ravel()
    b = halves(rng, LANES * 4).reshape(LANES, 4)
    registers = [b[None, :, i : i + 2] for i in (0, 2)] if packed else [b[None, :, i] for i in range(4)]
    words = f"{op}{'.v2.f16x2' if packed else '.v4.f16'}"
    bound(f"multimem.red{order}.{words}")(port, addresses(8), registers)
    found = [port.memory[k * STRIDE :][: LANES * 8].view(np.float16).reshape(LANES, 4) for k in range(DEVICES)]
    combine: dict[str, Callable[[float, float], float]] = {"add": lambda x, y: x + y, "min": min, "max": max}
    for lane in range(LANES):
        for k in range(DEVICES):
            wanted = [nearest(Fraction(combine[op](float(x), float(y))), np.float16) for x, y in zip(values[k, lane], b[lane], strict=True)]
            assert found[k][lane].tolist() == (wanted if k in devices(lane) else values[k, lane].tolist())
    if op != "add":
        d = bound(f"multimem.ld_reduce{order}.{words}")(port, addresses(8))
        rows = np.concatenate(d, axis=-1).reshape(LANES, 4) if packed else np.stack(d, axis=-1)[0]
        for lane in range(LANES):
            columns = zip(*(found[k][lane].tolist() for k in devices(lane)), strict=True)
            assert rows[lane].tolist() == [(min if op == "min" else max)(column) for column in columns]
