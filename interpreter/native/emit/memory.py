"""Accesses of a vector of lanes as LLVM functions: lanes at neighbouring elements move as one vector, lanes at one address load once, others one by one.

An access that is not plainly legal sets the status in the context and does nothing, and so does every store after it: the caller then runs
the same instructions with numpy, which reaches the memories of the host and of peers and names a fault.  Each site remembers the allocation
that it used last: its start, and how many addresses behind it an access may begin at.  Where gaps lie between the variables in shared memory, sites
remember the stretch between two of them in the same way.
"""

from __future__ import annotations

from ..schedule.layout import WaveRecord
from ..trace.code import LLVMModule
from . import texts as T
from .routines import Routines
from .tables import Tables
from .watch import ProofWatch

# Addresses in .param are generic ones.
SPACES = {"global": "global", "const": "global", "shared": "shared", "shared::cta": "shared", "shared::cluster": "cluster", "local": "local",
          **dict.fromkeys(("generic", "param", "param::entry", "param::func"), "generic")}  # fmt: skip


# How the addresses of a vector may lie: neighbours, all at one place, each half neighbours, each half at one place, or anyhow.
KINDS = range(5)
CALLED, INLINED = "#1", "#0"  # attributes of the call of a helper: whether its code is repeated there
_IF_PLAIN = "  %plain = and i1 %in.all, true"
_IF_FULL = "  %full = icmp eq i{W} %lanes, -1\n  %plain = and i1 %in.all, %full"


def field(name: str, into: str) -> list[str]:
    """Lines that load a word of the context."""
    return [f"  {into}.p = getelementptr i64, ptr %ctx, i64 {WaveRecord.place(name)}", f"  {into} = load i64, ptr {into}.p, align 8"]


def splat(name: str, width: int, bits: int) -> str:
    one = f"  %{name}.s = insertelement <{width} x i{bits}> poison, i{bits} %{name}, i32 0"
    zero = f"<{width} x i{bits}> poison, <{width} x i32> zeroinitializer"
    return f"{one}\n  %{name}.v = shufflevector <{width} x i{bits}> %{name}.s, {zero}"


