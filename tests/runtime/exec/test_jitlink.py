"""nvJitLink under `warplab exec`: a library of that name, whose functions are jumps of five bytes as in release 13.5, is stood in for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run

NAMES = "Create Destroy AddData AddFile Complete GetErrorLogSize GetErrorLog GetInfoLogSize GetInfoLog GetLinkedCubinSize GetLinkedCubin"
MORE = "GetLinkedPtxSize GetLinkedPtx GetLinkedLTOIRSize GetLinkedLTOIR NewerThanAll"
# Each function returns 77 if its own code runs.
SLOT = ".p2align 4\n.globl {name}\n.type {name}, @function\n{name}: jmp own\n.size {name}, 5\n"
OWN = ".text\n.type own, @function\nown: mov $77, %eax\nret\n.size own, . - own\n"
SCRIPT = r"""
import ctypes, sys
L = ctypes.CDLL(sys.argv[1])
Z = ctypes.c_size_t
def create(*options):
    h = ctypes.c_void_p()
    return L.nvJitLinkCreate(ctypes.byref(h), len(options), (ctypes.c_char_p * 8)(*[o.encode() for o in options])), h
def result(h, what):
    n = Z()
    code = getattr(L, f"nvJitLinkGet{what}Size")(h, ctypes.byref(n))
    out = ctypes.create_string_buffer(n.value + 1)
    return code or getattr(L, f"nvJitLinkGet{what}")(h, out) or out.raw[:n.value]
def add(h, kind, data): return L.nvJitLinkAddData(h, kind, data, Z(len(data)), b"in")
codes = {(): 2, ("-nonsense",): 1, ("-arch=sm_90", "-O2"): 1, ("-arch=sm_42",): 16, ("-arch=sm_20",): 17, ("-arch=sm_90f",): 17, ("-arch=foo",): 1,
         ("-arch=compute_90",): 11, ("-arch=sm_90", "-ptx"): 11, ("-arch=sm_90", "-lto", "-ptx"): 0, ("-arch=sm_100f",): 0,
         ("-arch=sm_90a", "-O3", "-Ofc=max", "-g", "-lineinfo", "-ftz=true", "-maxrregcount=32"): 0}
for options, want in codes.items():
    code, h = create(*options)
    assert code == want and h.value, (options, code)
    assert bool(result(h, "ErrorLog")) == (want not in (0,)), options
    assert L.nvJitLinkDestroy(ctypes.byref(h)) == 0 and not h.value and L.nvJitLinkDestroy(ctypes.byref(h)) == 10
ptx = lambda body: b".version 8.0\n.target sm_80\n.address_size 64\n" + body + b"\0"
caller = ptx(b".extern .func (.param .b32 r) f;\n.visible .entry k() { .reg .b32 %x; { .param .b32 r; call (r), f; ld.param.b32 %x, [r]; } ret; }")
callee = ptx(b".visible .func (.param .b32 r) f { st.param.b32 [r], 7; ret; }")
_, h = create("-arch=sm_90")
assert result(h, "LinkedCubin") == 6, "before it is complete"
assert [add(h, 2, caller), add(h, 10, callee), add(h, 2, b"nonsense\0"), add(h, 10, b"nonsense\0"), add(h, 4, caller)] == [0, 0, 12, 8, 12]
assert add(h, 3, b"\xed\x43\x4e\x7f...") == 18 and L.nvJitLinkAddData(h, 2, None, Z(0), b"") == 3, "LTO-IR needs -lto; nothing is no input"
assert L.nvJitLinkAddFile(h, 2, b"/nonexistent") == 3 and b"nonexistent" in result(h, "ErrorLog")
assert L.nvJitLinkComplete(h) == 0 and result(h, "LinkedCubin")
assert [result(h, "LinkedPtx"), result(h, "LinkedLTOIR")] == [3, 3], "both need options"
_, h = create("-arch=sm_90")
assert add(h, 2, caller) == 0 and L.nvJitLinkComplete(h) == 6 and b"f is declared" in result(h, "ErrorLog")
_, h = create("-arch=sm_90", "-lto")
assert add(h, 2, callee) == 0 and L.nvJitLinkComplete(h) == 5 and result(h, "LinkedLTOIR") == 6
assert L.nvJitLinkNewerThanAll(h) == 6 and L.nvJitLinkComplete(None) == 10
h = ctypes.c_void_p()
assert L.__getattr__("__nvJitLinkCreate_13_9")(ctypes.byref(h), 1, (ctypes.c_char_p * 1)(b"-arch=sm_90")) == 0
try:
    ctypes.CDLL("libcuda.so.1").nvJitLinkCreate
except AttributeError:
    print("fine")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library of nvJitLink's name."""
    gcc = shutil.which("gcc")
    if gcc is None or subprocess.run([gcc, "-dumpmachine"], capture_output=True, text=True).stdout.partition("-")[0] != "x86_64":
        pytest.skip("a compiler for x86-64 is not installed")
    folder = tmp_path_factory.mktemp("jitlink")
    names = [f"nvJitLink{n}" for n in (NAMES + " " + MORE).split()] + ["__nvJitLinkCreate_13_9"]
    (folder / "slots.s").write_text(OWN + "".join(SLOT.format(name=n) for n in names) + ".p2align 4\n")
    out = folder / "libnvJitLink.so.13"
    subprocess.run([gcc, "-shared", "-nostdlib", "-Wl,-Bsymbolic", "-o", out, folder / "slots.s"], check=True)
    return str(out)


def test_every_function_has_an_answer(warplab_exec: Run, library: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = warplab_exec(sys.executable, str(tmp_path / "script.py"), library)
    assert (done.stdout, done.stderr, done.returncode) == ("fine\n", "", 0)
