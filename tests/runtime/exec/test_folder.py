"""The folder of a run: for programs that look for files before they load, link or compile anything."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import COMMAND, Run, environment
from .test_lifetime import settled

FOUND = "import ctypes, os, sys; folder = os.environ['LD_LIBRARY_PATH'].split(':')[0]; "


def test_the_library_is_a_file_in_a_folder_of_the_search_path(warplab_exec: Run) -> None:
    code = (
        FOUND
        + """
for name in sorted(os.listdir(folder)):
    path = os.path.join(folder, name)
    if name.startswith('lib'):
        print(name, open(path, 'rb').read(4), ctypes.CDLL(path).cuInit(0))
print(folder)
"""
    )
    done = warplab_exec(sys.executable, "-c", code, options=("--no-stand-ins",), LD_LIBRARY_PATH="/there/is/no/such/folder")
    *lines, folder = done.stdout.splitlines()
    names = ("libcuda.so", "libcuda.so.1", "libcudart.so", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so", "libnvidia-ml.so.1")
    assert lines == [f"{name} b'\\x7fELF' 0" for name in names], done.stderr
    assert not os.path.exists(folder)


def test_a_linker_takes_the_library_from_it(warplab_exec: Run, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "main.c").write_text("int cuInit(unsigned); int main(void) { return cuInit(0); }")
    command = 'gcc main.c -L"${LD_LIBRARY_PATH%%:*}" -l:libcuda.so.1 -o main && gcc main.c -L"${LD_LIBRARY_PATH%%:*}" -lcuda -o other && ./main && ./other'
    done = warplab_exec("sh", "-c", f"cd {tmp_path} && {command}")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_assembled_stays_ptx(warplab_exec: Run, tmp_path: Path) -> None:
    (tmp_path / "a file.ptx").write_text(".version 8.0")
    done = warplab_exec(
        "sh",
        "-c",
        f'cd "{tmp_path}"; "$TRITON_PTXAS_PATH" -v -lineinfo --gpu-name=sm_90a "a file.ptx" -o out && "$TRITON_PTXAS_PATH" --version',
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").read_text() == ".version 8.0"
    assert "release 13.0, warplab" in done.stdout
    own = warplab_exec("sh", "-c", 'echo "$TRITON_PTXAS_PATH"', TRITON_PTXAS_PATH="/my/ptxas")
    assert own.stdout == "/my/ptxas\n"


def test_the_folder_is_gone_when_the_launcher_is_killed() -> None:
    command = [*COMMAND, "sh", "-c", 'echo "${LD_LIBRARY_PATH%%:*}"; sleep 60']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), start_new_session=True) as p:
        assert p.stdout is not None
        folder = p.stdout.readline().strip()
        assert os.path.exists(os.path.join(folder, "libcuda.so.1"))
        p.send_signal(signal.SIGKILL)
        assert settled(lambda: not os.path.exists(folder))


def test_a_library_that_wants_versions_of_the_runtime_is_loaded_after_the_driver(warplab_exec: Run, tmp_path: Path) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "count.c").write_text("int cudaGetDeviceCount(int *); int count(void) { int n; return cudaGetDeviceCount(&n) ? -1 : n; }")
    done = warplab_exec(
        "sh", "-c", f'cd {tmp_path} && gcc -shared -fPIC count.c -L"${{LD_LIBRARY_PATH%%:*}}" -l:libcudart.so.13 -o libcount.so'
    )
    assert (done.returncode, done.stderr) == (0, "")
    for first in ("libcuda.so.1", "libcudart.so"):
        code = f"import ctypes; ctypes.CDLL({first!r}); print(ctypes.CDLL('{tmp_path}/libcount.so').count())"
        done = warplab_exec(sys.executable, "-c", code, options=("--devices", "3"))
        assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr


def test_nvcc_makes_ptx_where_machine_code_is_wanted(warplab_exec: Run, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    (tmp_path / "a file.cu").write_text('extern "C" __global__ void k(int *p) { *p = VALUE; }')
    flags = '-gencode=arch=compute_90,code=sm_90 -DVALUE="1 + 1" "a file.cu"'
    commands = f"$NVCC {flags} --cubin && $NVCC -cubin {flags} -o out.cubin && $NVCC -c {flags} -o out.o && $NVCC --version"
    done = warplab_exec("sh", "-c", f'cd "{tmp_path}"; {commands}')
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("a file.cubin", "out.cubin"):
        assert ".visible .entry k(" in (tmp_path / name).read_text()
    assert (tmp_path / "out.o").read_bytes()[:4] == b"\x7fELF"
    assert "nvcc: NVIDIA" in done.stdout


CUBIN = """
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1")
c, m = ctypes.c_void_p(), ctypes.c_void_p()
assert cu.cuInit(0) == cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 0) == cu.cuCtxSetCurrent(c) == 0
print(*(cu.cuModuleLoad(ctypes.byref(m), name.encode()) for name in sys.argv[1:]))
"""


def test_a_cubin_is_refused_with_what_helps(warplab_exec: Run, tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    (tmp_path / "file.cu").write_text('extern "C" __global__ void k(int *p) { *p = 7; }')
    (tmp_path / "load.py").write_text(CUBIN)
    commands = f"nvcc -cubin file.cu -o real.cubin && $NVCC -cubin file.cu -o ours.cubin && {sys.executable} load.py real.cubin ours.cubin"
    done = warplab_exec("sh", "-c", f'cd "{tmp_path}"; {commands}')
    assert done.stdout == "209 0\n", done.stderr
    assert "is machine code (a cubin)" in done.stderr and "NVCC" in done.stderr


def test_compilers_that_call_each_other_end(warplab_exec: Run, tmp_path: Path) -> None:
    (tmp_path / "nvcc").write_text('#!/bin/sh\nexec "$NVCC" "$@"\n')
    (tmp_path / "nvcc").chmod(0o755)
    done = warplab_exec("sh", "-c", "nvcc -cubin x.cu", PATH=f"{tmp_path}:{os.environ['PATH']}", CUDA_PATH="", CUDA_HOME="")
    assert done.returncode == 1 and "inside of warplab exec" in done.stderr


def test_a_compiler_that_the_user_has_set_is_taken(warplab_exec: Run) -> None:
    done = warplab_exec("sh", "-c", '$NVCC -arch=sm_90 -cubin x.cu; $NVCC "a b" -dlink -cubin', NVCC="echo mine")
    assert done.stdout == "mine -arch=sm_90 --ptx x.cu -o x.cubin\nmine a b -dlink -cubin\n"