class Helpers:
    """The functions that the passes of a module call, each written when it is first asked for."""

    def __init__(
        self, module: LLVMModule, width: int, gapped: bool = False, side_by_side: bool = False, watch: ProofWatch | None = None
    ) -> None:
        self.module = module
        self.tables = Tables()
        self.side_by_side = side_by_side  # blocks may run at the same time: what they update in global memory is updated atomically
        self.combines = False  # are there such updates?
        self.watch = watch  # what has to be looked at, where something is to be proved
        self.routines = Routines(module)
        self.width = width
        self.gapped = gapped  # shared memory
        self.texts: dict[str, str] = {}

    def text(self) -> str:
        """All functions."""
        always = [*self._finding("find", "table", "entries", 64), self.filled(T.MISS_EACH)]
        if self.gapped:
            always += self._finding("find_shared", "shared_table", "shared_entries", 32)
        attributes = f"attributes {INLINED} = {{ alwaysinline }}\nattributes {CALLED} = {{ noinline }}"
        return "\n".join([*always, *self.texts.values(), *self.routines.texts, attributes, '!9 = !{!"branch_weights", i32 2000, i32 1}'])

    def _finding(self, name: str, table: str, entries: str, bits: int) -> list[str]:
        """What looks addresses of so many bits up in a table."""
        wide = "  %x.w = " + ("add i64 %x, 0" if bits == 64 else f"zext i{bits} %x to i64")
        return [self.filled(T.FIND, find=name, fields="\n".join(field(table, "%t") + field(entries, "%n"))),
                self.filled(T.FIND_EACH, find=name, A=str(bits), wide=wide)]  # fmt: skip

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
            result = self.result(bits, elements, 1)
            loads = []
            for e in range(elements):
                loads += [
                    f"  %p{e} = getelementptr i{bits}, ptr %p, i64 {e}",
                    f"  %v{e} = load <1 x i{bits}>, ptr %p{e}, align {bits // 8}",
                ]
            self.texts[name] = self.filled(
                T.LOAD_ONE, name=name, R=result, loads=self._returned(loads, bits, elements, 1, "v"), **sizes(bits, elements)
            )
        return name

    def local(self, what: str) -> str:
        """The name of a load or store of a word of each lane's own stack, which lies word by word across the lanes of the wave."""
        name = f"{what}_local"
        if name not in self.texts:
            w = self.width
            near, far = (
                self.moving("load" if what == "load" else "store", 32, w),
                self.moving("gather" if what == "load" else "scatter", 32, w),
            )
            filled = {"first.splat": splat("first", w, 32), "limit32.splat": splat("limit32", w, 32), "stride.splat": splat("stride", w, 64),
                      "lanes": ", ".join(f"i64 {i}" for i in range(w)), "twos": ", ".join(["i32 2"] * w)}  # fmt: skip
            v = f"<{w} x i32>"
            if what == "load":
                row, each = (f"  %{x} = call {v} @{f}({at}, i32 4, <{w} x i1> %mask, {v} zeroinitializer)\n  ret {v} %{x}"
                             for x, f, at in (("v", near, "ptr %rp"), ("g", far, f"<{w} x ptr> %ps")))  # fmt: skip
                filled |= {"R": v, "value": "", "nothing": f"{v} zeroinitializer"}
            else:
                row, each = (f"  call void @{f}({v} %x, {at}, i32 4, <{w} x i1> %mask)\n  ret void"
                             for f, at in ((near, "ptr %rp"), (far, f"<{w} x ptr> %ps")))  # fmt: skip
                filled |= {"R": "void", "value": f", {v} %x", "nothing": "void"}
            self.texts[name] = self.filled(T.LOCAL, name=name, row=row, each=each, **filled)
        return name

    def lies_in(self) -> str:
        """The name of what finds out which lanes' addresses lie in allocations of a kind; see NAMED in launch.py."""
        splats = {f"{name}.splat": splat(name, self.width, 64) for name in ("start", "size")}
        self.texts["lies_in"] = self.filled(T.LIES_IN, fields="\n".join(field("named", "%t") + field("named_entries", "%n")), **splats)
        return "lies_in"

    def check(self, space: str, bits: int) -> str:
        """The name of a check of each lane's address for an update, which also asks that nothing has failed before."""
        return self._access("check", space, bits, 1)

    def undo(self, address_bits: int, bits: int) -> str:
        """The name of what takes an update back: each lane, the highest first, stores what it had found."""
        name = f"undo_{address_bits}x{bits}"
        self.module.declarations["llvm.ctlz.i32"] = "declare i32 @llvm.ctlz.i32(i32, i1)"
        self.texts[name] = self.filled(T.UNDO, name=name, A=str(address_bits), B=str(bits), bytes=str(bits // 8))
        return name

    # ------------------------------------------------------------ texts

    def kind(self, bits: int, size: int) -> str:
        """The name of what finds out how addresses of so many bits lie to each other, for elements of a size; see KINDS."""
        name = f"kind_{bits}x{size}"
        if name not in self.texts:
            w, h = self.width, self.width // 2
            self.texts[name] = self.filled(
                T.CLASSIFY, name=name, A=str(bits), steps=", ".join(f"i{bits} {i * size}" for i in range(w)),
                heads=", ".join(f"i32 {i // h * h}" for i in range(w)), size=str(size), **{"first.splat": splat("first", w, bits),
                "half.steps": ", ".join(f"i{bits} {i % h * size}" for i in range(w)),
                **{f"{n}.all": self.filled(T.ALL, n=n) for n in ("next", "half", "one", "two")}},
            )  # fmt: skip
        return name

    def _access(self, what: str, space: str, bits: int, elements: int) -> str:
        space = space if space in ("shared", "claims") else "global"  # the base and the limits say which
        name = f"{what}_{space}_{bits}x{elements}"
        if name in self.texts:
            return name
        w, h, a = self.width, self.width // 2, 64 if space == "global" else 32
        gapped = self.gapped and space == "shared"
        size = bits // 8 * elements
        ways = [(0, "run")] + ([(1, "same")] if what == "load" else []) + ([(2, "halves")] if elements == 1 else [])
        if what == "load" and elements == 1:
            ways.append((3, "halves"))
        common = {
            "name": name, "A": str(a), "B": str(bits), "H": str(h), "R": self.result(bits, elements, w), **sizes(bits, elements),
            "write": str(int(what != "load")), "bytes": str(bits // 8),
            "reach": str((w - 1) * size), "half.reach": str((h - 1) * size),
            "limits": T.GLOBAL_LIMITS if a == 64 else T.GAPPED_LIMITS if gapped else T.SHARED_LIMITS,
            "find": "find_each" if a == 64 else "find_shared_each" if gapped else "miss_each",
            "ways": " ".join(f"i32 {n}, label %{label}" for n, label in ways),
            "plain": self.filled(_IF_PLAIN if elements == 1 else _IF_FULL), "low": ", ".join(f"i32 {i}" for i in range(h)),
            "high": ", ".join(f"i32 {i}" for i in range(h, w)), "heads": ", ".join(f"i32 {i // h * h}" for i in range(w)),
            "if.all": self.filled(T.IF_ALL), **{f"{n}.splat": splat(n, w, a) for n in ("plus", "to", "most")},
        }  # fmt: skip
        reduce = f"llvm.vector.reduce.or.v{w}i{a}"
        self.module.declarations[reduce] = f"declare i{a} @{reduce}(<{w} x i{a}>)"
        common["check"] = self.filled(T.CHECK, **common)
        if what == "check":
            self.texts[name] = self.filled(T.CHECK_ALL, **common)
            return name
        for n, at in ("first", 0), ("second", h):
            wide = f"  %{n}.w = " + (f"add i64 %{n}, 0" if a == 64 else f"zext i32 %{n} to i64")
            common[f"{n}.start"] = self.filled(T.START, n=n, at=str(at), wide=wide, **common)
        common["begin"] = self.filled(T.BEGIN, **common)
        common["runs"] = self.filled(T.RUN_HALVES, **common)
        common["halves"] = ""
        if elements == 1:
            self.moving(what, bits, h)
            common["halves"] = self.filled(T.HALVES + (T.LOAD_HALVES if what == "load" else T.STORE_HALVES), **common)
        common["offsets"] = (
            f"  %offsets = sext <{w} x i32> %rels to <{w} x i64>" if a == 32 else f"  %offsets = add <{w} x i64> %rels, zeroinitializer"
        )
        pieces = [f"  %start = getelementptr i8, ptr %base, i{a} %lo", f"  %ps = getelementptr i8, ptr %start, <{w} x i64> %offsets"]
        if what == "load":
            common |= {
                "wide": self.wide_load(bits, elements),
                "once": self.once(bits, elements),
                "gathers": self.gathers(pieces, bits, elements),
            }
        else:
            common["values"] = ", ".join(f"<{w} x i{bits}> %x{e}" for e in range(elements))
            common |= {"wide": self.wide_store(bits, elements), "scatters": self.scatters(pieces, bits, elements)}
        own, each = (self.filled(text, **common) for text in ((T.LOAD, T.LOAD_EACH) if what == "load" else (T.STORE, T.STORE_EACH)))
        every = each.replace("@each_", "@all_").replace(f", i{w} %lanes", "", 1).replace("%lanes", "-1")
        self.texts[name] = "\n".join((own, each, every))
        return name

    def filled(self, text: str, **values: str) -> str:
        values = {"W": str(self.width), "ones": ones(self.width), **values}
        for name, value in values.items():
            text = text.replace("{" + name + "}", value)
        return text

    @staticmethod
    def result(bits: int, elements: int, width: int) -> str:
        one = f"<{width} x i{bits}>"
        return one if elements == 1 else "{" + ", ".join([one] * elements) + "}"

    def _returned(self, lines: list[str], bits: int, elements: int, width: int, name: str) -> str:
        if elements == 1:
            return "\n".join([*lines, f"  ret <{width} x i{bits}> %{name}0"])
        result, last = self.result(bits, elements, width), "poison"
        for e in range(elements):
            lines.append(f"  %{name}r{e} = insertvalue {result} {last}, <{width} x i{bits}> %{name}{e}, {e}")
            last = f"%{name}r{e}"
        return "\n".join([*lines, f"  ret {result} {last}"])

    def moving(self, how: str, bits: int, width: int) -> str:
        """The name of LLVM's masked load, store, gather or scatter, declared."""
        v, m = f"<{width} x i{bits}>", f"<{width} x i1>"
        places = "ptr" if how in ("load", "store") else f"<{width} x ptr>"
        name = f"llvm.masked.{how}.v{width}i{bits}.{'p0' if places == 'ptr' else f'v{width}p0'}"
        one = f"void @{name}({v}, {places}, i32, {m})" if how in ("store", "scatter") else f"{v} @{name}({places}, i32, {m}, {v})"
        self.module.declarations[name] = f"declare {one}"
        return name

    def wide_load(self, bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        if elements == 1:
            f = self.moving("load", bits, w)
            return f"  %w0 = call <{w} x i{bits}> @{f}(ptr %vp, i32 {b}, <{w} x i1> %mask, <{w} x i{bits}> zeroinitializer)\n  ret <{w} x i{bits}> %w0"
        n = w * elements
        lines = [f"  %all = load <{n} x i{bits}>, ptr %vp, align {b}"]
        for e in range(elements):
            picks = ", ".join(f"i32 {i * elements + e}" for i in range(w))
            lines.append(f"  %w{e} = shufflevector <{n} x i{bits}> %all, <{n} x i{bits}> poison, <{w} x i32> <{picks}>")
        return self._returned(lines, bits, elements, w, "w")

    def once(self, bits: int, elements: int) -> str:
        w, lines = self.width, []
        for e in range(elements):
            lines += [
                f"  %u{e}.p = getelementptr i{bits}, ptr %up, i64 {e}", f"  %u{e}.x = load i{bits}, ptr %u{e}.p, align {bits // 8}",
                f"  %u{e}.s = insertelement <{w} x i{bits}> poison, i{bits} %u{e}.x, i32 0",
                f"  %u{e} = shufflevector <{w} x i{bits}> %u{e}.s, <{w} x i{bits}> poison, <{w} x i32> zeroinitializer",
            ]  # fmt: skip
        return self._returned(lines, bits, elements, w, "u")

    def gathers(self, lines: list[str], bits: int, elements: int) -> str:
        """Lanes that take no part read what lies at the start: on a host without masks, a test of each lane would cost more."""
        w, b = self.width, bits // 8
        f = self.moving("gather", bits, w)
        for e in range(elements):
            lines += [f"  %g{e}.p = getelementptr i8, <{w} x ptr> %ps, i64 {e * b}",
                      f"  %g{e} = call <{w} x i{bits}> @{f}(<{w} x ptr> %g{e}.p, i32 {b}, <{w} x i1> {ones(w)}, <{w} x i{bits}> zeroinitializer)"]  # fmt: skip
        return self._returned(lines, bits, elements, w, "g")

    def wide_store(self, bits: int, elements: int) -> str:
        w, b = self.width, bits // 8
        if elements == 1:
            f = self.moving("store", bits, w)
            return f"  call void @{f}(<{w} x i{bits}> %x0, ptr %vp, i32 {b}, <{w} x i1> %mask)"
        lines, parts, n = [], [f"%x{e}" for e in range(elements)], w
        while len(parts) > 1:  # two and two behind each other
            joined = []
            for i in range(0, len(parts), 2):
                picks = ", ".join(f"i32 {k}" for k in range(2 * n))
                name = f"{parts[i]}.j"
                lines.append(
                    f"  {name} = shufflevector <{n} x i{bits}> {parts[i]}, <{n} x i{bits}> {parts[i + 1]}, <{2 * n} x i32> <{picks}>"
                )
                joined.append(name)
            parts, n = joined, 2 * n
        picks = ", ".join(f"i32 {e * w + i}" for i in range(w) for e in range(elements))
        lines += [f"  %mixed = shufflevector <{n} x i{bits}> {parts[0]}, <{n} x i{bits}> poison, <{n} x i32> <{picks}>",
                  f"  store <{n} x i{bits}> %mixed, ptr %vp, align {b}"]  # fmt: skip
        return "\n".join(lines)

    def scatters(self, lines: list[str], bits: int, elements: int) -> str:
        """Lanes that take no part write to room of the function's own."""
        w, b = self.width, bits // 8
        f = self.moving("scatter", bits, w)
        lines = [*lines, f"  %safe.s = insertelement <{w} x ptr> poison, ptr %room, i32 0",
                 f"  %safe = shufflevector <{w} x ptr> %safe.s, <{w} x ptr> poison, <{w} x i32> zeroinitializer",
                 f"  %ps.on = select <{w} x i1> %mask, <{w} x ptr> %ps, <{w} x ptr> %safe"]  # fmt: skip
        for e in range(elements):
            lines += [f"  %s{e}.p = getelementptr i8, <{w} x ptr> %ps.on, i64 {e * b}",
                      f"  call void @{f}(<{w} x i{bits}> %x{e}, <{w} x ptr> %s{e}.p, i32 {b}, <{w} x i1> {ones(w)})"]  # fmt: skip
        return "\n".join(lines)


def ones(width: int) -> str:
    return "<" + ", ".join(["i1 true"] * width) + ">"


def sizes(bits: int, elements: int) -> dict[str, str]:
    size = bits // 8 * elements
    return {"size": str(size), "mask": str(size - 1)}
