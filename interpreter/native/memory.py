"""Accesses of a vector of lanes as LLVM functions: lanes at neighbouring elements move as one vector, lanes at one address load once, others one by one.

An access that is not plainly legal sets the status in the context and does nothing, and so does every store after it: the caller then runs
the same instructions with numpy, which reaches the memories of the host and of peers and names a fault.  Each site remembers the allocation
that it used last: its start, and how many addresses behind it an access may begin at.
"""

from __future__ import annotations

from . import scheduler
from .trace.code import Module

SPACES = {"global": "global", "const": "global", "generic": "global", "shared": "shared", "shared::cta": "shared", "local": "local"}


def field(name: str, into: str) -> list[str]:
    """Lines that load a word of the context."""
    at = getattr(scheduler, name.upper())
    return [f"  {into}.p = getelementptr i64, ptr %ctx, i64 {at}", f"  {into} = load i64, ptr {into}.p, align 8"]


# Looks an address up among the allocations, rows of (start, end, writable), and notes the one that holds it at the site.
_FIND = """define internal i1 @find(ptr %ctx, ptr %site, i64 %a, i64 %size, i64 %write) noinline {
entry:
{fields}
  %rows = inttoptr i64 %t to ptr
  %m = sub i64 %size, 1
  %low = and i64 %a, %m
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %loop, label %bad
loop:
  %lo = phi i64 [0, %entry], [%lo2, %next]
  %hi = phi i64 [%n, %entry], [%hi2, %next]
  %more = icmp ult i64 %lo, %hi
  br i1 %more, label %next, label %done
next:
  %sum = add i64 %lo, %hi
  %mid = lshr i64 %sum, 1
  %at = mul i64 %mid, 3
  %sp = getelementptr i64, ptr %rows, i64 %at
  %s = load i64, ptr %sp, align 8
  %below = icmp ule i64 %s, %a
  %mid1 = add i64 %mid, 1
  %lo2 = select i1 %below, i64 %mid1, i64 %lo
  %hi2 = select i1 %below, i64 %hi, i64 %mid
  br label %loop
done:
  %none = icmp eq i64 %lo, 0
  br i1 %none, label %bad, label %look
look:
  %i = sub i64 %lo, 1
  %iat = mul i64 %i, 3
  %start.p = getelementptr i64, ptr %rows, i64 %iat
  %start = load i64, ptr %start.p, align 8
  %end.p = getelementptr i64, ptr %start.p, i64 1
  %end = load i64, ptr %end.p, align 8
  %writable.p = getelementptr i64, ptr %start.p, i64 2
  %writable = load i64, ptr %writable.p, align 8
  %last = add i64 %a, %size
  %inside = icmp ule i64 %last, %end
  %may = icmp uge i64 %writable, %write
  %good = and i1 %inside, %may
  br i1 %good, label %found, label %bad
found:
  %length = sub i64 %end, %start
  %span = sub i64 %length, %m
  store i64 %start, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  store i64 %span, ptr %span.p, align 8
  ret i1 true
bad:
  store i64 1, ptr %ctx, align 8
  ret i1 false
}"""

# Looks each lane's address up.
_FIND_EACH = """define internal i1 @find_each(ptr %ctx, ptr %site, <{W} x i64> %a, <{W} x i1> %mask, i64 %size, i64 %write) noinline {
entry:
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%k1, %next]
  %on = extractelement <{W} x i1> %mask, i32 %k
  br i1 %on, label %look, label %next
look:
  %x = extractelement <{W} x i64> %a, i32 %k
  %good = call i1 @find(ptr %ctx, ptr %site, i64 %x, i64 %size, i64 %write)
  br i1 %good, label %next, label %bad
next:
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, {W}
  br i1 %more, label %loop, label %done
done:
  ret i1 true
bad:
  ret i1 false
}"""

# Shared memory has one stretch: what does not lie in it is a fault.
_MISS_EACH = """define internal i1 @miss_each(ptr %ctx, ptr %site, <{W} x i32> %a, <{W} x i1> %mask, i64 %size, i64 %write) noinline {
  store i64 1, ptr %ctx, align 8
  ret i1 false
}"""

