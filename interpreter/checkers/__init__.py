"""Observers that look for faults of kernels: values that nobody has set, and what else passes in silence on a GPU."""
