"""How many instructions a second parse, and parse with check, read: modules of growing length, as compilers print them.

python -m tests.bench.bench_parse
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from warplab.assembler import parse

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n\n"


def module(blocks: int) -> tuple[str, int]:
    """A kernel of so many basic blocks in static single assignment, 24 instructions each, and how many instructions it has."""
    lines: list[str] = []
    r, f, d, p = 10, 10, 10, 1
    for b in range(blocks):
        lines += [
            f"$L__BB0_{b + 1}:",
            f"\tld.global.u32 \t%r{r}, [%rd{d}];",
            f"\tadd.s64 \t%rd{d + 1}, %rd{d}, 4;",
            f"\tld.global.f32 \t%f{f}, [%rd{d + 1}+{b % 64 * 4}];",
            f"\tadd.s32 \t%r{r + 1}, %r{r}, {b};",
            f"\txor.b32  \t%r{r + 2}, %r{r + 1}, %r{r};",
            f"\tshl.b32 \t%r{r + 3}, %r{r + 2}, 3;",
            f"\tmul.wide.s32 \t%rd{d + 2}, %r{r + 3}, 4;",
            f"\tfma.rn.f32 \t%f{f + 1}, %f{f}, %f{f}, 0f3F800000;",
            f"\tmul.f32 \t%f{f + 2}, %f{f + 1}, %f{f};",
            f"\tadd.f32 \t%f{f + 3}, %f{f + 2}, %f{f + 1};",
            f"\tcvt.rn.f32.s32 \t%f{f + 4}, %r{r + 3};",
            f"\tmad.lo.s32 \t%r{r + 4}, %r{r + 3}, %r{r + 2}, %r{r + 1};",
            f"\tshr.u32 \t%r{r + 5}, %r{r + 4}, 5;",
            f"\tand.b32  \t%r{r + 6}, %r{r + 5}, 255;",
            f"\tor.b32  \t%r{r + 7}, %r{r + 6}, %r{r + 5};",
            f"\tsetp.lt.s32 \t%p{p}, %r{r + 7}, %r{r};",
            f"\tselp.b32 \t%r{r + 8}, %r{r + 7}, %r{r + 6}, %p{p};",
            f"\tsub.f32 \t%f{f + 5}, %f{f + 4}, %f{f + 3};",
            f"\tst.global.f32 \t[%rd{d + 1}], %f{f + 5};",
            f"\tst.global.v2.u32 \t[%rd{d}+8], {{%r{r + 8}, %r{r + 7}}};",
            f"\tadd.s64 \t%rd{d + 3}, %rd{d + 1}, %rd{d + 2};",
            f"\tmov.u32 \t%r{r + 9}, %tid.x;",
            f"\t@%p{p} bra \t$L__BB0_{b + 2};",
            "\tbar.sync \t0;",
        ]
        r, f, d, p = r + 10, f + 6, d + 4, p + 1
    declare = f"\t.reg .pred %p<{p}>;\n\t.reg .b32 %r<{r}>;\n\t.reg .f32 %f<{f}>;\n\t.reg .b64 %rd<{d}>;\n"
    body = "\n".join(lines) + f"\n$L__BB0_{blocks + 1}:\n\tret;\n"
    return f"{HEADER}.visible .entry kernel(\n\t.param .u64 kernel_param_0\n)\n{{\n{declare}{body}}}\n", 24 * blocks + 1


def rate(work: Callable[[str], object], blocks: int, repeat: int = 3) -> float:
    """Instructions a second, the best of a few runs."""
    text, count = module(blocks)
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work(text)
        best = min(best, time.perf_counter() - start)
    return count / best


def main() -> None:
    """Prints the rates."""
    work: dict[str, Callable[[str], object]] = {"parse": parse}
    if "--check" in sys.argv:
        from warplab.assembler import check

        work["check"] = check
    for name, function in work.items():
        rate(function, 10)
        for blocks in (250, 1000, 4000, 16000):
            print(f"{name:6} {24 * blocks + 1:7} instructions: {rate(function, blocks):9.0f} instructions a second")


if __name__ == "__main__":
    main()
