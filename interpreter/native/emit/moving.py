"""Accesses that have been checked before, as LLVM functions: what asks whether those of all vectors of a group are legal, and what moves the data of one.

What is known of the addresses of a group are four words: the least, the greatest, the bits that any of them has, and the last one, as long as each vector's
are neighbours behind those of the vector before.
"""

from __future__ import annotations

from .memory import Helpers, sizes, splat

# Adds the addresses of one vector, which lie as `kind` says (see KINDS in memory.py), to what is known of the group's.
SPREAD = """define internal void @{name}(<{W} x i{A}> %a, i32 %kind, i{W} %lanes, ptr %sum, ptr %sums) noinline {
entry:
  %full = icmp eq i{W} %lanes, -1
  %few = icmp ne i32 %kind, 4
  %plain = and i1 %full, %few
  br i1 %plain, label %pair, label %each
pair:
  %a.first = extractelement <{W} x i{A}> %a, i32 0
  %a.second = extractelement <{W} x i{A}> %a, i32 {H}
  %first = {first.wide}
  %second = {second.wide}
  %less = call i64 @llvm.smin.i64(i64 %first, i64 %second)
  %more = call i64 @llvm.smax.i64(i64 %first, i64 %second)
  %are.runs = icmp eq i32 %kind, 2
  %reach = select i1 %are.runs, i64 {half.reach}, i64 0
  %end = add i64 %more, %reach
  %both = or i64 %first, %second
  call void @extend(ptr %sum, i64 %less, i64 %end, i64 %both) #0
  ret void
each:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %low.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> <{greatest}>
  %high.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> <{least}>
  %bits.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> zeroinitializer
{folded}
  ret void
}"""
EXTEND = """define internal void @extend(ptr %sum, i64 %low, i64 %high, i64 %bits) alwaysinline {
  %low.had = load i64, ptr %sum, align 8
  %low.has = call i64 @llvm.smin.i64(i64 %low.had, i64 %low)
  store i64 %low.has, ptr %sum, align 8
  %high.p = getelementptr i64, ptr %sum, i64 1
  %high.had = load i64, ptr %high.p, align 8
  %high.has = call i64 @llvm.smax.i64(i64 %high.had, i64 %high)
  store i64 %high.has, ptr %high.p, align 8
  %bits.p = getelementptr i64, ptr %sum, i64 2
  %bits.had = load i64, ptr %bits.p, align 8
  %bits.has = or i64 %bits.had, %bits
  store i64 %bits.has, ptr %bits.p, align 8
  ret void
}"""
# What is known of addresses that lie anyhow, lane by lane of three vectors, as the four words.
GATHERED = """define internal void @{name}(ptr %sum, ptr %sums) noinline {
{loaded}
  %low.r = call i{A} @llvm.vector.reduce.smin.v{N}i{A}(<{N} x i{A}> %low)
  %high.r = call i{A} @llvm.vector.reduce.smax.v{N}i{A}(<{N} x i{A}> %high)
  %bits.r = call i{A} @llvm.vector.reduce.or.v{N}i{A}(<{N} x i{A}> %bits)
  %none = icmp sgt i{A} %low.r, %high.r
  br i1 %none, label %end, label %some
some:
{wide}
  call void @extend(ptr %sum, i64 %low.w, i64 %high.w, i64 %bits.w) #0
  br label %end
end:
  ret void
}"""

