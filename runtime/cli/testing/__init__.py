"""Commands for tests, labs and test cases."""
