"""pytest collects the tests that stand in files of PTX and CUDA C++, where the ini option `warplab` names their files or folders:

    [tool.pytest.ini_options]
    warplab = ["samples", "tests/golden"]

Without the option the plugin does nothing but offer three fixtures: `warplab_device`, a device; `assert_array`, which compares arrays and
shows the first elements that differ; and `warplab_schedule`, with which a test runs in the default order and, with --warplab-schedules N,
once more under each of N seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .golden import Case

AssertArray = Callable[..., None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini option and the flags."""
    parser.addini("warplab", "Files and folders whose PTX tests are collected.", type="args", default=[])
    group = parser.getgroup("warplab")
    group.addoption("--warplab-update", action="store_true", help="Rewrite the recorded outputs of PTX tests in place.")
    group.addoption(
        "--warplab-schedules", type=int, metavar="N", help="Run PTX tests, and those with warplab_schedule, under N seeds, too."
    )
    group.addoption("--warplab-gpu", action="store_true", help="Run PTX tests on a real device.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """A file in PTX or CUDA C++ below one of the configured paths."""
    if file_path.suffix not in (".ptx", ".cu", ".litmus"):
        return None
    roots = [parent.config.rootpath / r for r in parent.config.getini("warplab")]
    if not any(file_path == r or r in file_path.parents for r in roots):
        return None
    return PtxFile.from_parent(parent, path=file_path)


class PtxFile(pytest.File):
    """A file and its tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item a case."""
        from .golden.collect import cases_of

        for case in cases_of(self.path):
            yield PtxItem.from_parent(self, name=case.name, case=case.told(schedules=self.config.getoption("--warplab-schedules")))


class PtxItem(pytest.Item):
    """One run, verdict or tool line."""

    def __init__(self, *, case: Case, **kw: Any) -> None:
        super().__init__(**kw)
        self.case = case

    def runtest(self) -> None:
        """See pytest.Item."""
        from .golden import run_case

        result = run_case(self.case, self.config.getoption("--warplab-update"), self.config.getoption("--warplab-gpu"))
        if result.outcome == "skipped":
            pytest.skip(result.message)
        if result.outcome == "xfailed":
            pytest.xfail(result.message)
        if not result.passed:
            raise PtxFailure(result.message)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone: a traceback through warplab says nothing about the test."""
        if isinstance(excinfo.value, PtxFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """See pytest.Item."""
        return self.path, max(0, self.case.line - 1), self.name


class PtxFailure(Exception):
    """A test that does not hold."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes warplab_schedule is a test for each order."""
    if "warplab_schedule" in metafunc.fixturenames:
        seeds = range(1, 1 + (metafunc.config.getoption("--warplab-schedules") or 0))
        metafunc.parametrize("warplab_schedule", [None, *seeds], indirect=True, ids=["default", *(f"schedule{n}" for n in seeds)])


@pytest.fixture
def warplab_schedule(request: pytest.FixtureRequest) -> Iterator[int | None]:
    """The seed under which the launches of a test run; None: the default order."""
    from .device.launches.scheduling import scheduled

    with scheduled(request.param):
        yield request.param


@pytest.fixture
def warplab_device() -> Any:
    """A device of the newest model, as `warplab.runtime.Device()` gives it."""
    import warplab.runtime as runtime

    device = runtime.Device()
    device.set_current()
    return device


@pytest.fixture
def assert_array() -> AssertArray:
    """assert_array(got, wanted, rtol=0, atol=0, ulp=0)."""

    def check(got: Any, wanted: Any, rtol: float = 0.0, atol: float = 0.0, ulp: int = 0) -> None:
        __tracebackhide__ = True  # the failure is in the test that compares
        import numpy as np

        from .run.expect import Tolerance, agree, show

        if hasattr(got, "copy_to_host"):
            got = got.copy_to_host()
        g, w = np.broadcast_arrays(np.asarray(got), np.asarray(wanted))
        equal = agree(g, w, Tolerance(rtol, atol, ulp))
        if equal.all():
            return
        where = np.argwhere(~equal)
        rows = "\n".join(f"  {list(map(int, at))}: got {show(g[tuple(at)])}, expected {show(w[tuple(at)])}" for at in where[:8])
        raise AssertionError(f"{len(where)} of {g.size} elements differ\n{rows}" + ("\n  ..." if len(where) > 8 else ""))

    return check