# The addresses that a group accesses, from the first to behind the last, and whether it may.
REACH = """entry:
  %min = load i64, ptr %sum, align 8
  %max.p = getelementptr i64, ptr %sum, i64 1
  %max = load i64, ptr %max.p, align 8
  %bits.p = getelementptr i64, ptr %sum, i64 2
  %bits = load i64, ptr %bits.p, align 8
  %sum.lo = add i64 %min, %plus
  %lo = {lo}
  %reach = sub i64 %max, %min
  %last = add i64 %lo, %reach
  %behind = add i64 %last, %size
  %nobody = icmp sgt i64 %min, %max
  %lo.kept = select i1 %nobody, i64 0, i64 %lo
  %behind.kept = select i1 %nobody, i64 0, i64 %behind
  store i64 %lo.kept, ptr %range, align 8
  %behind.p = getelementptr i64, ptr %range, i64 1
  store i64 %behind.kept, ptr %behind.p, align 8
  br i1 %nobody, label %good, label %some
good:
  ret i1 true
bad:
  ret i1 false
some:
  %m = sub i64 %size, 1
  %any = or i64 %bits, %plus
  %low = and i64 %any, %m
  %aligned = icmp eq i64 %low, 0
"""
LEGAL_SHARED = """define internal i1 @legal_shared(i64 %room, ptr %sum, i64 %plus, i64 %size, ptr %range) noinline {
{reach}
  %inside = icmp ule i64 %behind, %room
  %legal = and i1 %aligned, %inside
  ret i1 %legal
}"""
LEGAL_GLOBAL = """define internal i1 @legal_global(ptr %ctx, ptr %site, ptr %sum, i64 %plus, i64 %size, i64 %write, ptr %range) noinline {
{reach}
  br i1 %aligned, label %look, label %bad
look:
  %again = phi i1 [false, %some], [true, %found]
  %start = load i64, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %span.p, align 8
  %rel = sub i64 %lo, %start
  %rel.in = icmp ult i64 %rel, %span
  %reach.in = icmp ult i64 %reach, %span
  %end = add i64 %rel, %reach
  %end.in = icmp ult i64 %end, %span
  %two.in = and i1 %rel.in, %reach.in
  %in = and i1 %two.in, %end.in
  br i1 %in, label %good, label %other
other:
  br i1 %again, label %bad, label %search
search:
  %there = call i1 @find(ptr %ctx, ptr %site, i64 %lo, i64 %size, i64 %write)
  br i1 %there, label %found, label %bad
found:
  br label %look
}"""

# Moves the data of a vector.  `kind` says how the addresses lie, see KINDS in memory.py.
_MOVE = """entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %full = icmp eq i{W} %lanes, -1
  %none = icmp eq i{W} %lanes, 0
  %first.b = extractelement <{W} x i{A}> %b, i32 0
  %first.at = add i{A} %first.b, %plus
  %first.w = {first.wide}
  %p0 = getelementptr i8, ptr %base, i64 %first.w
  br i1 %none, label %nothing, label %some
some:
  switch i32 %kind, label %each [{ways}]
"""
_HALVES = """halves:
  %second = extractelement <{W} x i{A}> %b, i32 {H}
  %second.at = add i{A} %second, %plus
  %second.w = {second.wide}
  %p1 = getelementptr i8, ptr %base, i64 %second.w
  %mask0 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{low}>
  %mask1 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{high}>
"""
LOAD = """define internal {R} @{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes) {
{move}nothing:
  ret {R} zeroinitializer
run:
  {if.run}
vector:
{wide}
same:
{once}
{halves}each:
  %lanewise = call {R} @each_{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes)
  ret {R} %lanewise
}"""
LOAD_HALVES = """  %pairs = icmp eq i32 %kind, 3
  br i1 %pairs, label %two, label %runs
runs:
  %half0 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p0, i32 {bytes}, <{H} x i1> %mask0, <{H} x i{B}> zeroinitializer)
  %half1 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p1, i32 {bytes}, <{H} x i1> %mask1, <{H} x i{B}> zeroinitializer)
  %both = shufflevector <{H} x i{B}> %half0, <{H} x i{B}> %half1, <{W} x i32> <{low}, {high}>
  ret <{W} x i{B}> %both
two:
  br i1 %full, label %pair, label %each
pair:
  %one0 = load i{B}, ptr %p0, align {bytes}
  %one1 = load i{B}, ptr %p1, align {bytes}
  %ones0 = insertelement <{W} x i{B}> poison, i{B} %one0, i32 0
  %ones1 = insertelement <{W} x i{B}> %ones0, i{B} %one1, i32 {H}
  %pair.v = shufflevector <{W} x i{B}> %ones1, <{W} x i{B}> poison, <{W} x i32> <{heads}>
  ret <{W} x i{B}> %pair.v
"""
STORE = """define internal void @{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes, {values}) {
{move}nothing:
  ret void
run:
  {if.run}
vector:
{wide}
  ret void
{halves}each:
  call void @each_{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes, {values})
  ret void
}"""
STORE_HALVES = """  %half0 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{low}>
  %half1 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{high}>
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half0, ptr %p0, i32 {bytes}, <{H} x i1> %mask0)
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half1, ptr %p1, i32 {bytes}, <{H} x i1> %mask1)
  ret void
"""
# Lanes that take no part access room of the function's own.
_PLACES = """entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %room = alloca [16 x i8], align 16
{plus.splat}
  %at = add <{W} x i{A}> %b, %plus.v
  %wide = {at.wide}
  %{ps} = getelementptr i8, ptr %base, <{W} x i64> %wide
"""
LOAD_EACH = """define internal {R} @each_{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes) noinline {
{places}  %room.s = insertelement <{W} x ptr> poison, ptr %room, i32 0
  %room.v = shufflevector <{W} x ptr> %room.s, <{W} x ptr> poison, <{W} x i32> zeroinitializer
  %ps = select <{W} x i1> %mask, <{W} x ptr> %ps.all, <{W} x ptr> %room.v
{gathers}
}"""
STORE_EACH = """define internal void @each_{name}(ptr %base, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes, {values}) noinline {
{places}{scatters}
  ret void
}"""
# All lanes access neighbouring elements.
LOAD_RUN = """define internal {R} @{name}(ptr %p0) alwaysinline {
{wide}
}"""
STORE_RUN = """define internal void @{name}(ptr %p0, {values}) alwaysinline {
{wide}
  ret void
}"""


