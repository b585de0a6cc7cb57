"""A region as one function: for each warp of a group all segments of the region, with the registers in local variables.

Where lanes diverge, each segment has a mask of the lanes that stand before it, and the first segment of the region's order that has any runs next: so
lanes reconverge as early as they can.  If an access is not plainly legal, a loop does not end, or lanes have to wait for others of their warp, the function
puts back what it has changed and reports it; the region's segments then run one by one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...plan import plan as P
from ...plan.uses import slots_of
from ..frame import Frame
from ..regions import Region, results, saved
from ..schedule import layout
from ..trace.code import VectorCode, vector_type
from ..trace.symbol import SymbolicArray
from ..trace.ufuncs import select
from ..uniformity import UNIFORM, VARYING, kind_in
from .emitter import Emitter, for_all, inlined, renamed, whole_function
from .memory import Helpers, field
from .pairs import END, LANES, takes_two, two_at_once
from .segment import RegionSegment, address_slot, bases_of, raws_of
from .syncs import elsewhere, looked, without_looks
from .windows import WORDS

PAUSE_AFTER = 1 << 20  # segments that the warps of one call execute before limits are checked


class RegionEmitter:
    """Writes the function of one region."""

    def __init__(self, frame: Frame, plan: P.PlanFunction, region: Region, helpers: Helpers, name: str, *, small: bool) -> None:
        self.frame, self.plan, self.region, self.helpers, self.name = frame, plan, region, helpers, name
        self.width = frame.width
        self.variables: dict[str, str] = {}  # LLVM's type of each local variable
        self.place = {n: i for i, n in enumerate(region.order)}
        self.live = {
            n: plan.live_in[n] & (1 << plan.first_constant) - 1 | frame.carries << frame.carry for n in (*region.order, region.exit)
        }
        self.kinds = {n: kinds | frame.carries << frame.carry for n, kinds in region.kinds.items()}
        self.rooms: dict[str, str] = {}
        self.small = small  # its code may be repeated
        ops = [op for n in region.order for op in plan.segments[n].ops]
        self.bases = {} if region.diverges else bases_of(ops)
        self.loads = Counter(address_slot(op.sources[0]) for op in ops if op.how == "load")
        self.windows = Counter[int]()  # of the bases, as far as they have been given to loads
        self.diverges = region.diverges
        self.waits = any(isinstance(plan.segments[n].end, P.Sync) for n in region.order)  # for lanes of a warp, if they are not there
        self.raws = raws_of(ops, frame.dtypes)
        self.pairs = small and takes_two(frame, plan, region, self.live)

    def text(self) -> str:
        """LLVM IR."""
        region, frame, w = self.region, self.frame, self.width
        segments = [line for n in region.order for line in self._segment(n)]
        out, ends = self._at_exit(), self._at_end()
        entry = [line for slot in slots_of(self.live[region.entry]) for line in self._entered(slot)]
        body = [*entry, *self._started(), *segments]
        body = inlined(body) if self.small else body
        whole = without_looks(body)
        twice = ["  br i1 %whole, label %all, label %some", "all:", *for_all(whole, w)]
        if self.pairs:
            twice = [
                "  br i1 %whole, label %look, label %some",
                *two_at_once(whole, out, self.variables, frame.size, w),
                "all:",
                *for_all(whole, w),
            ]
        rooms = [f"  {name} = alloca {t}, align 64" for name, t in (self.variables | self.rooms).items()]
        rooms += [f"  {name}.b = alloca {t}, align 64" for name, t in self.variables.items() if self.pairs]
        self.helpers.module.declarations["llvm.umax.i64"] = "declare i64 @llvm.umax.i64(i64, i64)"
        return whole_function(self.name, [*rooms, "  %steps = alloca i64"], [
            *field("region_at", "%start"), *field("region_budget", "%budget"), "  br label %loop",
            "loop:", "  %k = phi i64 [%start, %entry], [%k.next, %on]", "  %total = phi i64 [0, %entry], [%total.next, %on]",
            "  %entry.p = getelementptr i64, ptr %list, i64 %k", "  %e = load i64, ptr %entry.p, align 8", "  %vec = lshr i64 %e, 32",
            f"  %bits = trunc i64 %e to i{w}", f"  %active = bitcast i{w} %bits to <{w} x i1>", f"  %fo = mul i64 %vec, {self.frame.size}",
            "  %frame = getelementptr i8, ptr %frames.b, i64 %fo", f"  %whole = icmp eq i{w} %bits, -1", "  store i64 0, ptr %steps",
            *(elsewhere(w) if self.waits else []),
            *(twice if self.small and not region.diverges else ["  br label %some"]), "some:", *body, "leave:", *out, "  br label %passed",
            "passed:", "  %vectors = phi i64 [1, %leave]" + ", [2, %leave.pair]" * self.pairs,
            "  %taken = load i64, ptr %steps", *field("region_steps", "%most"), "  %higher = call i64 @llvm.umax.i64(i64 %taken, i64 %most)",
            "  store i64 %higher, ptr %most.p, align 8", "  %taken.all = mul i64 %taken, %vectors", "  %total.next = add i64 %total, %taken.all",
            "  %k.next = add i64 %k, %vectors",
            "  %is.last = icmp uge i64 %k.next, %count", "  br i1 %is.last, label %end, label %next",
            "next:", f"  %patient = icmp ult i64 %total.next, {PAUSE_AFTER}", "  br i1 %patient, label %on, label %pause",
            "on:", "  br label %loop", "pause:", "  ret i64 %k.next", "end:", *ends, "  ret i64 -1", "bad:", *self._undone(),
        ])  # fmt: skip

    # ------------------------------------------------------------ variables

    def variable(self, slot: int, kind: int) -> tuple[str, str]:
        """The local variable of a register that is of a kind, and its type."""
        name = f"%r{slot}.{'lane' if kind == VARYING else 'one'}"
        t = self.variables[name] = vector_type(self.frame.dtypes[slot], self.width if kind == VARYING else 1)
        return name, t

    def _entered(self, slot: int) -> list[str]:
        """Lines that load a register where the region begins; it may vary in the region alone, whose lanes diverge while others have left."""
        kind = kind_in(self.kinds[self.region.entry], slot)
        e = Emitter(self.frame, self.region.before | 1 << self.frame.carry, self.helpers, "")
        e.once, e.code = VectorCode(1, e.module, f"in.s{slot}."), VectorCode(self.width, e.module, f"in.v{slot}.")
        value = e.at(kind, e.value(slot)[1])
        name, t = self.variable(slot, kind)
        based = self._based(e, slot, value) if kind == VARYING and slot in self.bases else []
        stored = f"  store {t} {value.value}, ptr {name}, align 64"
        if slot in self.raws and not self.region.diverges:
            based.append(self._raw_stored(slot, kind, value))
        elif slot in self.raws and kind == VARYING:
            based.append(f"  store i{self.width} -1, ptr {self.plain(slot)}, align 4")
        return [LANES, *e.once.lines, *e.code.lines, *based, stored, END]

    def raw(self, slot: int, kind: int) -> str:
        """The variable of the same numbers as a register's, with any NaNs."""
        name, t = self.variable(slot, kind)
        self.variables[f"{name}.raw"] = t
        return f"{name}.raw"

    def plain(self, slot: int) -> str:
        """Where lanes diverge: the variable of a mask of the lanes in which a register has the bits of its variable, whose NaNs are any in the others."""
        self.variables[f"%r{slot}.plain"] = f"i{self.width}"
        return f"%r{slot}.plain"

    def _raw_stored(self, slot: int, kind: int, value: SymbolicArray) -> str:
        """The line that stores the numbers with any NaNs."""
        v = value if value.raw is None else value.raw
        return f"  store {v.type} {v.value}, ptr {self.raw(slot, kind)}, align 64"

    def _plain_stored(self, e: RegionSegment, slot: int, value: SymbolicArray, waiting: bool) -> list[str]:
        """Lines that store which lanes have the bits of the variable; those that wait elsewhere keep what they have."""
        t, p = f"i{self.width}", self.plain(slot)
        now = e.plains.get(value.value, "-1" if value.raw is None else "0")
        if waiting:
            old = e.code.fresh(f"load {t}, ptr {p}, align 4")
            changed = e.code.fresh(f"and {t} {e.code.fresh(f'xor {t} {old}, {now}')}, %bits")
            now = e.code.fresh(f"xor {t} {old}, {changed}")
        return [f"  store {t} {now}, ptr {p}, align 4"]

    def _based(self, e: Emitter, slot: int, value: SymbolicArray) -> list[str]:
        """Lines that begin with a new base: nothing is added to it yet, and it is known how it lies."""
        offset, t = self.offset(slot)
        lines = [f"  store {t} zeroinitializer, ptr {offset}, align 8"]
        a = value.view(f"u{value.itemsize}")
        lines += [
            f"  store i32 {e._arrangement(a, size, None)}, ptr {self.arrangement(slot, size)}, align 4" for size in sorted(self.bases[slot])
        ]
        for n in range(self.loads[slot]):  # no window is known
            lines.append(f"  store [{WORDS} x i64] zeroinitializer, ptr {self._window(slot, n)}, align 8")
        return lines

    def offset(self, slot: int) -> tuple[str, str]:
        """The variable of what has been added to a base in all lanes, and its type."""
        name = f"%r{slot}.offset"
        t = self.variables[name] = vector_type(self.frame.dtypes[slot], 1)
        return name, t

    def arrangement(self, slot: int, size: int) -> str:
        """The variable of how a base lies for elements of a size."""
        name = f"%r{slot}.lies{size}"
        self.variables[name] = "i32"
        return name

    def window(self, slot: int) -> str:
        """The variable of the window of the next load from a base."""
        self.windows[slot] += 1
        return self._window(slot, self.windows[slot] - 1)

    def _window(self, slot: int, number: int) -> str:
        name = f"%r{slot}.window{number}"
        self.variables[name] = f"[{WORDS} x i64]"
        return name

    def _stored(self, e: RegionSegment, n: int) -> list[str]:
        """Lines that store what the segments behind one read; lanes that wait elsewhere keep what they have."""
        region, lines = self.region, list[str]()
        following = self.plan_next(n)
        waiting = 0
        if region.diverges:
            for s in (*region.order[self.place[n] + 1 :], region.exit, *region.waits.get(n, ())):
                waiting |= self.live[s]
        done = set[tuple[int, int]]()
        for s in following:
            for slot in slots_of(self.live[s]):
                kind = kind_in(self.kinds[s], slot)
                if slot in e.offsets and slot not in e.values and kind == VARYING:
                    lines.append(e.offset_stored(slot))
                    continue
                if (slot, kind) in done or (slot not in e.values and kind_in(e.kinds, slot) == kind):
                    continue
                done.add((slot, kind))
                name, t = self.variable(slot, kind)
                value = e.kept(slot, kind)
                if kind == VARYING and slot in self.bases:
                    lines += self._based(e, slot, value)
                if slot in self.raws and not region.diverges:
                    lines.append(self._raw_stored(slot, kind, value))
                elif slot in self.raws and kind == VARYING:
                    lines += self._plain_stored(e, slot, value, bool(waiting >> slot & 1))
                    value = value if value.raw is None else value.raw
                if kind == VARYING and waiting >> slot & 1:
                    old = SymbolicArray(e.code, e.code.fresh(f"load {t}, ptr {name}, align 64"), value.dtype)
                    value = select(SymbolicArray(e.code, "%active", "?"), value, old)
                lines.append(f"  store {t} {value.value}, ptr {name}, align 64")
        return lines

    def plan_next(self, n: int) -> list[int]:
        """The segments to which one leads."""
        end: Any = self.plan.segments[n].end
        match end:
            case P.Jump():
                return [end.to]
            case P.Sync():
                return [end.past]
        return list(dict.fromkeys((end.taken, end.fall)))

    # ------------------------------------------------------------ segments

    def _started(self) -> list[str]:
        if not self.region.diverges:
            return [f"  br label %segment{self.region.entry}"]
        for n in self.region.order:
            self.variables[f"%mask{n}"] = f"i{self.width}"
        zeros = [f"  store i{self.width} 0, ptr %mask{n}" for n in self.region.order[1:]]
        return [*zeros, f"  store i{self.width} %bits, ptr %mask{self.region.entry}", f"  br label %segment{self.region.entry}"]

    def _segment(self, n: int) -> list[str]:
        """The lines of one segment, from its label on."""
        region, segment, w = self.region, self.plan.segments[n], self.width
        e = RegionSegment(self, self.kinds[n], f"{n}.")
        for op in segment.ops:
            e.operation(op)
        stores = self._stored(e, n)
        ways = self._ways(e, n)
        self.rooms |= e.once.rooms | e.code.rooms
        checks = []
        if any(op.how in ("load", "warps") for op in segment.ops):
            checks += ["  %status = load i64, ptr %ctx, align 8", "  %fine = icmp eq i64 %status, 0", "  br i1 %fine, label %good, label %bad, !prof !9",
                       "good:"]  # fmt: skip
        begin = []
        if region.diverges:
            begin = [f"  %bits = load i{w}, ptr %mask{n}", f"  %active = bitcast i{w} %bits to <{w} x i1>", f"  store i{w} 0, ptr %mask{n}"]
        count = ["  %n = load i64, ptr %steps", "  %n.next = add i64 %n, 1", "  store i64 %n.next, ptr %steps"]
        if any(n in headers for headers in region.loops):
            count += ["  %ends = icmp ule i64 %n, %budget", "  br i1 %ends, label %going, label %bad, !prof !9", "going:"]
        looks = looked(e, segment.end) if isinstance(segment.end, P.Sync) else []
        lines = [*begin, *count, *e.once.lines, LANES, *e.code.lines, *stores, END, *checks, *looks, *ways]
        return [f"segment{n}:", *renamed(lines, {}, f".g{n}"), *self._behind(n)]

    def _ways(self, e: RegionSegment, n: int) -> list[str]:
        """Lines that say where the lanes of a segment go."""
        end, region, w = self.plan.segments[n].end, self.region, self.width
        taken: Any = None
        if isinstance(end, P.Branch):
            p = e.value(end.guard.slot)[1]
            taken = ~p if end.guard.negated else p
            if region.diverges:
                taken = e.at(VARYING, taken)
        if not region.diverges:
            label = {s: "leave" if s == region.exit else f"segment{s}" for s in self.plan_next(n)}
            if taken is None or len(label) == 1:
                return [f"  br label %{label[self.plan_next(n)[0]]}"]
            bit = e.once.emit(f"extractelement <1 x i1> {taken.value}, i32 0")
            return [f"  br i1 {bit}, label %{label[end.taken]}, label %{label[end.fall]}"]  # type: ignore[union-attr]
        if taken is None:
            ways = {end.to: "%bits"}  # type: ignore[union-attr]
        else:
            assert isinstance(end, P.Branch)
            bits = e.code.emit(f"bitcast <{w} x i1> {taken.value} to i{w}")
            those = e.code.emit(f"and i{w} {bits}, %bits")
            ways = {end.taken: those, end.fall: e.code.emit(f"xor i{w} {those}, %bits")} if end.taken != end.fall else {end.fall: "%bits"}
        lines = []
        for s, lanes in ways.items():
            if s != region.exit:
                lines += [
                    f"  %old{s} = load i{w}, ptr %mask{s}",
                    f"  %new{s} = or i{w} %old{s}, {lanes}",
                    f"  store i{w} %new{s}, ptr %mask{s}",
                ]
        return [*lines, f"  br label %passed{n}"]

    def _behind(self, n: int) -> list[str]:
        """Where lanes diverge: lines that choose what runs behind a segment: a loop that ends there and has lanes at its header, or the next segment."""
        region, i, w = self.region, self.place[n], self.width
        if not region.diverges:
            return []
        lines = [f"passed{n}:"]
        for h in region.loops[i]:
            lines += [f"  %again{h}.m = load i{w}, ptr %mask{h}", f"  %again{h} = icmp ne i{w} %again{h}.m, 0",
                      f"  br i1 %again{h}, label %segment{h}, label %over{h}", f"over{h}:"]  # fmt: skip
        if i + 1 == len(region.order):
            return [*lines, "  br label %leave"]
        s = region.order[i + 1]
        return [*lines, f"  %some{s}.m = load i{w}, ptr %mask{s}", f"  %some{s} = icmp ne i{w} %some{s}.m, 0",
                f"  br i1 %some{s}, label %segment{s}, label %passed{s}"]  # fmt: skip

    # ------------------------------------------------------------ the exit

    def _at_exit(self) -> list[str]:
        """Lines that put the registers of a warp in its frame."""
        e = RegionSegment(self, self.kinds[self.region.exit], "out")
        for slot in results(self.frame, self.plan, self.region, VARYING):
            e.put(slot, VARYING)
        return [LANES, *self._copied("save", "%frame", back=False), *e.once.lines, *e.code.lines, END]

    def _at_end(self) -> list[str]:
        """Lines that store what is one value for the wave, when all warps are through."""
        e = RegionSegment(self, self.kinds[self.region.exit], "end")
        for slot in results(self.frame, self.plan, self.region, UNIFORM):
            e.put(slot, UNIFORM)
        return e.once.lines

    def _copied(self, prefix: str, frame: str, *, back: bool) -> list[str]:
        """Lines that copy the old values behind the other registers of a frame, or back."""
        lines, at = [], self.frame.saved
        for slot in saved(self.frame, self.plan, self.region):
            size = self.frame.bytes(slot)
            names = [f"%{prefix}{slot}.{i}" for i in range(2)]
            lines += [
                f"  {name} = getelementptr i8, ptr {frame}, i64 {o}" for name, o in zip(names, (self.frame.offsets[slot], at), strict=True)
            ]
            source, target = names[::-1] if back else names
            lines += [
                f"  %{prefix}{slot}.x = load <{size} x i8>, ptr {source}, align 4",
                f"  store <{size} x i8> %{prefix}{slot}.x, ptr {target}, align 4",
            ]
            at += size
        return lines

    def _undone(self) -> list[str]:
        """Lines that give the warps before the one that failed their registers back."""
        return [
            "  br label %undo", "undo:", "  %j = phi i64 [0, %bad], [%j.next, %back]", "  %left = icmp ult i64 %j, %k",
            "  br i1 %left, label %back, label %failed", "back:", "  %j.p = getelementptr i64, ptr %list, i64 %j", "  %j.e = load i64, ptr %j.p, align 8",
            "  %j.vec = lshr i64 %j.e, 32", f"  %j.fo = mul i64 %j.vec, {self.frame.size}", "  %j.frame = getelementptr i8, ptr %frames.b, i64 %j.fo",
            *self._copied("back", "%j.frame", back=True), "  %j.next = add i64 %j, 1", "  br label %undo", "failed:", f"  ret i64 {layout.REGION_FAILED}",
        ]  # fmt: skip
