"""A debugger of the host's code, around a program and its devices."""

from __future__ import annotations

import shutil

import pytest

from .conftest import Build, Run


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")
def test_gdb_stops_in_the_program_and_goes_on(warplab_exec: Run, build: Build) -> None:
    program = build("saxpy", "-g")
    done = warplab_exec("gdb", "-q", "-batch", "-ex", "break main", "-ex", "run", "-ex", "next", "-ex", "continue", program)
    assert "Breakpoint 1, main () at" in done.stdout and "0 wrong" in done.stdout and "exited normally" in done.stdout
