"""racecheck: accesses of memory that nothing orders, by happens-before as the PTX memory model defines it."""
