"""What to run and what to expect of it: from command-line options, from `//@ run ...` comments, or from a .toml beside the file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..device.launches.sanitizing import tools_of
from ..device.modules.loading import contraction
from ..errors import UsageError
from .expect import Tolerance
from .options import OF_A_RUN, OPTIONS, TOLERANCES
from .values import Argument, parse_argument

Dim3 = tuple[int, int, int]
DIRECTIVE = re.compile(r"^\s*//@\s*run\b(.*)$")
LEAST = {"shared": 0, "rtol": 0, "atol": 0, "ulp": 0, "threads": 1, "schedules": 1, "max_steps": 1, "timeout": 0}
MOST = {"schedules": 1_000_000}
_CONTINUED = re.compile(r"^\s*//@\s+(--.*)$")


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """One launch; an argument that is a plain NAME takes the buffer of that name."""

    kernel: str = ""  # "" where the program has only one
    grid: Dim3 = (1, 1, 1)
    block: Dim3 = (1, 1, 1)
    args: tuple[str, ...] = ()
    shared: int = 0
    cooperative: bool = False
    cluster: Dim3 | None = None
    stream: str = ""  # "": the default stream


@dataclass(frozen=True, slots=True)
class HostStep:
    """What the host does between launches: free, memset, record, wait or sync."""

    what: str
    name: str = ""  # of a buffer or an event
    stream: str = ""
    value: int = 0  # of each byte that a memset writes
    offset: int = 0
    bytes: int | None = None  # None: to the end of the buffer


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A sequence of launches over shared buffers, and what should come out."""

    launches: tuple[LaunchSpec | HostStep, ...]
    buffers: tuple[tuple[str, str], ...] = ()  # (name, value text)
    textures: tuple[str, ...] = ()  # NAME=VALUE[,OPTION...]
    surfaces: tuple[str, ...] = ()
    tensor_maps: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()  # SYMBOL=VALUE
    expect: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    dump: tuple[str, ...] = ()
    tolerance: Tolerance = field(default_factory=Tolerance)
    device: str = ""
    device_rules_only: bool = False  # code for newer devices runs, too
    l1: str = ""  # the size of L1
    banks: int | None = None  # bytes of a bank's word
    engine: str = ""
    threads: int | None = None
    schedule: int | None = None
    schedules: int | None = None  # so many seeds, from that of `schedule` on, are held against the default order
    poison: int | None = None
    max_steps: int | None = None
    timeout: float | None = None
    fmad: str = ""
    sanitize: str = ""  # the tools that look at the launches; "none": not even those of `warplab run`
    strict: bool = False  # see Sanitizer
    goes_on: bool = False  # behind a launch that ends in a device error, under checkers
    modules: tuple[str, ...] = ()
    line: int = 0  # of the directive
    addresses: tuple[tuple[str, int], ...] = ()  # (name of a buffer, where it must stand)


def dim3(text: str | int | Sequence[int], option: str) -> Dim3:
    """`4`, `4,2`, `(4,2,1)` or `4x2`, as the value of an option."""
    if isinstance(text, int):
        values = [text]
    elif isinstance(text, str):
        try:
            values = [int(x, 0) for x in text.strip().strip("()").replace("x", ",").split(",") if x.strip()]
        except ValueError:
            raise UsageError(f"{option} {text!r}: write 4, 4,2 or 4,2,1") from None
    else:
        values = [int(x) for x in text]
    if not 1 <= len(values) <= 3 or min(values) < 1:
        raise UsageError(f"{option} {text!r}: write one to three numbers from 1 up, as in 4 or 4,2")
    x, y, z = [*values, 1, 1][:3]
    return x, y, z


