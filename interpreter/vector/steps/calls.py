"""Calls: arguments in, a frame of its own, results back; direct, through a pointer, recursive, or of what the device runtime provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warplab.assembler.ir import Function
from warplab.isa.types import TYPES

from ...faults import Fault
from ...lanes import Selection
from ...plan.plan import Call, Home, InFrame
from ...values import Array
from ..convergence import announce_passed, arrive
from ..divergence import split
from ..group import Activation, Group, Join
from .intrinsics import INTRINSICS
from .operands import get_of, set_of


class Callee:
    """What one call instruction calls, and with what; settled once."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.direct = call.callee
        self.pointer = None if call.pointer is None else get_of(call.pointer)
        self.gets = [a if isinstance(a, InFrame) else get_of(a) for a in call.arguments]
        self.results = call.results
        self.puts = [None if r is None or isinstance(r, InFrame) else set_of(r.target) for r in call.results]


def call_group(g: Group, callee: Callee, after: int) -> int | None:
    """Executes a call for all lanes of g; gives the next place if it was over at once."""
    if callee.direct is not None:
        return _enter(g, callee, callee.direct, after)
    assert callee.pointer is not None
    where: Array = callee.pointer(g.R)
    targets = np.unique(where)
    if targets.size == 1:
        return _enter(g, callee, _function_at(g, int(targets[0])), after)
    live_in = g.act.function.live_in
    parts = [Selection.of(np.broadcast_to(where, g.geometry.shape) == t, g.geometry.shape) for t in targets]
    g.fetch_all(live_in[after])
    pc = g.pc
    children, _ = split(g, [(s, pc) for s in parts], after)
    for child, target in zip(children, targets.tolist(), strict=True):
        child.fetch_all(live_in[pc])
        child.pc = pc
        following = _enter(child, callee, _function_at(g, target), after)
        if following is not None:
            arrive(child, following)
    return None


def _function_at(g: Group, address: int) -> Function:
    f = g.wave.launch.function_at(address)
    if f is None:
        raise g.blame(Fault("illegal-instruction", f"call through {address:#x}, which is not a function's address"), None)
    return f


def _enter(g: Group, callee: Callee, function: Function, after: int) -> int | None:
    launch = g.wave.launch
    target = launch.definition_of(function)
    if target.body is None:
        handler = INTRINSICS.get(target.name)
        if handler is None:
            raise g.blame(Fault("unsupported", f"call of {target.name}, which the device runtime of this model does not provide"), None)
        return _intrinsic(g, callee, target, handler, after)
    code = g.wave.code_of(target)
    plan, stack = code.plan, g.wave.local
    top = callee.call.top
    base = plan.frame_behind(g.act.top if top is None else g.act.base + top)
    try:
        stack.grow(base + plan.frame_size)
    except Fault as fault:
        raise g.blame(fault, None) from None
    launch.stack_used = max(launch.stack_used, base + plan.frame_size)
    registers = code.entry_registers(g.wave.poison, g.geometry.shape)
    slots = code.enter(g, callee.call, registers, base)
    for get, formal, place in zip(callee.gets, target.params, plan.parameters, strict=False):
        if place is None:  # its slot serves another register
            continue
        if isinstance(place, Home):
            if isinstance(get, InFrame):
                (v,) = stack.load(g, np.array([[g.act.base + get.offset]]), TYPES[f"b{place.dtype.itemsize * 8}"], 1)
            else:
                v = get(g.R)
            for n, part in enumerate(v if isinstance(v, tuple) else (v,)):
                registers[place.slot + n] = part.view(place.dtype) if part.dtype != place.dtype else part
        elif isinstance(get, InFrame):
            stack.copy(g.geometry, g.act.base + get.offset, base + place.offset, formal.size)
            announce_passed(g, g.act.base + get.offset, base + place.offset, formal.size)
        else:
            stack.store(g, np.array([[base + place.offset]]), formal.type, [np.broadcast_to(get(g.R), g.geometry.shape)], None)
            announce_passed(g, None, base + place.offset, formal.size)
    copies = []
    for result, formal, place in zip(callee.results, target.returns, plan.returns, strict=False):
        if result is None:
            continue
        if isinstance(place, Home) and not isinstance(result, InFrame):
            own = result.home
            slots += [(place.slot + n, Home(own.slot + n, 1, own.dtype, own.pointer)) for n in range(own.width)]
        elif not isinstance(result, InFrame):
            raise g.blame(Fault("unsupported", f"{target.name} returns in memory what its call takes in a register"), None)
        elif isinstance(place, InFrame):
            copies.append((base + place.offset, g.act.base + result.offset, formal.size))
    if plan.frame_size == 0 and not plan.segments:
        return after
    child = Group(g.wave, g.geometry, Activation(code, base, g.act, tuple(slots), tuple(copies)), registers, 0)
    child.parent = Join(g, after, g.geometry.n, is_call=True)
    child.selection = Selection(g.geometry.shape, "rows", np.arange(g.geometry.shape[0], dtype=np.intp))
    g.wave.ready.append(child)
    return None


def _intrinsic(g: Group, callee: Callee, target: Function, handler: Callable[..., list[Array]], after: int) -> int | None:
    stack = g.wave.local
    values: list[Any] = []
    for get, formal in zip(callee.gets, target.params, strict=False):
        if isinstance(get, InFrame):
            unsigned = TYPES[f"b{formal.type.bits}"]
            values.append(stack.load(g, np.array([[g.act.base + get.offset]]), unsigned, 1)[0])
        else:
            values.append(get(g.R))
    results = handler(g, *values)
    for result, put, formal, v in zip(callee.results, callee.puts, target.returns, results, strict=False):
        if isinstance(result, InFrame):
            stack.store(g, np.array([[g.act.base + result.offset]]), TYPES[f"b{formal.type.bits}"], [v], None)
            announce_passed(g, None, g.act.base + result.offset, formal.size)
        elif result is not None and put is not None:
            put(g.R, v)
            g.dirty |= 1 << result.home.slot
    return after
