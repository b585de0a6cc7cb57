"""What the client wants to stop at.  It is kept as the client said it, and set anew when the program is launched again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..debugger.session import Stop
from ..errors import UsageError
from ..recording.conditions import Break, CellAccess, Change, Condition, Happens
from ..recording.expressions import LaneExpression, parse_expression
from ..recording.places import instructions_at
from .adapter import Adapter, Body, request
from .arguments import RequestArguments
from .code import code_place
from .handles import Container
from .motion import FILTERS
from .sources import instructions_of, module_of, place_of

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "": lambda n, k: n == k, "=": lambda n, k: n == k, "==": lambda n, k: n == k, ">=": lambda n, k: n >= k, ">": lambda n, k: n > k,
    "<=": lambda n, k: n <= k, "<": lambda n, k: n < k, "%": lambda n, k: k > 0 and n % k == 0,
}  # fmt: skip
ACCESSES = {"read": ("read", "hardware read watchpoint"), "write": ("change", "hardware watchpoint"),
            "readWrite": ("access", "hardware access (read/write) watchpoint")}  # fmt: skip


@dataclass(eq=False)
class Wanted:
    """One breakpoint of the client's."""

    number: int
    kind: str  # source function data instruction exception
    args: RequestArguments
    source: RequestArguments | None = None
    stop: Stop | None = None
    problem: str = ""


class ClientStops:
    """All of them, by the request that sets them: each such request replaces what it had set before."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.wanted: dict[str, list[Wanted]] = {}
        self._count = 0

    def put(self, key: str, kind: str, each: list[RequestArguments], source: RequestArguments | None = None) -> list[dict[str, Any]]:
        """Sets those of one request; what the client is told of each."""
        for old in self.wanted.pop(key, []):
            self._remove(old)
        made = []
        for args in each:
            self._count += 1
            made.append(Wanted(self._count, kind, args, source))
        self.wanted[key] = made
        for w in made:
            self._set(w)
        return [self.told(w) for w in made]

    def _remove(self, w: Wanted) -> None:
        if w.stop is not None and self.adapter.prompt is not None:
            for s in self.adapter.prompt.sessions.values():
                s.stops = [stop for stop in s.stops if stop is not w.stop]
        w.stop = None

    def apply(self) -> None:
        """Sets all of them in the launch that is looked at now."""
        for w in [w for group in self.wanted.values() for w in group]:
            self._remove(w)
            self._set(w)
            if w.kind != "exception":
                self.adapter.event("breakpoint", {"reason": "changed", "breakpoint": self.told(w)})

    def _set(self, w: Wanted) -> None:
        w.problem = ""
        if self.adapter.prompt is None:
            w.problem = "nothing is launched yet"
            return
        try:
            condition, what, text = _MEANINGS[w.kind](self.adapter, w)
            when = _expression(w.args.text("condition", ""))
            counts = _counts(w.args.text("hitCondition", ""))
            in_break = isinstance(condition, Break)
            if isinstance(condition, Break):
                condition = replace(condition, when=when)
            w.stop = self.adapter.session.add(what, text, condition)
            w.stop.counts, w.stop.when = counts, None if in_break else when
        except UsageError as e:
            w.problem = str(e)

    def told(self, w: Wanted) -> dict[str, Any]:
        """What the protocol says of a breakpoint."""
        out: dict[str, Any] = {"id": w.number, "verified": w.stop is not None}
        if w.problem:
            return out | {"message": w.problem}
        if w.stop is not None and isinstance(w.stop.condition, Break):
            i = self.adapter.rec.track.instructions[min(w.stop.condition.instructions)]
            if w.source is None:
                source, line, _ = place_of(self.adapter, i)
                return out | {"source": source, "line": line}
            in_ptx = module_of(self.adapter.rec, w.source) is not None
            line = i.line if in_ptx else int(i.source.rpartition(":")[2])
            out |= {"source": w.source.values, "line": line + self.adapter.first_line - 1}
        return out

    # ------------------------------------------------------------ stops

    def _of(self, stop: Stop) -> Wanted | None:
        return next((w for group in self.wanted.values() for w in group if w.stop is stop), None)

    def number_of(self, stop: Stop) -> int | None:
        """The client's number of it; None of one that a command has set."""
        found = self._of(stop)
        return None if found is None or found.kind == "exception" else found.number

    def kind_of(self, stop: Stop) -> str:
        """Why it stops, in the protocol's words."""
        found = self._of(stop)
        return {"function": "function breakpoint", "instruction": "instruction breakpoint"}.get(found.kind if found else "", "breakpoint")

    def logged(self, stop: Stop) -> str | None:
        """What it prints instead of stopping; None where it stops."""
        found = self._of(stop)
        return None if found is None else found.args.text("logMessage", "") or None


def _expression(text: str) -> LaneExpression | None:
    return parse_expression(text) if text.strip() else None


