"""Python's face: devices, code, launches, streams and memory with the names of cuda.core.  warplab.runtime gives them all."""
