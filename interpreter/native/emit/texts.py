"""LLVM IR of accesses of a vector, with places to be filled: {W} lanes, addresses of {A} bits, elements of {B} bits and so on; see memory.py.

No function takes or returns a vector of i1, which hosts have no register for in their calling conventions: `lanes` has a bit for each lane.
"""

from __future__ import annotations

# Looks an address up among the allocations, rows of (start, end, rights), and notes the one that holds it at the site: from a place on that is
# aligned for any access, so that an address is aligned if its distance from there is.
FIND = """define internal i1 @{find}(ptr %ctx, ptr %site, i64 %a, i64 %size, i64 %write) noinline {
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
  %rights.p = getelementptr i64, ptr %start.p, i64 2
  %rights = load i64, ptr %rights.p, align 8
  %site.rights.p = getelementptr i64, ptr %site, i64 2
  %site.rights = load i64, ptr %site.rights.p, align 8
  %wanted = or i64 %site.rights, %write
  %granted = and i64 %rights, %wanted
  %last = add i64 %a, %size
  %inside = icmp ule i64 %last, %end
  %may = icmp eq i64 %granted, %wanted
  %good = and i1 %inside, %may
  br i1 %good, label %found, label %bad
found:
  %up = add i64 %start, 15
  %from = and i64 %up, -16
  %length = sub i64 %end, %from
  %room = sub i64 %length, %m
  %none.left = icmp slt i64 %room, 0
  %span = select i1 %none.left, i64 0, i64 %room
  store i64 %from, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  store i64 %span, ptr %span.p, align 8
  ret i1 true
bad:
  store i64 1, ptr %ctx, align 8
  ret i1 false
}"""

# Looks each lane's address up.
FIND_EACH = """define internal i1 @{find}_each(ptr %ctx, ptr %site, <{W} x i{A}> %a, i{W} %lanes, i64 %size, i64 %write) noinline {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  br label %loop
loop:
  %k = phi i32 [0, %entry], [%k1, %next]
  %on = extractelement <{W} x i1> %mask, i32 %k
  br i1 %on, label %look, label %next
look:
  %x = extractelement <{W} x i{A}> %a, i32 %k
{wide}
  %good = call i1 @{find}(ptr %ctx, ptr %site, i64 %x.w, i64 %size, i64 %write)
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

# Shared memory without gaps has one stretch: what does not lie in it is a fault.
MISS_EACH = """define internal i1 @miss_each(ptr %ctx, ptr %site, <{W} x i32> %a, i{W} %lanes, i64 %size, i64 %write) noinline {
  store i64 1, ptr %ctx, align 8
  ret i1 false
}"""

# Which addresses lie in memory of a kind: a loop over rows of (start, bytes, kind).
LIES_IN = """define internal i{W} @lies_in(ptr %ctx, <{W} x i64> %a, i64 %kind) noinline {
entry:
{fields}
  %rows = inttoptr i64 %t to ptr
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i1, %row]
  %found = phi i{W} [0, %entry], [%found1, %row]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %row, label %done
row:
  %start.p = getelementptr [3 x i64], ptr %rows, i64 %i
  %start = load i64, ptr %start.p, align 8
  %size.p = getelementptr i64, ptr %start.p, i64 1
  %size = load i64, ptr %size.p, align 8
  %kind.p = getelementptr i64, ptr %start.p, i64 2
  %of = load i64, ptr %kind.p, align 8
{start.splat}
{size.splat}
  %into = sub <{W} x i64> %a, %start.v
  %in = icmp ult <{W} x i64> %into, %size.v
  %bits = bitcast <{W} x i1> %in to i{W}
  %alike = icmp eq i64 %of, %kind
  %here = select i1 %alike, i{W} %bits, i{W} 0
  %found1 = or i{W} %found, %here
  %i1 = add i64 %i, 1
  br label %loop
