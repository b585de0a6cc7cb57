"""The memory hierarchy as rules: pure functions from the addresses of warps to transactions, passes and hits."""
