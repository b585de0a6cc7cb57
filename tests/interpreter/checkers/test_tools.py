"""A tool is a class and a row of tools.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.checkers import tools
from warplab.interpreter.checkers.checker import CheckedRun, Checker
from warplab.interpreter.checkers.findings import Finding, Findings
from warplab.interpreter.observe import Access


class Storecheck(Checker):
    """Reports each store."""

    def access(self, access: Access) -> None:
        """See Observer."""
        if access.kind == "st":
            self.findings.add(Finding(self.tool, "store", "a store", access.space))


def test_each_row_names_a_checker() -> None:
    made = tools.checkers_of(tools.TOOLS, CheckedRun(Findings()))
    assert [c.tool for c in made] == list(tools.TOOLS)


def test_a_row_adds_a_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("of_a_user")
    module.Storecheck = Storecheck  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(tools.TOOLS, "storecheck", module.__name__)
    findings = Findings()
    machine = Machine(kernel("p out", ".reg .b64 %d<2>; ld.param.u64 %d1, [out]; st.global.u32 [%d1], 1; ret;"))
    machine.launch(1, 32, [machine.arena.allocate(4, "out")], observers=tools.checkers_of(["storecheck"], CheckedRun(findings)))
    assert [(f.tool, f.space) for f in findings.all] == [("storecheck", "global")]


def test_a_tool_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys; from warplab.runtime.device.launches.sanitizing import Sanitizer; Sanitizer('memcheck')\n"
        "names = [name.rpartition('checkers.')[2] for name in sys.modules if 'interpreter.checkers.' in name]\n"
        "assert 'memcheck' in names and 'synccheck' not in names and 'racecheck.checker' not in names, names"
    )
    path = str(Path(__file__).parents[2] / "importroot")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
