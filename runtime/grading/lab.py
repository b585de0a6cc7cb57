"""A lab: a folder with lab.toml (tests with points, limits) and the files it names; and submissions, which are nothing but bytes.

lab.toml
    title = "..."            files = ["a.ptx", ...]   where a submission is a folder of several files; else it is one .ptx.  Each may be a .cu instead
    sanitize = "all"         checkers that look at each run: what they find costs the points of the test (also of one [[test]])
    orders = 3               each run is done in so many orders of warps and lanes, where it names no --schedule (also of one [[test]])
    warnings = true          warnings of the assembler that a run shows cost points, too (also of one [[test]])
    [limits]                 steps  seconds  total (seconds)  memory (MiB)  source (KiB)
    [[test]]                 name  points  hidden  run = "--grid ... --expect ..." (or a list; `assembles = true` needs none)
                             speed = [[1.2, 4], [2, 1]]: 4 points up to 1.2 times the reference's predicted time, 1 up to twice
                             launches = "file.toml"  modules = ["main.ptx"]  file = "a.ptx"  metrics = [...]  prints  fault  hint
                             require / forbid = ["regular expression", ...] over the code without comments
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any

from ..device.launches.sanitizing import tools_of
from ..errors import UsageError
from ..run.runspec import RunSpec, from_text, from_toml, located
from ..sources import CPP, PTX
from .notebook import NOTEBOOK, submitted

ORDERS = 3  # the default order, and the first seeds
GRACE = 5.0  # seconds beyond a test's limit, for assembling and checking


@dataclass(frozen=True, slots=True)
class Limits:
    """What one test of one submission may take; `total` is for all its tests."""

    steps: int = 5_000_000
    seconds: float = 10.0
    total: float = 30.0  # seconds for all tests of a submission together
    memory: int = 512  # MiB, of the device and of the process on top of what it starts with
    source: int = 512  # KiB a file


@dataclass(frozen=True, slots=True)
class LabTest:
    """One test: what to run and what should hold."""

    name: str
    points: float
    hidden: bool
    runs: tuple[RunSpec, ...]  # none: the submission must assemble, and nothing else
    file: str = ""  # of the submission, where it has several
    modules: tuple[str, ...] = ()  # of the lab, linked with the submission
    metrics: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    prints: str | None = None
    fault: str = ""
    hint: str = ""
    sanitize: str = ""  # the checkers of its runs
    orders: int = ORDERS
    warnings: bool = False  # do warnings cost its points?
    speed: tuple[tuple[float, float], ...] = ()  # (times the reference's predicted time, the points up to there)


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab as its folder says."""

    folder: Path
    title: str
    files: tuple[str, ...]
    limits: Limits
    tests: tuple[LabTest, ...]
    differences: str = ""  # what students may see of the first store that differs from the reference's: "store", "instructions"
    times: Mapping[str, float] = field(default_factory=dict, hash=False)  # cycles of the reference, by test and language

    @property
    def points(self) -> float:
        """What a submission can earn."""
        return sum(t.points for t in self.tests)

    def deadline(self, number: int) -> float:
        """Seconds after which a test is ended from outside."""
        test = self.tests[number]
        return self.limits.seconds * max(1, len(test.runs) * (test.orders + bool(test.sanitize))) + GRACE


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission."""

    name: str
    files: Mapping[str, bytes] = field(hash=False)
    path: str = ""  # of its file, or of its folder

    def named(self, file: str) -> str:
        """The name of its file that stands for one of the lab's, in PTX or in CUDA C++; the only one where the lab names none."""
        return next((name for name in both(file) if name in self.files), file) if file else next(iter(self.files), "")


def both(file: str) -> tuple[str, ...]:
    """The names that a file of a lab may have in a submission."""
    return (file, file.removesuffix(PTX) + CPP) if file.endswith(PTX) else (file,)


_SHARED = {"sanitize", "orders", "warnings"}  # keys of a lab that its tests may have, too
_KEYS = {"title", "files", "limits", "test", "differences"} | _SHARED
_DIFFERENCES = ("", "store", "instructions")
_TEST_KEYS = {
    "name", "points", "hidden", "run", "launches", "file", "modules", "metrics", "require", "forbid", "prints", "fault", "hint", "assembles",
    "speed",
} | _SHARED  # fmt: skip


