"""The driver's calls about modules, libraries, linking and functions."""
