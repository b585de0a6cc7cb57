"""Updates of global memory whose order does not matter, where other threads run blocks of the launch at the same time.

If each lane changed memory itself, threads that count in the same few words would wait for each other's caches.  So a pass first combines what its lanes add
to a word, in a table of the thread's own, and changes memory when it ends: once for each word.  Nobody reads what such an update finds, and nothing
that follows in the pass reads memory.
"""

from __future__ import annotations

from ..trace.code import LLVMModule

ENTRIES = 1024  # an address, and what is still to be done to it
WORDS = 2 * ENTRIES + 1 + ENTRIES  # of the table: entries, how many are in use, and which ones

# An entry serves all addresses that are as far apart as the table is long, of which the first one takes it; updates of others are made at once.
_COMBINE = """define internal void @{name}(ptr %table, ptr %p, i{B} %x) alwaysinline {
  %address = ptrtoint ptr %p to i64
  %word = lshr i64 %address, {shift}
  %entry = and i64 %word, {last}
  %at = getelementptr [2 x i64], ptr %table, i64 %entry
  %has = load i64, ptr %at, align 8
  %same = icmp eq i64 %has, %address
  br i1 %same, label %add, label %other
add:
  %sum.p = getelementptr i64, ptr %at, i64 1
  %sum = load i{B}, ptr %sum.p, align 8
  %more = {change} i{B} {arguments}
  store i{B} %more, ptr %sum.p, align 8
  ret void
other:
  call void @begin_{name}(ptr %table, i64 %entry, ptr %p, i{B} %x) #1
  ret void
}
define internal void @begin_{name}(ptr %table, i64 %entry, ptr %p, i{B} %x) noinline {
  %at = getelementptr [2 x i64], ptr %table, i64 %entry
  %has = load i64, ptr %at, align 8
  %free = icmp eq i64 %has, 0
  br i1 %free, label %take, label %put
take:
  %used.p = getelementptr i64, ptr %table, i64 {used}
  %used = load i64, ptr %used.p, align 8
  %more = add i64 %used, 1
  store i64 %more, ptr %used.p, align 8
  %place = getelementptr i64, ptr %used.p, i64 %more
  store i64 %entry, ptr %place, align 8
  %address = ptrtoint ptr %p to i64
  store i64 %address, ptr %at, align 8
  %sum.p = getelementptr i64, ptr %at, i64 1
  store i{B} %x, ptr %sum.p, align 8
  ret void
put:
  %old = atomicrmw {update} ptr %p, i{B} %x monotonic, align {bytes}
  ret void
}
define internal void @end_{name}(ptr %table) noinline {
entry:
  %alone = icmp eq ptr %table, null
  br i1 %alone, label %end, label %head
head:
  %used.p = getelementptr i64, ptr %table, i64 {used}
  %used = load i64, ptr %used.p, align 8
  store i64 0, ptr %used.p, align 8
  br label %next
next:
  %left = phi i64 [%used, %head], [%less, %put]
  %none = icmp eq i64 %left, 0
  br i1 %none, label %end, label %put
put:
  %less = sub i64 %left, 1
  %place = getelementptr i64, ptr %used.p, i64 %left
  %entry.n = load i64, ptr %place, align 8
  %at = getelementptr [2 x i64], ptr %table, i64 %entry.n
  %address = load i64, ptr %at, align 8
  store i64 0, ptr %at, align 8
  %sum.p = getelementptr i64, ptr %at, i64 1
  %sum = load i{B}, ptr %sum.p, align 8
  %p = inttoptr i64 %address to ptr
  %old = atomicrmw {update} ptr %p, i{B} %sum monotonic, align {bytes}
  br label %next
end:
  ret void
}"""


def combining(module: LLVMModule, update: str, bits: int) -> tuple[str, str]:
    """The name and the text of the functions that combine updates; `update`: LLVM's name of the atomic instruction."""
    name = f"combine_{update}_{bits}"
    t, change, arguments = f"i{bits}", update, "%sum, %x"
    if update.endswith(("min", "max")):
        f = f"llvm.{update if update[0] == 'u' else 's' + update}.{t}"
        module.declarations[f] = f"declare {t} @{f}({t}, {t})"
        change, arguments = "call", f"@{f}({t} %sum, {t} %x)"
    values = {"name": name, "B": str(bits), "bytes": str(bits // 8), "shift": str(bits // 8 // 4 + 1), "last": str(ENTRIES - 1),
              "used": str(2 * ENTRIES), "update": update, "change": change, "arguments": arguments}  # fmt: skip
    text = _COMBINE
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return name, text
