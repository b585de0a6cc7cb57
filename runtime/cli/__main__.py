"""`python -m warplab.runtime.cli` is the command `warplab`."""

from . import main

main(prog_name="warplab")
