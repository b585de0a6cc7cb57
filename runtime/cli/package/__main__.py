"""`python -m warplab` is the command `warplab`.  Packaging puts this file into the namespace `warplab` itself."""

from warplab.runtime.cli import main

main(prog_name="warplab")
