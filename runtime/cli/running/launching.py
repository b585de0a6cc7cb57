"""The options that shape a launch, shared by `run` and `profile`: one list, the same words as in a `//@ run` directive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...run.options import OPTIONS, of_group
from .. import completing
from ..files import SOURCE, InputFile

if TYPE_CHECKING:
    from ...run.runner import Runner
    from ...run.runspec import RunSpec

F = TypeVar("F", bound=Callable[..., Any])

# what the kinds of options are for click
KINDS: dict[str, dict[str, Any]] = {"word": {"is_flag": False, "flag_value": "all"}, "flag": {"is_flag": True}}

COMPLETED: dict[str, completing.Completer] = {
    "device": completing.devices, "kernel": completing.kernels, "engine": completing.engines, "fmad": completing.contractions,
}  # fmt: skip


def with_options(*groups: str) -> Callable[[F], F]:
    """Adds groups of options to a command, in the order in which the help shows them."""

    def add(f: F) -> F:
        for o in reversed([option for group in groups for option in of_group(group)]):
            f = click.option(
                o.name, o.field, multiple=o.kind == "many", is_eager=o.field in ("device", "kernel"), help=o.help, shell_complete=COMPLETED.get(o.field),
                **KINDS.get(o.kind, {}),
            )(f)  # fmt: skip
        return f

    return add


def runs_of(sources: tuple[InputFile, ...], options: dict[str, Any]) -> list[RunSpec]:
    """What to run: the launch that --arg describes, else the .toml beside the file or the file's directives, as the options change them."""
    from warplab.assembler.demangle import matching

    from ...run.runspec import LaunchSpec, directives, from_options, overridden, runs_beside

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
    launches = any(option.field in given and option.part in ("launch", "data") for option in OPTIONS.values())
    if "args" in given or (not specs and launches):
        return [from_options(given)]
    return [overridden(s, given) for s in specs]


def folder_of(files: tuple[InputFile, ...]) -> Path:
    """Where a run finds its other files: beside the first one."""
    return Path() if files[0].name.startswith("<") else Path(files[0].name).parent


def runner_of(files: tuple[InputFile, ...], spec: RunSpec) -> Runner:
    """What carries a run out: the program of the files and of the modules that the run names."""
    from ...run.runner import Runner

    folder = folder_of(files)
    whole = [*files, *(SOURCE.convert(str(folder / m), None, None) for m in spec.modules)]
    if any(f.too_new for f in whole):
        spec = replace(spec, device_rules_only=True)
    return Runner([f.data for f in whole], [f.name for f in whole], spec, folder)
