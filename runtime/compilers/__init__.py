"""CUDA C++ to PTX, by NVIDIA's own compilers: NVRTC (pip install 'warplab[cuda]', no GPU needed) or an nvcc on the PATH."""

from .compile import Compiled as Compiled
from .compile import CppSource as CppSource
from .compile import compile_cpp as compile_cpp
from .compile import compile_file as compile_file
