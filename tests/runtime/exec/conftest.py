"""Programs for `warplab exec`: those of samples/exec, as nvcc makes them, and Python scripts."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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
    return {**os.environ, "PYTHONPATH": path, **(more or {})}


SECONDS = 120  # that a command may take
COMMAND = [sys.executable, "-c", "from warplab.runtime.cli import main; main()", "exec"]

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


class Served:
    """Runs of `warplab exec` by a process that has imported it (served.py); test_lifetime.py starts the command itself."""

    def __init__(self, folder: Path) -> None:
        self.out, self.err = folder / "out", folder / "err"
        self.begin()

    def begin(self) -> None:
        """Starts the process."""
        command = [sys.executable, str(Path(__file__).with_name("served.py"))]
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), start_new_session=True
        )

    def end(self) -> None:
        """Ends the process and all that it started."""
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.communicate()

    def run(self, *command: str, options: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        assert self.server.stdin and self.server.stdout
        for path in (self.out, self.err):
            path.write_bytes(b"")
        words = ["exec", *options, *command]
        print(json.dumps([words, environment(more), os.getcwd(), str(self.out), str(self.err)]), file=self.server.stdin, flush=True)
        if not select.select([self.server.stdout], [], [], SECONDS)[0]:
            self.end()
            self.begin()
            raise subprocess.TimeoutExpired(words, SECONDS, self.out.read_bytes(), self.err.read_bytes())
        code = int(self.server.stdout.readline())
        return subprocess.CompletedProcess(words, code, self.out.read_text(), self.err.read_text())


@pytest.fixture(scope="session")
def warplab_exec(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs a command under `warplab exec`."""
    served = Served(tmp_path_factory.mktemp("served"))
    yield served.run
    served.end()


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
