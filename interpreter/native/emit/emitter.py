"""Straight operations of a segment as one function over the vectors of a group.

What is one value for the wave is computed once, before the loop over the vectors; what varies lies in the frame of each vector.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from warplab.isa.primitives import look_up
from warplab.isa.types import TYPES

from ...plan import plan as P
from ...vector.steps.meanings import both, bound
from ..trace.code import Untraceable, scalar_type
from ..trace.meanings import traced
from ..trace.symbol import SymbolicArray, lift
from ..variance import LANE, ONE
from . import chains, matrices, warp  # noqa: F401  (their rules)
from .lanes import CompiledLanes
from .memory import field
from .rules import RULES

DType = np.dtype[Any]


_POINTERS = ("host", "shared", "parameters", "frames", "uniforms", "sites", "block_of", "thread_of", "specials", "local")  # of the context
_NUMBERS = ("shared_stride", "shared_size", "first_block", "local_stride", "local_size")
_SUFFIXES = {"half": "f16", "float": "f32", "double": "f64"}  # of types in the names of functions


class Emitter(CompiledLanes):
    """Writes the function of one pass."""

    # ------------------------------------------------------------ the function

    def text(self, ops: Sequence[P.Op], needed: dict[int, set[int]], table: P.Table | None = None, *, twice: bool = True) -> str:
        """LLVM IR; `needed`: in which kinds each slot must lie in memory behind the pass; `table`: what decides where its lanes go;
        `twice`: with a version for whole warps.
        """
        for op in ops:
            self.operation(op)
        stores: dict[int, list[str]] = {ONE: [], LANE: []}
        for slot, kinds in needed.items():
            for kind in sorted(kinds):
                if slot not in self.values and self.kinds.get(slot, ONE) == kind:
                    continue  # it lies there already
                stores[kind] += self._put(slot, kind)
        if table is not None:
            stores[LANE] += self._ways(table)
        w = self.width
        rooms = [f"  {name} = alloca {t}, align 64" for name, t in self.code.rooms.items()]
        body = [
            *self.code.lines, "  %after = load i64, ptr %ctx, align 8", "  %good = icmp eq i64 %after, 0",
            "  br i1 %good, label %keep, label %bad, !prof !9", "keep:", *stores[LANE], "  br label %next",
        ]  # fmt: skip
        return "\n".join([
            f"define i64 @{self.name}(ptr noalias %ctx, ptr noalias %list, i64 %count) {{", "entry:", *rooms, *heads(), *self.once.lines,
            "  %before = load i64, ptr %ctx, align 8", "  %fine = icmp eq i64 %before, 0", "  br i1 %fine, label %loop, label %none",
            "none:", "  ret i64 0",
            "loop:", "  %k = phi i64 [0, %entry], [%k.next, %next]", "  %entry.p = getelementptr i64, ptr %list, i64 %k",
            "  %e = load i64, ptr %entry.p, align 8", "  %vec = lshr i64 %e, 32", f"  %bits = trunc i64 %e to i{w}",
            f"  %active = bitcast i{w} %bits to <{w} x i1>", f"  %fo = mul i64 %vec, {self.frame.size}",
            "  %frame = getelementptr i8, ptr %frames.b, i64 %fo", f"  %whole = icmp eq i{w} %bits, -1",
            *(["  br i1 %whole, label %all, label %some", "all:", *for_all(body, w)] if twice else ["  br label %some"]), "some:", *body,
            "bad:", "  ret i64 %k",
            "next:", "  %k.next = add i64 %k, 1", "  %more = icmp ult i64 %k.next, %count", "  br i1 %more, label %loop, label %end",
            "end:", *stores[ONE], "  ret i64 -1", "}",
        ])  # fmt: skip

    def _put(self, slot: int, kind: int) -> list[str]:
        """Lines that store a register."""
        _, value = self.value(slot)
        if not isinstance(value, SymbolicArray):
            raise Untraceable("factors that outlive their pass")
        v = self.at(kind, value)
        dtype = self.frame.dtypes[slot]
        if v.dtype.itemsize != dtype.itemsize or (v.dtype.kind == "b") != (dtype.kind == "b"):
            raise Untraceable(f"{v.dtype} in a register of {dtype}")
        n, w = len(self.values) * 2 + kind, self.width
        name = f"%put{slot}.{n}"
        if kind == ONE:
            lines = [f"  {name}.p = getelementptr i8, ptr %uniforms.b, i64 {8 * slot}"]
            if v.dtype.kind == "b":
                return [*lines, f"  {name}.z = zext <1 x i1> {v.value} to <1 x i32>", f"  store <1 x i32> {name}.z, ptr {name}.p, align 8"]
            return [*lines, f"  store {v.type} {v.value}, ptr {name}.p, align 8"]
        lines = [f"  {name}.p = getelementptr i8, ptr %frame, i64 {self.frame.offsets[slot]}"]
        if v.dtype.kind == "b":
            return [
                *lines, f"  {name}.o = load i{w}, ptr {name}.p, align 4", f"  {name}.i = bitcast {v.type} {v.value} to i{w}",
                f"  {name}.x = xor i{w} {name}.o, {name}.i", f"  {name}.y = and i{w} {name}.x, %bits", f"  {name}.z = xor i{w} {name}.o, {name}.y",
                f"  store i{w} {name}.z, ptr {name}.p, align 4",
            ]  # fmt: skip
        t = scalar_type(v.dtype)
        f = f"llvm.masked.store.v{w}{_SUFFIXES.get(t, t)}.p0"
        self.module.declarations[f] = f"declare void @{f}({v.type}, ptr, i32, <{w} x i1>)"
        return [*lines, f"  call void @{f}({v.type} {v.value}, ptr {name}.p, i32 {min(64, w * v.itemsize)}, <{w} x i1> %active)"]

    def _ways(self, table: P.Table) -> list[str]:
        """Lines that store, for each way of a table, the mask of the lanes that take it."""
        index = self._all_lanes(self.source(table.index)[1])
        entry = np.minimum(index, index.dtype.type(len(table.targets) - 1))
        ways = table.ways
        taken = entry if len(ways) == len(table.targets) else look_up(entry, np.array([ways.index(to) for to in table.targets], np.uint32))
        lines = []
        for n in range(len(ways)):
            mask: Any = taken == taken.dtype.type(n)
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
        kind = max((k for k, _ in parts), default=ONE)
        results = traced(self.code_of(kind), bound(op.meaning), [self.at(kind, v) for _, v in parts])
        self.assign(op.target, kind, results if isinstance(op.target, P.Each) else results[0], guard)

    def _carry(self, op: P.Op, guard: Any) -> None:
        """An instruction that takes the condition code register, gives it, or both; a guard does not hold it back."""
        words = op.meaning.form.carry.split()
        taken = {"cc": self.at(LANE, self.value(self.frame.carry)[1])} if "in" in words else {}
        meaning = functools.partial(bound(op.meaning), **taken)
        results = traced(self.code, meaning, [self.at(LANE, self.source(s)[1]) for s in op.sources])
        if "out" in words:
            self.values[self.frame.carry] = LANE, results[-1]
        self.assign(op.target, LANE, results[0], guard)

    def _warps(self, op: P.Op, guard: Any) -> None:
        """An instruction across the lanes of a warp, by its own rule."""
        if op.meaning.form.meaning not in RULES:
            raise Untraceable("a whole warp")
        self.guard = guard
        result = bound(op.meaning)(self, *[self.source(s)[1] for s in op.sources])
        self.assign(op.target, LANE, result, guard)

    @property
    def members(self) -> str:
        """See warp.Warp."""
        return "%bits" if self.guard is None else self.code.emit(f"bitcast <32 x i1> {self.mask(self.guard)} to i32")

    def _lanes(self, op: P.Op, guard: Any) -> None:
        """An instruction that knows its lanes: the meaning asks this emitter."""
        self.guard = guard
        result = bound(op.meaning)(self, *[self._all_lanes(self.source(s)[1]) for s in op.sources])
        if op.target is not None:
            self.assign(op.target, LANE, result, guard)

    def _all_lanes(self, value: Any) -> Any:
        """A value of each lane, also where it is one for all."""
        value = self.at(LANE, value)
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
        plain = re.fullmatch(r"<i\d+ (-?\d+)>", value.value)  # of one lane
        return None if plain is None else int(plain[1]) & 0xFFFFFFFF

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
        self.assign(op.target, ONE, self.parameter(place, 0, place.dtype), guard)

    def _hand_on(self, op: P.Op, guard: Any) -> None:
        parts = [self.source(s) for s in op.sources]
        kind = max(k for k, _ in parts)
        values = [self.at(kind, v) for _, v in parts]
        if op.how == "factors":
            self.assign(op.target, kind, both(*values), guard)
            if op.product is not None:
                self.operation(op.product)
        elif op.how == "move":
            self.assign(op.target, kind, values[0], guard)
        else:
            self.assign(op.target, kind, values[0] if len(values) == 1 else values[0] + values[1].view(values[0].dtype), guard)

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


def heads() -> list[str]:
    """Lines that load what a compiled function needs of the context."""
    return [line for name in _POINTERS + _NUMBERS for line in field(name, f"%{name}")] + [
        f"  %{name}.b = inttoptr i64 %{name} to ptr" for name in _POINTERS
    ]


def for_all(body: Sequence[str], width: int) -> list[str]:
    """What a function does for a vector, where all lanes are known to take part: most of what asks for the mask vanishes."""
    return renamed(body, {"%active": "<" + ", ".join(["i1 true"] * width) + ">", "%bits": "-1"}, ".all")


def renamed(body: Sequence[str], known: Mapping[str, str], suffix: str) -> list[str]:
    """Lines whose own names and labels have a suffix; `known` are names from outside that stand for something else here."""
    text = "\n".join(body)
    own = set(re.findall(r"^  (%[\w.]+) = ", text, re.M)) | {"%" + label for label in re.findall(r"^([\w.]+):", text, re.M)}
    text = re.sub(r"%[\w.]+", lambda name: known.get(name[0]) or name[0] + suffix * (name[0] in own), text)
    return re.sub(r"^([\w.]+):", rf"\1{suffix}:", text, flags=re.M).split("\n")
