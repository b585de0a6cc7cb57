"""A PTX toolchain: `warplab.isa`, `warplab.assembler`, `warplab.interpreter`, `warplab.runtime`.

Packaging puts the files of this folder into `warplab` itself.
"""

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext warplab` in a notebook."""
    from warplab.runtime.notebook import load

    load(shell)
