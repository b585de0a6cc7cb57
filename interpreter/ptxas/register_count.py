"""How many registers a thread of a kernel needs, from the live ranges of its virtual registers.

An assembler spends no register on what it can have for nothing: parameters (constant memory is an operand), immediates, copies,
address arithmetic by a constant, predicates (a file of their own).  What is left is counted where most of it is alive at once.  Small
kernels get more than that: the assembler spreads instructions to hide latencies, the longer the text the more.  The weights were fitted to
what ptxas gives 196 recorded kernels: 78 of 100 come out within a quarter, half above it and half below.
"""

from __future__ import annotations

import math
from functools import lru_cache
from weakref import WeakKeyDictionary

from warplab.assembler.flow import Flow, flow
from warplab.assembler.ir import Function, Immediate, Instruction, Register, Symbol, Variable
from warplab.assembler.listing import listing
from warplab.isa.control import CALLS
from warplab.isa.occupancy import Occupancy, occupancy
from warplab.isa.profiles import DeviceProfile

from ..plan.roles import uses
from ..program import LoadedKernel, functions_in

LEAST = 8  # what the assembler gives the smallest kernel
BESIDE = 2  # for addresses and constants that come and go between the lines of PTX
CALLED = 6  # what the routine of a division or root of 64 bits needs
CALLING = 24  # the calling convention's least, where a call stays a call
HOISTED = 16  # words of loads that the assembler has under way together, for the most part beyond what is alive in the text
_known: WeakKeyDictionary[LoadedKernel, tuple[int, int]] = WeakKeyDictionary()
COPIES = frozenset({"mov", "cvta", "add", "sub"})


def kernel_registers(kernel: LoadedKernel) -> int:
    """Registers a thread: of the hungriest function that the kernel may reach, since most are assembled into their callers."""
    return _needs(kernel)[0]


def barriers_of(kernel: LoadedKernel) -> int:
    """Named barriers that a block claims: up to the highest number, all 16 where a register chooses."""
    return _needs(kernel)[1]


def _needs(kernel: LoadedKernel) -> tuple[int, int]:
    """Registers and barriers, looked for once a kernel."""
    known = _known.get(kernel)
    if known is None:
        known = _known[kernel] = (_registers(kernel), _barriers(kernel))
    return known


def _registers(kernel: LoadedKernel) -> int:
    need = max(function_registers(f) for f in kernel.reached)
    if any(_stays(i) for f in kernel.reached for i in listing(f).instructions):
        need = max(need, CALLING)
    bound = kernel.function.directive(".maxnreg")
    return min(need, int(bound.values[0])) if bound and bound.values else need


def _stays(i: Instruction) -> bool:
    """Is this a call of something that is not there to be assembled in: the system's, or known only by its address?"""
    if i.opcode not in CALLS:
        return False
    targets = [f for o in i.operands[:2] for f in functions_in(o)]
    return not targets or any(f.body is None and (f.definition is None or f.definition.body is None) for f in targets)


@lru_cache(maxsize=512)
def function_registers(function: Function) -> int:
    """Registers that one function needs."""
    graph = flow(function)
    order = [i for b in graph.rpo for i in graph.blocks[b].instructions]
    hoisted = min(HOISTED, max((_loaded(graph.blocks[b].instructions) for b in graph.rpo), default=0))
    peak = _peak(graph, function, order)
    spread = 2 * math.log2(max(1, len(order))) + 0.4 * peak + 0.6 * hoisted + (CALLED if any(map(_is_called, order)) else 0)
    return max(LEAST, peak + BESIDE, round(spread))


def _is_called(i: Instruction) -> bool:
    """Is this one of the operations that are routines: division and roots of 64 bits?"""
    return i.opcode in ("div", "rem", "sqrt") and bool({"f64", "s64", "u64"} & set(i.modifiers))


def _loaded(block: tuple[Instruction, ...]) -> int:
    """Words that the loads of one block bring."""
    loads = (i for i in block if i.opcode in ("ld", "ldu", "atom") and "param" not in i.modifiers)
    return sum(max(1, r.type.bits // 32) for i in loads for r in uses(i)[1])


def _peak(graph: Flow, function: Function, order: list[Instruction]) -> int:
    """The most 32-bit words that values needing a register fill at one place."""
    free, same = _free(order)
    copied = sum(1 << d for d in same)
    words: dict[int, int] = {}  # words of one value -> mask of registers
    for r in function.registers:
        if r.type.name != "pred" and not free >> r.index & 1:
            n = max(1, r.type.bits // 32) * r.vector
            words[n] = words.get(n, 0) | 1 << r.index
    most = 0
    for b in graph.rpo:
        for live in {graph.live_in[b], *(after for _, after in graph.live_after(b))}:
            copies = live & copied
            while copies:  # a copy lives where its source does
                low = copies & -copies
                copies ^= low
                live = live & ~low | 1 << same[low.bit_length() - 1]
            most = max(most, sum(n * (live & mask).bit_count() for n, mask in words.items()))
    return most


def _free(order: list[Instruction]) -> tuple[int, dict[int, int]]:
    """Registers that cost nothing, as a mask, and those that are another register in disguise."""
    definitions: dict[int, list[Instruction]] = {}
    for i in order:
        for r in uses(i)[1]:
            definitions.setdefault(r.index, []).append(i)
    free, same = 0, dict[int, int]()
    for i in order:
        d = i.operands[0] if i.operands else None
        if not isinstance(d, Register) or len(definitions.get(d.index, ())) != 1 or i.guard is not None:
            continue
        sources = i.operands[1:]
        if i.opcode == "ld" and "param" in i.modifiers:
            free |= 1 << d.index
        elif i.opcode in ("mov", "cvta", "add", "sub", "cvt", "shl"):
            values = [o for o in sources if isinstance(o, Register)]
            if not all(isinstance(o, Register | Immediate | Variable | Symbol) for o in sources):
                continue
            if all(free >> v.index & 1 for v in values):
                free |= 1 << d.index
            elif (
                i.opcode in COPIES
                and len(values) == 1
                and len(definitions.get(values[0].index, ())) == 1
                and values[0].type.bits == d.type.bits
            ):
                same[d.index] = same.get(values[0].index, values[0].index)
    return free, same


def _barriers(kernel: LoadedKernel) -> int:
    most = 1
    for f in kernel.reached:
        for i in listing(f).instructions:
            if i.form is None or i.form.effect != "barrier":
                continue
            operand = i.operands[1 if i.form.operands and i.form.operands[0].is_destination else 0]
            most = max(most, int(operand.value) + 1 if isinstance(operand, Immediate) else 16)
    return most


def residency(device: DeviceProfile, kernel: LoadedKernel, threads: int, shared: int) -> Occupancy:
    """How many blocks of a kernel one multiprocessor holds, by the estimated registers."""
    shared = device.block_shared(shared, kernel.parameter_bytes)
    limit = max(device.shared_per_block, shared)  # a launch that got so far may use what it uses
    return occupancy(device, threads, kernel_registers(kernel), shared, shared_limit=limit, barriers=barriers_of(kernel))
