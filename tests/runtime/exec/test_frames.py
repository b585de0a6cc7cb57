"""A fault of a kernel that Python launches is told with the line of Python."""

from __future__ import annotations

import sys
from pathlib import Path

from .conftest import Run

PACKAGE = """
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
PTX = b".version 8.0 .target sm_80 .address_size 64 .visible .entry k() { .reg .b64 %a; mov.u64 %a, 16; st.global.u32 [%a], 1; ret; }\\0"
def made():
    c, m, k = (ctypes.c_void_p() for _ in range(3))
    assert cu.cuInit(0) == cu.cuDevicePrimaryCtxRetain(ctypes.byref(c), 0) == cu.cuCtxSetCurrent(c) == 0
    assert cu.cuModuleLoadData(ctypes.byref(m), PTX) == cu.cuModuleGetFunction(ctypes.byref(k), m, b"k") == 0
    return k
def launch(k):
    return cu.cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, None, None, None)
"""
SCRIPT = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import launcher
k = launcher.made()
def run():
    launcher.launch(k)  # line 7
    return launcher.cu.cuCtxSynchronize()
def outer():
    run()
if sys.argv[2:]:
    threading.Thread(target=lambda: (launcher.made(), run())).start()
else:
    outer()
"""


def test_the_line_outside_of_packages(warplab_exec: Run, tmp_path: Path) -> None:
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "launcher.py").write_text(PACKAGE)
    (tmp_path / "script.py").write_text(SCRIPT)
    for more, outer in (((), "outer\n    called at script.py:14 in <module>"), (("in a thread",), "<lambda>")):
        done = warplab_exec(sys.executable, str(tmp_path / "script.py"), str(folder), *more)
        assert done.returncode == 0 and "launched at script.py:7 in run\n    called at script.py:1" in done.stderr, done.stderr
        assert f" in {outer}" in done.stderr, done.stderr
