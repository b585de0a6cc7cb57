"""Calls: arguments in, a frame of its own, results back; direct, through a pointer, recursive, or of what the device runtime provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.assembler.ir import Arguments, Function, Instruction, Prototype, Register, Targets, Variable
from warplab.isa.types import TYPES

from ..faults import Fault
from ..intrinsics import INTRINSICS
from ..plan.operands import Set, as_get, as_set
from ..plan.plan import Home
from .group import Activation, Group
from .lanes import Selection
from .values import Array

if TYPE_CHECKING:
    from ..plan.lower import Lowering

FRAME_ALIGN = 16


class Callee:
    """What one call instruction calls, and with what; settled once."""

    def __init__(
        self,
        low: Lowering,
        i: Instruction,
        callee: Any,
        args: Arguments | None,
        returns: Arguments | None,
        signature: Prototype | Targets | None,
    ) -> None:
        self.low = low
        self.instruction = i
        self.args = args.elements if args else ()
        self.returns = returns.elements if returns else ()
        self.direct = callee if isinstance(callee, Function) else None
        self.pointer = None if self.direct is not None else as_get(low.operands.source(callee, TYPES["u64"]))
        formals = self.direct.params if self.direct is not None else signature.params if isinstance(signature, Prototype) else ()
        self.gets: list[Callable[[list[Any]], Any] | None] = []
        for n, a in enumerate(self.args):
            if isinstance(a, Variable) and a.register is None:
                self.gets.append(None)
                continue
            t = formals[n].type if n < len(formals) else a.type if isinstance(a, Register) else TYPES["b32"]
            self.gets.append(as_get(low.operands.source(a, t)))
        self.puts: list[tuple[Any, Set] | None] = []
        for r in self.returns:
            in_memory = isinstance(r, Variable) and r.register is None
            t = r.type if isinstance(r, Register | Variable) else TYPES["b32"]
            self.puts.append(None if in_memory else (r, as_set(low.operands.target(r, t))))

    def offset(self, v: Any) -> int:
        """Where a .param variable of the caller lies in its frame."""
        return self.low.plan.frame[id(v)]


def call_group(g: Group, callee: Callee, after: int) -> int | None:
    """Executes a call for all lanes of g; gives the next place if it was over at once."""
    if callee.direct is not None:
        return _enter(g, callee, callee.direct, after)
    assert callee.pointer is not None
    where: Array = callee.pointer(g.R)
    targets = np.unique(where)
    if targets.size == 1:
        return _enter(g, callee, _function_at(g, int(targets[0])), after)
    slots = g.act.function.live_in[after]
    parts = [Selection.of(np.broadcast_to(where, g.geometry.shape) == t, g.geometry.shape) for t in targets]
    g.fetch_all(slots)
    pc = g.pc
    children = g.split([(s, pc) for s in parts], after)
    for child, target in zip(children, targets.tolist(), strict=True):
        child.fetch_all(g.act.function.live_in[pc])
        child.pc = pc
        following = _enter(child, callee, _function_at(g, target), after)
        if following is not None:
            child.wave.arrive(child, following)
    return None


def _function_at(g: Group, address: int) -> Function:
    f = g.wave.launch.function_at(address)
    if f is None:
        raise g.blame(Fault("illegal-instruction", f"call through {address:#x}, which is no function's address"), None)
    return f


def _enter(g: Group, callee: Callee, function: Function, after: int) -> int | None:
    launch = g.wave.launch
    target = launch.definition_of(function)
    if target.body is None:
        handler = INTRINSICS.get(target.name)
        if handler is None:
            raise g.blame(Fault("unsupported", f"call of {target.name}, which the device runtime of this model does not provide"), None)
        return _intrinsic(g, callee, target, handler, after)
    plan = launch.plan_of(target)
    base = -(-g.act.top // FRAME_ALIGN) * FRAME_ALIGN
    try:
        g.wave.local.grow(base + plan.frame_size)
    except Fault as fault:
        raise g.blame(fault, None) from None
    registers = plan.entry_registers()
    stack = g.wave.local
    for arg, get, formal in zip(callee.args, callee.gets, target.params, strict=False):
        if formal.register is not None:
            if not plan.wanted >> formal.register.index & 1:  # its slot serves another register
                continue
            home = plan.homes[formal.register.index]
            if get is None:
                (v,) = stack.load(g, np.array([[g.act.base + callee.offset(arg)]]), TYPES[f"b{home.dtype.itemsize * 8}"], 1)
            else:
                v = get(g.R)
            for n, part in enumerate(v if isinstance(v, tuple) else (v,)):
                registers[home.slot + n] = part.view(home.dtype) if part.dtype != home.dtype else part
        elif get is None:
            stack.copy(g.geometry, g.act.base + callee.offset(arg), base + plan.frame[id(formal)], formal.size)
        else:
            stack.store(g, np.array([[base + plan.frame[id(formal)]]]), formal.type, [np.broadcast_to(get(g.R), g.geometry.shape)], None)
    slots: list[tuple[int, Home]] = []
    copies = []
    for r, put, formal in zip(callee.returns, callee.puts, target.returns, strict=False):
        if formal.register is not None and put is not None:
            own = g.act.function.homes[_register(r).index]
            inner = plan.homes[formal.register.index].slot
            slots += [(inner + n, Home(own.slot + n, 1, own.dtype, own.pointer)) for n in range(own.width)]
        elif put is None:
            if formal.register is None:
                copies.append((base + plan.frame[id(formal)], g.act.base + callee.offset(r), formal.size))
        else:
            raise g.blame(Fault("unsupported", f"{target.name} returns in memory what its call takes in a register"), None)
    act = Activation(plan, base, g.act, tuple(slots), tuple(copies))
    if plan.frame_size == 0 and not plan.segments:
        return after
    child = Group(g.wave, g.geometry, act, registers, 0)
    child.parent = g
    child.selection = Selection(g.geometry.shape, "rows", np.arange(g.geometry.shape[0], dtype=np.intp))
    g.join, g.node_return = after, True
    g.expected, g.absorbed, g.pending, g.handed_in = g.geometry.n, 0, {}, []
    g.wave.ready.append(child)
    return None


def _register(r: Any) -> Register:
    return r.register if isinstance(r, Variable) else r  # type: ignore[return-value]


def _intrinsic(g: Group, callee: Callee, target: Function, handler: Callable[..., list[Array]], after: int) -> int | None:
    stack = g.wave.local
    values: list[Array] = []
    for arg, get, formal in zip(callee.args, callee.gets, target.params, strict=False):
        if get is not None:
            values.append(get(g.R))
        else:
            unsigned = TYPES[f"b{formal.type.bits}"]
            values.append(stack.load(g, np.array([[g.act.base + callee.offset(arg)]]), unsigned, 1)[0])
    results = handler(g, *values)
    for r, put, formal, v in zip(callee.returns, callee.puts, target.returns, results, strict=False):
        if put is not None:
            put[1](g.R, v)
            home = g.act.function.homes[_register(r).index]
            g.dirty |= 1 << home.slot
        else:
            stack.store(g, np.array([[g.act.base + callee.offset(r)]]), TYPES[f"b{formal.type.bits}"], [v], None)
    return after
