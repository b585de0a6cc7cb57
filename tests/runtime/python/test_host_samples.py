"""The host programs of samples/host: each runs, checks its own results, and says so; the picture is a PNG that any reader takes."""

from __future__ import annotations

import os
import runpy
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from ..conftest import Host, model_only

HOST = Path(__file__).parents[3] / "samples" / "host"
SAYS = {
    "saxpy_core": "right; registers",
    "saxpy_driver": "from then on: CUDA_ERROR_ILLEGAL_ADDRESS",
    "streams": "4 parts on 2 streams: sum 327676, right; time of an event without a clock: CUDA_ERROR_INVALID_HANDLE",
    "shared_size": "232448 bytes without asking: CUDA_ERROR_INVALID_VALUE\n232448 bytes: 1 blocks",
    "link_modules": "5 + 0 x + 0 x^2 + 1 x^3 at 2 is 13, right everywhere",
    "all_reduce": "65536 sums over 2 devices, right in each",
    "textures": "48 x 32 to 96 x 64: right",
    "mandelbrot": "360 x 240, 22823 of 86400 points never leave, 1722296 steps",
}
pytestmark = model_only


def run(name: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", [str(HOST / f"{name}.py"), *words])
    runpy.run_path(str(HOST / f"{name}.py"), run_name="__main__")


@pytest.mark.parametrize("name", [n for n in SAYS if n not in ("mandelbrot", "all_reduce")])
def test_host_program(name: str, host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(name, monkeypatch)
    assert SAYS[name] in capsys.readouterr().out


def test_all_reduce_over_two_devices() -> None:
    env = os.environ | {"WARPLAB_DEVICES": "sm_90,sm_90", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, HOST / "all_reduce.py"], env=env, capture_output=True, text=True, check=True)
    assert SAYS["all_reduce"] in done.stdout


def test_mandelbrot_is_a_png(host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run("mandelbrot", monkeypatch, str(tmp_path / "m.png"))
    assert SAYS["mandelbrot"] in capsys.readouterr().out
    data = (tmp_path / "m.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        name, contents = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack_from(">I", data, at + 8 + size)[0] == zlib.crc32(name + contents)
        chunks[name] = contents
        at += 12 + size
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", chunks[b"IHDR"]) == (360, 240, 8, 2, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(240, 1 + 3 * 360)
    assert not rows[:, 0].any()
    pixels = rows[:, 1:].reshape(240, 360, 3)
    assert int((pixels == 0).all(axis=2).sum()) == 22823  # the set is black, nothing else is
    assert (pixels[1:] == pixels[:0:-1]).all()  # and the picture is as high above the axis as below


def test_every_host_program_is_named_and_tested() -> None:
    text = (HOST / "README.md").read_text()
    for path in HOST.iterdir():
        assert path.name == "README.md" or path.is_dir() or f"`{path.name}`" in text, path.name
    assert {p.stem for p in HOST.glob("*.py")} == set(SAYS)
