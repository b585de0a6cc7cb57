"""All ways through the threads of a litmus test: the instructions are carried out, and a load gives each value that its location may hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from warplab.interpreter.litmus.events import Given, MemoryEvent, NotModelled
from warplab.interpreter.litmus.ways import MOST_LOADS, Values, Ways

from .conditions import COMPARISONS
from .program import HerdInstruction, HerdTest, HerdThread, Operand, register, signed

BITS = (1 << 64) - 1
MOST_STEPS = 400  # of one way
MOST_WAYS = 20_000  # through one thread


def ways(test: HerdTest, values: Values) -> Ways:
    """The ways through each thread, where locations hold one of these values; what they hold at first is added."""
    for location, first in test.first.items():
        values.setdefault(location, {first})
    found = Ways()
    for thread in test.threads:
        found.threads[thread.where.number] = thread.where
        _ThreadWays(test, thread, values, found).explore()
    return found


@dataclass(slots=True)
class _State:
    """A thread under way."""

    pc: int
    registers: dict[str, int]
    given: Given = ()
    events: tuple[MemoryEvent, ...] = ()
    visited: frozenset[tuple[object, ...]] = frozenset()  # since it last changed anything
    phases: Counter[tuple[object, ...]] = field(default_factory=Counter)  # how often it came to each barrier
    steps: int = 0

    def does(self, event: MemoryEvent) -> None:
        """Something is done."""
        self.events = (*self.events, event)
        if event.barrier or (event.written is not None and event.written != event.read):
            self.visited = frozenset()


class _ThreadWays:
    def __init__(self, test: HerdTest, thread: HerdThread, values: Values, found: Ways) -> None:
        self.test, self.thread, self.values, self.found = test, thread, values, found
        self.number = thread.where.number
        self.asked = [name for n, _, name in (label.partition(":") for label in names(test)) if n == f"P{self.number}"]
        self.live = live_registers(thread.instructions, self.asked)

    def explore(self) -> None:
        """Notes all ways through the thread."""
        found, number = self.found, self.number
        todo = [_State(0, {name: value & BITS for name, value in self.thread.registers.items()})]
        ends = found.ways.setdefault(number, {})
        while todo:
            state = todo.pop()
            more = self._run(state)
            if more is None:
                ends[state.given] = state.events
                held = tuple((register(number, name), state.registers.get(name, 0)) for name in self.asked)
                found.registers.setdefault(number, {})[state.given] = held
            else:
                todo += more
            if len(ends) + len(todo) > MOST_WAYS:
                raise NotModelled(f"more than {MOST_WAYS} ways through P{number}")
        if not ends:
            del found.ways[number]

    def _run(self, state: _State) -> list[_State] | None:
        """Goes on to the next load, and gives a state for each value that it may find, or to the end, which gives None."""
        code = self.thread.instructions
        while state.pc < len(code):
            i = code[state.pc]
            here = (state.pc, *(state.registers.get(name, 0) for name in self.live[state.pc]))
            loads = i.kind in ("load", "atomic")
            if loads or i.kind == "branch":
                endless = state.steps > MOST_STEPS or (loads and len(state.given) >= MOST_LOADS)
                if endless or here in state.visited:
                    self.found.cut = self.found.cut or endless
                    self.found.left.setdefault(self.number, set()).add(state.given)
                    self.found.begun.append(state.events)
                    return []
                state.visited |= {here}
            if loads:
                return [self._loaded(state, i, value) for value in sorted(self.values[self.test.places[i.name].location])]
            state.steps += 1
            state.pc += 1
            self._step(state, i)
        return None

    def _step(self, state: _State, i: HerdInstruction) -> None:
        """Whatever does not load."""
        operands = [self._value(state, o) for o in i.operands]
        match i.kind:
            case "store":
                place = self.test.places[i.name]
                state.does(MemoryEvent(place.location, None, operands[0], i.order, proxy=i.proxy, address=place.address, line=i.line))
            case "fence":
                state.does(MemoryEvent(order=i.order, proxy=i.proxy, line=i.line))
            case "barrier":
                state.does(self._barrier(state, i, operands))
            case "compute":
                state.registers[i.result] = computed(i.operation, operands)
            case "branch":
                if not i.operation or COMPARISONS[i.operation](*map(signed, operands)):
                    state.pc = i.target

    def _loaded(self, state: _State, i: HerdInstruction, found: int) -> _State:
        """What comes of a load, or of an atomic operation, that finds a value."""
        place = self.test.places[i.name]
        event = MemoryEvent(place.location, found, None, i.order, proxy=i.proxy, address=place.address, line=i.line)
        if i.kind == "atomic":
            operands = [self._value(state, o) for o in i.operands]
            if i.operation == "cas":
                written = operands[1] if found == operands[0] else found
            else:
                written = operands[0] if i.operation == "exch" else computed(i.operation, [found, *operands])
            event = replace(event, written=written)
        registers = {**state.registers, i.result: found} if i.result else dict(state.registers)
        after = _State(state.pc + 1, registers, (*state.given, found), state.events, state.visited, Counter(state.phases), state.steps + 1)
        after.does(event)
        return after

    def _barrier(self, state: _State, i: HerdInstruction, operands: list[int]) -> MemoryEvent:
        resource = operands[0] if operands else None
        block = self.thread.where.block
        which = ("named" if operands else "barrier", block, i.name, resource)
        state.phases[which] += 1
        counts = len(operands) > 1
        threads = operands[1] if counts else sum(_names_barrier(t, i, resource) for t in self.test.threads if t.where.block == block)
        return MemoryEvent(
            barrier=(*which, state.phases[which]), arrives=True, waits=i.operation == "sync", threads=threads, counts=counts, line=i.line
        )

    @staticmethod
    def _value(state: _State, o: Operand) -> int:
        return (state.registers.get(o, 0) if isinstance(o, str) else o) & BITS


def _names_barrier(thread: HerdThread, barrier: HerdInstruction, resource: int | None) -> bool:
    """Does a thread come to this barrier by a number that stands in its text?"""
    wanted = () if resource is None else (resource,)
    return any(i.kind == "barrier" and i.name == barrier.name and i.operands[:1] == wanted for i in thread.instructions)


def names(test: HerdTest) -> tuple[str, ...]:
    """What an outcome of the test names, in order."""
    return tuple(dict.fromkeys([*test.condition.names(), *test.shown]))


def computed(operation: str, operands: list[int]) -> int:
    """The result of an instruction that only computes."""
    a, b = signed(operands[0]), signed(operands[-1])
    match operation:
        case "mov":
            value = a
        case "add":
            value = a + b
        case "sub":
            value = a - b
        case "mul":
            value = a * b
        case "div":
            if not b:
                raise NotModelled("a division by zero")
            value = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "min" | "max":
            value = min(a, b) if operation == "min" else max(a, b)
        case "and":
            value = a & b
        case "or":
            value = a | b
        case _:
            assert operation == "xor", operation
            value = a ^ b
    return value & BITS


def live_registers(code: tuple[HerdInstruction, ...], asked: list[str]) -> list[tuple[str, ...]]:
    """The registers that may be read behind each place, in order; at the end those that the condition names."""
    live: list[set[str]] = [set() for _ in code] + [set(asked)]
    changed = True
    while changed:
        changed = False
        for at in reversed(range(len(code))):
            i = code[at]
            after = set() if i.kind == "branch" and not i.operation else set(live[at + 1])
            if i.kind == "branch":
                after |= live[i.target]
            before = (after - {i.result}) | set(i.reads)
            changed = changed or before != live[at]
            live[at] = before
    return [tuple(sorted(each)) for each in live]