done:
  ret i{W} %found
}"""

LOAD_ONE = """define internal {R} @{name}(ptr %ctx, ptr %base, ptr %site, i64 %a) {
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

# How the addresses of a vector lie to each other, which a constant that is added to all does not change: see KINDS in memory.py.  The distance of the
# first two lanes says what is worth a look at all lanes.
CLASSIFY = """define internal i32 @{name}(<{W} x i{A}> %a, i{W} %lanes) {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %first = extractelement <{W} x i{A}> %a, i32 0
  %second = extractelement <{W} x i{A}> %a, i32 1
  %distance = sub i{A} %second, %first
  switch i{A} %distance, label %end [i{A} {size}, label %next i{A} 0, label %same]
next:
{first.splat}
  %diff = sub <{W} x i{A}> %a, %first.v
  %at.next = icmp eq <{W} x i{A}> %diff, <{steps}>
{next.all}
  br i1 %next.fine, label %end, label %halves
halves:
  %heads = shufflevector <{W} x i{A}> %a, <{W} x i{A}> poison, <{W} x i32> <{heads}>
  %from.head = sub <{W} x i{A}> %a, %heads
  %at.half = icmp eq <{W} x i{A}> %from.head, <{half.steps}>
{half.all}
  %run = select i1 %half.fine, i32 2, i32 4
  br label %end
same:
  %firsts = shufflevector <{W} x i{A}> %a, <{W} x i{A}> poison, <{W} x i32> zeroinitializer
  %at.one = icmp eq <{W} x i{A}> %a, %firsts
{one.all}
  br i1 %one.fine, label %end, label %pair
pair:
  %both = shufflevector <{W} x i{A}> %a, <{W} x i{A}> poison, <{W} x i32> <{heads}>
  %at.two = icmp eq <{W} x i{A}> %a, %both
{two.all}
  %two = select i1 %two.fine, i32 3, i32 4
  br label %end
end:
  %kind = phi i32 [4, %entry], [0, %next], [%run, %halves], [1, %same], [%two, %pair]
  ret i32 %kind
}"""
# Does a comparison hold for all lanes that take part?
ALL = """  %{n}.off = xor <{W} x i1> %mask, {ones}
  %{n}.ok = or <{W} x i1> %at.{n}, %{n}.off
  %{n}.bits = bitcast <{W} x i1> %{n}.ok to i{W}
  %{n}.fine = icmp eq i{W} %{n}.bits, -1"""

# Whether the access of lane `at` begins at a legal place: `b` and `plus` make its address.
START = """  %{n}.b = extractelement <{W} x i{A}> %b, i32 {at}
  %{n} = add i{A} %{n}.b, %plus
{wide}
  %{n}.rel = sub i{A} %{n}, %lo
  %{n}.in = icmp ult i{A} %{n}.rel, %span
  %{n}.low = and i{A} %{n}, {mask}
  %{n}.aligned = icmp eq i{A} %{n}.low, 0
  %{n}.begins = and i1 %{n}.in, %{n}.aligned"""

# What loads and stores begin with.
BEGIN = """entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
{limits}
{first.start}
  switch i32 %kind, label %check [{ways}]
run:
  %last = add i{A} %first.rel, {reach}
  %last.in = icmp ult i{A} %last, %span
  %in.all = and i1 %first.begins, %last.in
{plain}
  br i1 %plain, label %vector, label %check
"""

# An address is legal if neither its distance from the start of the memory, nor its distance from the last legal address is a negative number, and it
# is aligned as the start is: which may be asked of all at once.  What lanes that take no part access is the start.
CHECK = """check:
  %to = sub i{A} %plus, %lo
{to.splat}
  %rels.all = add <{W} x i{A}> %b, %to.v
  %rels = select <{W} x i1> %mask, <{W} x i{A}> %rels.all, <{W} x i{A}> zeroinitializer
  %most = sub i{A} %span, 1
{most.splat}
  %beyond = sub <{W} x i{A}> %most.v, %rels
  %outside = or <{W} x i{A}> %rels, %beyond
  %sign = call i{A} @llvm.vector.reduce.or.v{W}i{A}(<{W} x i{A}> %outside)
  %bits = call i{A} @llvm.vector.reduce.or.v{W}i{A}(<{W} x i{A}> %rels)
  %inside = icmp sge i{A} %sign, 0
  %lows = and i{A} %bits, {mask}
  %aligned = icmp eq i{A} %lows, 0
  %fine = and i1 %inside, %aligned
  br i1 %fine, label %each, label %slow, !prof !9
slow:
{plus.splat}
  %a = add <{W} x i{A}> %b, %plus.v
  %found = call i1 @{find}(ptr %ctx, ptr %site, <{W} x i{A}> %a, i{W} %lanes, i64 {size}, i64 {write})
  br i1 %found, label %each, label %bad
"""

LOAD = """define internal {R} @{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes) {
{begin}
vector:
  %vp = getelementptr i8, ptr %base, i64 %first.w
{wide}
same:
  br i1 %first.begins, label %uniform, label %check
uniform:
  %up = getelementptr i8, ptr %base, i64 %first.w
{once}
{halves}
check:
{if.all}
each.all:
  %every = call {R} @all_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus)
  ret {R} %every
each.some:
  %each = call {R} @each_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes)
  ret {R} %each
}"""

# Do all lanes take part?
IF_ALL = """  %all.take = icmp eq i{W} %lanes, -1
  br i1 %all.take, label %each.all, label %each.some"""

# Addresses that lie anyhow: much code, which the compiler repeats where it is called only once.
LOAD_EACH = """define internal {R} @each_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes) noinline {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
{limits}
  br label %check
{check}
bad:
  ret {R} zeroinitializer
each:
{offsets}
{gathers}
}"""

STORE = """define internal void
@{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes, {values}) {
{begin}
vector:
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  br i1 %quiet, label %put, label %bad, !prof !9
put:
  %vp = getelementptr i8, ptr %base, i64 %first.w
{wide}
  ret void
{halves}
check:
{if.all}
each.all:
  call void @all_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, {values})
  ret void
each.some:
  call void @each_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes, {values})
  ret void
bad:
  ret void
}"""

STORE_EACH = """define internal void
@each_{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes, {values}) noinline {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %room = alloca [16 x i8], align 16
{limits}
  br label %check
{check}
bad:
  ret void
each:
  %status.e = load i64, ptr %ctx, align 8
  %quiet.e = icmp eq i64 %status.e, 0
  br i1 %quiet.e, label %scatter, label %bad, !prof !9
scatter:
{offsets}
{scatters}
  ret void
}"""

# What moves the halves, by masks of their lanes or from two places, once they are known to be legal.
HALF_MASKS = """  %mask0 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{low}>
  %mask1 = shufflevector <{W} x i1> %mask, <{W} x i1> poison, <{H} x i32> <{high}>
"""
LOAD_BOTH = """  %half0 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p0, i32 {bytes}, <{H} x i1> %mask0, <{H} x i{B}> zeroinitializer)
  %half1 = call <{H} x i{B}> @llvm.masked.load.v{H}i{B}.p0(ptr %p1, i32 {bytes}, <{H} x i1> %mask1, <{H} x i{B}> zeroinitializer)
  %both = shufflevector <{H} x i{B}> %half0, <{H} x i{B}> %half1, <{W} x i32> <{low}, {high}>
  ret <{W} x i{B}> %both
"""
LOAD_PAIR = """pair:
  %one0 = load i{B}, ptr %p0, align {bytes}
  %one1 = load i{B}, ptr %p1, align {bytes}
  %ones0 = insertelement <{W} x i{B}> poison, i{B} %one0, i32 0
  %ones1 = insertelement <{W} x i{B}> %ones0, i{B} %one1, i32 {H}
  %pair.v = shufflevector <{W} x i{B}> %ones1, <{W} x i{B}> poison, <{W} x i32> <{heads}>
  ret <{W} x i{B}> %pair.v"""
STORE_BOTH = """  %half0 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{low}>
  %half1 = shufflevector <{W} x i{B}> %x0, <{W} x i{B}> poison, <{H} x i32> <{high}>
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half0, ptr %p0, i32 {bytes}, <{H} x i1> %mask0)
  call void @llvm.masked.store.v{H}i{B}.p0(<{H} x i{B}> %half1, ptr %p1, i32 {bytes}, <{H} x i1> %mask1)
  ret void"""

# Blocks are often 16 threads wide: the halves of a warp may each be neighbours, or each at one address.
HALVES = """halves:
{second.start}
  %both.begin = and i1 %first.begins, %second.begins
  %p0 = getelementptr i8, ptr %base, i64 %first.w
  %p1 = getelementptr i8, ptr %base, i64 %second.w
"""
RUN_HALVES = (
    """  %end0 = add i{A} %first.rel, {half.reach}
  %end1 = add i{A} %second.rel, {half.reach}
  %end0.in = icmp ult i{A} %end0, %span
  %end1.in = icmp ult i{A} %end1, %span
  %ends.in = and i1 %end0.in, %end1.in
  %halves.in = and i1 %ends.in, %both.begin
"""
    + HALF_MASKS
)
LOAD_HALVES = (
    """  %pairs = icmp eq i32 %kind, 3
  br i1 %pairs, label %two, label %runs
runs:
{runs}
  br i1 %halves.in, label %load.halves, label %check
load.halves:
"""
    + LOAD_BOTH
    + """two:
  br i1 %both.begin, label %pair, label %check
"""
    + LOAD_PAIR
)
STORE_HALVES = (
    """{runs}
  br i1 %halves.in, label %store.halves, label %check
store.halves:
  %status.h = load i64, ptr %ctx, align 8
  %quiet.h = icmp eq i64 %status.h, 0
  br i1 %quiet.h, label %put.halves, label %bad, !prof !9
put.halves:
"""
    + STORE_BOTH
)

# `limit` is where the stack ends; lanes with one address, as those of variables, move as a vector.
LOCAL = """define internal {R} @{name}(ptr %ctx, ptr %lane0, i64 %stride, i32 %limit, <{W} x i32> %a, i{W} %lanes{value}) {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
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

CHECK_ALL = """define internal i1 @{name}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{W} %lanes) {
entry:
  %mask = bitcast i{W} %lanes to <{W} x i1>
  %plus = add i{A} 0, 0
{limits}
  %status = load i64, ptr %ctx, align 8
  %quiet = icmp eq i64 %status, 0
  br i1 %quiet, label %check, label %bad, !prof !9
{check}
bad:
  ret i1 false
each:
  ret i1 true
}"""

UNDO = """define internal void @{name}(ptr %base, ptr %places, ptr %old, i32 %lanes) noinline {
entry:
  br label %head
head:
  %left = phi i32 [%lanes, %entry], [%rest, %body]
  %none = icmp eq i32 %left, 0
  br i1 %none, label %end, label %body
body:
  %zeros = call i32 @llvm.ctlz.i32(i32 %left, i1 true)
  %lane = sub i32 31, %zeros
  %bit = shl i32 1, %lane
  %rest = xor i32 %left, %bit
  %place = getelementptr i{A}, ptr %places, i32 %lane
  %address = load i{A}, ptr %place, align 4
  %wide = zext i{A} %address to i128
  %at = getelementptr i8, ptr %base, i128 %wide
  %found = getelementptr i{B}, ptr %old, i32 %lane
  %before = load i{B}, ptr %found, align {bytes}
  store i{B} %before, ptr %at, align {bytes}
  br label %head
end:
  ret void
}"""

GLOBAL_LIMITS = """  %lo = load i64, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  %span = load i64, ptr %span.p, align 8"""
GAPPED_LIMITS = """  %lo.w = load i64, ptr %site, align 8
  %span.p = getelementptr i64, ptr %site, i64 1
  %span.w = load i64, ptr %span.p, align 8
  %lo.low = trunc i64 %lo.w to i32
  %span = trunc i64 %span.w to i32
  %forgot = icmp eq i32 %span, 0
  %lo = select i1 %forgot, i32 0, i32 %lo.low"""
SHARED_LIMITS = """  %lo = add i32 0, 0
  %span = trunc i64 %limit to i32"""
