"""ldmatrix and stmatrix on elements of 8, 6 and 4 bits, against the fragments one lane and one element at a time."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

Words = NDArray[np.uint32]
Bound = Callable[[str], Callable[..., Any]]
WARPS = 2
seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)


class Shared:
    """Shared memory of the shape that a meaning over warps sees: words at (warps, 32) addresses."""

    def __init__(self, size: int) -> None:
        self.memory = np.zeros(size, np.uint8)

    def load(self, space: str, address: NDArray[np.uint64], type: str) -> tuple[Words]:
        assert (space, type) == ("shared", "b32")
        return (self.memory.view(np.uint32)[address.astype(np.intp) // 4],)

    def store(self, space: str, address: NDArray[np.uint64], type: str, values: Sequence[Words]) -> None:
        assert (space, type) == ("shared", "b32")
        self.memory.view(np.uint32)[address.astype(np.intp) // 4] = values[0]


def element(row: NDArray[np.uint8], place: int, bits: int) -> int:
    """One element of a row, of which each has so many bits."""
    whole = int.from_bytes(row.tobytes(), "little")
    return whole >> place * bits & (1 << bits) - 1


def rows(rng: np.random.Generator) -> tuple[Shared, NDArray[np.uint64]]:
    """Shared memory full of bits, and an address of a row for each lane."""
    shared = Shared(16 * 64 * WARPS)
    shared.memory[:] = rng.integers(0, 256, shared.memory.size)
    return shared, (16 * rng.permutation(64 * WARPS)[: 32 * WARPS].reshape(WARPS, 32)).astype(np.uint64)


@pytest.mark.parametrize(("type", "bits"), [("b8", 8), ("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)])
@pytest.mark.parametrize("count", [1, 2])
@settings(max_examples=5)
@given(seeds)
def test_columns_of_16x16_matrices(bound: Bound, type: str, bits: int, count: int, rng: np.random.Generator) -> None:
    shared, at = rows(rng)
    found = bound(f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{type}")(shared, at)
    assert len(found) == 2 * count
    for warp in range(WARPS):
        for lane in range(32):
            for r in range(2 * count):
                got = int(found[r][warp, lane]).to_bytes(4, "little")
                for e in range(4):
                    start = int(at[warp, 16 * (r // 2) + 4 * (lane % 4) + e])
                    assert got[e] == element(shared.memory[start : start + 16], lane // 4 + 8 * (r % 2), bits)


@pytest.mark.parametrize(("type", "bits"), [("b8x16.b6x16_p32", 6), ("b8x16.b4x16_p64", 4)])
@pytest.mark.parametrize("count", [1, 2, 4])
@settings(max_examples=5)
@given(seeds)
def test_8x16_matrices(bound: Bound, type: str, bits: int, count: int, rng: np.random.Generator) -> None:
    shared, at = rows(rng)
    found = bound(f"ldmatrix.sync.aligned.m8n16.x{count}.shared.{type}")(shared, at)
    assert len(found) == count
    for warp in range(WARPS):
        for lane in range(32):
            for r in range(count):
                start = int(at[warp, 8 * r + lane // 4])
                wanted = [element(shared.memory[start : start + 16], 4 * (lane % 4) + e, bits) for e in range(4)]
                assert list(int(found[r][warp, lane]).to_bytes(4, "little")) == wanted


@pytest.mark.parametrize("count", [1, 2, 4])
@settings(max_examples=5)
@given(seeds)
def test_16x8_matrices_are_stored_by_columns(bound: Bound, count: int, rng: np.random.Generator) -> None:
    shared, at = rows(rng)
    before = shared.memory.copy()
    registers = tuple(rng.integers(0, 2**32, (WARPS, 32), np.uint32) for _ in range(count))
    bound(f"stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8")(shared, at, registers)
    wanted = before.copy()
    for warp in range(WARPS):
        for r in range(count):
            for lane in range(32):
                for e, byte in enumerate(int(registers[r][warp, lane]).to_bytes(4, "little")):
                    row, column = lane // 4 + 8 * (e // 2), 2 * (lane % 4) + e % 2
                    wanted[int(at[warp, 8 * r + column]) + row] = byte
    assert (shared.memory == wanted).all()


def test_an_accumulator_of_bytes_comes_back_as_an_operand(bound: Bound) -> None:
    """What stmatrix stores of four fragments of a product is, as ldmatrix reads it, the second factor of the next one."""
    rng = np.random.default_rng(3)
    shared = Shared(1024)
    at = np.broadcast_to(16 * np.arange(32, dtype=np.uint64), (WARPS, 32))
    matrix = rng.integers(0, 256, (16, 32), np.uint8)  # 16 rows, four fragments of 8 columns
    lane = np.arange(32)
    registers = []
    for r in range(4):
        places = [matrix[lane // 4 + 8 * (e // 2), 8 * r + 2 * (lane % 4) + e % 2] for e in range(4)]
        registers.append(np.broadcast_to(np.ascontiguousarray(np.stack(places, axis=-1)).view(np.uint32)[:, 0], (WARPS, 32)))
    bound("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8")(shared, at, tuple(registers))
    assert (shared.memory[:512].reshape(32, 16) == matrix.T).all()
    found = bound("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8")(shared, at)
    for half in range(2):
        for part in range(2):
            got = np.ascontiguousarray(found[2 * half + part][0]).view(np.uint8).reshape(32, 4)
            k = 16 * half + 4 * (lane % 4)[:, None] + np.arange(4)
            assert (got == matrix[(lane // 4 + 8 * part)[:, None], k]).all()
