"""Litmus tests: all outcomes that the memory consistency model of PTX allows for a few threads with a few accesses."""
