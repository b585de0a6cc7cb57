"""A beginner's mistakes: one right kernel, each time with one thing wrong, and what warplab says.  Makes docs/mistakes.md."""

from __future__ import annotations

import contextlib
import difflib
import functools
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warplab.runtime.golden.output import call

from .markdown import page

NAME = "mistakes.md"
KERNEL = Path(__file__).parent / "segdot.ptx"


@dataclass(frozen=True)
class Mistake:
    """What was changed, what the message must say (its first line ends at the first text), and the exit code."""

    title: str
    old: str
    new: str
    says: tuple[str, ...]
    code: int
    why: str = ""
    options: str = ""
    target: str = "sm_70"


READING = (
    Mistake("A register is not declared", "%n, %i, %end,", "%n, %end,", ("undeclared-name", ":28:21", "%i is not declared", ".reg .b32 %i;"), 3),
    Mistake("One register too few", ".reg .pred  %p<4>;", ".reg .pred  %p<3>;", ("undeclared-name", "%p3", "%p<3> declares %p0 to %p2"), 3),
    Mistake(
        "The wrong type", "add.f32         %x, %x, %y;", "add.u32         %x, %x, %y;",
        ("operand-type", ":56:21", "%x has type .f32, which does not fit .u32", "%x is declared here", "fits .u32: .b32"), 3,
    ),
    Mistake("An integer for a float", "%sum, 0f00000000;", "%sum, 0;", ("operand-type", ":33:27", "write 0.0"), 3),
    Mistake("A typo in the opcode", "add.f32         %x", "ad.f32          %x", ("unknown-instruction", ":56:5", "is add meant?"), 3),
    Mistake("Another assembler's opcode", "bra             next", "jmp             next", ("unknown-instruction", "jmp is bra in PTX"), 3),
    Mistake("A word that PTX does not have", "setp.ge.u32     %p1", "setp.gte.u32    %p1", ("unknown-word", ".gte", "is .ge meant?"), 3),
    Mistake("No type", "ld.global.f32   %x", "ld.global       %x", ("no-such-form", "a type is missing, such as .u32 or .f32"), 3),
    Mistake("A missing semicolon", "%t, %tid.x;", "%t, %tid.x", ("syntax", "a ';' is missing at the end of line 22"), 3),
    Mistake("A missing comma", "%i, %i, %t;", "%i, %i %t;", ("syntax", ":30:28", "unexpected %t; expected ','"), 3),
    Mistake("A guard without @", "@%p2 bra        fold", "%p2 bra        fold", ("syntax", "a guard begins with @: @%p2"), 3),
    Mistake("A typo in a label", "bra        summed;", "bra        sumed;", ("unknown-label", "is summed meant?"), 3),
    Mistake("A brace too few", "done:\n    ret;\n}", "done:\n    ret;", ("unclosed-brace", "opened here"), 3),
    Mistake("A brace too many", "done:\n    ret;\n}", "done:\n    ret;\n}\n}", ("syntax", "no { is open here"), 3),
    Mistake("A parameter is missing", "    .param .u64 first,\n", "", ("undeclared-name", "first is not declared"), 3),
    Mistake("A special register in arithmetic", "%i, %i, %t;", "%i, %i, %tid.x;", ("special-register", "mov it into a register first"), 3),
    Mistake(
        "Memory in arithmetic", "add.f32         %x, %x, %y;", "add.f32         %x, %x, [%other];",
        ("operand-kind", "add does not reach memory: ld.f32 reads it into a register"), 3,
    ),
    Mistake("An address without brackets", "%y, [%at]", "%y, %at", ("operand-kind", "write [%at]"), 3),
    Mistake("The wrong state space", "ld.shared.f32   %sum", "ld.global.f32   %sum", ("state-space", "part lies in .shared", "write ld.shared"), 3),
    Mistake(
        "A result into a parameter", "st.global.f32   [%out], %sum", "st.param.f32    [out], %sum",
        ("input-parameter", "cannot be written", "through pointers"), 3,
    ),
    Mistake("A target that does not exist", ".target sm_70", ".target sm_91", ("unknown-target", ":6:9", "is sm_90 meant?"), 3),
    Mistake(
        "Newer than the target", "    bar.sync        0;\n    shr.u32         %half, %n", "    redux.sync.add.u32 %n, %n, -1;\n    shr.u32         %half, %n",
        ("needs", "redux needs sm_80", ".target sm_70"), 3,
    ),
    Mistake("Too much shared memory", "part[64]", "part[20000]", ("too-much-shared", "80000 bytes", "49152 are allowed"), 3),
)  # fmt: skip
RUNNING = (
    Mistake(
        "No bounds check", "first=u32[5]:[0,10,100,100,300]", "first=u32[5]:[0,10,100,100,301]",
        ("out of bounds: 4-byte read", "0 bytes after the 1200 bytes of a", "at line 38", "thread (8, 0, 0)"), 4,
        "The last segment is one element too long, and the kernel believes it.",
    ),
    Mistake("Too many blocks", "--grid 4", "--grid 5", ("out of bounds", "first[5]", "at line 29", "block (4, 0, 0)"), 4),
    Mistake("Too many threads", "--block 64", "--block 2048", ("2048 threads", "allows 1024"), 4),
    Mistake("A shared array that is too small", "part[64]", "part[32]", ("out of bounds", "shared memory", "128 bytes", "thread (32, 0, 0)"), 4),
    Mistake("A misaligned address", "[%first+4]", "[%first+2]", ("misaligned: 4-byte read", "not a multiple of 4", "at line 29"), 4),
    Mistake(
        "A number for a pointer", "first=u32[5]:[0,10,100,100,300]", "first=5",
        ("misaligned", "a number may have been given where a pointer is expected", "at line 28"), 4,
    ),
    Mistake("A null pointer", "first=u32[5]:[0,10,100,100,300]", "first=null", ("null pointer", "at line 28"), 4),
    Mistake("Too few arguments", "--arg first=u32[5]:[0,10,100,100,300] ", "", ("has 4 parameters (a, b, first, out), and no value is given for first",), 2),
    Mistake("Too many arguments", "--arg out:out", "--arg n=4 --arg out:out", ("has no parameter n", "its parameters are a, b, first, out"), 2),
    Mistake(
        "Arguments in the wrong order",
        "--arg a=f32[300]:arange --arg b=f32[300]:fill(2) --arg first=u32[5]:[0,10,100,100,300]",
        "--arg u32[5]:[0,10,100,100,300] --arg f32[300]:arange --arg f32[300]:fill(2)",
        ("FAILED", "first out[0]: got", "expected 90", "written last by block (0, 0, 0), thread (0, 0, 0), at line 69"), 1,
        "All three are pointers, so nothing can be refused; names (`--arg first=...`) make the order not matter.",
    ),
    Mistake(
        "A loop that never ends", "    add.u32         %i, %i, %n;\n", "", ("reached the limit of 20000 steps, at line 35", "a loop that never ends"), 5,
        "Without a limit the run goes on until it is stopped: give one.", "--max-steps 20000",
    ),
    Mistake(
        "A barrier for half of the threads", "bar.sync        0;\n    shr.u32         %half, %n", "bar.sync        0, 128;\n    shr.u32         %half, %n",
        ("deadlock", "256 lanes", "at line 48", "for 128 threads at barrier 0; 64 have arrived"), 4,
    ),
    Mistake(
        "Recursion without an end", ".visible .entry segdot",
        ".visible .func deep(.param .u32 n)\n{\n    .reg .b32 %v;\n    .local .b32 room[64];\n    ld.param.u32 %v, [n];\n"
        "    st.local.u32 [room], %v;\n    {\n    .param .u32 level;\n    st.param.u32 [level], %v;\n    call deep, (level);\n    }\n    ret;\n}\n"
        ".visible .entry segdot", ("stack overflow", "the limit is 524288", "call deep"), 4,
    ),
    Mistake("A wrong result", '"out == [90,', '"out == [91,', ("FAILED", "1 of 4 differ", "got 90.0, expected 91"), 1),
)  # fmt: skip
SILENT = (
    Mistake(
        "A barrier is missing", "    bar.sync        0;\n    shr.u32         %half, %n", "    shr.u32         %half, %n",
        ("read-write in shared memory", "and line 47", "no barrier between line 47", "put bar.sync", "1 check passed, but the checkers found"), 1,
        "The result is right in the default order. racecheck knows what orders each pair of accesses, so it finds the race in any order.",
    ),
    Mistake(
        "The same race without checkers", "    bar.sync        0;\n    shr.u32         %half, %n", "    shr.u32         %half, %n", ("FAILED", "differ"), 1,
        "The default order hides it; another order does not. Try several seeds.", "--schedule 5 --sanitize none",
    ),
    Mistake(
        "No wait for an asynchronous copy", "    bar.sync        0;\n    shr.u32         %half, %n",
        "    cp.async.ca.shared.global [%cell], [%a], 4;\n    cp.async.commit_group;\n    bar.sync        0;\n    shr.u32         %half, %n",
        ("the asynchronous copy of line 48 is not known to be complete", "wait for the copy (wait_group"), 1,
        "A barrier does not wait for cp.async: cp.async.wait_group does, in the thread that issued the copy.", target="sm_80",
    ),
    Mistake(
        "A barrier that some lanes miss", "    st.shared.f32   [%cell], %x;\nidle:\n    bar.sync        0;", "    st.shared.f32   [%cell], %x;\n    bar.sync        0;\nidle:",
        ("divergent-barrier", ":58", "not all lanes reach this barrier"), 0,
        "It happens to work here; on a GPU it may hang. Heed the warning.",
    ),
    Mistake("A register is read before it is written", "    mov.f32         %sum, 0f00000000;\n", "", ("uninitialized in a register", "read-first", "%sum"), 1, "warplab's registers begin with zero, a GPU's do not."),
    Mistake(
        "Unset memory", "a=f32[300]:arange", "a=f32[300]:noinit", ("uninitialized", "goes to global memory", "and line 38"), 1,
        "A buffer that the host never fills holds whatever was there before. initcheck follows such bits to where they matter.",
    ),
    Mistake(
        "A wrong mask", "    bar.sync        0;\n    shr.u32         %half, %n", "    bar.sync        0;\n    bar.warp.sync   0xffff;\n    shr.u32         %half, %n",
        ("invalid-mask", "not in its own membermask", "at line 49"), 1, "The upper lanes of each warp call it, too. A GPU may hang here, or go on.",
    ),
    Mistake("No ret", "done:\n    ret;\n}", "done:\n}", ("missing-return", "can run to its end"), 0),
)  # fmt: skip
CALL_DEEP = "    {\n    .param .u32 level;\n    st.param.u32 [level], %t;\n    call deep, (level);\n    }\n    bar.sync        0;\n    shr.u32         %half, %n"
INTRO = """This kernel is correct: for each segment of two arrays, it computes the sum of products, with a tree reduction in shared memory. Each section below
breaks one thing, and shows what warplab prints. The tests run all of them."""


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """In an empty folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def broken(m: Mistake) -> str:
    """The kernel with the mistake."""
    text = KERNEL.read_text(encoding="utf-8")
    assert text.count(m.old) == 1, (m.title, text.count(m.old))
    text = text.replace(m.old, m.new)
    if "deep" in m.new:
        text = text.replace("    bar.sync        0;\n    shr.u32         %half, %n", CALL_DEEP)
    text = text.replace(".target sm_70", f".target {m.target}")
    return text.replace("//@     --expect", f"//@     {m.options} --expect") if m.options else text


@functools.cache
def answer(m: Mistake) -> tuple[int, str]:
    """(exit code, message) of warplab run."""
    with elsewhere():
        Path("segdot.ptx").write_text(broken(m), encoding="utf-8")
        code, out, err = call(["run", "segdot.ptx"])
    return code, (err + out).strip()


def _changed(m: Mistake) -> str:
    """The lines of the change, as a diff."""
    lines = difflib.unified_diff(KERNEL.read_text(encoding="utf-8").splitlines(), broken(m).splitlines(), n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _entry(m: Mistake) -> str:
    code, said = answer(m)
    said = re.sub(r"0x[0-9a-f]{5,}", "0x...", said)
    shown = "\n".join(line if len(line) < 150 else line[:140] + " ..." for line in said.splitlines())
    diff = _changed(m)
    tail = f"\n[exit {code}]" if code else ""
    return page(f"### {m.title}", m.why, f"```diff\n{diff}\n```", f"```text\n{shown}{tail}\n```")


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    parts = ["# Mistakes, and what warplab says", INTRO, f"```ptx\n{KERNEL.read_text(encoding='utf-8').rstrip()}\n```"]
    for title, group in (("When it is read", READING), ("When it runs", RUNNING), ("When nothing seems wrong", SILENT)):
        parts += [f"## {title}", *(_entry(m) for m in group)]
    return {NAME: page(*parts, source="`tools/mistakes.py`")}
