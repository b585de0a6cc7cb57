"""Kernels that launch kernels and grids that synchronise: what NVIDIA's driver adds to libcudadevrt."""
