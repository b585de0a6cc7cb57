"""The types of the driver's and the runtime's functions: true, and understood by a type checker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warplab.runtime import driver
from warplab.runtime.api.stubs import stubs
from warplab.runtime.driver.tables import layout

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


def test_results_have_the_types_of_the_stub() -> None:
    text = stubs()["driver/__init__.pyi"]
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
    runtime = tmp_path / "installed" / "warplab" / "runtime"
    for place, text in stubs().items():
        (runtime / place).parent.mkdir(parents=True)
        (runtime / place).write_text(text)
    (runtime / "driver" / "tables").mkdir()
    for package in (runtime, runtime / "driver" / "tables"):
        (package / "__init__.pyi").touch()
    shutil.copy(layout.__file__, runtime / "driver" / "tables")
    (runtime / "cudart" / "arrays.pyi").write_text("def __getattr__(name: str) -> object: ...\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nnamespace_packages = true\nexplicit_package_bases = true\nstrict = true\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "user.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(tmp_path / "installed")},
    )
    assert done.returncode == bool(error) and error in done.stdout and done.stdout.count("error:") == bool(error), done.stdout + done.stderr
