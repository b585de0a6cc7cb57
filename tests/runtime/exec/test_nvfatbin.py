"""nvFatbin takes PTX where a program hands it the machine code that NVRTC was asked for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run

# The two functions as the library has them: machine code is refused if it is text; PTX may have options, whose text is read.
OWN = """
#include <string.h>
int nvFatbinAddCubin(void *handle, const void *code, size_t size, const char *arch, const char *name) {
    return size < 4 || memcmp(code, "\\177ELF", 4) != 0 ? 3 : 0;
}
int nvFatbinAddPTX(void *handle, const char *code, size_t size, const char *arch, const char *name, const char *options) {
    return options != 0 || strcmp(arch, "90") != 0 || strcmp(name, "k") != 0 ? 4 : (int)size + 100;
}
"""
SCRIPT = """
import ctypes, sys
ctypes.CDLL("libcuda.so.1").cuInit(0)
library = ctypes.CDLL(sys.argv[1])
text = b".version 9.0"
print(library.nvFatbinAddCubin(None, text, ctypes.c_size_t(len(text)), b"90", b"k", ctypes.c_void_p(16)))
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_ptx_is_added_where_machine_code_was_asked_for(warplab_exec: Run, tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(OWN)
    (tmp_path / "script.py").write_text(SCRIPT)
    library = tmp_path / "libnvfatbin.so.13"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-falign-functions=64", "-o", library, tmp_path / "own.c"], check=True)
    done = warplab_exec(sys.executable, str(tmp_path / "script.py"), str(library))
    assert (done.stdout, done.stderr) == ("112\n", "")
