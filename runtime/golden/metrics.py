"""Budgets on counters: `sectors_per_request <= 4`, `divergent_branches <= branches / 4`, with Nsight Compute's names or plain ones.

measure() adds the counters of all launches of a run; what is not a sum (a rate, a number of registers) is the largest of the launches.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from warplab.interpreter.profiler import KernelProfile

    from ..run.outcome import Outcome
    from ..run.runner import Runner

_OPERATORS: dict[type[ast.AST], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: lambda a, b: a / b if b else 0.0,
    ast.FloorDiv: lambda a, b: a // b if b else 0.0, ast.Mod: lambda a, b: a % b if b else 0.0,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.LtE: operator.le, ast.GtE: operator.ge, ast.Lt: operator.lt, ast.Gt: operator.gt, ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
OPCODES = "op_"  # op_shfl: warp instructions of this opcode

# name: (dividend, divisor), each a sum of plain counters
RATIOS: dict[str, tuple[str, str]] = {
    "sectors_per_request": (
        "global_ld_sectors global_st_sectors global_red_sectors global_atom_sectors",
        "global_ld_requests global_st_requests global_red_requests global_atom_requests",
    ),
    "load_sectors_per_request": ("global_ld_sectors", "global_ld_requests"),
    "store_sectors_per_request": ("global_st_sectors", "global_st_requests"),
    "shared_passes_per_request": (
        "shared_ld_passes shared_st_passes shared_atom_passes",
        "shared_ld_instructions shared_st_instructions shared_atom_instructions",
    ),
    "divergence": ("divergent_branches", "branches"),
    "simt_efficiency": ("thread_instructions", "lane_slots"),
}
SUMS: dict[str, str] = {
    "bank_conflicts": "shared_ld_conflicts shared_st_conflicts shared_atom_conflicts",
    "global_sectors": RATIOS["sectors_per_request"][0],
    "global_requests": RATIOS["sectors_per_request"][1],
}


def plain_name(words: str) -> str:
    """`shared ld conflicts` as an expression can name it."""
    return re.sub(r"\W+", "_", words.replace("%", "pct")).strip("_")


def measured(runner: Runner, budgets: Sequence[str]) -> tuple[Outcome, dict[str, float]]:
    """The outcome of a run, and its counters where there are budgets on them."""
    if not budgets:
        return runner.run(), {}
    from ..profiler import profiling

    with profiling(time=any(_is_time(budget) for budget in budgets)) as seen:
        outcome = runner.run()
    return outcome, measure(seen.launches)


def _is_time(budget: str) -> bool:
    """Is a budget one of predicted time?"""
    from warplab.interpreter.profiler.metrics import TIME_METRICS

    return any(name in budget for m in TIME_METRICS for name in (m.name, plain_name(m.plain)))


def measure(profiles: Sequence[KernelProfile]) -> dict[str, float]:
    """Every counter of a run by each of its names."""
    from warplab.interpreter.profiler.metrics import BY_NAME, CYCLES

    out: dict[str, float] = {}
    for p in profiles:
        for name, value in p.metrics.items():
            metric = BY_NAME.get(name)
            adds = name.endswith(".sum") or name == CYCLES or (metric is None and "__" not in name)
            for key in (name, *((plain_name(metric.plain),) if metric else ())):
                before = out.get(key, 0.0)
                out[key] = before + value if adds else max(before, value)
        for s in p.sites:
            key = OPCODES + s.opcode.split(".")[0]
            out[key] = out.get(key, 0.0) + s.warps
    out["lane_slots"] = 32 * out.get("warp_instructions", 0.0)
    for name, words in SUMS.items():
        out[name] = sum(out.get(w, 0.0) for w in words.split())
    for name, (above, below) in RATIOS.items():
        divisor = sum(out.get(w, 0.0) for w in below.split())
        out[name] = sum(out.get(w, 0.0) for w in above.split()) / divisor if divisor else 0.0
    moved = sum(p.global_bytes for p in profiles)
    out["intensity"] = sum(sum(p.flops.values()) for p in profiles) / moved if moved else 0.0
    return out


def check_metric(text: str, values: Mapping[str, float]) -> str | None:
    """None where a budget holds, else what was measured."""
    tree = _parse(text)
    left = _value(tree.left, values, text)
    right = _value(tree.comparators[0], values, text)
    if _COMPARE[type(tree.ops[0])](left, right):
        return None
    return f"metric {text}: {ast.unparse(tree.left)} is {_number(left)}" + (
        f", {ast.unparse(tree.comparators[0])} is {_number(right)}" if not isinstance(tree.comparators[0], ast.Constant) else ""
    )


def _parse(text: str) -> ast.Compare:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _COMPARE:
        raise UsageError(f"metric {text!r}: write NAME <= NUMBER, as in sectors_per_request <= 4")
    return tree


def _value(node: ast.expr, values: Mapping[str, float], text: str) -> float:
    match node:
        case ast.Constant(int() | float() as n):
            return float(n)
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, values, text)
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left, values, text), _value(right, values, text))
        case ast.Name() | ast.Attribute():
            return _lookup(ast.unparse(node), values, text)
    raise UsageError(f"metric {text!r}: {ast.unparse(node)!r} is neither a number nor the name of a counter")


def _lookup(name: str, values: Mapping[str, float], text: str) -> float:
    if name in values:
        return values[name]
    if name.startswith(OPCODES):
        return 0.0
    near = get_close_matches(name, values, 1)
    raise UsageError(f"metric {text!r}: no counter is called {name}" + (f"; did you mean {near[0]}?" if near else ""))


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) else f"{x:.4g}"
