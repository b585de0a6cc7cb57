"""`warplab play`: an editor in the browser, with runs, the player and labs."""

from __future__ import annotations

import os
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..play.server import PlayLab

LABS = Path("samples", "labs")


@click.command()
@click.argument("path", required=False, type=click.Path(exists=True))
@click.option("--lab", metavar="N|FOLDER", help="Opens a lab: its folder, or its number in samples/labs.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to listen on (default: any that is free).")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on. Others than this machine's need care: see the page."
)
@click.option("--name", "names", multiple=True, metavar="HOST[:PORT]", help="A name under which a proxy reaches the server; repeatable.")
@click.option("--jobs", "-j", type=click.IntRange(1), help="The number of programs that run at once (default: the cores of this machine).")
@click.option("--no-browser", is_flag=True, help="Prints the address and opens no browser.")
def play(path: str | None, lab: str | None, port: int, host: str, names: tuple[str, ...], jobs: int | None, no_browser: bool) -> None:
    """Edits, runs, checks and plays programs in the browser.

    PATH is a .ptx or .cu file to begin with, or a folder of labs. The server answers only who has the address that it prints, on this machine.
    """
    from ..errors import UsageError
    from ..play.server import Playground, server

    labs, program = [], ("", "")
    if path is not None and Path(path).is_dir():
        labs = _labs(Path(path))
    elif path is not None:
        program = Path(path).name, Path(path).read_text(encoding="utf-8", errors="replace")
    if lab is not None:
        labs = _labs(_folder(lab))
    playground = Playground(labs, program, jobs or os.cpu_count() or 1)
    try:
        listening = server(playground, host, port, names)
    except OSError as e:
        raise UsageError(f"{host}:{port}: {e.strerror}") from None
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{shown}:{listening.server_port}/{playground.token}/"
    click.echo(f"{address}\nCtrl-C ends it")
    threading.Thread(target=playground.warm, daemon=True).start()
    if not no_browser:
        webbrowser.open(address)
    try:
        listening.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        listening.server_close()
        playground.close()


def _folder(lab: str) -> Path:
    """The folder of a lab."""
    if not lab.isdigit():
        return Path(lab)
    found = sorted(LABS.glob(f"{int(lab):02}-*"))
    if not found:
        raise click.BadParameter(f"there is no lab {lab} in {LABS}: write its folder", param_hint="--lab")
    return found[0]


def _labs(folder: Path) -> list[PlayLab]:
    """The labs of a folder: itself, or those inside."""
    from ..grading import load_lab
    from ..play.server import PlayLab

    inside = [folder] if (folder / "lab.toml").is_file() else sorted(p.parent for p in folder.glob("*/lab.toml"))
    if not inside:
        raise click.UsageError(f"{folder} has no lab: a lab is a folder with a lab.toml")
    return [PlayLab.of(load_lab(f)) for f in inside]
