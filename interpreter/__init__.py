"""Execution: flow to plan, plan to array operations over waves of blocks, and what observers see of them."""
