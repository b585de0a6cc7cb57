"""From an image to loaded modules and their kernels."""