_LOAD_ONE = """define internal {R} @{name}(ptr %ctx, ptr %base, ptr %site, i64 %a) alwaysinline {
entry:
  %lo = load i64, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %span.p, align 8
  %rel = sub i64 %a, %lo
  %in = icmp ult i64 %rel, %span
  %low = and i64 %a, {mask}
  %aligned = icmp eq i64 %low, 0
  %ok = and i1 %in, %aligned
  br i1 %ok, label %go, label %slow, !prof !9
slow:
  %found = call i1 @find(ptr %ctx, ptr %site, i64 %a, i64 {size}, i64 0)
  br i1 %found, label %go, label %bad
bad:
  ret {R} zeroinitializer
go:
  %p = getelementptr i8, ptr %base, i64 %a
{loads}
}"""

# What both kinds of vector accesses begin with: where lanes are neighbours, or all at one address, one comparison checks them all.
_BEGIN = """entry:
{limits}
  %first = extractelement <{W} x i{A}> %a, i32 0
{first.splat}
  %diff = sub <{W} x i{A}> %a, %first.v
  %off = xor <{W} x i1> %mask, {ones}
  %next = icmp eq <{W} x i{A}> %diff, <{steps}>
  %next.ok = or <{W} x i1> %next, %off
  %next.bits = bitcast <{W} x i1> %next.ok to i{W}
  %rel = sub i{A} %first, %lo
  %in = icmp ult i{A} %rel, %span
  %low = and i{A} %first, {mask}
  %aligned = icmp eq i{A} %low, 0
  %begins = and i1 %in, %aligned
  %neighbours = icmp eq i{W} %next.bits, -1
  br i1 %neighbours, label %run, label %{other}
run:
  %last = add i{A} %rel, {reach}
  %last.in = icmp ult i{A} %last, %span
  %in.all = and i1 %begins, %last.in
  %plain = {plain}
  br i1 %plain, label %vector, label %check
"""

_CHECK = """check:
{lo.splat}
{span.splat}
  %rels = sub <{W} x i{A}> %a, %lo.v
  %ins = icmp ult <{W} x i{A}> %rels, %span.v
  %lows = and <{W} x i{A}> %a, <{masks}>
  %aligneds = icmp eq <{W} x i{A}> %lows, zeroinitializer
  %good = and <{W} x i1> %ins, %aligneds
  %good.ok = or <{W} x i1> %good, %off
  %good.bits = bitcast <{W} x i1> %good.ok to i{W}
  %fine = icmp eq i{W} %good.bits, -1
  br i1 %fine, label %each, label %slow, !prof !9
slow:
  %found = call i1 @{find}(ptr %ctx, ptr %site, <{W} x i{A}> %a, <{W} x i1> %mask, i64 {size}, i64 {write})
  br i1 %found, label %each, label %bad
"""

_LOAD = """define internal {R} @{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %a, <{W} x i1> %mask) alwaysinline {
{begin}
vector:
  %vp = getelementptr i8, ptr %base, i64 %first.w
{wide}
same:
  %at.one = icmp eq <{W} x i{A}> %diff, zeroinitializer
  %one.ok = or <{W} x i1> %at.one, %off
  %one.bits = bitcast <{W} x i1> %one.ok to i{W}
  %one.all = icmp eq i{W} %one.bits, -1
  %one = and i1 %one.all, %begins
  br i1 %one, label %uniform, label %check
uniform:
  %up = getelementptr i8, ptr %base, i64 %first.w
{once}
{check}
bad:
  ret {R} zeroinitializer
each:
{halves}
gather:
{gathers}
}"""

_STORE = """define internal void @{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %a, <{W} x i1> %mask, {values}) alwaysinline {
{begin}
vector:
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  br i1 %quiet, label %put, label %bad, !prof !9
put:
  %vp = getelementptr i8, ptr %base, i64 %first.w
{wide}
  ret void
{check}
bad:
  ret void
each:
  %status.e = load i64, ptr %ctx, align 8
  %quiet.e = icmp eq i64 %status.e, 0
  br i1 %quiet.e, label %scatter, label %bad, !prof !9
scatter:
{halves}
gather:
{scatters}
  ret void
}"""

