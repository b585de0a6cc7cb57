"""LLVM IR of accesses that have been checked before, with places to be filled as in texts.py; see moving.py."""

from __future__ import annotations

from ..texts import HALF_MASKS, LOAD_BOTH, LOAD_PAIR, STORE_BOTH

# Adds the addresses of one vector to what is known of the group's: addresses that lie anyhow, of some lanes.
SPREAD = """define internal void @{name}(<{W} x i{A}> %a, i{W} %lanes, ptr %sums) noinline {
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %low.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> <{greatest}>
  %high.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> <{least}>
  %bits.{W} = select <{W} x i1> %mask, <{W} x i{A}> %a, <{W} x i{A}> zeroinitializer
{folded}
  ret void
}"""
# Those of all lanes, which lie as `kind` says (see KINDS in memory.py), the second half so far from the first.
EXTEND_BY_HALVES = """define internal void @{name}(ptr %sum, i64 %first, i64 %far, i32 %kind) alwaysinline {
  %second = add i64 %first, %far
  %less = call i64 @llvm.smin.i64(i64 %first, i64 %second)
  %more = call i64 @llvm.smax.i64(i64 %first, i64 %second)
  %same = trunc i32 %kind to i1
  %reach = select i1 %same, i64 0, i64 {half.reach}
  %end = add i64 %more, %reach
  %both = or i64 %first, %second
  call void @extend(ptr %sum, i64 %less, i64 %end, i64 %both) #0
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
  %lo = add i64 %min, %plus
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
  %begins = icmp ule i64 %lo, %room
  %ends = icmp ule i64 %behind, %room
  %inside = and i1 %begins, %ends
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
MOVE = """entry:
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
HALVES = (
    """halves:
  %second = extractelement <{W} x i{A}> %b, i32 {H}
  %second.at = add i{A} %second, %plus
  %second.w = {second.wide}
  %p1 = getelementptr i8, ptr %base, i64 %second.w
"""
    + HALF_MASKS
)
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
LOAD_HALVES = (
    """  %pairs = icmp eq i32 %kind, 3
  br i1 %pairs, label %two, label %runs
runs:
"""
    + LOAD_BOTH
    + """two:
  br i1 %full, label %pair, label %each
"""
    + LOAD_PAIR
    + "\n"
)
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
STORE_HALVES = STORE_BOTH + "\n"
# Lanes that take no part access room of the function's own.
PLACES = """entry:
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
# All lanes access, each half of them neighbours or one place.  A load takes the first element for all, and what follows it where they are neighbours.
LOAD_PAIRED = """define internal <{W} x i{B}> @{name}(ptr %p0, ptr %p1, i1 %run) alwaysinline {
  %mask = select i1 %run, <{H} x i1> <{ones.half}>, <{H} x i1> zeroinitializer
{each}
  %both = shufflevector <{H} x i{B}> %half0, <{H} x i{B}> %half1, <{W} x i32> <{low}, {high}>
  ret <{W} x i{B}> %both
}"""
LOAD_ONE_OF_PAIR = """  %one{n} = load i{B}, ptr %p{n}, align {bytes}
  %ones{n} = insertelement <{H} x i{B}> poison, i{B} %one{n}, i32 0
  %all{n} = shufflevector <{H} x i{B}> %ones{n}, <{H} x i{B}> poison, <{H} x i32> zeroinitializer
  %half{n} = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p{n}, i32 {bytes}, <{H} x i1> %mask, <{H} x i{B}> %all{n})"""
LOAD_BOTH_RUNS = """define internal <{W} x i{B}> @{name}(ptr %p0, ptr %p1, i1 %run) alwaysinline {
  %half0 = load <{H} x i{B}>, ptr %p0, align {bytes}
  %half1 = load <{H} x i{B}>, ptr %p1, align {bytes}
  %both = shufflevector <{H} x i{B}> %half0, <{H} x i{B}> %half1, <{W} x i32> <{low}, {high}>
  ret <{W} x i{B}> %both
}"""
STORE_PAIRED = """define internal void @{name}(ptr %p0, ptr %p1, <{W} x i{B}> %x0) alwaysinline {
  %half0 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{low}>
  %half1 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{high}>
  store <{H} x i{B}> %half0, ptr %p0, align {bytes}
  store <{H} x i{B}> %half1, ptr %p1, align {bytes}
  ret void
}"""
