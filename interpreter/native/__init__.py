"""A second engine: the plan compiled for the host.  Only jit.py needs llvmlite."""