def load_lab(folder: str | Path) -> Lab:
    """The lab of a folder, or of its lab.toml."""
    path = Path(folder)
    path = path if path.name == "lab.toml" else path / "lab.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as e:
        raise UsageError(f"{path}: {e.strerror}; a lab is a folder with a lab.toml") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"{path}: {e}") from None
    _known(data, _KEYS, path)
    tables, limits = data.get("test", []), data.get("limits", {})
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise UsageError(f"{path}: begin each test with [[test]], in two brackets")
    if not isinstance(limits, dict):
        raise UsageError(f"{path}: begin the limits with [limits]")
    _known(limits, set(Limits.__dataclass_fields__), path)
    for key, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float if key in ("seconds", "total") else int) or not 0 < value < inf:
            raise UsageError(f"{path}: {key} = {value!r}: write a number above 0")
    files = _strings(data.get("files", []), path, "files")
    shared = {key: data[key] for key in _SHARED & set(data)}
    tests = tuple(_test({**shared, **t}, path, files) for t in tables)
    if not tests:
        raise UsageError(f"{path}: there is no [[test]]")
    if len({t.name for t in tests}) < len(tests):
        raise UsageError(f"{path}: two tests have one name")
    differences = data.get("differences", "")
    if differences not in _DIFFERENCES:
        raise UsageError(
            f'{path}: differences = {differences!r}: "store" shows the first store that differs, "instructions" also where the values come from'
        )
    return Lab(path.parent, str(data.get("title", path.parent.name)), files, Limits(**limits), tests, differences)


def _test(t: Mapping[str, Any], path: Path, files: tuple[str, ...]) -> LabTest:
    _known(t, _TEST_KEYS, path)
    name = str(t.get("name", ""))
    if not name:
        raise UsageError(f"{path}: a test has no name")
    try:
        runs = [located(from_text(words, 0), path.parent) for words in _strings(t.get("run", []), path, "run")]
    except UsageError as e:
        raise UsageError(f"{path}: test {name!r}: {str(e).removeprefix('line 0: //@ ')}") from None
    for launches in _strings(t.get("launches", []), path, "launches"):
        runs += from_toml(path.parent / launches)
    if not runs and not t.get("assembles") and not t.get("require") and not t.get("forbid"):
        raise UsageError(f"{path}: test {name!r} has nothing to check: give it run, launches, require, forbid or assembles = true")
    patterns = {key: _strings(t.get(key, []), path, key) for key in ("require", "forbid")}
    for pattern in (p for group in patterns.values() for p in group):
        try:
            re.compile(pattern)
        except re.error as e:
            raise UsageError(f"{path}: test {name!r}: {pattern!r}: {e}") from None
    orders = t.get("orders", ORDERS)
    if not isinstance(orders, int) or not 1 <= orders <= 100:
        raise UsageError(f"{path}: test {name!r}: orders = {orders!r}: write a number from 1 to 100")
    file = str(t.get("file", ""))
    if file and file not in files:
        raise UsageError(f"{path}: test {name!r}: {file} is not among files = {list(files)}")
    speed = _speed(t, path)
    points = t.get("points", speed[0][1] if speed else 1)
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < inf:
        raise UsageError(f"{path}: test {name!r}: points = {points!r}: write a number that is not negative")
    for key in ("hidden", "assembles", "warnings"):
        if not isinstance(t.get(key, False), bool):
            raise UsageError(f"{path}: test {name!r}: {key} = {t[key]!r}: write true or false")
    return LabTest(
        name, float(points), bool(t.get("hidden", False)), tuple(runs), file or (files[0] if files else ""),
        _strings(t.get("modules", []), path, "modules"), _strings(t.get("metrics", []), path, "metrics"), patterns["require"],
        patterns["forbid"], str(t["prints"]) if "prints" in t else None, str(t.get("fault", "")), str(t.get("hint", "")),
        " ".join(tools_of(str(t.get("sanitize", "")))), orders, bool(t.get("warnings", False)), speed,
    )  # fmt: skip


def _speed(t: Mapping[str, Any], path: Path) -> tuple[tuple[float, float], ...]:
    """The table of points for speed: slower is worth less."""
    rows = t.get("speed", [])
    good = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(n, int | float) and not isinstance(n, bool) and 0 < n < inf for n in row)
        for row in rows
    )
    table = tuple((float(most), float(points)) for most, points in rows) if good else ()
    falls = all(a[0] < b[0] and a[1] > b[1] for a, b in pairwise(table))
    if not good or not falls or (table and ("points" in t or (not t.get("run") and not t.get("launches")))):
        raise UsageError(
            f"{path}: test {t['name']!r}: speed: write the table of its points, and no points beside it: speed = [[1.2, 4], [2, 1]] gives 4 up to "
            "1.2 times the reference's predicted time, 1 up to twice; it needs run or launches"
        )
    return table


