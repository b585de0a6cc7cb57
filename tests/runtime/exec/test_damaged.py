"""Damaged images in programs under exec: a call returns an error, and the program goes on."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest

from warplab.runtime.device.modules.fatbin import FATBIN, HEADER

from ..driver.test_damaged_images import RAW, damaged, fat_binary
from .conftest import Build, Run

# The head of an image says how large it is; behind some of these the program has no memory.
LOADS = """
import ctypes, struct, sys
cuda, context, module, codes = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p(), set()
assert cuda.cuInit(0) == cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == cuda.cuCtxSetCurrent(context) == 0
with open(sys.argv[1], "rb") as images:
    while size := images.read(8):
        image = images.read(struct.unpack("<Q", size)[0])
        code = cuda.cuModuleLoadData(ctypes.byref(module), image)
        codes.add(code)
        assert code or cuda.cuModuleUnload(module) == 0
print(sorted(codes))
"""
INVALID_VALUE, OUT_OF_MEMORY, INVALID_IMAGE, NO_BINARY, INVALID_PTX, UNSUPPORTED_PTX = 1, 2, 200, 209, 218, 222


@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.long)])
def test_a_program_that_loads_damaged_images(warplab_exec: Run, tmp_path: Path, count: int) -> None:
    image = fat_binary(RAW)
    images = [damaged(image, seed) for seed in range(count)]
    (tmp_path / "images").write_bytes(b"".join(struct.pack("<Q", len(i)) + i for i in images))
    done = warplab_exec(sys.executable, "-c", LOADS, str(tmp_path / "images"))
    assert done.returncode == 0, done.stderr
    codes = set(map(int, done.stdout.strip("[]\n").split(",")))
    assert INVALID_IMAGE in codes and codes <= {0, INVALID_VALUE, OUT_OF_MEMORY, INVALID_IMAGE, NO_BINARY, INVALID_PTX, UNSUPPORTED_PTX}
    assert "internal error" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("count", [4, pytest.param(200, marks=pytest.mark.long)])
def test_a_program_whose_own_image_is_damaged(warplab_exec: Run, build: Build, tmp_path: Path, count: int) -> None:
    """A host executable is as it was but for the fat binary in it."""
    program = Path(build("saxpy")).read_bytes()
    at = program.index(struct.pack("<I", FATBIN))
    _, _, head, size = HEADER.unpack_from(program, at)
    for seed in range(count):
        image = damaged(program[at : at + head + size], seed)
        path = tmp_path / "damaged"
        path.write_bytes(program[:at] + image.ljust(head + size, b"\0") + program[at + head + size :])
        os.chmod(path, 0o755)
        done = warplab_exec(str(path))
        assert done.returncode >= 0, seed
        assert "internal error" not in done.stderr and "Traceback" not in done.stderr, (seed, done.stderr)
