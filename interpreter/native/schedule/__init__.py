"""The scheduler of compiled code: plain loops, which are compiled themselves."""
