"""How launches run: by which engine, in which order, seen by whom, and what they print."""
