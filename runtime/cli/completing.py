"""What a shell completes behind options and arguments: kernels of the files given, devices, counters, opcodes, code words, pages; and
`warplab completion`, the script that teaches a shell to ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import click

Completer = Callable[[click.Context, click.Parameter, str], list[str]]
_ENTRY = re.compile(rb"\.entry\s+([\w$.]+)")


def words(names: Callable[[], Iterable[str]]) -> Completer:
    """Completes from a list that is made when it is asked for."""
    return lambda ctx, param, incomplete: sorted(n for n in names() if n.startswith(incomplete))


def kernels(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Kernels of the files that stand before, by their C++ names."""
    from warplab.assembler.demangle import spellings

    files = [Path(word) for word in ctx.args]  # click reads no arguments when the last word is an option without its value
    symbols = [name.decode() for file in files if file.is_file() for name in _ENTRY.findall(file.read_bytes())]
    named = dict.fromkeys(min(spellings(s)[1:] or (s,), key=len) for s in symbols)
    return sorted(n for n in (*named, *symbols) if n.startswith(incomplete))


def _devices() -> Iterable[str]:
    from warplab.isa.profiles import PROFILES

    return PROFILES


def counters(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The last of a list with commas."""
    from warplab.interpreter.profiler.metrics import BY_NAME

    before, comma, last = incomplete.rpartition(",")
    return sorted(f"{before}{comma}{n}" for m in BY_NAME.values() for n in (m.name, m.plain) if n.startswith(last))


def _opcodes() -> Iterable[str]:
    import warplab.isa.ops  # noqa: F401  fills FORMS
    from warplab.isa.notation import FORMS

    return FORMS


def _codes() -> Iterable[str]:
    import warplab.assembler.link
    import warplab.assembler.verify  # noqa: F401  both add their explanations
    from warplab.assembler.diagnostics import EXPLANATIONS

    return EXPLANATIONS


devices, opcodes, codes = words(_devices), words(_opcodes), words(_codes)
engines = words(lambda: ("auto", "numpy", "native"))
contractions = words(lambda: ("none", "f64", "all"))


SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Prints the completion script of a shell.

    For bash put `eval "$(warplab completion bash)"` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc; for fish write it to
    ~/.config/fish/completions/warplab.fish.
    """
    from click.shell_completion import get_completion_class

    from . import main

    kind = get_completion_class(shell)
    assert kind is not None, shell
    click.echo(kind(main, {}, "warplab", "_WARPLAB_COMPLETE").source())
