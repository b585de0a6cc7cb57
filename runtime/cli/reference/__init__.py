"""Commands that print the reference."""
