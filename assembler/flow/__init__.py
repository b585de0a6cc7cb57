"""Control flow of one function: basic blocks, dominators, loops, liveness; and pictures of it."""

from .analysis import ENDS, LEAVES, PASSING, BasicBlock, Flow, accesses, flow, passed_on, stays

__all__ = ["ENDS", "LEAVES", "PASSING", "BasicBlock", "Flow", "accesses", "flow", "passed_on", "stays"]
