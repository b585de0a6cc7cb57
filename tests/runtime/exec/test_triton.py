"""Triton as pip installs it, under `warplab exec`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

from .conftest import ROOT, Run

FOLDER = ROOT / "tests" / "clients"


@pytest.mark.parametrize("name", ["triton_tutorials", "triton_launches"])
def test_kernels_of_triton(warplab_exec: Run, tmp_path: Path, name: str) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed, with which triton compiles its launcher")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(FOLDER / f"{name}.py"))
    done = warplab_exec(
        *command, TRITON_CACHE_DIR=str(tmp_path), TRITON_DEFAULT_FP_FUSION="1", PYTHONPATH=os.pathsep.join([str(FOLDER), *sys.path])
    )
    assert done.returncode == 0, done.stdout + done.stderr
