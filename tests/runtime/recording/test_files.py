"""A recording survives a file; a damaged or hostile file gives an error in words."""

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab.interpreter.recorder.recorder import Recorder
from warplab.runtime.errors import UsageError
from warplab.runtime.recording import Recording

from .test_states import random_machine


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    machine, grid, block, buffers = random_machine(5)
    recorder = Recorder()
    machine.launch(grid, block, buffers, [recorder], schedule=1)
    path = tmp_path_factory.mktemp("recordings") / "run.wlrec"
    Recording(recorder.finish()).save(path)
    return path


def parts(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as z:
        return {k: z[k] for k in z.files}


def write(path: Path, data: dict[str, Any]) -> None:
    with path.open("wb") as f:
        np.savez(f, **data)


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        Recording.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_is_the_same_when_it_is_read(file: Path) -> None:
    machine, grid, block, buffers = random_machine(5)
    recorder = Recorder()
    machine.launch(grid, block, buffers, [recorder], schedule=1)
    one, other = Recording(recorder.finish()), Recording.load(file)
    assert one.step_count == other.step_count
    for step in range(0, one.step_count, 7):
        a, b = one.at(step), other.at(step)
        assert a.instruction == b.instruction and np.array_equal(a.lanes, b.lanes) and np.array_equal(a.active, b.active)
        lane = int(a.lanes[0])
        x, y = a.registers(lane), b.registers(lane)
        assert x.keys() == y.keys() and all(np.array_equal(x[k].tobytes(), y[k].tobytes()) for k in x)
        for place in buffers:
            assert np.array_equal(*[r.bytes.held("global", 0, place.start, place.size, step) for r in (one, other)])
    assert [(e.kind, e.text) for e in one.track.events] == [(e.kind, e.text) for e in other.track.events]


@pytest.mark.parametrize("seed", range(150))
def test_any_byte_may_be_wrong(file: Path, seed: int, tmp_path: Path) -> None:
    """Parts of the file are changed without a word to the checksums of the archive."""
    rng = np.random.default_rng(seed)
    data = parts(file)
    name = [k for k in data if data[k].size][seed % sum(v.size > 0 for v in data.values())]
    changed = data[name].copy()
    flat = changed.reshape(-1)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(flat.size))
        if flat.dtype == np.uint8:
            flat[at] = rng.integers(256)
        else:
            flat[at] = rng.choice(np.array([0, 1, -1, 7, 1 << 30, -(1 << 40), 1 << 62]).astype(flat.dtype))
    data[name] = changed
    path = tmp_path / "changed.wlrec"
    write(path, data)
    try:
        rec = Recording.load(path)
    except UsageError:
        return
    lane = int(rec.at(0).lanes[0])  # what was taken to be legal answers questions, or refuses them in words
    try:
        for step in range(0, rec.step_count, 9):
            rec.at(step).registers(lane)
            rec.at(step).backtrace(lane)
        rec.bytes.changes["global"].touching(0, 0, 1 << 20, rec.step_count)
        rec.memory(rec.track.objects[0].name, rec.step_count)
    except UsageError:
        pass


def test_a_file_that_is_cut_off(file: Path, tmp_path: Path) -> None:
    whole = file.read_bytes()
    for n in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path = tmp_path / f"{n}.wlrec"
        path.write_bytes(whole[:n])
        refused(path)


def test_nothing_in_a_file_is_executed(file: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "executed",))

    data = parts(file)
    path = tmp_path / "evil.wlrec"
    write(path, {**data, "values": np.array([Evil()], object)})
    refused(path)
    raw = io.BytesIO()
    pickle.dump(Evil(), raw)
    path.write_bytes(raw.getvalue())
    refused(path)
    assert not (tmp_path / "executed").exists()


def test_another_version(file: Path, tmp_path: Path) -> None:
    data = parts(file)
    header = json.loads(data["header"].tobytes())
    data["header"] = np.frombuffer(json.dumps({**header, "version": 99}).encode(), np.uint8)
    path = tmp_path / "later.wlrec"
    write(path, data)
    assert "version 99" in refused(path)


def test_what_is_no_recording(tmp_path: Path) -> None:
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as z:
        z.writestr("a.txt", "text")
    refused(other)
    assert "no file" in refused(tmp_path / "missing.wlrec")
    assert "folder" in refused(tmp_path)