def from_options(given: Mapping[str, Any], line: int = 0) -> RunSpec:
    """One launch, from options by field name, and the line of the directive that gives them."""

    def number(name: str, kind: type) -> Any:
        value = given.get(name)
        option = f"--{name.replace('_', '-')}"
        try:
            found = None if value is None else kind(value) if kind is float else int(str(value), 0)
        except ValueError:
            raise UsageError(f"{option} {value!r} is not a number") from None
        least = LEAST.get(name)
        if found is not None and least is not None and not found >= least:
            raise UsageError(f"{option} {value}: write {f'{least} or more' if least else 'a number that is not negative'}")
        if found is not None and found > MOST.get(name, found):
            raise UsageError(f"{option} {value}: write {MOST[name]} or less")
        return found

    launch = LaunchSpec(
        str(given.get("kernel", "")), dim3(given.get("grid", 1), "--grid"), dim3(given.get("block", 1), "--block"), tuple(map(str, given.get("args", ()))),
        number("shared", int) or 0, bool(given.get("cooperative")), dim3(given["cluster"], "--cluster") if "cluster" in given else None,
    )  # fmt: skip

    def several(name: str) -> tuple[str, ...]:
        return tuple(given.get(name) or ())

    return RunSpec(
        (launch,), (), several("textures"), several("surfaces"), several("tensor_maps"), several("symbols"),
        several("expect"), several("show"), several("dump"),
        Tolerance(number("rtol", float) or 0.0, number("atol", float) or 0.0, number("ulp", int) or 0),
        given.get("device") or "", bool(given.get("device_rules_only")),
        str(given.get("l1") or ""), number("banks", int), str(given.get("engine") or ""), number("threads", int),
        number("schedule", int), number("schedules", int), number("poison", int),
        number("max_steps", int), number("timeout", float), _fmad(given.get("fmad")), _tools(given.get("sanitize") or ""),
        bool(given.get("strict")), _goes_on(given.get("on_error")), line=line,
    )  # fmt: skip


def _tools(word: str) -> str:
    return "none" if word == "none" else " ".join(tools_of(word))


def _goes_on(word: str | None) -> bool:
    if word not in (None, "", "stop", "continue"):
        raise UsageError(f"--on-error {word}: write stop or continue")
    return word == "continue"


def _fmad(word: str | None) -> str:
    return contraction(word) if word else ""


def from_text(words: str, line: int) -> RunSpec:
    """One `//@ run` directive."""
    try:
        parts = shlex.split(words)
    except ValueError as e:
        raise UsageError(f"line {line}: //@ run: {e}") from None
    given: dict[str, Any] = {}
    i = 0
    while i < len(parts):
        name, eq, value = parts[i].partition("=")
        if name not in OPTIONS:
            near = get_close_matches(name, OPTIONS, 1, 0.7)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"line {line}: //@ run: no option is called {name}{meant} (the options: {' '.join(OPTIONS)})")
        field_name, kind, _ = OPTIONS[name]
        i += 1
        if kind == "flag":
            given[field_name] = True
            continue
        if kind == "word" and not eq:  # its value may be missing
            if i < len(parts) and not parts[i].startswith("--"):
                value, i = parts[i], i + 1
            given[field_name] = value or "all"
            continue
        if not eq:
            if i == len(parts):
                raise UsageError(f"line {line}: //@ run: {name} needs a value")
            value = parts[i]
            i += 1
        if kind == "many":
            given.setdefault(field_name, []).append(value)
        else:
            given[field_name] = value
    return from_options(given, line)


def directives(text: str) -> list[RunSpec]:
    """Every `//@ run` of a file; a directive goes on in the following `//@` lines that begin with an option."""
    out: list[tuple[str, int]] = []
    for n, line in enumerate(text.splitlines(), 1):
        if "//@" not in line:
            continue
        if m := DIRECTIVE.match(line):
            out.append((m[1], n))
        elif out and out[-1][1] and (more := _CONTINUED.match(line)):
            out[-1] = (f"{out[-1][0]} {more[1]}", out[-1][1])
    return [from_text(words, n) for words, n in out]


def runs_beside(path: Path, text: bytes) -> list[RunSpec]:
    """The runs that the .toml beside a file describes, else those of its directives."""
    beside = path.with_suffix(".toml")
    return from_toml(beside) if beside.is_file() else directives(text.decode(errors="replace"))


