"""The options that shape a launch, shared by `run` and `profile`: one list, the same words as in a `//@ run` directive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..run.options import OF_A_RUN, OPTIONS, TOLERANCES
from . import completing
from .files import SOURCE, InputFile

if TYPE_CHECKING:
    from ..run.runner import Runner
    from ..run.runspec import RunSpec

F = TypeVar("F", bound=Callable[..., Any])

LAUNCH_OPTIONS = (
    "kernel grid block arg tex surf tensormap shared cooperative cluster set device device-rules-only l1 banks "
    "engine threads schedule poison fmad max-steps timeout"
)
SCHEDULES = "schedules"
CHECK_OPTIONS = "expect rtol atol ulp print dump"
CHECKED = "strict on-error"
SANITIZE = f"sanitize {CHECKED}"

# what the kinds of OPTIONS are for click
KINDS: dict[str, dict[str, Any]] = {"word": {"is_flag": False, "flag_value": "all"}, "flag": {"is_flag": True}}

COMPLETED: dict[str, completing.Completer] = {
    "device": completing.devices, "kernel": completing.kernels, "engine": completing.engines, "fmad": completing.contractions,
}  # fmt: skip

# what an option does to a run that the file describes
SHAPES = {"kernel", "grid", "block", "shared", "cooperative", "cluster"}
FIELDS = {"on_error": "goes_on"}  # of a RunSpec, where they have other names
ADDED = {"textures", "surfaces", "tensor_maps", "symbols", "expect", "show", "dump"}
PLACES = OF_A_RUN | TOLERANCES | {"show", "dump"}  # without a launch these say nothing


def with_options(*groups: str) -> Callable[[F], F]:
    """Adds options to a command, in the order in which the help shows them."""

    def add(f: F) -> F:
        for name in reversed(" ".join(groups).split()):
            field, kind, text = OPTIONS[f"--{name}"]
            alone = KINDS.get(kind, {})
            f = click.option(
                f"--{name}",
                field,
                multiple=kind == "many",
                is_eager=name == "device",
                help=text,
                shell_complete=COMPLETED.get(name),
                **alone,
            )(f)
        return f

    return add


def runs_of(sources: tuple[InputFile, ...], options: dict[str, Any]) -> list[RunSpec]:
    """What to run: the launch that --arg describes, else the .toml beside the file or the file's directives, as the options change them."""
    from warplab.assembler.demangle import matching

    from ..run.runspec import LaunchSpec, directives, from_options, runs_beside

    given = {k: v for k, v in options.items() if v not in (None, (), False)}
    first = sources[0]
    text = b"" if first.is_object else first.cpp or first.data
    specs = directives(text.decode(errors="replace")) if first.is_stdin else runs_beside(Path(first.name), text)
    if "kernel" in given:
        wanted = given["kernel"]

        def is_meant(launch: object) -> bool:
            name = launch.kernel if isinstance(launch, LaunchSpec) else None
            return name is not None and (not name or bool(matching([name], wanted) or matching([wanted], name)))

        specs = [s for s in specs if any(map(is_meant, s.launches))]
    if "args" in given or (not specs and set(given) - PLACES):
        return [from_options(given)]
    return [_override(s, given) for s in specs]


def _override(spec: RunSpec, given: dict[str, Any]) -> RunSpec:
    """The run with what the options change: each replaces its like, and checks, prints, dumps and variables are added."""
    from ..run.runspec import LaunchSpec, from_options

    one = from_options(given)
    (shape,) = one.launches
    launches = tuple(
        replace(launch, **{name: getattr(shape, name) for name in SHAPES & set(given)}) if isinstance(launch, LaunchSpec) else launch
        for launch in spec.launches
    )
    changes: dict[str, Any] = {FIELDS.get(name, name): getattr(one, FIELDS.get(name, name)) for name in OF_A_RUN & set(given)}
    for name in ADDED & set(given):
        changes[name] = (*getattr(spec, name), *getattr(one, name))
    if {"rtol", "atol", "ulp"} & set(given):
        changes["tolerance"] = one.tolerance
    return replace(spec, launches=launches, **changes)


def folder_of(files: tuple[InputFile, ...]) -> Path:
    """Where a run finds its other files: beside the first one."""
    return Path() if files[0].name.startswith("<") else Path(files[0].name).parent


def runner_of(files: tuple[InputFile, ...], spec: RunSpec) -> Runner:
    """What carries a run out: the program of the files and of the modules that the run names."""
    from ..run.runner import Runner

    folder = folder_of(files)
    whole = [*files, *(SOURCE.convert(str(folder / m), None, None) for m in spec.modules)]
    if any(f.too_new for f in whole):
        spec = replace(spec, device_rules_only=True)
    return Runner([f.data for f in whole], [f.name for f in whole], spec, folder)
