"""The stubs of the driver's and the runtime's functions: what their generator prints, true, and understood by a type checker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.api_types import ROOT, stubs
from warplab.runtime import driver

USER = """
from warplab.runtime import cudart, driver
from warplab.runtime.driver import CUdeviceptr, CUresult

def check(code: CUresult) -> None:
    if code != CUresult.CUDA_SUCCESS:
        raise RuntimeError(driver.cuGetErrorString(code)[1].decode())

check(driver.cuInit(0)[0])
err, ptr = driver.cuMemAlloc(1024)
address: CUdeviceptr = ptr
err, free, total = driver.cuMemGetInfo()
print(free // 2, int(address) + total)
config = driver.CUlaunchConfig()
config.hStream = 0
stream: driver.CUstream = config.hStream
code, properties = cudart.cudaGetDeviceProperties(0)
print(properties.multiProcessorCount + 1, code.name, stream)
"""


def test_stubs_are_what_their_generator_prints() -> None:
    for place, text in stubs().items():
        assert place.read_text() == text, f"{place.relative_to(ROOT)} is stale: python -m tools.api_types"


def test_results_have_the_types_of_the_stub() -> None:
    text = (ROOT / "runtime" / "driver" / "__init__.pyi").read_text()
    driver.cuInit(0)
    _, context = driver.cuCtxCreate(None, 0, 0)
    for call, arguments in {
        "cuMemAlloc": (16,),
        "cuStreamCreate": (0,),
        "cuMemGetInfo": (),
        "cuDeviceGetName": (16, 0),
        "cuCtxSynchronize": (),
    }.items():
        types = [type(value).__name__ for value in getattr(driver, call)(*arguments)]
        assert f"def {call}(" in text and f"-> tuple[{', '.join(types)}]: ..." in text[text.index(f"def {call}(") :].split("\n")[0]
    driver.cuCtxDestroy(context)


@pytest.mark.long
@pytest.mark.parametrize(("line", "error"), [("", ""), ("err, more = driver.cuMemFree(ptr)", "unpack"), ("driver.cuNoSuch()", "cuNoSuch")])
def test_a_type_checker_knows_what_calls_return(line: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER + line + "\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nnamespace_packages = true\nexplicit_package_bases = true\nstrict = true\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "user.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(ROOT / "tests" / "importroot")},
    )
    assert done.returncode == bool(error) and error in done.stdout and done.stdout.count("error:") == bool(error), done.stdout + done.stderr
