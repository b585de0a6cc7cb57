"""Litmus tests in herd's format, as public collections hold them: threads side by side, and a condition on what they leave."""
