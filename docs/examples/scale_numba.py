"""numba's PTX of a kernel: python scale_numba.py numba.ptx"""

import sys
from pathlib import Path

from numba import cuda, float32, int32


def scale(x, out, factor, n):
    """See above."""
    i = cuda.grid(1)
    if i < n:
        out[i] = factor * x[i]


ptx, _ = cuda.compile_ptx(scale, (float32[::1], float32[::1], float32, int32), cc=(9, 0))
Path(sys.argv[1]).write_text(ptx)
