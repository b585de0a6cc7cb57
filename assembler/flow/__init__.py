"""Control flow of one function: basic blocks, dominators, loops, liveness; and pictures of it."""

from .analysis import PASSING, BasicBlock, Flow, accesses, flow, passed_on, stays

__all__ = ["PASSING", "BasicBlock", "Flow", "accesses", "flow", "passed_on", "stays"]