def from_toml(path: Path) -> list[RunSpec]:
    """A launch file: buffers, launches in sequence, expectations; `[[run]]` tables where there are several runs."""
    import tomllib  # few programs have one, and each start would pay

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"{path}: {e}") from None
    runs = data.get("run", [data])
    return [_run(run, path) for run in (runs if isinstance(runs, list) else [runs])]


_RUN_KEYS = frozenset(
    "modules buffers at tex surf tensormap launch expect print dump set rtol atol ulp".split()
    + "device device_rules_only l1 banks engine threads schedule schedules poison max_steps timeout fmad sanitize strict on_error".split()
)
_LAUNCH_KEYS = {"kernel", "grid", "block", "args", "shared", "cooperative", "cluster", "stream"}
_STEP_KEYS = {"free": set[str](), "memset": {"value", "bytes", "offset"}, "record": {"stream"}, "wait": {"stream"}, "sync": set[str]()}


def _run(data: Mapping[str, Any], path: Path) -> RunSpec:
    if unknown := set(data) - _RUN_KEYS:
        raise UsageError(f"{path}: no key is called {sorted(unknown)[0]!r}; there are {' '.join(sorted(_RUN_KEYS))}")
    launches: list[LaunchSpec | HostStep] = []
    for launch in data.get("launch", []):
        if step := next((k for k in _STEP_KEYS if k in launch), ""):
            launches.append(_step(step, launch, path))
            continue
        if unknown := set(launch) - _LAUNCH_KEYS:
            raise UsageError(f"{path}: a launch has no {sorted(unknown)[0]!r}; it has {' '.join(sorted(_LAUNCH_KEYS))}")
        (made,) = from_options(launch).launches
        assert isinstance(made, LaunchSpec)
        launches.append(replace(made, stream=str(launch.get("stream", ""))))
    one = from_options({k: data.get(k) for k in OF_A_RUN | TOLERANCES})
    return replace(
        one, launches=tuple(launches), buffers=tuple((str(k), str(v)) for k, v in data.get("buffers", {}).items()),
        addresses=_addresses(data, path),
        textures=_named(data, "tex"), surfaces=_named(data, "surf"), tensor_maps=_named(data, "tensormap"), symbols=_named(data, "set"),
        expect=tuple(data.get("expect", ())),
        show=tuple(data.get("print", ())), dump=tuple(data.get("dump", ())), modules=tuple(data.get("modules", ())),
    )  # fmt: skip


def _step(what: str, given: Mapping[str, Any], path: Path) -> HostStep:
    if unknown := set(given) - _STEP_KEYS[what] - {what}:
        raise UsageError(f"{path}: {what} has no {sorted(unknown)[0]!r}; it has {' '.join(sorted(_STEP_KEYS[what])) or 'no other keys'}")
    if what == "memset" and "value" not in given:
        raise UsageError(f"{path}: memset needs the value of each byte: value = 0")
    numbers = {k: given.get(k, 0) for k in ("value", "offset", "bytes")}
    for key, n in numbers.items():
        if not isinstance(n, int) or n < 0 or (key == "value" and n > 255):
            raise UsageError(f"{path}: {key} = {n!r} of {what}: write a number{' from 0 to 255' if key == 'value' else ' of bytes'}")
    name = "" if what == "sync" else str(given[what])
    size = numbers["bytes"] if "bytes" in given else None
    return HostStep(what, name, str(given.get("stream", "")), numbers["value"], numbers["offset"], size)


def _addresses(data: Mapping[str, Any], path: Path) -> tuple[tuple[str, int], ...]:
    """Where buffers must stand; each must be one of the run's."""
    given = data.get("at", {})
    for name, address in given.items():
        if name not in data.get("buffers", {}) or not isinstance(address, int) or address < 1:
            raise UsageError(f"{path}: at.{name} = {address!r}: write the name of a buffer and its address")
    return tuple(given.items())


def _named(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A table of names and values as NAME=VALUE."""
    return tuple(f"{k}={v}" for k, v in data.get(key, {}).items())


def argument(text: str, buffers: Mapping[str, Any], folder: Path | None) -> Argument | str:
    """An argument, or the name of a buffer that is there already."""
    return text if text in buffers else parse_argument(text, folder)
