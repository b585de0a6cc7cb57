"""The tensor memory of compute capability 10.x: the layouts of what lies in it, descriptors, and products of matrices."""
