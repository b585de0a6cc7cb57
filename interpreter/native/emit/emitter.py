"""Straight operations of a segment as one function over the vectors of a group.

What is one value for the wave is computed once, before the loop over the vectors; what varies lies in the frame of each vector.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warplab.isa.primitives import look_up
from warplab.isa.types import TYPES

from ...plan import plan as P
from ...vector.steps.meanings import bound
from ..trace.code import Untraceable
from ..trace.meanings import traced
from ..trace.symbol import SymbolicArray, lift
from ..trace.ufuncs import select
from ..uniformity import UNIFORM, VARYING, kind_in
from .lanes import CompiledLanes
from .memory import CALLED, INLINED, field
from .warps import chains, matrices, mbarriers, warp  # noqa: F401  (their rules)
from .warps.rules import RULES

DType = np.dtype[Any]


# Of the context.
_POINTERS = "host shared parameters frames uniforms sites block_of thread_of specials local claims".split()
_NUMBERS = "shared_stride shared_size shared_part first_block first_claim claims_from claims_size block_lanes interval local_stride local_size".split()


class Emitter(CompiledLanes):
    """Writes the function of one pass."""

    # ------------------------------------------------------------ the function

    def text(self, ops: Sequence[P.Op], needed: dict[int, set[int]], parts: P.Table | P.Call | None = None, *, twice: bool = True) -> str:
        """LLVM IR; `needed`: in which kinds each slot must lie in memory behind the pass; `parts`: the end that sends its lanes many ways;
        `twice`: with a version for whole warps.
        """
        for op in ops:
            self.operation(op)
        code = len(self.code.lines)
        ways = [] if parts is None else self._ways(parts)
        self.put_all(needed, VARYING)
        once = len(self.once.lines)  # all that the loop over the vectors reads is computed by now
        self.put_all(needed, UNIFORM)
        if not self.code.lines:
            return self.without_vectors(once)
        self.once.lines += self.ending
        w = self.width
        body = [
            *self.code.lines[:code], "  %after = load i64, ptr %ctx, align 8", "  %good = icmp eq i64 %after, 0",
            "  br i1 %good, label %keep, label %bad, !prof !9", "keep:", *self.code.lines[code:], *ways, "  br label %next",
        ]  # fmt: skip
        return self.function(once, [
            f"  %bits = trunc i64 %e to i{w}", f"  %active = bitcast i{w} %bits to <{w} x i1>", f"  %whole = icmp eq i{w} %bits, -1",
            *(["  br i1 %whole, label %all, label %some", "all:", *for_all(inlined(body), w)] if twice else ["  br label %some"]), "some:", *body,
            "bad:", *self.ending, "  ret i64 %k",
        ])  # fmt: skip

    def without_vectors(self, once: int) -> str:
        """The function of operations that are the same for the whole wave: it does not go through the vectors."""
        return whole_function(self.name, [], [
            *self.once.lines[:once],
            "  %before = load i64, ptr %ctx, align 8", "  %fine = icmp eq i64 %before, 0", "  br i1 %fine, label %end, label %none",
            "none:", "  ret i64 0", "end:", *self.once.lines[once:], "  ret i64 -1",
        ])  # fmt: skip

    def function(self, once: int, body: Sequence[str]) -> str:
        """The function that does for each vector of a list what `body` says, which ends at %next; so many lines are executed once before it."""
        rooms = [f"  {name} = alloca {t}, align 64" for name, t in self.code.rooms.items()]
        return whole_function(self.name, rooms, [
            *self.once.lines[:once],
            "  %before = load i64, ptr %ctx, align 8", "  %fine = icmp eq i64 %before, 0", "  br i1 %fine, label %loop, label %none",
            "none:", "  ret i64 0",
            "loop:", "  %k = phi i64 [0, %entry], [%k.next, %next]", "  %entry.p = getelementptr i64, ptr %list, i64 %k",
            "  %e = load i64, ptr %entry.p, align 8", "  %vec = lshr i64 %e, 32", f"  %fo = mul i64 %vec, {self.frame.size}",
            "  %frame = getelementptr i8, ptr %frames.b, i64 %fo", *body,
            "next:", "  %k.next = add i64 %k, 1", "  %more = icmp ult i64 %k.next, %count", "  br i1 %more, label %loop, label %end",
            "end:", *self.once.lines[once:], "  ret i64 -1",
        ])  # fmt: skip

    def put_all(self, needed: dict[int, set[int]], kind: int) -> None:
        """Stores those of these registers that have changed and are wanted in a kind."""
        for slot, kinds in needed.items():
            changed = slot in self.values and self.values[slot] is not self.loaded.get(slot)
            if kind in kinds and (changed or kind_in(self.kinds, slot) != kind):  # else it lies there already
                self.put(slot, kind)

    def put(self, slot: int, kind: int) -> None:
        """Stores a register; lanes that take no part keep what they have."""
        _, value = self.value(slot)
        if not isinstance(value, SymbolicArray):
            raise Untraceable("factors that outlive their pass")
        v, dtype, code = self.at(kind, value), self.frame.dtypes[slot], self.code_of(kind)
        if v.dtype.itemsize != dtype.itemsize or (v.dtype.kind == "b") != (dtype.kind == "b"):
            raise Untraceable(f"{v.dtype} in a register of {dtype}")
        place, align = self.place_of(slot, kind)
        if kind == UNIFORM:
            if v.dtype.kind == "b":
                v = v.astype(np.uint32)
            code.lines.append(f"  store {v.type} {v.value}, ptr {place}, align 8")
            return
        if v.dtype.kind == "b":
            t = f"i{self.width}"
            old, new = code.fresh(f"load {t}, ptr {place}, align {align}"), code.emit(f"bitcast {v.type} {v.value} to {t}")
            changed = code.fresh(f"and {t} {code.fresh(f'xor {t} {old}, {new}')}, %bits")
            code.lines.append(f"  store {t} {code.fresh(f'xor {t} {old}, {changed}')}, ptr {place}, align {align}")
            return
        before = SymbolicArray(code, code.fresh(f"load {v.type}, ptr {place}, align {align}"), v.dtype)
        v = select(SymbolicArray(code, "%active", "?"), v, before)
        code.lines.append(f"  store {v.type} {v.value}, ptr {place}, align {align}")

    def _ways(self, end: P.Table | P.Call) -> list[str]:
        """Lines that store, for each way of an end, the mask of the lanes that take it; a call has one more, for other functions."""
        if isinstance(end, P.Call):
            pointer = self._all_lanes(self.source(end.pointer)[1])
            calls: list[Any] = [pointer == pointer.dtype.type(address) for address, _ in end.ways]
            return self._masks([*calls, ~functools.reduce(operator.or_, calls)])
        index = self._all_lanes(self.source(end.index)[1])
        entry = np.minimum(index, index.dtype.type(len(end.targets) - 1))
        ways = end.ways
        taken = entry if len(ways) == len(end.targets) else look_up(entry, np.array([ways.index(to) for to in end.targets], np.uint32))
        return self._masks([taken == taken.dtype.type(n) for n in range(len(ways))])

    def _masks(self, taken: Sequence[Any]) -> list[str]:
        """Lines that store which lanes take each way."""
        lines = []
        for n, mask in enumerate(taken):
            lines += [f"  %way{n}.p = getelementptr i8, ptr %frame, i64 {self.frame.way(n)}",
                      f"  %way{n} = bitcast {mask.type} {mask.value} to i{self.width}", f"  store i{self.width} %way{n}, ptr %way{n}.p, align 4"]  # fmt: skip
        return lines

    # ------------------------------------------------------------ operations

    def operation(self, op: P.Op) -> None:
        """One operation of the plan."""
        guard: tuple[int, SymbolicArray] | None = None
        self.keeping = frozenset(op.keeps)  # where the guard does not hold
        if op.guard is not None:
            kind, p = self.value(op.guard.slot)
            guard = kind, (~p if op.guard.negated else p)
        match op.how:
            case "load":
                self.ld(op, guard)
            case "store":
                self.st(op, guard)
            case "parameter":
                self._parameter(op, guard)
            case "move" | "pointer" | "factors":
                self._hand_on(op, guard)
            case "pack" | "unpack":
                self._repack(op, guard)
            case "pure":
                self._pure(op, guard)
            case "carry":
                self._carry(op, guard)
            case "warps":
                self._warps(op, guard)
            case "lanes":
                self._lanes(op, guard)
            case _:
                raise Untraceable(op.how)

    def _pure(self, op: P.Op, guard: Any) -> None:
        parts = [self.source(s) for s in op.sources]
        kind = max((k for k, _ in parts), default=UNIFORM)
        code, meaning, operands = self.code_of(kind), bound(op.meaning), [self.at(kind, v) for _, v in parts]
        results = self.helpers.routines.results(code, id(op.meaning), meaning, operands, calls=kind == VARYING)
        self.assign(op.target, kind, results if isinstance(op.target, P.Each) else results[0], guard)

    def _carry(self, op: P.Op, guard: Any) -> None:
        """An instruction that takes the condition code register, gives it, or both; a guard does not hold it back."""
        words = op.meaning.form.carry.split()
        taken = {"cc": self.at(VARYING, self.value(self.frame.carry)[1])} if "in" in words else {}
        meaning = functools.partial(bound(op.meaning), **taken)
        results = traced(self.code, meaning, [self.at(VARYING, self.source(s)[1]) for s in op.sources])
        if "out" in words:
            self.values[self.frame.carry] = VARYING, results[-1]
        self.assign(op.target, VARYING, results[0], guard)

    def _warps(self, op: P.Op, guard: Any) -> None:
        """An instruction across the lanes of a warp, by its own rule."""
        if op.meaning.form.meaning not in RULES:
            raise Untraceable("a whole warp")
        self.guard = guard
        self.look_for_missing_lanes(op, guard)
        result = bound(op.meaning)(self, *[self.source(s)[1] for s in op.sources])
        self.assign(op.target, VARYING, result, guard)

    @property
    def members(self) -> str:
        """See warp.Warp."""
        return self.lanes(self.guard).split()[1]

    def _lanes(self, op: P.Op, guard: Any) -> None:
        """An instruction that knows its lanes: the meaning asks this emitter."""
        self.guard = guard
        self.watch_update(op, guard)
        result = bound(op.meaning)(self, *[self._all_lanes(self.source(s)[1]) for s in op.sources])
        if op.target is not None:
            self.assign(op.target, VARYING, result, guard)

    def _all_lanes(self, value: Any) -> Any:
        """A value of each lane, also where it is one for all."""
        value = self.at(VARYING, value)
        return lift(self.code, value, value.dtype, self.width * value.each) if isinstance(value, SymbolicArray) else value

    def primitive(self, function: Any, arguments: tuple[Any, ...], modes: Mapping[str, Any]) -> Any:
        """See isa/primitives.py: the meaning of an instruction that works on whole warps."""
        if function not in RULES:
            raise Untraceable("a whole warp")
        return RULES[function](*arguments, **modes)

    def constant(self, value: Any) -> Any:
        """See warp.Warp."""
        if not isinstance(value, SymbolicArray):
            return value
        return None if value.number is None else value.number & 0xFFFFFFFF

    def refuse(self, lanes: str) -> None:
        """See warp.Warp."""
        bad = self.code.fresh(f"icmp ne i32 {lanes}, 0")
        word = self.code.fresh(f"zext i1 {bad} to i64")
        old = self.code.fresh("load i64, ptr %ctx, align 8")
        new = self.code.fresh(f"or i64 {old}, {word}")
        self.code.lines.append(f"  store i64 {new}, ptr %ctx, align 8")

    def _parameter(self, op: P.Op, guard: Any) -> None:
        (place,) = op.sources
        assert isinstance(place, P.ParameterPlace) and place.dtype is not None
        self.assign(op.target, UNIFORM, self.parameter(place, 0, place.dtype), guard)

    def _hand_on(self, op: P.Op, guard: Any) -> None:
        parts = [self.source(s) for s in op.sources]
        kind = max(k for k, _ in parts)
        values = [self.at(kind, v) for _, v in parts]
        if op.how == "factors":
            self.assign(op.target, kind, tuple(values), guard)
            if op.product is not None:
                self.operation(op.product)
        elif op.how == "move":
            self.assign(op.target, kind, values[0], guard)
        else:
            total = values[0] if len(values) == 1 else values[0] + values[1].view(values[0].dtype)
            if {k for k, _ in parts} == {UNIFORM, VARYING}:
                (_, one), (_, each) = sorted(parts, key=lambda part: part[0])
                self.sums[total.value] = one, each
            self.assign(op.target, kind, total, guard)

    def _repack(self, op: P.Op, guard: Any) -> None:
        t = TYPES[str(op.meaning.settled["type"])]
        if t.bits == 128:
            raise Untraceable("128 bits")
        kind, v = self.source(op.sources[0])
        if op.how == "pack":
            parts = self.at(kind, v)
            each = t.bits // len(parts)
            out: Any = parts[0].view(f"u{parts[0].itemsize}").astype(f"u{t.bits // 8}")
            for i, p in enumerate(parts[1:], 1):
                out = out | p.view(f"u{p.itemsize}").astype(f"u{t.bits // 8}") << np.dtype(f"u{t.bits // 8}").type(i * each)
            self.assign(op.target, kind, out.view(t.dtype), guard)
            return
        assert isinstance(op.target, P.Each)
        count = len(op.target.targets)
        each, bits = t.bits // count, v.view(f"u{t.bits // 8}")
        pieces = tuple((bits >> bits.dtype.type(i * each)).astype(TYPES[f"b{each}"].dtype) for i in range(count))
        self.assign(op.target, kind, pieces, guard)


def whole_function(name: str, rooms: Sequence[str], lines: Sequence[str]) -> str:
    """A function that the scheduler calls: room on the stack, what its lines need of the context, and these lines."""
    text = "\n".join(lines)
    pointers = [word for word in _POINTERS if f"%{word}.b" in text]
    numbers = [word for word in _NUMBERS if f"%{word}" in text]
    needed = [line for word in (*pointers, *numbers) for line in field(word, f"%{word}")]
    needed += [f"  %{word}.b = inttoptr i64 %{word} to ptr" for word in pointers]
    return "\n".join([f"define i64 @{name}(ptr noalias %ctx, ptr noalias %list, i64 %count) {{", "entry:", *rooms, *needed, text, "}"])


def inlined(body: Sequence[str]) -> list[str]:
    """The same with the code of the helpers."""
    return [line.replace(f") {CALLED}", f") {INLINED}") for line in body]


def for_all(body: Sequence[str], width: int, suffix: str = ".all") -> list[str]:
    """What a function does for a vector, where all lanes are known to take part: most of what asks for the mask vanishes."""
    return renamed(body, {"%active": "<" + ", ".join(["i1 true"] * width) + ">", "%bits": "-1"}, suffix)


def renamed(body: Sequence[str], known: Mapping[str, str], suffix: str) -> list[str]:
    """Lines whose own names and labels have a suffix; `known` are names from outside that stand for something else here."""
    text = "\n".join(body)
    own = set(re.findall(r"^  (%[\w.]+) = ", text, re.M)) | {"%" + label for label in re.findall(r"^([\w.]+):", text, re.M)}
    text = re.sub(r"%[\w.]+", lambda name: known.get(name[0]) or name[0] + suffix * (name[0] in own), text)
    return re.sub(r"^([\w.]+):", rf"\1{suffix}:", text, flags=re.M).split("\n")