def _known(data: Mapping[str, Any], keys: set[str], path: Path) -> None:
    if unknown := sorted(set(data) - keys):
        near = get_close_matches(unknown[0], keys, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"{path}: no key is called {unknown[0]!r}{meant} (the keys: {' '.join(sorted(keys))})")


def _strings(value: Any, path: Path, key: str) -> tuple[str, ...]:
    out = [value] if isinstance(value, str) else value
    if not isinstance(out, list) or not all(isinstance(x, str) for x in out):
        raise UsageError(f"{path}: {key} is a string or a list of strings")
    return tuple(out)


# ---------------------------------------------------------------- submissions


def find_submissions(lab: Lab, paths: Sequence[str | Path]) -> list[Submission]:
    """Each .ptx or .cu is a submission; a folder is one where the lab asks for several files, else each file in it is.

    The folders in a folder are its students', each named by its student, unless the folder itself has the files that the lab asks for.
    """
    out: list[Submission] = []
    for given in paths:
        path = Path(given)
        if path.is_dir():
            found = _in_folder(lab, path)
            inside = sorted(p for p in path.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith("."))
            if inside and not (found and lab.files):
                out += found
                for student in inside:
                    own = _in_folder(lab, student)
                    single = len(own) == 1
                    out += [Submission(student.name if single else f"{student.name}/{s.name}", s.files, s.path) for s in own]
                    if not own:
                        out.append(Submission(student.name, {}))
            else:
                out += found or [Submission(path.resolve().name, {})] * bool(lab.files)
        elif path.is_file():
            if len(lab.files) > 1:
                raise UsageError(f"{path}: this lab requires a folder with {', '.join(lab.files)}")
            files = _read([path], lab)
            read = Path(next(iter(files), path.name))
            name = Path(lab.files[0]).with_suffix(CPP).name if lab.files and read.suffix == CPP else (lab.files or [read.name])[0]
            out.append(Submission(path.stem, dict.fromkeys([name], *files.values()) if files else {}, path.as_posix()))
        else:
            raise UsageError(f"{path}: no such file or folder")
    languages: dict[str, set[str]] = {}
    for s in out:
        languages.setdefault(s.name, set()).add(Path(s.path).suffix)
    out = [replace(s, name=s.name + Path(s.path).suffix) if len(languages[s.name]) > 1 else s for s in out]
    names = [s.name for s in out]
    twice = {n for n in names if names.count(n) > 1}
    numbers: dict[str, int] = {}
    unique = []
    for s in out:
        if s.name in twice:
            numbers[s.name] = numbers.get(s.name, 0) + 1
            s = replace(s, name=f"{s.name} ({numbers[s.name]})")
        unique.append(s)
    return unique


def _in_folder(lab: Lab, path: Path) -> list[Submission]:
    if lab.files:
        files = _read([path / next((n for n in both(f) if (path / n).is_file()), f) for f in lab.files], lab)
        return [Submission(path.resolve().name, files, path.as_posix())] if files else []
    return [
        Submission(p.stem, _read([p], lab), p.as_posix())
        for p in sorted(path.iterdir())
        if p.suffix in (PTX, CPP, NOTEBOOK) and (p.is_symlink() or not p.is_dir())
    ]


def _read(paths: Iterable[Path], lab: Lab) -> dict[str, bytes]:
    """Files that are there; of one that is too large only as much as shows that it is.

    A link is not there: it would show a student, in a diagnostic, what a file of the grader holds.
    """
    out: dict[str, bytes] = {}
    for path in paths:
        if path.suffix == NOTEBOOK and path.is_file() and not path.is_symlink():
            name, data = submitted(path, lab.folder.resolve().name)
            out[name] = data[: (lab.limits.source << 10) + 1]
        elif path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                out[path.name] = file.read((lab.limits.source << 10) + 1)
    return out


def references_of(lab: Lab) -> list[Submission]:
    """The solutions in a lab's folder, in PTX and in CUDA C++; none where they were left out, as in a bundle for students."""
    return _of_lab(lab, "reference")


def starters_of(lab: Lab) -> list[Submission]:
    """What a lab hands out, in PTX and in CUDA C++."""
    return _of_lab(lab, "starter")


def _of_lab(lab: Lab, name: str) -> list[Submission]:
    names = (name, f"{name}_cuda", f"{name}{PTX}", f"{name}{CPP}")
    return [find_submissions(lab, [p])[0] for p in (lab.folder / n for n in names) if p.exists()]
