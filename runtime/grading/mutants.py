"""Mutants of a lab's reference: without one of its instructions or statements, or with another operator.

A mutant is dead if the program provably means the same with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warplab.assembler import LinkError, PtxError, parse
from warplab.assembler.flow import accesses, flow
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing
from warplab.interpreter.plan import dump
from warplab.interpreter.plan.roles import carries_pointer, only_computes

from ..sources import CPP
from .compiling import build
from .lab import Lab, Submission

SWAPPED = {
    "lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq",
    "add": "sub", "sub": "add", "and": "or", "or": "and", "min": "max", "max": "min",
}  # fmt: skip
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "/": "*", "%": "/",
    "+=": "-=", "*=": "+=", "/=": "-=", "&": "|", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<",
}  # fmt: skip
# comments, strings and directives, in which nothing is changed; then operators, and what ends a statement
_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|^[ \t]*\#[^\n]*|(?P<code>[-+*/%&|<>=!]+|[;{}()])""", re.S | re.M)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A reference with one change."""

    file: str
    line: int
    change: str
    submission: Submission

    def is_dead(self, lab: Lab, reference: Submission) -> bool:
        """Does the program provably mean the same with the change?  A text that does not compile means nothing."""
        mine = compiled(lab, self.submission)
        return mine is None or _meanings(lab, self.file, compiled(lab, reference) or reference) == _meanings(lab, self.file, mine)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.change}"


def compiled(lab: Lab, submission: Submission) -> Submission | None:
    """A submission whose files are PTX; None where one does not compile."""
    built = build(lab, submission)
    if any(b.wrong for b in built.values()):
        return None
    return Submission(submission.name, {name: built[name].ptx if name in built else data for name, data in submission.files.items()})


def mutants_of(reference: Submission) -> Iterator[Mutant]:
    """A submission for each change."""
    for name, data in reference.files.items():
        text = data.decode()
        for start, end, new in _of_cpp(text) if name.endswith(CPP) else _of_ptx(text, name):
            old, line = " ".join(text[start:end].split()), text.count("\n", 0, start) + 1
            files = {**reference.files, name: (text[:start] + new + text[end:]).encode()}
            change = f"{new} for {old}" if new.strip(";") else f"without {old}"
            yield Mutant(name, line, change, Submission(f"{name}:{line}", files))


def _of_ptx(text: str, name: str) -> Iterator[tuple[int, int, str]]:
    """Instructions that are missing, and those with another comparison or operation."""
    module = parse(text, name)
    for f in module.functions.values():
        for i in listing(f).instructions if f.body is not None else ():
            start, end = i.span.start, i.span.end
            yield start, end, ""
            words = re.split(r"(?<=\w)(?=\.)|(?<=\.)|(?<=\s)", text[start:end])
            at = next((n for n, w in enumerate(words) if w in SWAPPED), None)
            if at is not None:
                yield start, end, "".join([*words[:at], SWAPPED[words[at]], *words[at + 1 :]])


def _of_cpp(text: str) -> Iterator[tuple[int, int, str]]:
    """Statements that are missing, and other operators."""
    depth, begins = 0, 0
    for m in _TOKEN.finditer(text):
        code = m["code"]
        if code is None:
            begins = m.end() if not text[begins : m.start()].strip() else begins
        elif code in "()":
            depth += 1 if code == "(" else -1
        elif code in "{};":
            if code == ";" and depth == 0 and text[begins : m.start()].strip():
                start = begins + len(text[begins:]) - len(text[begins:].lstrip())
                yield start, m.end(), ";"
            begins = m.end() if depth == 0 else begins
        elif code in OPERATORS:
            yield m.start(), m.end(), OPERATORS[code]


# ---------------------------------------------------------------- what a program means

# the instruction beside what became of it: its name matters, but for that of an end of the function, which may be missing
_TEXT = re.compile(r"(?<=\S) {2,}(?:@\S+ )?(?:ret;|([\w.:]+)).*$")
_COUNT = re.compile(r": \d+ instructions$")


def _meanings(lab: Lab, file: str, submission: Submission) -> list[list[str]]:
    """What a file of a submission means in each test that takes it, with the lab's modules."""
    tests = [t for t in lab.tests if (t.file or next(iter(submission.files))) == file]
    folders = {(*t.modules, *[m for spec in t.runs for m in spec.modules]) for t in tests}
    return [_meaning([submission.files[file], *((lab.folder / m).read_bytes() for m in names)]) for names in sorted(folders)]


def _meaning(texts: Sequence[bytes]) -> list[str]:
    """What is planned for a program, without what cannot matter: see _unread; and texts."""
    try:
        lines = dump.plan_of([parse(_without_unread(text.decode())) for text in texts]).splitlines()
    except (PtxError, LinkError):
        return [text.decode() for text in texts]
    return [_COUNT.sub("", _TEXT.sub(r" \1", line)).rstrip() for line in lines]


def _without_unread(text: str) -> str:
    """A text without instructions that cannot matter."""
    while True:
        unread = [i for f in parse(text).functions.values() if f.body is not None for i in _unread(f)]
        if not unread:
            return text
        for i in sorted(unread, key=lambda i: -i.span.start):
            text = text[: i.span.start] + text[i.span.end :]


def _unread(function: Function) -> Iterator[Instruction]:
    """Instructions that only compute what nobody reads, or hand an address to the register that holds it."""
    f = flow(function)
    for block in f.reachable:
        for i, live in f.live_after(block):
            written = accesses(i)[1]
            unread = written and only_computes(i.form) and not any(live >> r.index & 1 for r in written)
            if unread or (len(i.operands) == 2 and i.operands[0] is i.operands[1] and carries_pointer(i)):  # mov or cvta.global of itself
                yield i