# Blocks are often 16 threads wide: the halves of a warp may each be neighbours, or each at one address.
_HALVES = """  %heads = shufflevector <{W} x i{A}> %a, <{W} x i{A}> poison, <{W} x i32> <{heads}>
  %from.head = sub <{W} x i{A}> %a, %heads
  %h.next = icmp eq <{W} x i{A}> %from.head, <{half.steps}>
  %h.next.ok = or <{W} x i1> %h.next, %off
  %h.next.bits = bitcast <{W} x i1> %h.next.ok to i{W}
  %h.neighbours = icmp eq i{W} %h.next.bits, -1
  %head0 = extractelement <{W} x i64> %offsets, i32 0
  %head1 = extractelement <{W} x i64> %offsets, i32 {H}
  %p0 = getelementptr i8, ptr %base, i64 %head0
  %p1 = getelementptr i8, ptr %base, i64 %head1
  %mask0 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{low}>
  %mask1 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{high}>
  %head0.in = extractelement <{W} x i1> %ins, i32 0
  %head1.in = extractelement <{W} x i1> %ins, i32 {H}
  %heads.in = and i1 %head0.in, %head1.in
  %h.runs = and i1 %h.neighbours, %heads.in
  br i1 %h.runs, label %halves, label %{else}
halves:
"""
_LOAD_HALVES = """  %half0 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p0, i32 {bytes}, <{H} x i1> %mask0, <{H} x i{B}> zeroinitializer)
  %half1 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p1, i32 {bytes}, <{H} x i1> %mask1, <{H} x i{B}> zeroinitializer)
  %both = shufflevector <{H} x i{B}> %half0, <{H} x i{B}> %half1, <{W} x i32> <{low}, {high}>
  ret <{W} x i{B}> %both
two:
  %h.same = icmp eq <{W} x i{A}> %from.head, zeroinitializer
  %bits0 = bitcast <{H} x i1> %mask0 to i{H}
  %bits1 = bitcast <{H} x i1> %mask1 to i{H}
  %on0 = and i{H} %bits0, 1
  %on1 = and i{H} %bits1, %on0
  %heads.on = icmp eq i{H} %on1, 1
  %h.same.ok = or <{W} x i1> %h.same, %off
  %h.same.bits = bitcast <{W} x i1> %h.same.ok to i{W}
  %h.one = icmp eq i{W} %h.same.bits, -1
  %h.two = and i1 %h.one, %heads.on
  br i1 %h.two, label %pair, label %gather
pair:
  %one0 = load i{B}, ptr %p0, align {bytes}
  %one1 = load i{B}, ptr %p1, align {bytes}
  %ones0 = insertelement <{W} x i{B}> poison, i{B} %one0, i32 0
  %ones1 = insertelement <{W} x i{B}> %ones0, i{B} %one1, i32 {H}
  %pair.v = shufflevector <{W} x i{B}> %ones1, <{W} x i{B}> poison, <{W} x i32> <{heads}>
  ret <{W} x i{B}> %pair.v"""
_STORE_HALVES = """  %half0 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{low}>
  %half1 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{high}>
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half0, ptr %p0, i32 {bytes}, <{H} x i1> %mask0)
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half1, ptr %p1, i32 {bytes}, <{H} x i1> %mask1)
  ret void"""

