"""What is built is whole: every package listed, and a wheel that runs a sample in a fresh virtual environment."""

import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed() -> None:
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {
        "warplab." + ".".join(init.parent.relative_to(ROOT).parts)
        for top in ("isa", "assembler", "interpreter", "runtime")
        for init in (ROOT / top).rglob("__init__.py")
    }
    assert listed == found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", out, ROOT], check=True, capture_output=True)
    return next(out.glob("warplab-*.whl"))


def test_wheel_holds_every_package_and_its_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for top in ("isa", "assembler", "interpreter", "runtime"):
        for source in (ROOT / top).rglob("*"):
            if source.suffix in (".py", ".lark", ".json", ".npz") or source.name == "py.typed":
                assert "warplab/" + str(source.relative_to(ROOT)) in names
    assert not any(n.startswith(("isa/", "assembler/", "tests/")) for n in names)


def test_wheel_runs_a_sample_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, capture_output=True)
    for command in ([tmp_path / "venv" / "bin" / "warplab"], [python, "-m", "warplab.runtime.cli"]):
        done = subprocess.run([*command, "run", ROOT / "samples" / "vecadd.ptx"], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
