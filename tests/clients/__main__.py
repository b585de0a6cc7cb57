"""python -m tests.clients [NAME ...]: runs the clients' own tests under `warplab exec`; see table.py."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .counting import Counts, page
from .suites import results, section, without_suite
from .table import CLIENTS, Client

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXEC = "from warplab.runtime.cli import main; main()"
SECONDS = 900  # for one file


def prepared(client: Client, folder: Path) -> tuple[Path, Path]:
    """A client's Python and the folder of its tests: installed if they are not."""
    python = folder / client.name / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / client.name], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *client.packages], check=True)
    if not client.source:
        return python, HERE
    sources = folder / f"{client.name}-tests"
    if not sources.exists():
        with tempfile.TemporaryDirectory() as name:
            plain = client.source.partition("==")[0]
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", plain, "-d", name, client.source]
            subprocess.run(command, check=True, env={**os.environ, **client.building})
            (archive,) = Path(name).glob("*.tar.gz")
            with tarfile.open(archive) as tar:
                tar.extractall(sources, filter="data")
    return python, next(sources.iterdir()) / client.tests


def run(client: Client, folder: Path, most: int, out: Path) -> Counts:
    """Runs a client's tests, file by file."""
    python, tests = prepared(client, folder)
    counts = Counts()
    shown = subprocess.run([python, "-m", "pip", "show", client.package], capture_output=True, text=True).stdout
    counts.version = next((line.partition(": ")[2] for line in shown.splitlines() if line.startswith("Version")), "")
    cuda = next(python.parents[1].glob("lib/python*/site-packages/nvidia/cu13"), Path())
    run_folder = "${LD_LIBRARY_PATH%%:*}"
    settings = " ".join(f'{name}="{value.format(cuda=cuda, run=run_folder)}"' for name, value in client.environment.items())
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "tests" / "importroot"),
        "CLIENTS_MOST": str(most),
    }
    for path in client.files:
        xml = out / f"{client.name}-{path.replace('/', '-')}.xml"
        words = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "sampling", f"--junitxml={xml}", *client.options, path]
        script = f"{settings} PYTHONPATH={shlex.quote(str(HERE))} exec {shlex.join(words)}"
        command = [sys.executable, "-c", EXEC, "exec", "--devices", str(client.devices), "sh", "-c", script]
        if not client.source:
            command[-1] = command[-1].replace("-m pytest", f"-m pytest -c {os.devnull} --confcutdir .")
        try:
            subprocess.run(command, cwd=tests, env=environment, timeout=SECONDS, stdout=subprocess.DEVNULL)
            counts.add(xml.read_text(), client.needs)
        except (subprocess.TimeoutExpired, OSError):
            counts.broken.append(path)
        print(f"{client.name} {path}: {counts.passed} passed, {counts.failed.total()} failed", flush=True)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.clients", description="Runs the clients' own tests under warplab exec.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", choices=[[], *(c.name for c in CLIENTS)], help="the clients; all if none is named"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "warplab-clients", help="where their environments are made"
    )
    parser.add_argument("--most", type=int, default=0, help="tests of each file")
    parser.add_argument("--results", type=Path, help="a folder with what whole suites came to, for the page; see suites.py")
    parser.add_argument("--page", action="store_true", help="write docs/clients.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        found = {c.name: run(c, given.folder, given.most, Path(out)) for c in CLIENTS if not given.names or c.name in given.names}
    whole = results(given.results) if given.results else []
    in_parts = without_suite(found, [name for name, *_ in whole])
    text = page(in_parts, given.most, section(whole))
    if given.page:
        (ROOT / "docs" / "clients.md").write_text(text)
    print(text)
    for c in CLIENTS:
        if c.name in found and (found[c.name].share < c.least or found[c.name].broken):
            sys.exit(f"{c.name}: {found[c.name].share:.1f} % passed, {c.least} % are wanted")


if __name__ == "__main__":
    main()
