"""PTX and CUDA C++ in cells of a notebook: `%load_ext warplab`."""

from .magics import load as load
