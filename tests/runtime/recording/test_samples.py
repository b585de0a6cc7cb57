"""Samples are recorded whole: clusters, asynchronous copies, tensor cores and textures; memory at the end is what the run leaves, at the start what it found."""

from pathlib import Path

import numpy as np
import pytest

from warplab.runtime.cli.files import InputFile
from warplab.runtime.cli.launching import runner_of, runs_of
from warplab.runtime.recording import Recording
from warplab.runtime.run.recorded import record

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
