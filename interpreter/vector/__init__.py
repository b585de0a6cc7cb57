"""Runs plans with numpy: one array operation for many lanes at once."""
