"""What a recording tells at any step is what a run of the same launch holds there; its last state is what the launch leaves."""

from typing import Any

import numpy as np
import pytest

from tests.interpreter.generator import INPUTS, REGION, program
from tests.interpreter.harness import Machine
from tests.interpreter.recordings.test_programs import PROGRAMS, Process
from tests.interpreter.test_reference import SHAPES, inputs
from warplab.interpreter.faults import Fault, LimitReached
from warplab.interpreter.recorder.recorder import Recorder
from warplab.interpreter.vector import divergence, wave
from warplab.runtime.recording import Recording

from .states import Looker, compare

WAYS: list[dict[str, Any]] = [{}, {"wave_lanes": 40}, {"schedule": 1}, {"schedule": 5, "wave_lanes": 40}, {"lockstep": True}]


def random_machine(seed: int) -> tuple[Machine, Any, Any, list[Any]]:
    """A random program, its shape and its buffers."""
    rng = np.random.default_rng(seed)
    grid, block = SHAPES[int(rng.integers(len(SHAPES)))]
    p = program(lambda below: int(rng.integers(below)), int(np.prod(block)))
    machine = Machine(p.text(), bytes=1 << 20)
    threads = int(np.prod(grid) * np.prod(block))
    arrays = {
        "out": np.zeros(threads * REGION // 4, np.uint32), "inp": inputs(),
        "acc": np.array([0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0], np.uint32),
    }  # fmt: skip
    assert arrays["inp"].size == INPUTS
    places = {name: machine.upload(x, name) for name, x in arrays.items()}
    return machine, grid, block, [places[n] for n in p.buffers]


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 17, 20, 22, 26, 31, 37, 43, 52, 58])
def test_random_programs(seed: int) -> None:
    options = WAYS[seed % len(WAYS)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divergence, "COMPACT_BELOW", (0.75, 0.0, 1.0)[seed % 3])
        machine, grid, block, buffers = random_machine(seed)
        recorder, looker = Recorder(), Looker()
        machine.launch(grid, block, buffers, [recorder], **options)
        left = machine.arena.bytes[: machine.arena._top].copy()
        again, *_, buffers = random_machine(seed)
        again.launch(grid, block, buffers, [looker], **options)
    rec = Recording(recorder.finish())
    compare(rec, looker, again.arena)
    for a in buffers:
        assert np.array_equal(rec.bytes.held("global", 0, a.start, a.size, rec.step_count + 1), left[a.start : a.end])


@pytest.mark.parametrize("segments", [1, 30, 60])
def test_a_run_that_is_stopped(segments: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wave, "CHECK_EVERY", 1)  # so that a launch stops behind any segment
    machine, grid, block, buffers = random_machine(1)
    recorder = Recorder()
    machine.launch(grid, block, buffers, [recorder])
    rec = Recording(recorder.finish())
    stopped, *_, buffers = random_machine(1)
    with pytest.raises(LimitReached):
        stopped.launch(grid, block, buffers, max_steps=segments - 1)
    step = int(rec.columns.first[segments])
    for a in buffers:
        assert np.array_equal(rec.bytes.held("global", 0, a.start, a.size, step), stopped.arena.bytes[a.start : a.end])


@pytest.mark.parametrize("name", PROGRAMS)
def test_recorded_programs(name: str) -> None:
    record = PROGRAMS[name]
    one, other = Process(record), Process(record)
    for launch in record["launches"]:
        recorder, looker = Recorder(), Looker()
        for process, observer in ((one, recorder), (other, looker)):
            try:
                process.launch(launch, observers=(observer,))
            except Fault:
                assert record["fails"]
        if recorder.track is None:
            continue
        rec = Recording(recorder.finish())
        compare(rec, looker, other.arena)
        for a in one.arena.living():
            assert np.array_equal(rec.bytes.held("global", 0, a.start, a.size, rec.step_count + 1), one.arena.bytes[a.start : a.end])
