"""CUDA C++ to PTX, by NVIDIA's own compilers: NVRTC (pip install 'warplab[cuda]', no GPU needed) or an nvcc on the PATH."""

from .compile import compile_cpp as compile_cpp
from .compile import compile_file as compile_file
from .compile import fitted as fitted
from .compile import is_installed as is_installed
from .source import Compiled as Compiled
from .source import CppSource as CppSource
