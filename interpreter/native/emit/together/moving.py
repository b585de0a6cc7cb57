"""Accesses that have been checked before, as LLVM functions: what asks whether those of all vectors of a group are legal, and what moves the data of one.

What is known of the addresses of a group are four words: the least, the greatest, the bits that any of them has, and the last one, as long as each vector's
are neighbours behind those of the vector before.
"""

from __future__ import annotations

from ..memory import Helpers, sizes, splat
from . import texts as T

PARTS = {"low": "smin", "high": "smax", "bits": "or"}  # what is known lane by lane, and how it is joined
FOLDED = 8  # lanes of it


def extremes(bits: int) -> tuple[int, int]:
    """The greatest address of so many bits, and the least one."""
    return (1 << bits - 1) - 1, -(1 << bits - 1)


class Moving:
    """The functions that a stretch calls, each written when it is first asked for."""

    def __init__(self, helpers: Helpers) -> None:
        self.helpers = helpers

    def spread(self, bits: int) -> str:
        """The name of what adds a vector's addresses to what is known lane by lane."""
        name, w = f"spread_{bits}", self.helpers.width
        if name not in self.helpers.texts:
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
            greatest, least = (", ".join([f"i{bits} {v}"] * w) for v in extremes(bits))
            self._write(T.SPREAD, name, A=str(bits), greatest=greatest, least=least, folded="\n".join(folded))
        return name

    def extend_by_halves(self, size: int) -> str:
        """The name of what adds the addresses of a vector whose halves are each neighbours, or at one place."""
        name = f"extend_by_halves_{size}"
        if name not in self.helpers.texts:
            self.extend()
            self._write(T.EXTEND_BY_HALVES, name, **{"half.reach": str((self.helpers.width // 2 - 1) * size)})
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
            self._write(T.GATHERED, name, A=str(bits), N=str(FOLDED), loaded="\n".join(loaded), wide="\n".join(wide))
        return name

    def extend(self) -> str:
        """The name of what adds a least and a greatest address, and bits."""
        if "extend" not in self.helpers.texts:
            for how in ("smin", "smax"):
                self.helpers.module.declarations[f"llvm.{how}.i64"] = f"declare i64 @llvm.{how}.i64(i64, i64)"
            self._write(T.EXTEND, "extend")
        return "extend"

    def legal(self, space: str) -> str:
        """The name of the check of a group's addresses."""
        name = f"legal_{space}"
        if name not in self.helpers.texts:
            self._write(T.LEGAL_SHARED if space == "shared" else T.LEGAL_GLOBAL, name, reach=T.REACH)
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
            text = T.STORE_RUN if writes else T.LOAD_RUN
            self._write(text, name, R=h.result(bits, elements, h.width), values=self._values(bits, elements), wide=wide)
        return name

    def paired(self, writes: bool, bits: int) -> str:
        """The name of a move of all lanes, the halves of which are each neighbours, or, in a load, at one place."""
        name, h = f"{'store' if writes else 'load'}_paired_{bits}", self.helpers
        if name not in h.texts:
            w, half = h.width, h.width // 2
            lanes = {"low": ", ".join(f"i32 {i}" for i in range(half)), "high": ", ".join(f"i32 {i}" for i in range(half, w))}
            sizes_of = {"H": str(half), "B": str(bits), "bytes": str(bits // 8), "ones.half": ", ".join(["i1 true"] * half)}
            if writes or bits < 32:
                self._write(T.STORE_PAIRED if writes else T.LOAD_BOTH_RUNS, name, **lanes, **sizes_of)
            else:
                h.moving("load", bits, half)
                each = "\n".join(T.LOAD_ONE_OF_PAIR.replace("{n}", n) for n in "01")
                self._write(T.LOAD_PAIRED, name, each=each, **lanes, **sizes_of)
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
            return f"sext i32 %{x}.at to i64" if a == 32 else f"add i64 %{x}.at, 0"

        lines = "" if elements > 1 else T.HALVES + (T.STORE_HALVES if writes else T.LOAD_HALVES)
        if elements == 1:
            helpers.moving(what, bits, h)
        pieces = {
            "move": T.MOVE, "halves": lines, "places": T.PLACES, "A": str(a), "B": str(bits), "H": str(h),
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
        own, each = (T.STORE, T.STORE_EACH) if writes else (T.LOAD, T.LOAD_EACH)
        self._write(own + "\n" + each, name, **pieces)
        return name

    def _values(self, bits: int, elements: int) -> str:
        return ", ".join(f"<{self.helpers.width} x i{bits}> %x{e}" for e in range(elements))

    def _write(self, text: str, name: str, **values: str) -> None:
        for _ in range(2):  # some values are texts with places of their own
            text = self.helpers.filled(text, name=name, **values)
        self.helpers.texts[name] = text
