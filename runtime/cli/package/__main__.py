"""`python -m warplab` is the command `warplab`."""

from warplab.runtime.cli import main

main(prog_name="warplab")
