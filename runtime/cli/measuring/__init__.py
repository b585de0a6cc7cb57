"""Commands that measure, and show devices."""