PARTS = {"low": "smin", "high": "smax", "bits": "or"}  # what is known lane by lane, and how it is joined
FOLDED = 8  # lanes of it


def extremes(bits: int) -> tuple[int, int]:
    """The greatest address of so many bits, and the least one."""
    return (1 << bits - 1) - 1, -(1 << bits - 1)


class Moving:
    """The functions that a stretch calls, each written when it is first asked for."""

    def __init__(self, helpers: Helpers) -> None:
        self.helpers = helpers

    def spread(self, bits: int, size: int) -> str:
        """The name of what adds a vector's addresses of elements of a size to what is known of all."""
        name, w = f"spread_{bits}x{size}", self.helpers.width
        if name not in self.helpers.texts:
            self.extend()
            folded: list[str] = []
            for at, (part, how) in enumerate(PARTS.items()):
                n = w
                while n > FOLDED:
                    half, t = n // 2, f"<{n} x i{bits}> %{part}.{n}"
                    sides = [", ".join(f"i32 {i}" for i in range(first, first + half)) for first in (0, half)]
                    folded += [
                        f"  %{part}.{n}.{i} = shufflevector {t}, <{n} x i{bits}> poison, <{half} x i32> <{side}>"
                        for i, side in enumerate(sides)
                    ]
                    folded.append(self._joined(f"%{part}.{half}", how, half, bits, f"%{part}.{n}.0", f"%{part}.{n}.1"))
                    n = half
                v = f"<{n} x i{bits}>"
                folded += [
                    f"  %{part}.p = getelementptr {v}, ptr %sums, i64 {at}", f"  %{part}.had = load {v}, ptr %{part}.p, align 64",
                    self._joined(f"%{part}.has", how, n, bits, f"%{part}.had", f"%{part}.{n}"), f"  store {v} %{part}.has, ptr %{part}.p, align 64",
                ]  # fmt: skip
            wide = {f"{x}.wide": f"sext i32 %a.{x} to i64" if bits == 32 else f"add i64 %a.{x}, 0" for x in ("first", "second")}
            greatest, least = (", ".join([f"i{bits} {v}"] * w) for v in extremes(bits))
            reach = str((w // 2 - 1) * size)
            self._write(
                SPREAD,
                name,
                A=str(bits),
                H=str(w // 2),
                greatest=greatest,
                least=least,
                folded="\n".join(folded),
                **{"half.reach": reach},
                **wide,
            )
        return name

    def _joined(self, name: str, how: str, n: int, bits: int, a: str, b: str) -> str:
        """The line that joins what is known of two vectors of addresses."""
        v = f"<{n} x i{bits}>"
        if how == "or":
            return f"  {name} = or {v} {a}, {b}"
        f = f"llvm.{how}.v{n}i{bits}"
        self.helpers.module.declarations[f] = f"declare {v} @{f}({v}, {v})"
        return f"  {name} = call {v} @{f}({v} {a}, {v} {b})"

    def gathered(self, bits: int) -> str:
        """The name of what adds what is known lane by lane to what is known of all."""
        name = f"gathered_{bits}"
        if name not in self.helpers.texts:
            self.extend()
            v, loaded = f"<{FOLDED} x i{bits}>", []
            for at, (part, how) in enumerate(PARTS.items()):
                reduce = f"llvm.vector.reduce.{how}.v{FOLDED}i{bits}"
                self.helpers.module.declarations[reduce] = f"declare i{bits} @{reduce}({v})"
                loaded += [f"  %{part}.p = getelementptr {v}, ptr %sums, i64 {at}", f"  %{part} = load {v}, ptr %{part}.p, align 64"]
            wide = [f"  %{x}.w = sext i32 %{x}.r to i64" if bits == 32 else f"  %{x}.w = add i64 %{x}.r, 0" for x in PARTS]
            self._write(GATHERED, name, A=str(bits), N=str(FOLDED), loaded="\n".join(loaded), wide="\n".join(wide))
        return name

    def extend(self) -> str:
        """The name of what adds a least and a greatest address, and bits."""
        if "extend" not in self.helpers.texts:
            for how in ("smin", "smax"):
                self.helpers.module.declarations[f"llvm.{how}.i64"] = f"declare i64 @llvm.{how}.i64(i64, i64)"
            self._write(EXTEND, "extend")
        return "extend"

    def legal(self, space: str) -> str:
        """The name of the check of a group's addresses."""
        name = f"legal_{space}"
        if name not in self.helpers.texts:
            lo = "and i64 %sum.lo, 4294967295" if space == "shared" else "add i64 %sum.lo, 0"
            self._write(LEGAL_SHARED if space == "shared" else LEGAL_GLOBAL, name, reach=REACH.replace("{lo}", lo))
        return name

    def run(self, writes: bool, bits: int, elements: int) -> str:
        """The name of a move of neighbouring elements of all lanes."""
        name, h = f"{'store' if writes else 'load'}_run_{bits}x{elements}", self.helpers
        if name not in h.texts:
            v = f"<{h.width} x i{bits}>"
            if elements > 1:
                wide = (h.wide_store if writes else h.wide_load)(bits, elements).replace("ptr %vp", "ptr %p0")
            elif writes:
                wide = f"  store {v} %x0, ptr %p0, align {bits // 8}"
            else:
                wide = f"  %x = load {v}, ptr %p0, align {bits // 8}\n  ret {v} %x"
            text = STORE_RUN if writes else LOAD_RUN
            self._write(text, name, R=h.result(bits, elements, h.width), values=self._values(bits, elements), wide=wide)
        return name

    def any(self, space: str, writes: bool, bits: int, elements: int) -> str:
        """The name of a move of lanes whose addresses lie anyhow."""
        helpers = self.helpers
        what, a, w, h = "store" if writes else "load", 32 if space == "shared" else 64, helpers.width, helpers.width // 2
        name = f"move_{what}_{a}_{bits}x{elements}"
        if name in helpers.texts:
            return name
        ways = [(0, "run")] + ([] if writes else [(1, "same")]) + ([(2, "halves")] if elements == 1 else [])
        if elements == 1 and not writes:
            ways.append((3, "halves"))

        def wide(x: str) -> str:
            return f"zext i32 %{x}.at to i64" if a == 32 else f"add i64 %{x}.at, 0"

        lines = "" if elements > 1 else _HALVES + (STORE_HALVES if writes else LOAD_HALVES)
        if elements == 1:
            helpers.moving(what, bits, h)
        pieces = {
            "move": _MOVE, "halves": lines, "places": _PLACES, "A": str(a), "B": str(bits), "H": str(h),
            "R": helpers.result(bits, elements, w), "bytes": str(bits // 8), "values": self._values(bits, elements),
            "ways": " ".join(f"i32 {n}, label %{label}" for n, label in ways),
            "if.run": "br label %vector" if elements == 1 else "br i1 %full, label %vector, label %each",
            "first.wide": wide("first"), "second.wide": wide("second"), "low": ", ".join(f"i32 {i}" for i in range(h)),
            "high": ", ".join(f"i32 {i}" for i in range(h, w)), "heads": ", ".join(f"i32 {i // h * h}" for i in range(w)),
            "at.wide": f"zext <{w} x i32> %at to <{w} x i64>" if a == 32 else f"add <{w} x i64> %at, zeroinitializer",
            "plus.splat": splat("plus", w, a), **sizes(bits, elements),
        }  # fmt: skip
        moved = helpers.wide_store(bits, elements) if writes else helpers.wide_load(bits, elements)
        pieces["wide"] = moved.replace("ptr %vp", "ptr %p0")
        if writes:
            pieces |= {"ps": "ps", "scatters": helpers.scatters([], bits, elements)}
        else:
            pieces |= {
                "ps": "ps.all",
                "once": helpers.once(bits, elements).replace("ptr %up", "ptr %p0"),
                "gathers": helpers.gathers([], bits, elements),
            }
        own, each = (STORE, STORE_EACH) if writes else (LOAD, LOAD_EACH)
        self._write(own + "\n" + each, name, **pieces)
        return name

    def _values(self, bits: int, elements: int) -> str:
        return ", ".join(f"<{self.helpers.width} x i{bits}> %x{e}" for e in range(elements))

    def _write(self, text: str, name: str, **values: str) -> None:
        for _ in range(2):  # some values are texts with places of their own
            text = self.helpers.filled(text, name=name, **values)
        self.helpers.texts[name] = text
