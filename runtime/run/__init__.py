"""`warplab run`: what to run, on which values, what to expect of it, and the run itself."""
