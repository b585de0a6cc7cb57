"""`warplab completion`: the script that teaches a shell to complete warplab's commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from . import main

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Prints the completion script of a shell.

    For bash put `eval "$(warplab completion bash)"` into ~/.bashrc, for zsh the same with zsh into ~/.zshrc; for fish write it to
    ~/.config/fish/completions/warplab.fish.
    """
    kind = get_completion_class(shell)
    assert kind is not None, shell
    click.echo(kind(main, {}, "warplab", "_WARPLAB_COMPLETE").source())
