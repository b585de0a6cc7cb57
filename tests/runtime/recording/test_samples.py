"""Samples are recorded whole: clusters, asynchronous copies, tensor cores and textures; memory at the end is what the run leaves, at the start what it found."""

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest

from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.running.launching import runner_of, runs_of
from warplab.runtime.device.launches.observing import observing
from warplab.runtime.recording import Recording
from warplab.runtime.recording.files import write
from warplab.runtime.recording.slices import link, origin
from warplab.runtime.run.recorded import record

from .states import Looker, compare

SAMPLES = Path(__file__).parents[3] / "samples"
NAMES = [
    "bitonic_sort", "cluster", "convolution", "cp_async", "dynamic_shared", "flash_attention", "grid_sync", "groups", "malloc", "monte_carlo", "printf",
    "recursion", "scan", "softmax", "switch", "tcgen05_matmul", "tensor_core", "tma_matmul", "transpose/3_padded", "textures/enlarge",
]  # fmt: skip


@pytest.mark.parametrize("name", [n for n in NAMES if (SAMPLES / f"{n}.ptx").is_file()])
@pytest.mark.parametrize("seed", [None, 4])
def test_a_sample(name: str, seed: int | None, tmp_path: Path) -> None:
    path = SAMPLES / f"{name}.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    for spec in runs_of(files, {} if seed is None else {"schedule": str(seed)}):
        done = record(runner_of(files, spec))
        assert done.outcome.code == 0, done.outcome.failure
        first, last = done.launches[0], done.launches[-1]
        last.save(tmp_path / "run.wlrec")
        again = Recording.load(tmp_path / "run.wlrec")
        for b in done.outcome.buffers.values():
            if b.texels is not None or b.after is None:
                continue
            for rec in (last, again):
                held = rec.bytes.held("global", 0, b.address, b.after.nbytes, rec.step_count + 1)
                assert np.array_equal(held, b.after.reshape(-1).view(np.uint8)), b.name
            assert np.array_equal(first.bytes.held("global", 0, b.address, b.before.nbytes, 0), b.before.reshape(-1).view(np.uint8)), b.name
        for step in np.linspace(0, last.step_count - 1, 12).astype(int).tolist():
            moment = last.at(step)
            lane = int(moment.lanes[-1])
            assert moment.registers(lane).keys() == again.at(step).registers(lane).keys()
            assert last.next_step(lane, step) == step and step in last.steps(lane)
            assert moment.backtrace(lane)[0].step == step


STATES = [
    *NAMES, "bugs/deadlock", "bugs/lost_update", "bugs/missing_barrier", "bugs/unset_register", "textures/edges", "textures/mirror", "histogram/2_private",
]  # fmt: skip


@pytest.mark.parametrize("name", [n for n in STATES if (SAMPLES / f"{n}.ptx").is_file()])
@pytest.mark.parametrize("seed", [None, 3])
def test_states_of_a_sample(name: str, seed: int | None) -> None:
    """Registers, global, shared and local memory before each segment are those of a second run that is looked at there."""
    path = SAMPLES / f"{name}.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    for spec in runs_of(files, {"sanitize": "none"} | ({} if seed is None else {"schedule": str(seed)})):
        launches = record(runner_of(files, spec)).launches
        with observing(lambda _: Looker()) as seen:
            runner_of(files, spec).run()
        for rec, looker in zip(launches, seen, strict=True):
            compare(rec, looker, looker.launch.arena)


@pytest.mark.parametrize("name", ["recursion", "cluster", "cp_async", "scan", "transpose/3_padded"])
def test_questions_leave_a_recording_alone(name: str) -> None:
    """Nothing that is asked changes an array of it, and a stretch of memory is the same from all changes or from those near it."""
    path = SAMPLES / f"{name}.ptx"
    files = (InputFile(str(path), path.read_bytes()),)
    rec = record(runner_of(files, runs_of(files, {"schedule": "2"})[0])).launches[-1]
    before = digest(rec)
    asked = [
        (s, o, a)
        for s in np.linspace(0, rec.step_count, 7).astype(int).tolist()
        for o in rec.track.objects
        for a in (o.start, o.start + o.size // 2)
    ]
    alone = [rec.bytes.held(o.space, 0, a, min(o.size // 2, 64), s) for s, o, a in asked]
    lane = int(rec.at(rec.step_count // 2).lanes[0])
    for step in range(0, rec.step_count, max(rec.step_count // 40, 1)):
        link(rec, step, int(rec.at(step).lanes[0]))
        rec.registers(rec.warp_of(lane), step)
    for kind in ("nan", "inf", "uninitialised"):
        origin(rec, kind)
    for (s, o, a), held in zip(asked, alone, strict=True):
        assert np.array_equal(rec.bytes.held(o.space, 0, a, min(o.size // 2, 64), s), held)
    assert "changes" in rec.bytes.__dict__ and digest(rec) == before


def digest(rec: Recording) -> str:
    """What all arrays of a recording hold."""
    out = io.BytesIO()
    write(rec.track, out, compress=False)
    return hashlib.sha256(out.getvalue()).hexdigest()
