"""`warplab litmus`: what the memory model allows for a small program, and which of that the engine shows under how many seeds."""
