"""The driver's calls about graphs."""
