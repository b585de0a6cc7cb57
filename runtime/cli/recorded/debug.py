"""`warplab debug`: looks at a recorded launch with the words of cuda-gdb, forwards and backwards."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import ExitCode
from ..files import SOURCE, InputFile
from .recordings import recording_options, recordings

if TYPE_CHECKING:
    from ...debugger.prompt import Prompt
    from ...recording import Recording

F = TypeVar("F", bound=Callable[..., Any])
PROMPT = "(warplab) "
HISTORY = ".warplab_history"


def debugger_options(f: F) -> F:
    """The options that say what the debugger does."""
    f = click.option("--batch", is_flag=True, help="Ends after these commands; the exit code is 1 if one of them is wrong.")(f)
    f = click.option("--tui", is_flag=True, help="Shows source, warps, registers and memory on a full screen (the extra tui).")(f)
    f = click.option("--eval-command", "-ex", "lines", multiple=True, metavar="COMMAND", help="Executes a command.")(f)
    return click.option(
        "--command", "-x", "scripts", multiple=True, type=click.Path(exists=True, dir_okay=False), help="Executes the commands of a file."
    )(f)


@click.command()
@click.argument("files", type=SOURCE, nargs=-1, required=True)
@debugger_options
@recording_options
@click.pass_context
def debug(
    ctx: click.Context, /, files: tuple[InputFile, ...], scripts: tuple[str, ...], lines: tuple[str, ...], batch: bool, tui: bool,
    limit: str, blocks: str | None, launch: int | None, **options: Any,
) -> None:  # fmt: skip
    """Debugs a launch: breakpoints, steps, values, in both directions.

    The launch is given as for `warplab run`, or FILES is a recording of `warplab record`. The launch has happened before the first command: the
    debugger looks at its recording, so `reverse-continue` costs what `continue` costs. `help` lists the commands.
    """
    made, number = recordings(files, limit, blocks, launch, options)
    ctx.exit(converse(made, number, scripts, lines, batch, tui))


def converse(
    made: list[Recording], number: int, scripts: Sequence[str], lines: Sequence[str], batch: bool, tui: bool = False
) -> ExitCode:  # fmt: skip
    """The debugger on some launches: first scripts and commands, then what a person types."""
    from ...debugger import commands  # noqa: F401  fills the table of commands
    from ...debugger.prompt import Prompt
    from ...debugger.words import execute

    prompt = Prompt(made, click.echo, number)
    if tui:
        execute(prompt, "tui enable")
    _welcome(prompt)
    for name in scripts:
        if not _all(prompt, Path(name).read_text(encoding="utf-8", errors="replace").splitlines(), batch):
            return ExitCode.CHECK_FAILED
    if not _all(prompt, lines, batch):
        return ExitCode.CHECK_FAILED
    if not batch and not prompt.over:
        _converse(prompt)
    return ExitCode.OK


def _welcome(prompt: Prompt) -> None:
    from warplab.assembler.demangle import short_name

    from ...recording.telling import dim3

    t = prompt.rec.track
    prompt.say(f"[{short_name(t.kernel)}<<<{dim3(t.grid)}, {dim3(t.block)}>>> on {t.device}: {prompt.rec.step_count} steps are recorded]")
    if t.kept_blocks is not None:
        prompt.say(f"[{int(t.kept_blocks.sum())} of {t.kept_blocks.size} blocks are recorded: --blocks and --record-limit choose them]")
    if t.ended:
        prompt.say(f"[it ended early: {t.ended.splitlines()[0]}; reverse-continue and `goto end` look at it from there]")


def _all(prompt: Prompt, lines: Sequence[str], strict: bool) -> bool:
    """Executes commands; False where one is wrong and that ends the debugger."""
    for line in lines:
        if prompt.over:
            return True
        if not _one(prompt, line) and strict:
            return False
    return True


def _one(prompt: Prompt, line: str) -> bool:
    from ...debugger.words import execute
    from ...errors import UsageError

    try:
        execute(prompt, line)
    except UsageError as e:
        click.echo(str(e), err=True)
        return False
    return True


def _converse(prompt: Prompt) -> None:
    """Reads commands until the end; an empty line repeats the one before."""
    read = _reader(prompt)
    before = ""
    while not prompt.over:
        if prompt.full_screen:
            from ...tui.app import DebuggerScreen

            DebuggerScreen(prompt).run()
            prompt.over |= prompt.full_screen  # it was left by a key, and not by `tui disable`
            continue
        try:
            line = read()
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return
        line = line.strip() or before
        before = line
        _one(prompt, line)


def _reader(prompt: Prompt) -> Callable[[], str]:
    """Lines of the terminal, with a history and completion where Python has readline; else of standard input."""
    if not sys.stdin.isatty():

        def plain() -> str:
            line = sys.stdin.readline()
            if not line:
                raise EOFError
            return line

        return plain
    with suppress(ImportError):
        import atexit
        import readline

        path = Path.home() / HISTORY
        with suppress(OSError):
            readline.read_history_file(path)

        def keep() -> None:
            with suppress(OSError):
                readline.write_history_file(path)

        atexit.register(keep)
        readline.set_completer_delims(" \t,()[]+-*/<>=!&|@")
        readline.set_completer(_completer(prompt))
        readline.parse_and_bind("tab: complete")
    return lambda: input(PROMPT)


def _completer(prompt: Prompt) -> Callable[[str, int], str | None]:
    from ...debugger.words import completed

    def complete(text: str, n: int) -> str | None:
        found = completed(prompt, text)
        return found[n] if n < len(found) else None

    return complete
