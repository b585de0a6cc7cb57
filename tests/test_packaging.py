"""What is built is whole: every package listed, an sdist, and a wheel that runs a sample in a fresh virtual environment."""

import io
import shutil
import subprocess
import sys
import tarfile
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
    own = {"warplab.runtime.cli.package"}  # what is put into warplab itself
    assert listed == found - own | {"warplab", "warplab.docs"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an sdist, and the wheel that was built from it.  A copy is built: a build writes into the tree, and workers may build at once."""
    out, tree = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("source") / "warplab"
    shutil.copytree(
        ROOT,
        tree,
        ignore=shutil.ignore_patterns(
            ".git", ".?*_cache", ".hypothesis", ".venv", "*.egg-info", "build", "data", "importroot", "node_modules"
        ),
    )
    command = [sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", out, tree]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_sdist_holds_what_the_first_command_needs(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "pyproject.toml",
        "samples/vecadd.ptx",
        "docs/README.md",
        "player/src/main.ts",
        "runtime/cli/__init__.py",
    } <= names
    assert not any(n.startswith(("tests", "tools", ".", "docs/.")) or n.endswith(".pyc") for n in names)


def test_wheel_holds_every_package_and_its_data(built: Path) -> None:
    names = set(zipfile.ZipFile(next(built.glob("*.whl"))).namelist())
    for top in ("isa", "assembler", "interpreter", "runtime"):
        for source in (ROOT / top).rglob("*"):
            if source.suffix in (".py", ".lark", ".json", ".npz", ".ptx", ".txt", ".js") or source.name == "py.typed":
                assert "warplab/" + str(source.relative_to(ROOT)).removeprefix("runtime/cli/package/") in names
    assert {f"warplab/runtime/{api}/__init__.pyi" for api in ("driver", "cudart")} <= names, "types for type checkers"
    assert {f"warplab/docs/{p.relative_to(ROOT / 'docs').as_posix()}" for p in (ROOT / "docs").rglob("*.md")} <= names
    others = {n for n in names if not n.startswith(("warplab/", "warplab-"))} | {n for n in names if n.endswith((".svg", ".pyc"))}
    assert not others


def test_wheel_runs_a_sample_in_a_fresh_environment(built: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "-q", next(built.glob("*.whl"))]
    subprocess.run(install, check=True, capture_output=True)
    warplab, sample = tmp_path / "venv" / "bin" / "warplab", ROOT / "samples" / "vecadd.ptx"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "pytest"]
    subprocess.run(pip, check=True, capture_output=True)
    quiet = [python, "-W", "error", "-m", "pytest", "-W", "error", "--co", "-q", "--fixtures"]  # the plugin is loaded, and warns of nothing
    done = subprocess.run(quiet, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "warplab_device" in done.stdout, done.stdout + done.stderr
    lab, bundle = ROOT / "samples" / "labs" / "01-vecadd", tmp_path / "bundle.zip"
    subprocess.run([warplab, "grade", lab, "--bundle", bundle], check=True, capture_output=True)
    with zipfile.ZipFile(bundle) as archive:  # it brings the installed warplab along
        (wheel,) = (n for n in archive.namelist() if n.endswith(".whl"))
        again = set(zipfile.ZipFile(io.BytesIO(archive.read(wheel))).namelist())
        archive.extract(wheel, tmp_path)
    whole = {n for n in zipfile.ZipFile(next(built.glob("*.whl"))).namelist() if not n.endswith(".1")}
    assert again == whole
    subprocess.run([*install[:-2], "--no-deps", "--force-reinstall", tmp_path / wheel], check=True, capture_output=True)
    for command in ([warplab, "run", sample], [python, "-m", "warplab", "run", sample], [warplab, "docs", "profiling"], [warplab, "-V"]):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
