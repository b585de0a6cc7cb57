"""The tensor memory of compute capability 10.x: its columns, the layouts of what lies in it, descriptors, and products of matrices."""