# `limit` is where the stack ends; lanes with one address, as those of variables, move as a vector.
_LOCAL = """define internal {R} @{name}(ptr %ctx, ptr %lane0, i64 %stride, i32 %limit, <{W} x i32> %a, <{W} x i1> %mask{value}) alwaysinline {
entry:
  %first = extractelement <{W} x i32> %a, i32 0
{first.splat}
  %limit32 = add i32 %limit, 0
{limit32.splat}
  %off = xor <{W} x i1> %mask, {ones}
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  %in = icmp ult <{W} x i32> %a, %limit32.v
  %in.ok = or <{W} x i1> %in, %off
  %in.bits = bitcast <{W} x i1> %in.ok to i{W}
  %in.all = icmp eq i{W} %in.bits, -1
  %may = and i1 %in.all, %quiet
  br i1 %may, label %legal, label %bad, !prof !9
bad:
  store i64 1, ptr %ctx, align 8
  ret {nothing}
legal:
  %one = icmp eq <{W} x i32> %a, %first.v
  %one.bits = bitcast <{W} x i1> %one to i{W}
  %one.all = icmp eq i{W} %one.bits, -1
  br i1 %one.all, label %row, label %each
row:
  %r = lshr i32 %first, 2
  %r64 = zext i32 %r to i64
  %rows = mul i64 %r64, %stride
  %rp = getelementptr i32, ptr %lane0, i64 %rows
{row}
each:
  %rs = lshr <{W} x i32> %a, <{twos}>
  %rs64 = zext <{W} x i32> %rs to <{W} x i64>
{stride.splat}
  %rows.v = mul <{W} x i64> %rs64, %stride.v
  %places = add <{W} x i64> %rows.v, <{lanes}>
  %ps = getelementptr i32, ptr %lane0, <{W} x i64> %places
{each}
}"""

_CHECK_ALL = """define internal i1 @{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %a, <{W} x i1> %mask) alwaysinline {
entry:
{limits}
  %off = xor <{W} x i1> %mask, {ones}
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  br i1 %quiet, label %check, label %bad, !prof !9
{check}
bad:
  ret i1 false
each:
  ret i1 true
}"""

_GLOBAL_LIMITS = """  %lo = load i64, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %span.p, align 8"""
_SHARED_LIMITS = """  %lo = add i32 0, 0
  %span = trunc i64 %limit to i32"""


def _splat(name: str, width: int, bits: int) -> str:
    one = f"  %{name}.s = insertelement <{width} x i{bits}> poison, i{bits} %{name}, i32 0"
    zero = f"<{width} x i{bits}> poison, <{width} x i32> zeroinitializer"
    return f"{one}\n  %{name}.v = shufflevector <{width} x i{bits}> %{name}.s, {zero}"


