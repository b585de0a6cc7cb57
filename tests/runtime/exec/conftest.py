"""Programs for `warplab exec`: those of samples/exec, as nvcc makes them, and Python scripts."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SAMPLES = ROOT / "samples" / "exec"
FLAGS = {
    "clusters": ["-arch=sm_90"],
    "graph_memory": ["-arch=sm_90"],
    "nested": ["-rdc=true", "-lcudadevrt"],
    "threads": ["--default-stream", "per-thread"],
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Build = Callable[..., str]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Of a run from this tree."""
    path = os.pathsep.join(filter(None, (str(ROOT / "tests" / "importroot"), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **(more or {})}


COMMAND = [sys.executable, "-c", "from warplab.runtime.cli import main; main()", "exec"]

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def warplab_exec() -> Run:
    """Runs a command under `warplab exec`."""

    def run(*command: str, options: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*COMMAND, *options, *command], capture_output=True, text=True, timeout=120, env=environment(more))

    return run


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Compiles a sample, or any text, once for each set of flags; the processes of one run of tests share what they have compiled."""
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    own = tmp_path_factory.mktemp("exec")
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    shared.mkdir(exist_ok=True)

    def compiled(name: str, *flags: str, text: str = "") -> str:
        made = hashlib.sha256(repr((flags, text)).encode()).hexdigest()[:12]
        out = shared / f"{name}-{made}"
        if not out.exists():
            if text:
                (own / f"{name}.cu").write_text(text)
            beside = sorted(map(str, (SAMPLES / name).glob("*.cu"))) or [str(SAMPLES / f"{name}.cu")]
            sources = [str(own / f"{name}.cu")] if text else beside
            new = own / out.name
            subprocess.run([nvcc, *FLAGS.get(name, []), *flags, "-o", str(new), *sources], check=True, capture_output=True, cwd=own)
            new.replace(out)
        return str(out)

    return compiled
