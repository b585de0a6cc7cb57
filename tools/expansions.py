"""Counts the machine instructions that ptxas makes of single instructions of PTX, and keeps them in interpreter/ptxas/machine/expansions.json.

python -m tools.expansions PTXAS NVDISASM 7.5 8.0 9.0    counts anew for these compute capabilities, with these two programs of NVIDIA

Each spelling gets a kernel that loads its operands, executes it, waits at a barrier and stores the result.  Counted is the path with the fewest calls;
of these the longest one, each loop once: so rare cases that ptxas leaves to a routine do not count, and a routine that is always called does.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.interpreter.ptxas.machine.expansions import FILE, REPEATED, ExpansionTable, named
from warplab.interpreter.ptxas.machine.kinds import KINDS
from warplab.isa.notation import FORMS, Form, resolve

# What may stand for several machine instructions, and is no sum, copy or choice whose halves rules make (sequences.py).
OPCODES = "div rem rcp sqrt rsqrt sin cos lg2 ex2 tanh mul mad mul24 mad24 popc clz bfind brev bfe bfi sad min max fns testp".split()
CONDITION = re.compile(r"\.cc\b")
HEAD = ".version 8.7\n.target sm_{}\n.address_size 64\n"
PLACE = ".reg .b64 %d0, %d1; .reg .b32 %t; ld.param.u64 %d1, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %d0, %t, 512, %d1;"  # operands differ between lanes
LINES = 3  # of a kernel; the counted instruction is on the second one
TOGETHER = 150  # kernels that are assembled at once
FRAME = frozenset({"BSSY", "BSYNC", "SSY", "SYNC"})  # of the counted instruction, wherever they stand
LINE = re.compile(r"\s*//## File .*, line (\d+)")
CODE = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+\{?\s*(@!?U?P\w+)?\s*([A-Z][\w.]*)\s*([^;}]*)[;}]")
TARGET = re.compile(r"`\((\S+?)\)")
CONDITIONAL = re.compile(r"\s*(U?!?U?P\d|~|!)")
KEPT = frozenset("MOV IADD HI WIDE X SHL".split())  # second words that say what an instruction does


class Line(NamedTuple):
    """One machine instruction of nvdisasm's."""

    guard: str
    opcode: str
    operands: str
    line: int  # of the PTX

    @property
    def root(self) -> str:
        return self.opcode.split(".")[0]

    @property
    def target(self) -> str:
        found = TARGET.search(self.operands)
        return found[1] if found else ""

    @property
    def branches(self) -> bool:
        """May what follows it be executed, too?"""
        return bool(self.guard) or bool(CONDITIONAL.match(self.operands.replace(self.target, "")))


class Way(NamedTuple):
    """A path through a kernel, so far; the least one is wanted."""

    calls: int
    shorter: int  # minus its length
    opcodes: tuple[str, ...]


class Assembly:
    """The machine code of one kernel."""

    def __init__(self, code: list[Line], labels: dict[str, int], counted: int) -> None:
        self.code, self.labels, self.counted = code, labels, counted

    def way(self) -> tuple[str, ...] | None:
        """The opcodes of the counted line along the path; None if it cannot be followed."""
        found = self._from(0, (), (), frozenset(), Way(0, 0, ()))
        return None if found is None else found.opcodes

    def _is_around(self, at: int) -> bool:
        """Does an instruction of any line belong to the counted one?  BMOV keeps what BSSY overwrites."""
        root = self.code[at].root
        return root in FRAME or (root == "BMOV" and self.code[at + 1].root == "BSSY")

    def _from(self, at: int, returns: tuple[int, ...], joins: tuple[int, ...], passed: frozenset[int], so_far: Way) -> Way | None:
        calls, opcodes = so_far.calls, list(so_far.opcodes)
        while at < len(self.code):
            x = self.code[at]
            if x.root != "NOP" and (returns or x.line == self.counted or self._is_around(at)):
                opcodes.append(plain(x.opcode))
            here = Way(calls, -len(opcodes), tuple(opcodes))
            match x.root:
                case "EXIT" if not x.guard:
                    return here
                case "SSY":
                    joins = (*joins, self.labels[x.target])
                case "CALL" | "CAL" if x.target:
                    returns, at, calls = (*returns, at + 1), self.labels[x.target], calls + 1
                    continue
                case "RET" | "SYNC" | "BRA":
                    if at in passed:
                        return None
                    passed = passed | {at}
                    match x.root:
                        case "RET":
                            there = self._from(returns[-1], returns[:-1], joins, passed, here) if returns else None
                        case "SYNC":
                            there = self._from(joins[-1], returns, joins[:-1], passed, here) if joins else None
                        case _:
                            there = self._from(self.labels[x.target], returns, joins, passed, here)
                    behind = self._from(at + 1, returns, joins, passed, here) if x.branches else None
                    return min((w for w in (there, behind) if w is not None), default=None)
            at += 1
        return None


def plain(opcode: str) -> str:
    """An opcode without the words that its kind does not depend on.

    >>> plain("MUFU.RCP"), plain("IMAD.WIDE.U32"), plain("F2I.U64.TRUNC"), plain("FSETP.GEU.AND")
    ('MUFU.RCP', 'IMAD.WIDE', 'F2I.F64', 'FSETP')
    """
    root, *words = opcode.split(".")
    if root == "MUFU":
        return ".".join([root, *words])
    if root in ("F2I", "I2F", "F2F"):
        return f"{root}.F64" if {"F64", "U64", "S64"} & set(words) else root
    known = ".".join([root, *words[:1]])
    return known if words and (words[0] in KEPT or known in KINDS) else root


# ---------------------------------------------------------------- kernels


