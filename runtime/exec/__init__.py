"""Unmodified CUDA programs on the model: `warplab exec`."""
