"""warplab's tests; `python -m tests` runs every check."""
