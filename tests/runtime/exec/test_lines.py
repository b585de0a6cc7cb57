"""Source lines of addresses, from the tables that a compiler writes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from warplab.runtime.exec.binaries.lines import CallSite, call_site
from warplab.runtime.exec.binaries.maps import object_at

TEXT = """int first(int x) { return x + 1; }

int second(int x) {
    x = x * 3;
    return first(x) +
           first(x + 1);
}
"""


@pytest.mark.parametrize("version", [2, 3, 4, 5, 0])
def test_the_line_of_an_address(tmp_path: Path, version: int) -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "some.c").write_text(TEXT)
    path = tmp_path / f"lib{version}.so"
    flags = [f"-gdwarf-{version}"] if version else []
    subprocess.run([gcc, "-shared", "-fPIC", "-O0", *flags, "-o", str(path), "some.c"], cwd=tmp_path, check=True)
    library = ctypes.CDLL(str(path))
    first, second = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in (library.first, library.second))
    found = object_at(os.getpid(), first)
    assert found is not None
    if version:
        assert call_site(found, first + 1) == CallSite("some.c", 1, "first", path.name)
        assert call_site(found, second + 1).text == "at some.c:3 in second"
    else:
        assert call_site(found, second + 1).text == f"in second of {path.name}"
