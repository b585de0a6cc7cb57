"""Accesses to memory as LLVM functions: bounds and alignment, then a vector move, a gather or a scatter.

An access that is not plainly legal sets the status in the context and does nothing, and so does every store after it: the caller then runs
the same instructions with numpy, which reaches the memories of the host and of peers and names a fault.  Each site remembers the allocation
that it used last.
"""

from __future__ import annotations

from . import scheduler

SPACES = {"global": "global", "const": "global", "generic": "global", "shared": "shared", "shared::cta": "shared"}


def field(name: str, into: str) -> list[str]:
    """Lines that load a word of the context."""
    at = getattr(scheduler, name.upper())
    return [f"  {into}.p = getelementptr i64, ptr %ctx, i64 {at}", f"  {into} = load i64, ptr {into}.p, align 8"]


# Looks an address up among the allocations, rows of (start, end, writable): their number, or -1.
_FIND = """define internal i64 @find(ptr %ctx, i64 %a, i64 %size, i64 %write) noinline {
entry:
{fields}
  %rows = inttoptr i64 %t to ptr
  br label %loop
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
  %ep = getelementptr i64, ptr %rows, i64 %iat
  %e1 = getelementptr i64, ptr %ep, i64 1
  %end = load i64, ptr %e1, align 8
  %w1 = getelementptr i64, ptr %ep, i64 2
  %writable = load i64, ptr %w1, align 8
  %last = add i64 %a, %size
  %inside = icmp ule i64 %last, %end
  %may = icmp uge i64 %writable, %write
  %good = and i1 %inside, %may
  br i1 %good, label %found, label %bad
found:
  ret i64 %i
bad:
  ret i64 -1
}"""

# Checks one address; gives whether it may be used, and keeps the allocation for the site.
_CHECK_ONE = """define internal i1 @check_one(ptr %ctx, ptr %site, i64 %a, i64 %size, i64 %write) alwaysinline {
entry:
  %lo = load i64, ptr %site, align 8
  %sp1 = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %sp1, align 8
  %d = sub i64 %a, %lo
  %in = icmp ult i64 %d, %span
  %m = sub i64 %size, 1
  %low = and i64 %a, %m
  %aligned = icmp eq i64 %low, 0
  %ok = and i1 %in, %aligned
  br i1 %ok, label %yes, label %slow
slow:
  %r = call i1 @check_slow(ptr %ctx, ptr %site, i64 %a, i64 %size, i64 %write)
  ret i1 %r
yes:
  ret i1 true
}
define internal i1 @check_slow(ptr %ctx, ptr %site, i64 %a, i64 %size, i64 %write) noinline {
entry:
  %m = sub i64 %size, 1
  %low = and i64 %a, %m
  %aligned = icmp eq i64 %low, 0
  br i1 %aligned, label %seek, label %bad
seek:
  %i = call i64 @find(ptr %ctx, i64 %a, i64 %size, i64 %write)
  %none = icmp eq i64 %i, -1
  br i1 %none, label %bad, label %good
good:
{fields}
  %rows = inttoptr i64 %t to ptr
  %at = mul i64 %i, 3
  %sp = getelementptr i64, ptr %rows, i64 %at
  %s = load i64, ptr %sp, align 8
  %ep = getelementptr i64, ptr %sp, i64 1
  %e = load i64, ptr %ep, align 8
  %len = sub i64 %e, %s
  %span0 = sub i64 %len, %size
  %span = add i64 %span0, 1
  store i64 %s, ptr %site, align 8
  %s1 = getelementptr i64, ptr %site, i64 1
  store i64 %span, ptr %s1, align 8
  ret i1 true
bad:
  store i64 1, ptr %ctx, align 8
  ret i1 false
}"""

