"""Object files: those that the program loads in place of CUDA's, and its own."""