def spellings() -> Iterator[tuple[str, str, Form]]:
    """What is counted: name in the table, spelling, row."""
    for opcode in OPCODES:
        for form in FORMS[opcode]:
            for spelling in form.spellings() if form.meaning is not None else ():
                words = tuple(spelling.split(".")[1:])
                found = resolve(opcode, words)
                if found is not None and found[0] is form and not CONDITION.search(spelling):
                    yield spelling, spelling, form
                    if REPEATED.match(spelling):
                        yield from ((f"{spelling} {how}", spelling, form) for how in ("constant", "again", "constant again"))


def kernel(entry: str, name: str, spelling: str, form: Form) -> str | None:
    """The kernel around one spelling, in three lines; None if an operand is no plain register."""
    modifiers = form.match(spelling.split(".")[1:])
    assert modifiers is not None
    declared, loaded, stored, given = [], [], [], []
    for n, o in enumerate(o for o in form.operands if not o.optional):
        t = form.type_of(o, modifiers)
        if t is None or t.bits > 64 or o.constant or o.address or o.count != 1 or (t.bits < 16 and t.name != "pred"):
            return None
        bits = t.bits if t.name != "pred" else 32
        declared.append(f".reg .b{bits} %v{n};" + (f" .reg .pred %p{n};" if t.name == "pred" else ""))
        set_, get = (f"selp.u32 %v{n}, 1, 0, %p{n};", f"setp.ne.u32 %p{n}, %v{n}, 0;") if t.name == "pred" else ("", "")
        if o.is_destination:
            stored.append(f"{set_} st.global.b{bits} [%d0+{128 + 8 * n}], %v{n};")
        else:
            loaded.append(f"ld.global.b{bits} %v{n}, [%d0+{8 * n}]; {get}")
        given.append(f"%{'p' if t.name == 'pred' else 'v'}{n}")
    if "constant" in name:
        given[-1] = "10"
    counted = f"{spelling} {', '.join(given)};"
    if "again" in name:  # the same divisor a second time
        loaded.append(f".reg .b32 %w0, %w1; ld.global.b32 %w1, [%d0+64]; {spelling} %w0, %w1, {given[-1]}; st.global.b32 [%d0+72], %w0;")
    first = f".visible .entry {entry}(.param .u64 p) {{ {' '.join(declared)} {PLACE} {' '.join(loaded)}"
    return f"{first}\n{counted}\nbar.sync 0; {' '.join(stored)} ret; }}\n"


def count(ptxas: str, nvdisasm: str, capability: tuple[int, int]) -> dict[str, tuple[str, ...]]:
    """Name in the table -> its machine instructions."""
    target = f"{capability[0]}{capability[1]}"
    known = [
        (name, made) for n, (name, s, f) in enumerate(spellings()) if f.need.sm <= int(target) and (made := kernel(f"k{n}", name, s, f))
    ]
    found: dict[str, tuple[str, ...]] = {}
    for start in range(0, len(known), TOGETHER):
        for name, assembly in _assembled(ptxas, nvdisasm, target, known[start : start + TOGETHER]):
            if (way := assembly.way()) is not None:
                found[name] = way
    return found


def _assembled(ptxas: str, nvdisasm: str, target: str, group: list[tuple[str, str]]) -> Iterator[tuple[str, Assembly]]:
    """Machine code of those kernels that the device has instructions for."""
    start = HEAD.count("\n") + 1
    with tempfile.TemporaryDirectory() as folder:
        while group:
            (Path(folder) / "a.ptx").write_text(HEAD.format(target) + "".join(text for _, text in group))
            made = subprocess.run(
                [ptxas, f"-arch=sm_{target}", "-lineinfo", "a.ptx", "-o", "a.cubin"], cwd=folder, capture_output=True, text=True
            )
            if not made.returncode:
                break
            wrong = {(int(line) - start) // LINES for line in re.findall(r"line (\d+)", made.stderr)}
            assert wrong, made.stderr
            group = [g for n, g in enumerate(group) if n not in wrong]
        if not group:
            return
        shown = subprocess.run([nvdisasm, "-c", "-gp", "a.cubin"], cwd=folder, capture_output=True, text=True, check=True).stdout
    entries = {text.split("(")[0].split()[-1]: (name, start + n * LINES + 1) for n, (name, text) in enumerate(group)}
    for entry, code, labels in _functions(shown):
        name, line = entries[entry]
        yield name, Assembly(code, labels, line)


def _functions(shown: str) -> Iterator[tuple[str, list[Line], dict[str, int]]]:
    name, code, labels, at = "", list[Line](), dict[str, int](), 0
    for text in [*shown.splitlines(), ".text.:"]:
        if m := re.match(r"\.text\.(\S*):", text):
            if name:
                yield name, code, labels
            name, code, labels, at = m[1], [], {}, 0
        elif m := LINE.match(text):
            at = int(m[1])
        elif m := re.match(r"(\S+):\s*$", text):
            labels[m[1]] = len(code)
        elif m := CODE.match(text):
            code.append(Line(m[1] or "", m[2], m[3], at))


# ---------------------------------------------------------------- the table


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    ptxas, nvdisasm, *capabilities = arguments
    source = " and ".join(_version(tool) for tool in (ptxas, nvdisasm))
    table = ExpansionTable.read() if FILE.exists() else ExpansionTable({}, {})
    for text in capabilities:
        major, minor = text.split(".")
        table.sources[int(major), int(minor)] = source
        for name, opcodes in count(ptxas, nvdisasm, (int(major), int(minor))).items():
            table.rows.setdefault(name, {})[int(major), int(minor)] = named(opcodes)
    table.write()
    return 0


def _version(tool: str) -> str:
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"V([\d.]+)", said)
    assert found is not None, said
    return f"{Path(tool).name} {found[1]}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
