"""The opcodes that direct control flow, by the effects of their rows."""

from .notation import with_effect

JUMPS = with_effect("branch")
TABLES = with_effect("branch_table")
BRANCHES = JUMPS | TABLES
CALLS = with_effect("call")
RETURNS = with_effect("return")
EXITS = with_effect("return", "exit")  # after them a lane of an entry is done
LEAVES = with_effect("return", "exit", "trap")
ENDS = LEAVES | BRANCHES | CALLS  # of basic blocks
BARRIERS = with_effect("barrier")  # of the CTA
