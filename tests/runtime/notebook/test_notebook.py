"""The magics of a notebook, called as IPython calls them; and docs/notebook.ipynb, run in a kernel."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warplab.runtime.notebook import load

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
VECADD = (ROOT / "samples" / "vecadd.ptx").read_text()
RACE = (ROOT / "samples" / "bugs" / "lost_update.ptx").read_text()


class FakeShell:
    """As much of IPython as the magics ask for."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {}
        self.magics: dict[str, Callable[..., Any]] = {}

    def register_magic_function(self, func: Callable[..., Any], magic_kind: str, magic_name: str) -> None:
        assert magic_kind == "line_cell"
        self.magics[magic_name] = func

    def refused(self, magic: str, line: str, cell: str | None = None) -> str:
        """What a cell says that ends with an error; without a traceback."""
        with pytest.raises(Exception) as e:
            self.magics[magic](line, cell)
        (said,) = e.value._render_traceback_()  # type: ignore[attr-defined]
        return str(said)


@pytest.fixture
def shell() -> FakeShell:
    out = FakeShell()
    load(out)
    return out


def test_a_run_with_its_comments(shell: FakeShell) -> None:
    found = shell.magics["ptx"]("", VECADD)
    assert found.good and repr(found).startswith("ok vecadd<<<4, 256>>>: 1 check passed")
    assert "<td" in found._repr_html_() and found["c"].shape == (1000,)
    with pytest.raises(KeyError, match="there are a, b, c"):
        found["d"]


def test_arrays_of_the_notebook(shell: FakeShell) -> None:
    shell.user_ns["left"] = np.arange(40, dtype=np.float32)
    found = shell.magics["ptx"]("--grid 1 --block 64 --arg a=@left --arg b=@left --arg out:c=f32[40] --arg n=40", VECADD)
    assert np.array_equal(found["c"], 2 * shell.user_ns["left"])


def test_a_fault_is_shown_and_the_notebook_goes_on(shell: FakeShell) -> None:
    found = shell.magics["ptx"]("--grid 1 --block 64 --arg a=f32[40] --arg b=f32[40] --arg out:c=f32[40] --arg n=41", VECADD)
    assert not found.good and "out of bounds" in repr(found) and "FAULT" in found._repr_html_()


def test_checked_without_a_launch(shell: FakeShell) -> None:
    bare = "\n".join(line for line in VECADD.splitlines() if not line.startswith("//@"))
    assert "no errors" in repr(shell.magics["ptx"]("", bare))


def test_findings(shell: FakeShell) -> None:
    found = shell.magics["sanitize"]("", RACE)
    assert [f.kind for f in found.findings] == ["read-write", "write-write"] and "ERROR SUMMARY: 2 errors" in repr(found)
    assert "red.global.add.u32" in unescape(found._repr_html_())
    assert "found nothing" in shell.magics["sanitize"]("", VECADD)._repr_html_()


def test_the_last_program_is_recorded(shell: FakeShell) -> None:
    shell.magics["ptx"]("", VECADD)
    played = shell.magics["record"]("")
    assert played[0].track.kernel == "vecadd" and repr(played).startswith("vecadd: ")


def test_errors_are_messages(shell: FakeShell) -> None:
    assert shell.refused("record", "").startswith("there is no program so far")
    said = shell.refused("ptx", "", VECADD.replace("add.f32", "ad.f32"))
    assert said.startswith("error[unknown-instruction]: no instruction is called ad\n  --> cell.ptx:45:5")
    assert "Did you mean '--grid'" in shell.refused("ptx", "--gird 1", VECADD)
    assert "missing.npy" in shell.refused("ptx", "--grid 1 --block 1 --arg a=@missing.npy", VECADD)
    assert "nothing says how to launch" in shell.refused("sanitize", "", VECADD.replace("//@", "//"))


def test_a_cell_is_the_submission_of_a_lab(shell: FakeShell) -> None:
    lab = ROOT / "samples" / "labs" / "01-vecadd"
    graded = shell.magics["grade"](str(lab), (lab / "reference.ptx").read_text())
    assert graded.report.score == graded.report.total == 10 and "10/10" in repr(graded) and "<td" in graded._repr_html_()
    assert shell.magics["grade"](str(lab), (lab / "starter.ptx").read_text()).report.score < 10
    assert "needs the folder of a lab" in shell.refused("grade", "", VECADD)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_cuda(shell: FakeShell) -> None:
    kernel = "__global__ void fill(int *x) { x[threadIdx.x] = 3 * threadIdx.x; }\n"
    found = shell.magics["cuda"]("--grid 1 --block 8 --arg out:x=i32[8]", kernel)
    assert found["x"].tolist() == [3 * i for i in range(8)]
    (one,) = shell.magics["sanitize"]("--grid 1 --block 9 --arg out:x=i32[8]").findings
    assert one.source.endswith("cell.cu:1")
    said = shell.refused("cuda", "--grid 1 --block 8", kernel.replace("threadIdx", "threadId"))
    assert "cell.cu(1): error" in said and "/tmp" not in said


def test_the_player_inside(shell: FakeShell, browser: Any, tmp_path: Path) -> None:
    """In a page as JupyterLab makes one of outputs: the frame has no origin of its own."""
    html = shell.magics["record"]("", VECADD)._repr_html_()
    (tmp_path / "output.html").write_text(f"<!DOCTYPE html><title>output</title><div class='output'>{html}</div>")
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto((tmp_path / "output.html").as_uri())
    inside = page.frame_locator("iframe")
    inside.locator(".wlp[data-opened]").wait_for(timeout=20_000)
    assert "vecadd" in inside.locator("body").inner_text() and not errors


def test_the_notebook_of_the_documentation() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is missing")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is missing")
    pytest.importorskip("ipykernel", reason="ipykernel is missing")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not [c for c in notebook.cells if c.get("outputs")], "the file has no outputs: they are made where it is opened"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}})
    with ThreadPoolExecutor(1) as pool:  # the browser of other tests may have a loop in this thread
        pool.submit(asyncio.run, client.async_execute()).result()
    shown = ["".join(o.get("data", {}).get("text/html", "") for o in c.outputs) for c in notebook.cells if c.cell_type == "code"]
    assert "saxpy" in shown[2] and "<iframe" in shown[4] and "read-write" in shown[-1]
    (wrong,) = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]
    assert "no instruction is called ad" in re.sub(r"\x1b\[[\d;]*m", "", wrong.traceback[0]) and len(wrong.traceback) == 1
