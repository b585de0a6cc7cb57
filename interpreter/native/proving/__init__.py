"""Compiled code that proves that no checker would find anything in a launch: see README.md of the folder above."""
