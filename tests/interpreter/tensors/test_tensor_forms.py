"""Every form of a tensor copy, those of sm_100 among them, on one small tensor, against one element at a time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from warplab.interpreter.faults import Fault
from warplab.isa.tensor_map.descriptor import IM2COL, IM2COL_W, IM2COL_W128, TILED, TensorMap, encode
from warplab.isa.tensor_map.elements import BY_NAME

from ..harness import Machine
from . import reference_boxes as reference
from .test_tensor_copies import BLOCKS, WINDOW, program

TX = "mbarrier::complete_tx::bytes"
WAIT = "TEST: mbarrier.try_wait.shared::cta.b64 %q, [%full], %state; @!%q bra TEST;"
DONE = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
ROOM = 1 << 14
U32 = BY_NAME["u32"]
Coordinates = tuple[int, ...]


class OneCopy:
    """Some blocks that each execute one instruction; the tensor and the tiles before and after."""

    def __init__(self, copy: str, m: TensorMap, c: Coordinates, offsets: Sequence[int] = (), count: int = 0) -> None:
        self.machine = Machine(program(copy, "sm_100a"), "sm_100a")
        rng = np.random.default_rng(1)
        self.before = rng.integers(0, 256, ROOM, np.uint8)
        tensor = self.machine.upload(self.before)
        words = np.array(encode(m), np.uint64)
        words[0] = tensor.start
        self.windows = np.tile(rng.integers(0, 256, WINDOW, np.uint8), (BLOCKS, 1))
        table = np.zeros((BLOCKS, 16), np.uint32)
        table[:, :2] = np.array([self.machine.upload(words).start], np.uint64).view(np.uint32)
        table[:, 3] = count
        table[:, 4 : 4 + len(c)] = np.array(c, np.int32).view(np.uint32)
        table[:, 9 : 9 + len(offsets)] = offsets
        windows = self.machine.upload(self.windows)
        self.machine.launch(BLOCKS, 32, [self.machine.upload(table), windows])
        self.tiles = self.machine.download(windows, np.uint8).reshape(BLOCKS, WINDOW)
        self.after = self.machine.download(tensor, np.uint8)


def operands(count: int, name: str) -> str:
    """A vector of registers."""
    return f"{{{', '.join(f'%{name}{i}' for i in range(count))}}}"


def load(rank: int, mode: str, space: str, cast: bool, group: str, hint: bool, coordinates: int, offsets: int) -> str:
    """The instruction, with what announces its bytes and waits for them."""
    words = f"cp.async.bulk.tensor.{rank}d.{space}.global{mode}.{TX}{'.multicast::cluster' * cast}{group}{'.L2::cache_hint' * hint}"
    moved = f", {operands(offsets, 'o')}" if offsets else ""
    copy = f"{words} [%tile], [%map, {operands(coordinates, 'c')}], [%full]{moved}{', %mask' * cast}{', %policy' * hint};"
    return f"mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], %tx;\n{copy}\n{WAIT}"


def image_map(rank: int, mode: str = IM2COL, pixels: int = 12) -> TensorMap:
    """An image of 8 channels."""
    dims = (*(8, 5, 4, 3, 2)[: rank - 1], 2)
    strides = tuple(int(x) for x in np.cumprod([32, *dims[1:-1]]))
    corners = rank - 2 if mode == IM2COL else 1
    return TensorMap(U32, 0, dims, strides, (), (1,) * rank, mode, (-1,) * corners, (0,) * corners, 8, pixels)


def box_map(rank: int) -> TensorMap:
    """A tensor whose box is cut off by its end."""
    dims = (10, 5, 4, 3, 2)[:rank]
    return TensorMap(U32, 0, dims, tuple(int(x) for x in np.cumprod([48, *dims[1:]])[: rank - 1]), (8, 3, 2, 2, 1)[:rank], (1,) * rank)


WORDS = list(itertools.product(("shared::cluster", "shared::cta"), (False, True), ("", ".cta_group::1", ".cta_group::2"), (False, True)))
WORDS = [w for w in WORDS if w[0] == "shared::cluster" or not w[1]]


def check_load(copy: OneCopy, expected: dict[int, int]) -> None:
    wanted = copy.windows[0].copy()
    wanted[list(expected)] = list(expected.values())
    assert (copy.tiles == wanted).all() and (copy.after == copy.before).all()


def loaded(m: TensorMap, c: Coordinates, offsets: Sequence[int] = ()) -> tuple[dict[int, int], int]:
    """What a load of the reference leaves, and how many bytes it counts."""
    memory = bytearray(np.random.default_rng(1).integers(0, 256, ROOM, np.uint8).tobytes())
    shared: dict[int, int] = {}
    return shared, reference.load(m, c, offsets, memory, shared, 0)


@pytest.mark.parametrize(("space", "cast", "group", "hint"), WORDS)
def test_loads(space: str, cast: bool, group: str, hint: bool) -> None:
    for rank in range(1, 6):
        m, c = box_map(rank), (4, -1, 1, 2, 0)[:rank]
        expected, count = loaded(m, c)
        for mode in ("", ".tile"):
            check_load(OneCopy(load(rank, mode, space, cast, group, hint, rank, 0), m, c, (), count), expected)
    for rank in (3, 4, 5):
        m, c, offsets = image_map(rank), (4, *(-1, 2, 1)[: rank - 2], 0), (1, 0, 1)[: rank - 2]
        expected, count = loaded(m, c, offsets)
        check_load(OneCopy(load(rank, ".im2col", space, cast, group, hint, rank, rank - 2), m, c, offsets, count), expected)


@pytest.mark.parametrize(("space", "cast", "group", "hint"), WORDS)
def test_four_rows(space: str, cast: bool, group: str, hint: bool) -> None:
    m, rows = box_map(2), (3, 0, 5, 3)
    expected: dict[int, int] = {}
    for n, row in enumerate(rows):  # a box of one row each; row 5 is outside
        part, _ = loaded(TensorMap(U32, 0, m.dims, m.strides, (8, 1), (1, 1)), (4, row))
        expected |= {32 * n + at: byte for at, byte in part.items()}
    copy = load(2, ".tile::gather4", space, cast, group, hint, 5, 0)
    check_load(OneCopy(copy, m, (4, *rows), (), len(expected)), expected)


@pytest.mark.parametrize(("space", "cast", "group", "hint"), WORDS)
def test_pixels_along_the_width(space: str, cast: bool, group: str, hint: bool) -> None:
    """A halo of h pixels follows the pixels of the walk; .w::128 has one behind each 32 of 128."""
    for mode, (pixels, run) in {IM2COL_W: (4, 4), IM2COL_W128: (128, 32)}.items():
        for rank in (3, 4, 5):
            m = TensorMap(U32, 0, (4, 200, *(3, 2)[: rank - 3], 2), tuple(int(x) for x in np.cumprod([16, 200, 3, 2][: rank - 1])), (), (1,) * rank,
                          mode, (0,), (0,), 4, pixels)  # fmt: skip
            halo, moved, w = 2, 1, 5
            along = [w + moved + first + i for first in range(0, pixels, run) for i in range(run + halo)]
            memory = np.random.default_rng(1).integers(0, 256, ROOM, np.uint8)
            data = memory[:3200].reshape(200, 16)[along].reshape(-1)
            copy = load(rank, f".{mode}", space, cast, group, hint, rank, 2)
            check_load(OneCopy(copy, m, (0, w, *(0, 0)[: rank - 3], 0), (halo, moved), data.size), dict(enumerate(data.tolist())))


REDUCTIONS = {"add": lambda a, b: a + b, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
              "min": min, "max": max, "inc": lambda a, b: 0 if a >= b else a + 1, "dec": lambda a, b: b if a == 0 or a > b else a - 1}  # fmt: skip


@pytest.mark.parametrize("op", ["", *REDUCTIONS])
@pytest.mark.parametrize("hint", [False, True])
def test_stores_and_reductions(op: str, hint: bool) -> None:
    for rank, mode in [
        *itertools.product(range(1, 6), ("", ".tile")),
        *[(r, ".im2col_no_offs") for r in (3, 4, 5)],
        (2, ".tile::scatter4"),
    ]:
        scattered = mode == ".tile::scatter4"
        m = image_map(rank) if "im2col" in mode else box_map(rank)
        if m.lower:
            m = TensorMap(U32, 0, m.dims, m.strides, (), m.steps, IM2COL, (0,) * (rank - 2), (0,) * (rank - 2), 8, 12)
        c = (4, 3, 0, 4, 1) if scattered else (4, *(1, 1, 0)[: rank - 2], 0) if m.lower else (4, 1, 1, 0, 0)[:rank]
        words = f"cp{'.reduce' if op else ''}.async.bulk.tensor.{rank}d.global.shared::cta{f'.{op}' if op else ''}{mode}.bulk_group"
        copy = f"{words}{'.L2::cache_hint' * hint} [%map, {operands(5 if scattered else rank, 'c')}], [%tile]{', %policy' * hint};"
        one = OneCopy(f"setp.ne.u32 %p, %b, 0; @%p bra COPIED;\n{copy}\n{DONE}", m, c)
        memory, shared = bytearray(one.before.tobytes()), dict(enumerate(one.windows[0].tolist()))
        change = REDUCTIONS[op] if op else lambda a, b: b
        boxes = [(m, c, 0)]
        if scattered:
            row = TensorMap(U32, 0, m.dims, m.strides, (8, 1), (1, 1))
            boxes = [(row, (4, r), 32 * n) for n, r in enumerate(c[1:])]
        for box, at, place in boxes:
            reference.reduce(box, at, (0,) * len(box.lower), memory, shared, place, lambda a, b, bits, f=change: f(a, b))
        assert one.after.tobytes() == bytes(memory), (rank, mode)
        assert (one.tiles == one.windows).all()


@pytest.mark.parametrize("mode", ["", ".tile", ".im2col", ".tile::gather4", f".{IM2COL_W}", f".{IM2COL_W128}"])
def test_prefetches_change_nothing(mode: str) -> None:
    for rank, hint in itertools.product((2,) if "gather4" in mode else (3, 4, 5) if "im2col" in mode else range(1, 6), (False, True)):
        offsets = 2 if "::w" in mode else rank - 2 if "im2col" in mode else 0
        moved = f", {operands(offsets, 'o')}" if offsets else ""
        c = operands(5 if "gather4" in mode else rank, "c")
        copy = f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global{mode}{'.L2::cache_hint' * hint} [%map, {c}]{moved}{', %policy' * hint};"
        one = OneCopy(f"{copy} prefetch.tensormap [%map];", box_map(min(rank, 5)), (0,) * 5)
        assert (one.tiles == one.windows).all() and (one.after == one.before).all()


def test_maps_of_another_mode_or_rank() -> None:
    plain = TensorMap(U32, 0, (8, 8), (32,), (8, 1), (1, 1), TILED)
    for m, mode, rank, offsets in (
        (image_map(3), ".tile", 3, 0),
        (plain, ".tile", 3, 0),
        (box_map(3), ".im2col", 3, 1),
        (plain, ".tile", 1, 0),
    ):
        with pytest.raises(Fault) as e:
            OneCopy(load(rank, mode, "shared::cluster", False, "", False, rank, offsets), m, (0,) * rank, (0,) * offsets, 16)
        assert e.value.kind == "illegal-instruction" and "tensor map is one of" in str(e.value)