def _counts(text: str) -> Callable[[int], bool] | None:
    """A hit condition: `3` the third time, `>= 3` from then on, `% 3` every third time; times are counted from the beginning of the launch."""
    if not text.strip():
        return None
    m = re.fullmatch(r"\s*(==?|>=|<=|>|<|%|)\s*(\d{1,18})\s*", text)
    if m is None:
        raise UsageError(f"{text}: a hit condition is a number, such as 3, >= 3 or % 3")
    compare, k = COMPARISONS[m[1]], int(m[2])
    return lambda n: compare(n, k)


# ---------------------------------------------------------------- what each kind means

Meaning = tuple[Condition, str, str]


def _at_line(a: Adapter, w: Wanted) -> Meaning:
    assert w.source is not None
    line = w.args.whole("line")
    return Break(instructions_of(a, w.source, line)), "breakpoint", f"line {line}"


def _at_function(a: Adapter, w: Wanted) -> Meaning:
    name = w.args.text("name")
    return Break(instructions_at(a.rec, name)), "breakpoint", name


def _at_instruction(a: Adapter, w: Wanted) -> Meaning:
    from ..recording.places import on_line

    module, line = code_place(w.args.text("instructionReference"))
    return Break(on_line(a.rec, line + w.args.whole("offset", 0), [module])), "breakpoint", w.args.text("instructionReference")


def _at_data(a: Adapter, w: Wanted) -> Meaning:
    lane, _, text = w.args.text("dataId").partition("|")
    access = w.args.text("accessType", "write")
    if not lane.isdecimal() or access not in ACCESSES:
        raise UsageError("dataId and accessType must be what dataBreakpointInfo says")
    how, what = ACCESSES[access]
    s = a.session
    before, s.lane = s.lane, int(lane)
    try:
        target = a.debugger.target(text)
    finally:
        s.lane = before
    if not isinstance(target, str):
        return CellAccess(target, how), what, text
    if access != "write":
        raise UsageError("a register stops where it changes: accessType must be write")
    return Change(target, int(lane)), what, text


def _at_event(a: Adapter, w: Wanted) -> Meaning:
    name = w.args.text("filter")
    return Happens(FILTERS[name].kind), "catchpoint", name


_MEANINGS: dict[str, Callable[[Adapter, Wanted], Meaning]] = {
    "source": _at_line, "function": _at_function, "instruction": _at_instruction, "data": _at_data, "exception": _at_event,
}  # fmt: skip


# ---------------------------------------------------------------- requests


@request("setBreakpoints")
def set_breakpoints(a: Adapter, args: RequestArguments) -> Body:
    """Those of one source."""
    source = args.inner("source")
    key = source.text("path", "") or str(source.whole("sourceReference", 0) or source.text("name", ""))
    each = list(args.each("breakpoints")) or [RequestArguments({"line": n}) for n in args.values.get("lines") or []]
    return {"breakpoints": a.breakpoints.put(f"source {key}", "source", each, source)}


@request("setFunctionBreakpoints")
def set_function_breakpoints(a: Adapter, args: RequestArguments) -> Body:
    """Those at functions."""
    return {"breakpoints": a.breakpoints.put("function", "function", list(args.each("breakpoints")))}


@request("setInstructionBreakpoints")
def set_instruction_breakpoints(a: Adapter, args: RequestArguments) -> Body:
    """Those in the disassembly."""
    return {"breakpoints": a.breakpoints.put("instruction", "instruction", list(args.each("breakpoints")))}


@request("setDataBreakpoints")
def set_data_breakpoints(a: Adapter, args: RequestArguments) -> Body:
    """Watchpoints."""
    return {"breakpoints": a.breakpoints.put("data", "data", list(args.each("breakpoints")))}


@request("setExceptionBreakpoints")
def set_exception_breakpoints(a: Adapter, args: RequestArguments) -> Body:
    """Events of the launch."""
    names = [*args.words("filters"), *(f.text("filterId") for f in args.each("filterOptions"))]
    wrong = [n for n in names if n not in FILTERS]
    if wrong:
        raise UsageError(f"there is no filter {wrong[0]}; there are {' '.join(FILTERS)}")
    each = [RequestArguments({"filter": n}) for n in dict.fromkeys(names)]
    return {"breakpoints": a.breakpoints.put("exception", "exception", each)}


@request("dataBreakpointInfo")
def data_breakpoint_info(a: Adapter, args: RequestArguments) -> Body:
    """Whether a variable can be watched, and under which name."""
    name = args.text("name")
    reference = args.whole("variablesReference", 0)
    lane, text = a.session.lane, name
    if reference:
        container: Container = a.handles.container(reference)
        lane, text = container.lane, container.path(name)
    elif args.whole("frameId", 0):
        lane = a.handles.frame(args.whole("frameId")).lane
    s = a.session
    before, s.lane = s.lane, lane
    try:
        if not text:
            raise UsageError(f"{name} can't be watched")
        is_register = isinstance(a.debugger.target(text), str)
    except UsageError as e:
        return {"dataId": None, "description": str(e).splitlines()[0]}
    finally:
        s.lane = before
    return {
        "dataId": f"{lane}|{text}",
        "description": text,
        "accessTypes": ["write"] if is_register else list(ACCESSES),
        "canPersist": False,
    }
