"""Loads in a loop from addresses that grow by the same amount in all lanes.

What is added to the addresses is one number, so it can be said beforehand how large it may be: a *window* is the range of these numbers with which all
lanes access the allocation that the load met last, and where its halves then lie.  As long as the number is in the window, a load compares it once, and
takes two vectors of neighbours, or two elements for all.  Else it is an ordinary load, and the window is found anew.
"""

from __future__ import annotations

from . import texts as T
from .memory import Helpers

WORDS = 5  # of a window: its least number, how many there are, where both halves lie with the least one, and whether these are neighbours

LOAD = """define internal <{W} x i{B}>
@{name}(ptr %w, ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes) {
entry:
  %least = load i{A}, ptr %w, align 8
  %count.p = getelementptr i64, ptr %w, i64 1
  %count = load i{A}, ptr %count.p, align 8
  %rel = sub i{A} %plus, %least
  %in = icmp ult i{A} %rel, %count
  %low = and i{A} %rel, {mask}
  %aligned = icmp eq i{A} %low, 0
  %ok = and i1 %in, %aligned
  br i1 %ok, label %near, label %far, !prof !9
near:
  %at0.p = getelementptr i64, ptr %w, i64 2
  %at0 = load ptr, ptr %at0.p, align 8
  %at1.p = getelementptr i64, ptr %w, i64 3
  %at1 = load ptr, ptr %at1.p, align 8
  %run.p = getelementptr i64, ptr %w, i64 4
  %run = load i1, ptr %run.p, align 8
{wide}
  %p0 = getelementptr i8, ptr %at0, i64 %rel.w
  %p1 = getelementptr i8, ptr %at1, i64 %rel.w
  br i1 %run, label %runs, label %ones
runs:
  %run0 = load <{H} x i{B}>, ptr %p0, align {bytes}
  %run1 = load <{H} x i{B}>, ptr %p1, align {bytes}
  %both.runs = shufflevector <{H} x i{B}> %run0, <{H} x i{B}> %run1, <{W} x i32> <{halves}>
  ret <{W} x i{B}> %both.runs
ones:
  %one0 = load i{B}, ptr %p0, align {bytes}
  %one1 = load i{B}, ptr %p1, align {bytes}
  %ones0 = insertelement <{W} x i{B}> poison, i{B} %one0, i32 0
  %ones1 = insertelement <{W} x i{B}> %ones0, i{B} %one1, i32 {H}
  %both.ones = shufflevector <{W} x i{B}> %ones1, <{W} x i{B}> poison, <{W} x i32> <{heads}>
  ret <{W} x i{B}> %both.ones
far:
  %any = icmp eq i32 %kind, 4
  br i1 %any, label %anyhow, label %look
anyhow:
{if.all}
each.all:
  %every = call <{W} x i{B}> @all_{load}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus)
  ret <{W} x i{B}> %every
each.some:
  %some = call <{W} x i{B}> @each_{load}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i{W} %lanes)
  ret <{W} x i{B}> %some
look:
  %x = call <{W} x i{B}> @{load}(ptr %ctx, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i{A} %plus, i32 %kind, i{W} %lanes)
  call void @{window}(ptr %w, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i32 %kind, i{W} %lanes)
  ret <{W} x i{B}> %x
}"""

WINDOW = """define internal void @{name}(ptr %w, ptr %base, ptr %site, i64 %limit, <{W} x i{A}> %b, i32 %kind, i{W} %lanes) noinline {
{limits}
  %first = extractelement <{W} x i{A}> %b, i32 0
  %second = extractelement <{W} x i{A}> %b, i32 {H}
  %low = call i{A} @llvm.umin.i{A}(i{A} %first, i{A} %second)
  %high = call i{A} @llvm.umax.i{A}(i{A} %first, i{A} %second)
  %same = trunc i32 %kind to i1
  %reach.half = select i1 %same, i{A} 0, i{A} {half.reach}
  %apart = sub i{A} %high, %low
  %reach = add i{A} %apart, %reach.half
  %far = icmp ult i{A} %reach, %apart
  %short = icmp uge i{A} %reach, %span
  %full = icmp eq i{W} %lanes, -1
  %fits = icmp ne i32 %kind, 4
  %both = or i{A} %first, %second
  %bits = and i{A} %both, {mask}
  %aligned = icmp eq i{A} %bits, 0
  %outside = or i1 %far, %short
  %inside = xor i1 %outside, true
  %good.1 = and i1 %inside, %full
  %good.2 = and i1 %good.1, %fits
  %good = and i1 %good.2, %aligned
  %left = sub i{A} %span, %reach
  %count = select i1 %good, i{A} %left, i{A} 0
  %least = sub i{A} %lo, %low
  store i{A} %least, ptr %w, align 8
  %count.p = getelementptr i64, ptr %w, i64 1
  store i{A} %count, ptr %count.p, align 8
  %from0 = sub i{A} %first, %low
  %from1 = sub i{A} %second, %low
{from.wide}
  %start = getelementptr i8, ptr %base, i64 %lo.w
  %at0 = getelementptr i8, ptr %start, i64 %from0.w
  %at1 = getelementptr i8, ptr %start, i64 %from1.w
  %at0.p = getelementptr i64, ptr %w, i64 2
  store ptr %at0, ptr %at0.p, align 8
  %at1.p = getelementptr i64, ptr %w, i64 3
  store ptr %at1, ptr %at1.p, align 8
  %run = xor i1 %same, true
  %run.p = getelementptr i64, ptr %w, i64 4
  store i1 %run, ptr %run.p, align 8
  ret void
}"""


def windowed(helpers: Helpers, space: str, bits: int) -> str:
    """The name of a load of each lane by a window."""
    name, w, h = f"windowed_{space}_{bits}", helpers.width, helpers.width // 2
    if name in helpers.texts:
        return name
    a = 32 if space == "shared" else 64

    def wide(*names: str) -> str:
        return "\n".join(f"  %{x}.w = " + (f"zext i32 %{x} to i64" if a == 32 else f"add i64 %{x}, 0") for x in names)

    lanes = ", ".join(f"i32 {i}" for i in range(w))
    for how in ("umin", "umax"):
        helpers.module.declarations[f"llvm.{how}.i{a}"] = f"declare i{a} @llvm.{how}.i{a}(i{a}, i{a})"
    values = {
        "A": str(a), "B": str(bits), "H": str(h), "bytes": str(bits // 8), "mask": str(bits // 8 - 1), "halves": lanes,
        "heads": ", ".join(f"i32 {i // h * h}" for i in range(w)),
        "load": helpers.load(space, bits, 1), "if.all": T.IF_ALL, "window": f"window_{space}_{bits}", "wide": wide("rel"),
        "half.reach": str((h - 1) * (bits // 8)),
        "limits": T.GLOBAL_LIMITS if a == 64 else T.GAPPED_LIMITS if helpers.gapped else T.SHARED_LIMITS,
        "from.wide": wide("lo", "from0", "from1"),
    }  # fmt: skip
    for text, own in ((WINDOW, values["window"]), (LOAD, name)):
        for _ in range(2):  # some values are texts with places of their own
            text = helpers.filled(text, name=own, **values)
        helpers.texts[own] = text
    return name
