"""Which C functions a program may call, and what answers each."""