# The same for the lanes of a vector that a mask names.
_CHECK_MANY = """define internal i1 @check_many(ptr %ctx, ptr %site, <{W} x i64> %a, <{W} x i1> %mask, i64 %size, i64 %write) alwaysinline {
entry:
  %lo = load i64, ptr %site, align 8
  %sp1 = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %sp1, align 8
  %m = sub i64 %size, 1
{splats}
  %d = sub <{W} x i64> %a, %lov
  %in = icmp ult <{W} x i64> %d, %spanv
  %low = and <{W} x i64> %a, %mv
  %aligned = icmp eq <{W} x i64> %low, zeroinitializer
  %ok = and <{W} x i1> %in, %aligned
  %out = xor <{W} x i1> %mask, {ones}
  %fine = or <{W} x i1> %ok, %out
  %bits = bitcast <{W} x i1> %fine to i{W}
  %all = icmp eq i{W} %bits, -1
  br i1 %all, label %yes, label %slow
slow:
  %r = call i1 @check_each(ptr %ctx, ptr %site, <{W} x i64> %a, <{W} x i1> %mask, i64 %size, i64 %write)
  ret i1 %r
yes:
  ret i1 true
}
define internal i1 @check_each(ptr %ctx, ptr %site, <{W} x i64> %a, <{W} x i1> %mask, i64 %size, i64 %write) noinline {
entry:
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%k1, %next]
  %on = extractelement <{W} x i1> %mask, i32 %k
  br i1 %on, label %look, label %next
look:
  %x = extractelement <{W} x i64> %a, i32 %k
  %good = call i1 @check_slow(ptr %ctx, ptr %site, i64 %x, i64 %size, i64 %write)
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

_SHARED_ONE = """define internal i1 @shared_one(ptr %ctx, i64 %a, i64 %size) alwaysinline {
entry:
{fields}
  %last = add i64 %a, %size
  %in = icmp ule i64 %last, %room
  %m = sub i64 %size, 1
  %low = and i64 %a, %m
  %aligned = icmp eq i64 %low, 0
  %ok = and i1 %in, %aligned
  br i1 %ok, label %yes, label %bad
bad:
  store i64 1, ptr %ctx, align 8
  ret i1 false
yes:
  ret i1 true
}"""

_SHARED_MANY = """define internal i1 @shared_many(ptr %ctx, <{W} x i64> %a, <{W} x i1> %mask, i64 %size) alwaysinline {
entry:
{fields}
  %m = sub i64 %size, 1
  %room1 = sub i64 %room, %m
  %none = icmp slt i64 %room1, 0
  %span = select i1 %none, i64 0, i64 %room1
{splats}
  %in = icmp ult <{W} x i64> %a, %spanv
  %low = and <{W} x i64> %a, %mv
  %aligned = icmp eq <{W} x i64> %low, zeroinitializer
  %ok = and <{W} x i1> %in, %aligned
  %out = xor <{W} x i1> %mask, {ones}
  %fine = or <{W} x i1> %ok, %out
  %bits = bitcast <{W} x i1> %fine to i{W}
  %all = icmp eq i{W} %bits, -1
  br i1 %all, label %yes, label %bad
bad:
  store i64 1, ptr %ctx, align 8
  ret i1 false
yes:
  ret i1 true
}"""

_ONE = """define internal <1 x i{B}> @one{B}(i1 %ok, ptr %base, i64 %a) alwaysinline {
entry:
  br i1 %ok, label %go, label %nothing
nothing:
  ret <1 x i{B}> zeroinitializer
go:
  %p = getelementptr i8, ptr %base, i64 %a
  %v = load <1 x i{B}>, ptr %p, align {bytes}
  ret <1 x i{B}> %v
}"""

# Elements at offsets from a base: one vector where the lanes are neighbours, else a gather.
_GATHER = """define internal <{W} x i{B}> @gather{B}(i1 %ok, ptr %base, <{W} x i64> %a, <{W} x i1> %mask) alwaysinline {
entry:
  br i1 %ok, label %go, label %nothing
nothing:
  ret <{W} x i{B}> zeroinitializer
go:
  %first = extractelement <{W} x i64> %a, i32 0
{splats}
  %run = add <{W} x i64> %firstv, <{steps}>
  %same = icmp eq <{W} x i64> %run, %a
  %out = xor <{W} x i1> %mask, {ones}
  %fine = or <{W} x i1> %same, %out
  %bits = bitcast <{W} x i1> %fine to i{W}
  %all = icmp eq i{W} %bits, -1
  br i1 %all, label %vector, label %each
vector:
  %p = getelementptr i8, ptr %base, i64 %first
  %v = call <{W} x i{B}> @llvm.masked.load.v{W}i{B}.p0(ptr %p, i32 {bytes}, <{W} x i1> %mask, <{W} x i{B}> zeroinitializer)
  ret <{W} x i{B}> %v
each:
  %ps = getelementptr i8, ptr %base, <{W} x i64> %a
  %g = call <{W} x i{B}> @llvm.masked.gather.v{W}i{B}.v{W}p0(<{W} x ptr> %ps, i32 {bytes}, <{W} x i1> %mask, <{W} x i{B}> zeroinitializer)
  ret <{W} x i{B}> %g
}
declare <{W} x i{B}> @llvm.masked.load.v{W}i{B}.p0(ptr, i32, <{W} x i1>, <{W} x i{B}>)
declare <{W} x i{B}> @llvm.masked.gather.v{W}i{B}.v{W}p0(<{W} x ptr>, i32, <{W} x i1>, <{W} x i{B}>)"""

_SCATTER = """define internal void @scatter{B}(ptr %ctx, i1 %ok, ptr %base, <{W} x i64> %a, <{W} x i{B}> %v, <{W} x i1> %mask) alwaysinline {
entry:
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  %may = and i1 %ok, %quiet
  br i1 %may, label %go, label %nothing
nothing:
  ret void
go:
  %first = extractelement <{W} x i64> %a, i32 0
{splats}
  %run = add <{W} x i64> %firstv, <{steps}>
  %same = icmp eq <{W} x i64> %run, %a
  %out = xor <{W} x i1> %mask, {ones}
  %fine = or <{W} x i1> %same, %out
  %bits = bitcast <{W} x i1> %fine to i{W}
  %all = icmp eq i{W} %bits, -1
  br i1 %all, label %vector, label %each
vector:
  %p = getelementptr i8, ptr %base, i64 %first
  call void @llvm.masked.store.v{W}i{B}.p0(<{W} x i{B}> %v, ptr %p, i32 {bytes}, <{W} x i1> %mask)
  ret void
each:
  %ps = getelementptr i8, ptr %base, <{W} x i64> %a
  call void @llvm.masked.scatter.v{W}i{B}.v{W}p0(<{W} x i{B}> %v, <{W} x ptr> %ps, i32 {bytes}, <{W} x i1> %mask)
  ret void
}
declare void @llvm.masked.store.v{W}i{B}.p0(<{W} x i{B}>, ptr, i32, <{W} x i1>)
declare void @llvm.masked.scatter.v{W}i{B}.v{W}p0(<{W} x i{B}>, <{W} x ptr>, i32, <{W} x i1>)"""


def _splat(name: str, width: int) -> str:
    one = f"  %{name}.s = insertelement <{width} x i64> poison, i64 %{name}, i32 0"
    zero = f"<{width} x i64> poison, <{width} x i32> zeroinitializer"
    return f"{one}\n  %{name}v = shufflevector <{width} x i64> %{name}.s, {zero}"


def helpers(width: int) -> tuple[str, dict[str, str]]:
    """All functions for vectors of a width, and the declarations that they need by name."""
    ones = "<" + ", ".join(["i1 true"] * width) + ">"

    def fill(text: str, splats: tuple[str, ...] = (), fields: dict[str, str] | None = None, bits: int = 0) -> str:
        loads = "\n".join(line for name, into in (fields or {}).items() for line in field(name, into))
        steps = ", ".join(f"i64 {i * bits // 8}" for i in range(width))
        replaced = {"W": str(width), "B": str(bits), "bytes": str(bits // 8), "ones": ones, "steps": steps, "fields": loads,
                    "splats": "\n".join(_splat(s, width) for s in splats)}  # fmt: skip
        for name, value in replaced.items():
            text = text.replace("{" + name + "}", value)
        return text

    parts = [
        fill(_FIND, fields={"table": "%t", "entries": "%n"}),
        fill(_CHECK_ONE, fields={"table": "%t"}),
        fill(_CHECK_MANY, ("lo", "span", "m")),
        fill(_SHARED_ONE, fields={"shared_size": "%room"}),
        fill(_SHARED_MANY, ("span", "m"), {"shared_size": "%room"}),
    ]
    for bits in (8, 16, 32, 64):
        parts += [fill(_ONE, bits=bits), fill(_GATHER, ("first",), bits=bits), fill(_SCATTER, ("first",), bits=bits)]
    lines = "\n".join(parts).split("\n")
    declared = {line[line.index("@") + 1 : line.index("(")]: line for line in lines if line.startswith("declare")}
    return "\n".join(line for line in lines if not line.startswith("declare")), declared