class Helpers:
    """The functions that the passes of a module call, each written when it is first asked for."""

    def __init__(self, module: Module, width: int) -> None:
        self.module = module
        self.width = width
        self.texts: dict[str, str] = {}

    def text(self) -> str:
        """All functions."""
        always = {"find": self._filled(_FIND, fields="\n".join(field("table", "%t") + field("entries", "%n"))), "find_each": self._filled(_FIND_EACH),
                  "miss_each": self._filled(_MISS_EACH)}  # fmt: skip
        return "\n".join([*always.values(), *self.texts.values(), '!9 = !{!"branch_weights", i32 2000, i32 1}'])

    def load(self, space: str, bits: int, elements: int) -> str:
        """The name of a load of each lane."""
        return self._access("load", space, bits, elements)

    def store(self, space: str, bits: int, elements: int) -> str:
        """The name of a store of each lane."""
        return self._access("store", space, bits, elements)

    def load_one(self, bits: int, elements: int) -> str:
        """The name of a load of one address in global memory."""
        name = f"load_one_{bits}x{elements}"
        if name not in self.texts:
            result = self._result(bits, elements, 1)
            loads = []
            for e in range(elements):
                loads += [f"  %p{e} = getelementptr i{bits}, ptr %p, i64 {e}", f"  %v{e} = load <1 x i{bits}>, ptr %p{e}, align {bits // 8}"]
            self.texts[name] = self._filled(_LOAD_ONE, name=name, R=result, loads=self._returned(loads, bits, elements, 1, "v"), **_sizes(bits, elements))
        return name

    def local(self, what: str) -> str:
        """The name of a load or store of a word of each lane's own stack, which lies word by word across the lanes of the wave."""
        name = f"{what}_local"
        if name not in self.texts:
            w = self.width
            for f in (f"<{w} x i32> @llvm.masked.load.v{w}i32.p0(ptr, i32, <{w} x i1>, <{w} x i32>)", f"void @llvm.masked.store.v{w}i32.p0(<{w} x i32>, ptr, i32, <{w} x i1>)",
                      f"<{w} x i32> @llvm.masked.gather.v{w}i32.v{w}p0(<{w} x ptr>, i32, <{w} x i1>, <{w} x i32>)",
                      f"void @llvm.masked.scatter.v{w}i32.v{w}p0(<{w} x i32>, <{w} x ptr>, i32, <{w} x i1>)"):  # fmt: skip
                self._declared(f[f.index("@") + 1 : f.index("(")], f"declare {f}")
            filled = {"first.splat": _splat("first", w, 32), "limit32.splat": _splat("limit32", w, 32), "stride.splat": _splat("stride", w, 64),
                      "lanes": ", ".join(f"i64 {i}" for i in range(w)), "threes": ", ".join(["i32 3"] * w), "twos": ", ".join(["i32 2"] * w)}  # fmt: skip
            load = what == "load"
            self.texts[name] = self._filled(
                _LOCAL, name=name, R=f"<{w} x i32>" if load else "void", value="" if load else f", <{w} x i32> %x", **filled,
                nothing=f"<{w} x i32> zeroinitializer" if load else "void",
                row=(f"  %v = call <{w} x i32> @llvm.masked.load.v{w}i32.p0(ptr %rp, i32 4, <{w} x i1> %mask, <{w} x i32> zeroinitializer)\n  ret <{w} x i32> %v" if load
                     else f"  call void @llvm.masked.store.v{w}i32.p0(<{w} x i32> %x, ptr %rp, i32 4, <{w} x i1> %mask)\n  ret void"),
                each=(f"  %g = call <{w} x i32> @llvm.masked.gather.v{w}i32.v{w}p0(<{w} x ptr> %ps, i32 4, <{w} x i1> %mask, <{w} x i32> zeroinitializer)\n  ret <{w} x i32> %g" if load
                      else f"  call void @llvm.masked.scatter.v{w}i32.v{w}p0(<{w} x i32> %x, <{w} x ptr> %ps, i32 4, <{w} x i1> %mask)\n  ret void"),
            )  # fmt: skip
        return name

    def check(self, space: str, bits: int) -> str:
        """The name of a check of each lane's address for an update, which also asks that nothing has failed before."""
        return self._access("check", space, bits, 1)

    # ------------------------------------------------------------ texts

    def _access(self, what: str, space: str, bits: int, elements: int) -> str:
        name = f"{what}_{space}_{bits}x{elements}"
        if name in self.texts:
            return name
        w, a = self.width, 64 if space == "global" else 32
        size = bits // 8 * elements
        common = {
            "name": name, "A": str(a), "R": self._result(bits, elements, w), **_sizes(bits, elements), "write": str(int(what != "load")),
            "masks": ", ".join([f"i{a} {size - 1}"] * w), "steps": ", ".join(f"i{a} {i * size}" for i in range(w)), "reach": str((w - 1) * size),
            "limits": _GLOBAL_LIMITS if a == 64 else _SHARED_LIMITS, "find": "find_each" if a == 64 else "miss_each",
            "other": "same" if what == "load" else "check", "plain": "and i1 %in.all, true" if elements == 1 else "and i1 %in.all, %full",
            **{f"{n}.splat": _splat(n, w, a) for n in ("first", "lo", "span")},
        }  # fmt: skip
        begin = _BEGIN + "" if elements == 1 else _BEGIN.replace(
            "  %plain", "  %full.bits = bitcast <{W} x i1> %mask to i{W}\n  %full = icmp eq i{W} %full.bits, -1\n  %plain", 1)
        wide = "  %first.w = add i64 %first, 0" if a == 64 else "  %first.w = zext i32 %first to i64"
        common["begin"] = self._filled(begin, **common).replace("  %rel = ", wide + "\n  %rel = ", 1)
        common["check"] = self._filled(_CHECK, **common)
        halves = self._halves(what, bits, elements, a)
        pointers = f"  %offsets = zext <{w} x i32> %a to <{w} x i64>" if a == 32 else f"  %offsets = add <{w} x i64> %a, zeroinitializer"
        pieces = [f"  %ps = getelementptr i8, ptr %base, <{w} x i64> %offsets"]
        common["halves"] = pointers + "\n" + halves
        if what == "check":
            self.texts[name] = self._filled(_CHECK_ALL, **common)
        elif what == "load":
            self.texts[name] = self._filled(_LOAD, **common, wide=self._wide_load(bits, elements), once=self._once(bits, elements),
                                            gathers=self._gathers(pieces, bits, elements))  # fmt: skip
        else:
            values = ", ".join(f"<{w} x i{bits}> %x{e}" for e in range(elements))
            self.texts[name] = self._filled(_STORE, **common, values=values, wide=self._wide_store(bits, elements), scatters=self._scatters(pieces, bits, elements))
        return name

    def _halves(self, what: str, bits: int, elements: int, a: int) -> str:
        """What is tried before lanes are served one by one."""
        if elements > 1:
            return "  br label %gather"
        h, size = self.width // 2, bits // 8
        for kind, line in (("load", f"<{h} x i{bits}> @llvm.masked.load.v{h}i{bits}.p0(ptr, i32, <{h} x i1>, <{h} x i{bits}>)"),
                           ("store", f"void @llvm.masked.store.v{h}i{bits}.p0(<{h} x i{bits}>, ptr, i32, <{h} x i1>)")):  # fmt: skip
            self._declared(f"llvm.masked.{kind}.v{h}i{bits}.p0", f"declare {line}")
        low, high = (", ".join(f"i32 {i}" for i in r) for r in (range(h), range(h, 2 * h)))
        return self._filled(
            _HALVES + (_LOAD_HALVES if what == "load" else _STORE_HALVES), A=str(a), B=str(bits), H=str(h), low=low, high=high, bytes=str(size),
            heads=", ".join(f"i32 {i // h * h}" for i in range(2 * h)), **{"half.steps": ", ".join(f"i{a} {i % h * size}" for i in range(2 * h)),
            "else": "two" if what == "load" else "gather"},
        )  # fmt: skip

    def _filled(self, text: str, **values: str) -> str:
        values = {"W": str(self.width), "ones": "<" + ", ".join(["i1 true"] * self.width) + ">", **values}
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    @staticmethod
    def _result(bits: int, elements: int, width: int) -> str:
        one = f"<{width} x i{bits}>"
        return one if elements == 1 else "{" + ", ".join([one] * elements) + "}"

    def _returned(self, lines: list[str], bits: int, elements: int, width: int, name: str) -> str:
        if elements == 1:
            return "\n".join([*lines, f"  ret <{width} x i{bits}> %{name}0"])
        result, last = self._result(bits, elements, width), "poison"
        for e in range(elements):
            lines.append(f"  %{name}r{e} = insertvalue {result} {last}, <{width} x i{bits}> %{name}{e}, {e}")
            last = f"%{name}r{e}"
        return "\n".join([*lines, f"  ret {result} {last}"])

    def _declared(self, name: str, line: str) -> str:
        self.module.declarations[name] = line
        return name

    def _wide_load(self, bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        if elements == 1:
            f = self._declared(f"llvm.masked.load.v{w}i{bits}.p0", f"declare <{w} x i{bits}> @llvm.masked.load.v{w}i{bits}.p0(ptr, i32, <{w} x i1>, <{w} x i{bits}>)")
            return f"  %w0 = call <{w} x i{bits}> @{f}(ptr %vp, i32 {b}, <{w} x i1> %mask, <{w} x i{bits}> zeroinitializer)\n  ret <{w} x i{bits}> %w0"
        n = w * elements
        lines = [f"  %all = load <{n} x i{bits}>, ptr %vp, align {b}"]
        for e in range(elements):
            picks = ", ".join(f"i32 {i * elements + e}" for i in range(w))
            lines.append(f"  %w{e} = shufflevector <{n} x i{bits}> %all, <{n} x i{bits}> poison, <{w} x i32> <{picks}>")
        return self._returned(lines, bits, elements, w, "w")

    def _once(self, bits: int, elements: int) -> str:
        w, lines = self.width, []
        for e in range(elements):
            lines += [
                f"  %u{e}.p = getelementptr i{bits}, ptr %up, i64 {e}", f"  %u{e}.x = load i{bits}, ptr %u{e}.p, align {bits // 8}",
                f"  %u{e}.s = insertelement <{w} x i{bits}> poison, i{bits} %u{e}.x, i32 0",
                f"  %u{e} = shufflevector <{w} x i{bits}> %u{e}.s, <{w} x i{bits}> poison, <{w} x i32> zeroinitializer",
            ]  # fmt: skip
        return self._returned(lines, bits, elements, w, "u")

    def _gathers(self, lines: list[str], bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        f = self._declared(f"llvm.masked.gather.v{w}i{bits}.v{w}p0",
                           f"declare <{w} x i{bits}> @llvm.masked.gather.v{w}i{bits}.v{w}p0(<{w} x ptr>, i32, <{w} x i1>, <{w} x i{bits}>)")  # fmt: skip
        for e in range(elements):
            lines += [f"  %g{e}.p = getelementptr i8, <{w} x ptr> %ps, i64 {e * b}",
                      f"  %g{e} = call <{w} x i{bits}> @{f}(<{w} x ptr> %g{e}.p, i32 {b}, <{w} x i1> %mask, <{w} x i{bits}> zeroinitializer)"]  # fmt: skip
        return self._returned(lines, bits, elements, w, "g")

    def _wide_store(self, bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        if elements == 1:
            f = self._declared(f"llvm.masked.store.v{w}i{bits}.p0", f"declare void @llvm.masked.store.v{w}i{bits}.p0(<{w} x i{bits}>, ptr, i32, <{w} x i1>)")
            return f"  call void @{f}(<{w} x i{bits}> %x0, ptr %vp, i32 {b}, <{w} x i1> %mask)"
        lines, parts, n = [], [f"%x{e}" for e in range(elements)], w
        while len(parts) > 1:  # two and two behind each other
            joined = []
            for i in range(0, len(parts), 2):
                picks = ", ".join(f"i32 {k}" for k in range(2 * n))
                name = f"{parts[i]}.j"
                lines.append(f"  {name} = shufflevector <{n} x i{bits}> {parts[i]}, <{n} x i{bits}> {parts[i + 1]}, <{2 * n} x i32> <{picks}>")
                joined.append(name)
            parts, n = joined, 2 * n
        picks = ", ".join(f"i32 {e * w + i}" for i in range(w) for e in range(elements))
        lines += [f"  %mixed = shufflevector <{n} x i{bits}> {parts[0]}, <{n} x i{bits}> poison, <{n} x i32> <{picks}>",
                  f"  store <{n} x i{bits}> %mixed, ptr %vp, align {b}"]  # fmt: skip
        return "\n".join(lines)

    def _scatters(self, lines: list[str], bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        f = self._declared(f"llvm.masked.scatter.v{w}i{bits}.v{w}p0", f"declare void @llvm.masked.scatter.v{w}i{bits}.v{w}p0(<{w} x i{bits}>, <{w} x ptr>, i32, <{w} x i1>)")
        for e in range(elements):
            lines += [f"  %s{e}.p = getelementptr i8, <{w} x ptr> %ps, i64 {e * b}",
                      f"  call void @{f}(<{w} x i{bits}> %x{e}, <{w} x ptr> %s{e}.p, i32 {b}, <{w} x i1> %mask)"]  # fmt: skip
        return "\n".join(lines)


def _sizes(bits: int, elements: int) -> dict[str, str]:
    size = bits // 8 * elements
    return {"size": str(size), "mask": str(size - 1)}
