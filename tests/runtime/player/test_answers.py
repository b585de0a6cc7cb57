"""The page answers as the recording does: registers, memory and slices of random programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.runtime.recording.test_calls import DIRECT, HEAD, PAIR, ROOT
from tests.runtime.recording.test_calls import recorded as pair_kernel
from tests.runtime.recording.test_states import WAYS, random_machine
from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.player import page
from warplab.runtime.recording import Recording
from warplab.runtime.recording.questions import Cell
from warplab.runtime.recording.slices import why

from .browser import opened

REGISTERS = """([step, lane]) => {
  const s = window.warplab, w = s.rec.warp(s.rec.warpNumber(lane)), frame = s.registers.frame(w, s.rec.laneInWarp(lane), step);
  const out = {};
  for (const name of s.registers.names(frame)) {
    const h = s.registers.held(w, name, step, frame), k = s.rec.laneInWarp(lane);
    if (h.bits[k] !== null) out[name] = [h.bits[k].toString(), h.step[k]];
  }
  return out;
}"""
MEMORY = """([n, step]) => {
  const s = window.warplab, o = s.rec.track.header.objects[n];
  return [...s.memory.contents(o, 0, step).bytes];
}"""
WHY = "([step, lane]) => window.warplab.slices.why({ step, lane }).map(one => [one.step, one.lane])"
WHY_CELL = """([address, size, before]) => {
  const s = window.warplab.slices;
  return s.why(s.writerOf("global", 0, address, size, before)).map(one => [one.step, one.lane, one.read.length]);
}"""


def bits(value: Any) -> int:
    return int.from_bytes(np.atleast_1d(value).tobytes(), "little")


@pytest.mark.parametrize("seed", [1, 5, 8, 20, 37])
def test_random_programs(seed: int, browser: Any, tmp_path: Path) -> None:
    machine, grid, block, buffers = random_machine(seed)
    recorder = Recorder()
    machine.launch(grid, block, buffers, [recorder], **WAYS[seed % len(WAYS)])
    rec = Recording(recorder.finish())
    (tmp_path / "page.html").write_text(page([rec]))
    tab = opened(browser, tmp_path / "page.html")
    rng = np.random.default_rng(seed)
    steps = np.unique(rng.integers(rec.step_count, size=25)).tolist()
    for step in steps:
        lane = int(rng.choice(rec.at(step).lanes))
        function, depth = rec.frame(lane, step)
        told = tab.evaluate(REGISTERS, [step, lane])
        wanted = {}
        for name in rec.track.registers[function]:
            found = rec.held(name, np.array([lane]), step, (function, depth))
            if found.known[0]:
                wanted[name] = [str(bits(found.value[0])), int(found.step[0])]
        assert told == wanted, f"step {step}, lane {lane}"
    for n, o in enumerate(rec.track.objects):
        for step in (0, *steps[::8], rec.step_count):
            if o.space == "global":
                assert bytes(tab.evaluate(MEMORY, [n, step])) == rec.bytes.held("global", 0, o.start, o.size, step).tobytes()
    changes = rec.bytes.changes["global"]
    for k in rng.integers(changes.step.size, size=4).tolist():
        a, step, lane = rec.track.accesses[int(changes.access[k])], int(changes.step[k]), int(changes.lane[k])
        if a.kind == "st":
            expected = why(rec, Cell("", "global", 0, int(changes.address[k]), a.type), lane, step + 1)
            assert [[one.step, one.lane] for one in expected] == tab.evaluate(WHY, [expected[0].step, expected[0].lane])
    tab.close()


@pytest.mark.parametrize("seed", [None, 1, 3])
def test_values_are_followed_through_calls(seed: int | None, browser: Any, tmp_path: Path) -> None:
    options = {} if seed is None else {"schedule": str(seed)}
    rec = pair_kernel(f"//@ run --block 32 --arg out:out=f64[32]\n{HEAD}{PAIR}{ROOT}{DIRECT}", tmp_path, **options)
    (tmp_path / "page.html").write_text(page([rec]))
    tab = opened(browser, tmp_path / "page.html")
    for lane in (3, 20):
        cell = rec.cell("out", lane)
        expected = why(rec, cell, lane, rec.step_count + 1)
        told = tab.evaluate(WHY_CELL, [cell.address, cell.size, rec.step_count + 1])
        assert told == [[one.step, one.lane, len(one.read)] for one in expected]
    tab.close()
