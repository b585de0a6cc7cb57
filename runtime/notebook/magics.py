"""The magics: a cell is a program, and their lines have the options of the command line.

`@name` in an option is an array of the notebook.  Without a cell, a magic is about the last program.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click
import numpy as np

from warplab.assembler import PtxError, check

from ..errors import ApiError, UsageError
from ..sources import CPP, PTX, InputFile, suffix_of
from .results import Checked, FoundTable, Graded, PlayedRun, RunTable

if TYPE_CHECKING:
    from ..run.runspec import RunSpec

_ARRAY = re.compile(r"@([A-Za-z_]\w*)(?=$|[,:])")
T = TypeVar("T")
Shown = RunTable | FoundTable | PlayedRun | Checked | Graded


class Shell(Protocol):
    """What is asked of IPython."""

    user_ns: dict[str, Any]

    def register_magic_function(self, func: Callable[..., Any], magic_kind: str, magic_name: str) -> None:
        """Makes a magic known."""


class CellError(Exception):
    """What is wrong with a cell: shown without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows."""
        return [str(self)]


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a cell."""

    text: str
    path: Path

    @property
    def is_cpp(self) -> bool:
        return self.path.suffix == CPP


class Magics:
    """The magics of one notebook."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.folder = Path(tempfile.mkdtemp(prefix="warplab-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.last: Program | None = None
        self.count = 0

    # ------------------------------------------------------------ the magics

    def ptx(self, line: str, cell: str | None = None) -> Shown:
        """Checks PTX, and runs it as //@ run comments or the options of `warplab run` in the line say."""
        program = self.program(cell, PTX)
        if cell is not None and not program.is_cpp and not line.strip() and "//@ run" not in cell:
            found = check(program.text, None, "cell.ptx")
            if any(d.severity == "error" for d in found):
                raise CellError(str(PtxError(found, program.text, "cell.ptx")))
            return Checked(program.text, tuple(found))
        return self.run(line, program)

    def cuda(self, line: str, cell: str | None = None) -> Shown:
        """Compiles CUDA C++, and runs it."""
        return self.run(line, self.program(cell, CPP))

    def record(self, line: str, cell: str | None = None) -> PlayedRun:
        """Runs a program recorded, and shows the player."""
        return self.guarded(lambda: self._record(line, self.program(cell)))

    def sanitize(self, line: str, cell: str | None = None) -> FoundTable:
        """Runs a program under the checkers."""
        return self.guarded(lambda: self._sanitize(line, self.program(cell)))

    def grade(self, line: str, cell: str | None = None) -> Graded:
        """Grades a program as the submission of a lab, whose folder the line names."""
        return self.guarded(lambda: self._grade(line, self.program(cell)))

    # ------------------------------------------------------------ what they do

    def run(self, line: str, program: Program) -> RunTable:
        """Runs a program; a small run is checked for races and uninitialised values, too."""
        return self.guarded(lambda: self._run(line, program))

    def _run(self, line: str, program: Program) -> RunTable:
        from ..cli.running.launching import runner_of
        from ..cli.running.run import run
        from ..run.checked import SmallRun
        from ..run.outcome import describe_launches

        file, specs, _ = self.asked(run, line, program)
        parts = []
        for spec in specs:
            runner = replace_folder(runner_of((file,), spec))
            small = SmallRun(runner)
            runner.context.observe = small.watching(lambda launch: None)
            outcome = runner.run()
            if not spec.sanitize:
                small.check()
            parts.append((describe_launches(runner.trail), outcome))
        return RunTable(tuple(parts))

    def _record(self, line: str, program: Program) -> PlayedRun:
        from ..cli.recorded.record import record
        from ..cli.running.launching import runner_of
        from ..device.described import bytes_of
        from ..run.recorded import record as recorded

        file, specs, given = self.asked(record, line, program)
        runs = [recorded(replace_folder(runner_of((file,), spec)), bytes_of(given["limit"])) for spec in specs]
        made = tuple(r for run in runs for r in run.launches if r.step_count)
        if not made:
            raise UsageError(next((run.outcome.failure for run in runs if run.outcome.failure), "the run launches nothing"))
        return PlayedRun(made)

    def _sanitize(self, line: str, program: Program) -> FoundTable:
        from ..cli.running.launching import runner_of
        from ..cli.running.sanitize import sanitize
        from ..device.launches.sanitizing import tools_of

        file, specs, given = self.asked(sanitize, line, program)
        tools = " ".join(tools_of(given["tool"] or "all"))
        leaks = given.get("leak_check") or ("" if given["tool"] else "no")  # as the command has it
        found = []
        for spec in specs:
            outcome = replace_folder(runner_of((file,), replace(spec, sanitize=tools, leak_check=spec.leak_check or leaks))).run()
            found += outcome.findings
        return FoundTable(tuple(found))

    def _grade(self, line: str, program: Program) -> Graded:
        from ..grading import find_submissions, grade, load_lab

        words = shlex.split(line)
        if len(words) != 1:
            raise UsageError("%%grade needs the folder of a lab: %%grade samples/labs/06-histogram")
        lab = load_lab(words[0])
        (report,) = grade(lab, find_submissions(lab, [program.path]))
        return Graded(report)

    # ------------------------------------------------------------ cells and lines

    def program(self, cell: str | None, suffix: str = "") -> Program:
        """The program of a cell, or the last one."""
        if cell is None:
            if self.last is None:
                raise CellError("there is no program so far: write it below %%ptx or %%cuda")
            return self.last
        self.count += 1
        path = self.folder / str(self.count) / f"cell{suffix or suffix_of(cell)}"
        path.parent.mkdir()
        path.write_text(cell, encoding="utf-8")
        self.last = Program(cell, path)
        return self.last

    def asked(self, command: click.Command, line: str, program: Program) -> tuple[InputFile, list[RunSpec], dict[str, Any]]:
        """The program, its runs, and the options of a line as a command of the command line reads them."""
        from ..cli.running.launching import runs_of
        from ..run.options import OPTIONS

        words = [_ARRAY.sub(self._array, w) for w in shlex.split(line)]
        ctx = command.make_context(command.name or "", [str(program.path), *words])
        given: dict[str, Any] = ctx.params
        (file,) = given["files"]
        file = replace(file, name=program.path.name) if not program.is_cpp else file
        own = {o.field for o in OPTIONS.values()}
        specs = runs_of((file,), {k: v for k, v in given.items() if k in own})
        if not specs:
            raise UsageError(
                "nothing says how to launch this: give --grid, --block and --arg in the line, or a //@ run comment in the cell"
            )
        return file, specs, given

    def _array(self, m: re.Match[str]) -> str:
        """An array of the notebook as a file."""
        value = self.shell.user_ns.get(m[1])
        if value is None:
            return m[0]
        path = self.folder / f"{m[1]}.npy"
        np.save(path, np.asarray(value))
        return f"@{path}"

    def guarded(self, work: Callable[[], T]) -> T:
        """Turns what is wrong into a message."""
        try:
            return work()
        except click.ClickException as e:
            raise CellError(f"error: {e.format_message()}") from None
        except click.exceptions.Exit:
            raise CellError("error: the line has the options of a launch, such as --grid 4") from None
        except (PtxError, UsageError, ApiError, ValueError) as e:
            said = re.sub(rf"{re.escape(str(self.folder))}/\d+/", "", str(e))
            raise CellError(re.sub(r"^(?:NVRTC_ERROR_COMPILATION|CUDA_ERROR_INVALID_PTX): ", "", said)) from None


def replace_folder(runner: Any) -> Any:
    """Files that a run names are found from the folder of the notebook."""
    runner.folder = Path()
    return runner


def load(shell: Shell) -> None:
    """`%load_ext warplab`."""
    magics = Magics(shell)
    for name in ("ptx", "cuda", "record", "sanitize", "grade"):
        shell.register_magic_function(getattr(magics, name), "line_cell", name)
