"""The engine equals a reference that runs one lane at a time, on random programs, whatever the waves, the lowering, the order, the ranks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warplab.interpreter.observe import Observer
from warplab.interpreter.vector import divergence

from .generator import INPUTS, REGION, VALUES, Draw, program
from .harness import Machine
from .reference import Execution, Program

Dim3 = tuple[int, int, int]
SHAPES: list[tuple[Dim3, Dim3]] = [
    ((1, 1, 1), (1, 1, 1)), ((1, 1, 1), (32, 1, 1)), ((2, 1, 1), (33, 1, 1)), ((3, 1, 1), (7, 5, 1)), ((2, 2, 1), (4, 3, 3)),
    ((1, 1, 2), (64, 1, 1)), ((5, 1, 1), (3, 1, 1)), ((1, 1, 1), (50, 1, 2)), ((2, 1, 1), (8, 4, 1)),
]  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "small waves": {"wave_lanes": 32},
    "odd waves": {"wave_lanes": 100},
    "observed": {"observers": (Observer(),)},
    "schedule 1": {"schedule": 1},
    "schedule 2, small waves, observed": {"schedule": 2, "wave_lanes": 40, "observers": (Observer(),)},
    "lockstep": {"lockstep": True},
    "ranks never close": {"compact_below": 0.0},
    "ranks close at once": {"compact_below": 1.0},
}
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]


def inputs() -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Words among which small and special ones are frequent."""
    rng = np.random.default_rng(7)
    words = rng.integers(0, 1 << 32, INPUTS, dtype=np.uint32)
    words[::3] = rng.integers(0, 12, words[::3].size)
    words[1::6] = rng.choice(np.array(VALUES, np.uint32), words[1::6].size)
    return words


def expected(p: Program, grid: Dim3, block: Dim3, start: dict[str, tuple[int, bytes]]) -> dict[str, bytes]:
    """What the reference leaves in the buffers."""
    buffers = {name: (at, bytearray(data)) for name, (at, data) in start.items()}
    Execution(p, grid, block, buffers).run()
    return {name: bytes(data) for name, (_, data) in buffers.items()}


def judge(p: Program, grid: Dim3, block: Dim3, ways: dict[str, dict[str, Any]] = WAYS) -> None:
    """Runs a program on both in every way."""
    threads = int(np.prod(grid) * np.prod(block))
    text = p.text()
    machine = Machine(text, bytes=1 << 20, fmad="none")  # the reference follows the manual, not what ptxas makes of it
    sizes = {
        "out": np.zeros(threads * REGION // 4, np.uint32),
        "inp": inputs(),
        "acc": np.array([0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0], np.uint32),
    }
    places = {name: machine.upload(x, name) for name, x in sizes.items()}
    start = {name: (places[name].start, x.tobytes()) for name, x in sizes.items()}
    want = expected(p, grid, block, start)
    for way, options in ways.items():
        options = dict(options)
        for at, data in start.values():
            machine.arena.bytes[at : at + len(data)] = np.frombuffer(data, np.uint8)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(divergence, "COMPACT_BELOW", options.pop("compact_below", divergence.COMPACT_BELOW))
            machine.launch(grid, block, [places[n] for n in p.buffers], max_seconds=30, **options)
        for name, place in places.items():
            got = machine.download(place, np.uint32)
            wrong = np.flatnonzero(got != np.frombuffer(want[name], np.uint32))
            assert not wrong.size, (
                f"{way}: {name}[{wrong[0]}] is {int(got[wrong[0]]):#x}, not {int(np.frombuffer(want[name], np.uint32)[wrong[0]]):#x}; "
                f"{wrong.size} words differ; grid {grid}, block {block}\n{text}"
            )


def drawn(data: st.DataObject) -> Draw:
    """Numbers from hypothesis."""
    return lambda below: data.draw(st.integers(0, below - 1))


def seeded(seed: int, ways: dict[str, dict[str, Any]] = WAYS) -> None:
    """A program by a seed."""
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    judge(program(lambda below: int(rng.integers(below)), int(np.prod(block))), grid, block, ways)


@pytest.mark.parametrize("seed", range(36))
def test_engine_equals_the_reference(seed: int) -> None:
    names = list(WAYS)[1:]
    seeded(seed, {name: WAYS[name] for name in ("as it is", names[seed % len(names)], names[(seed // len(names) + seed + 3) % len(names)])})


@pytest.mark.long
@settings(max_examples=300, derandomize=True, suppress_health_check=QUIET)
@given(st.data())
def test_engine_equals_the_reference_on_programs_that_shrink(data: st.DataObject) -> None:
    draw = drawn(data)
    grid, block = SHAPES[draw(len(SHAPES))]
    judge(program(draw, int(np.prod(block))), grid, block)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 4000))
def test_engine_equals_the_reference_on_many_programs(seed: int) -> None:
    seeded(seed)
