"""`warplab lsp`: PTX in editors that speak the Language Server Protocol."""

from __future__ import annotations

import logging

import click


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), help="Listens on a port of this machine instead of standard input, for one client.")
@click.option("--stdio", is_flag=True, help="Standard input and output, as by default: some editors say so.")
def lsp(port: int | None, stdio: bool) -> None:
    """Checks, explains and changes PTX in an editor: VS Code, Neovim, Helix, Emacs and others.

    The editor starts this command and speaks the Language Server Protocol over its standard input and output. It needs pygls:
    pip install 'warplab[editor]'.
    """
    from ..errors import UsageError

    if stdio and port is not None:
        raise UsageError("--stdio and --port: choose one")
    try:
        from ..lsp.server import server
    except ModuleNotFoundError as e:
        if e.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError("warplab lsp needs pygls: pip install 'warplab[editor]'") from None
    logging.getLogger("pygls").setLevel(logging.ERROR)
    if port is None:
        server().start_io()
    else:
        server().start_tcp("127.0.0.1", port)
