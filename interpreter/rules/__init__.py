"""Rules of the memory hierarchy: pure functions from the addresses of warps to transactions, sectors and passes."""
