"""A debugger of recorded launches in the words of cuda-gdb, in both directions."""
