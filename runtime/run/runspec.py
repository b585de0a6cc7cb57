"""What to run and what to expect of it: from command-line options, from `//@ run ...` comments, or from a .toml beside the file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..device.described import in_words
from ..errors import UsageError
from .expect import Tolerance
from .inputs.values import Argument, parse_argument
from .options import OPTIONS, Dim3, parsed

DIRECTIVE = re.compile(r"^\s*//@\s*run\b(.*)$")
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
    schedules: int | str | None = None  # so many seeds, from that of `schedule` on, or EXHAUSTIVE, are held against the default order
    scheduler: str = ""  # of a Dask cluster that goes through them
    poison: int | None = None
    max_steps: int | None = None
    timeout: float | None = None
    fmad: str = ""
    sanitize: str = ""  # the tools that look at the launches; "none": not even those of `warplab run`
    strict: bool = False  # see Sanitizer
    goes_on: bool = False  # behind a launch that ends in a device error, under checkers
    leak_check: str = ""  # "full", "no", or "": if all tools look at the launches
    kernel_regex: str = ""  # of the launches that checkers watch: see LaunchFilter
    kernel_regex_exclude: str = ""
    launch_skip: int = 0
    launch_count: int | None = None
    suppressions: tuple[str, ...] = ()  # files with findings that are not reported
    modules: tuple[str, ...] = ()
    line: int = 0  # of the directive
    addresses: tuple[tuple[str, int], ...] = ()  # (name of a buffer, where it must stand)


def from_options(given: Mapping[str, Any], line: int = 0) -> RunSpec:
    """One launch, from options by field, and the line of the directive that gives them."""
    parts: dict[str, dict[str, Any]] = {option.part: {} for option in OPTIONS.values()}
    for option in OPTIONS.values():
        found = given.get(option.field)
        if found not in (None, "", ()):
            parts[option.part][option.field] = option.value(found)
    launch, tolerance = LaunchSpec(**parts.pop("launch")), Tolerance(**parts.pop("tolerance"))
    return RunSpec((launch,), tolerance=tolerance, line=line, **{field: value for part in parts.values() for field, value in part.items()})


def overridden(spec: RunSpec, given: Mapping[str, Any]) -> RunSpec:
    """A run as options by field change it: each replaces its like, and what may be given several times is added."""
    one = from_options(given)
    (shape,) = one.launches
    named = [option for option in OPTIONS.values() if option.field in given]
    of_launch = {o.field: getattr(shape, o.field) for o in named if o.part == "launch"}
    launches = tuple(replace(launch, **of_launch) if isinstance(launch, LaunchSpec) else launch for launch in spec.launches)
    of_checks = {o.field: getattr(one.tolerance, o.field) for o in named if o.part == "tolerance"}
    of_run: dict[str, Any] = {
        o.field: (*getattr(spec, o.field), *getattr(one, o.field)) if o.kind == "many" else getattr(one, o.field)
        for o in named
        if o.part not in ("launch", "tolerance")
    }
    return replace(spec, launches=launches, tolerance=replace(spec.tolerance, **of_checks), **of_run)


def from_text(words: str, line: int) -> RunSpec:
    """One `//@ run` directive."""
    where = f"line {line}: //@ run"
    try:
        parts = shlex.split(words)
    except ValueError as e:
        raise UsageError(f"{where}: {e}") from None
    return from_options(parsed(parts, where), line)


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
    return from_toml(beside) if beside.is_file() else [located(s, path.parent) for s in directives(text.decode(errors="replace"))]


def located(spec: RunSpec, folder: Path) -> RunSpec:
    """The run with its device in words, where that is a file, here or in the folder."""
    return replace(spec, device=in_words(spec.device, folder))


def from_toml(path: Path) -> list[RunSpec]:
    """A launch file: buffers, launches in sequence, expectations; `[[run]]` tables where there are several runs."""
    import tomllib  # few programs have one, and each start would pay

    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise UsageError(f"{path}: {e}") from None
    runs = data.get("run", [data])
    return [located(_run(run, path), path.parent) for run in (runs if isinstance(runs, list) else [runs])]


_LAUNCH_KEYS = {option.field for option in OPTIONS.values() if option.part == "launch"} | {"stream"}
_OPTION_KEYS = {option.key: option for option in OPTIONS.values() if option.part != "launch"}
_RUN_KEYS = {*_OPTION_KEYS, "modules", "buffers", "at", "launch"}
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
    one = from_options({option.field: _listed(data[key]) for key, option in _OPTION_KEYS.items() if key in data})
    return replace(
        one, launches=tuple(launches), buffers=tuple((str(k), str(v)) for k, v in data.get("buffers", {}).items()),
        addresses=_addresses(data, path), modules=tuple(data.get("modules", ())),
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


def _listed(value: Any) -> Any:
    """A table of names and values as NAME=VALUE; all else as it is."""
    return tuple(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else value


def argument(text: str, buffers: Mapping[str, Any], folder: Path | None) -> Argument | str:
    """An argument, or the name of a buffer that is there already."""
    return text if text in buffers else parse_argument(text, folder)
