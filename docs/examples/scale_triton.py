"""Triton's PTX of a kernel: python scale_triton.py triton.ptx"""

import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale(x, out, factor, n, WIDTH: tl.constexpr):
    """See above."""
    i = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    tl.store(out + i, factor * tl.load(x + i, mask=i < n), mask=i < n)


types = {"x": "*fp32", "out": "*fp32", "factor": "fp32", "n": "i32", "WIDTH": "constexpr"}
options = {"num_warps": 4, "ptx_version": 90, "enable_fp_fusion": True}
done = triton.compile(ASTSource(scale, types, {"WIDTH": 128}), target=GPUTarget("cuda", 90, 32), options=options)
Path(sys.argv[1]).write_text(done.asm["ptx"])
