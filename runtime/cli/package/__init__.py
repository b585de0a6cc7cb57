"""A PTX toolchain: `warplab.isa`, `warplab.assembler`, `warplab.interpreter`, `warplab.runtime`.

Packaging puts the files of this folder into `warplab` itself.
"""
