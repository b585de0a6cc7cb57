"""racecheck: what orders the threads of a run, by the names of the PTX memory model."""
