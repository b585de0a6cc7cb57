"""The instruction reference: a page for each chapter of the manual, from the rows and what they are held against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warplab.isa.facts import Need
from warplab.isa.notation import Form
from warplab.runtime.cli.reference.isa import CHAPTERS

from . import evidence
from .markdown import code, page, paragraph, table
from .rows import Row, executes, rows

FOLDER = "instructions"
SOURCE = "the rows in `isa/ops/`"
NOTATION = """In a form, braces `{}` enclose optional parts. A word with a list below the form is a placeholder for one of the
listed words; a word that requires more than the form has its requirement beside it. Operands: `d` and `p`
are results, `[a]` is an address, `#n` a constant, `d*4` a vector of 4, `d[|p]` a result with an optional predicate, `{!}c` a
predicate that may be negated, and `a:u32` an operand of that type instead of the instruction's type."""
COLUMNS = """*Needs* is the first PTX version and target that have the form; an empty cell means all of them. *Runs* tells whether the interpreter executes
the form; other forms can be assembled, checked and printed. *H200* is the number of recorded cases that execute the form and give the recorded
bits, *model* the number of tests that compare it with Python's own arithmetic or a reference implementation of one lane at a time.
[Conformance](../conformance.md) describes the cases."""


def slug(chapter: int) -> str:
    """The file of a chapter."""
    return re.sub(r"[^a-z0-9]+", "-", CHAPTERS[chapter]) + ".md"


def chapter_of(f: Form) -> int:
    """Which chapter of section 9.7 a form stands in."""
    return int(f.section.split(".")[2])


def need(n: Need) -> str:
    """The first version and target in words."""
    parts = [f"PTX {n.ptx:.1f}"] if n.ptx > 1 else []
    if n.sm > 10 or n.arch:
        parts.append(f"sm_{n.sm}{n.arch}")
    if n.before < 99:
        parts.append(f"before PTX {n.before:.1f}")
    return ", ".join(parts)


@dataclass(frozen=True)
class Family:
    """Rows that say the same but for a size, as those of wgmma do."""

    row: str
    form: Form
    members: tuple[Row, ...]


def _general(f: Form) -> str:
    """The row with the sizes that a family differs in as letters."""
    if f.opcode != "wgmma":
        return f.row
    return re.sub(r"d\*\d+", "d*k", f.row)


def _words(name: str, words: Iterable[str], f: Form) -> str:
    known, said = list(words), []
    if len(known) > 4 and _is_size(known):
        return f"`.{name}` = {known[0]} {known[1]} ... {known[-1]}"
    for w in known:
        n = need(f.word_needs[w]) if w in f.word_needs else ""
        said.append(f"{w} ({n})" if n else w)
    return f"`.{name}` = {' '.join(said)}"


def _is_size(words: Sequence[str]) -> bool:
    """Is this a slot for a shape of wgmma, whose rows differ in nothing else?"""
    return all(re.fullmatch(r"m64n\d+k\d+", w) for w in words)


def words(members: Sequence[Form]) -> str:
    """The words that each slot of a family takes."""
    out = []
    for k, slot in enumerate(members[0].slots):
        if slot.is_flag:
            if said := need(members[0].word_needs[slot.name]) if slot.name in members[0].word_needs else "":
                out.append(f"`.{slot.name}`: {said}")
        else:
            out.append(_words(slot.name, dict.fromkeys(w for f in members for w in f.slots[k].words), members[0]))
    return "<br>".join(out)


def families(opcode_rows: Iterable[Row]) -> list[Family]:
    """Rows by what they say."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in opcode_rows:
        f = rows()[row]
        sets = tuple(s.words for s in f.slots if not _is_size(s.words))
        key = (_general(f), f.doc, f.need.ptx, f.need.sm, f.need.arch, executes(f), sets)
        groups.setdefault(key, []).append(row)
    return [Family(str(key[0]), rows()[members[0]], tuple(members)) for key, members in groups.items()]


def counts(f: Family) -> tuple[int, int]:
    """(recorded cases, tests against models) of a family."""
    return sum(evidence.recorded()[m] for m in f.members), sum(evidence.modelled()[m] for m in f.members)


def _opcode(opcode: str, own: Sequence[Row]) -> str:
    by_meaning: dict[str, list[Family]] = {}
    for f in families(own):
        by_meaning.setdefault(" ".join(f.form.doc.split()), []).append(f)
    parts = [f"## {opcode}"]
    for doc, members in by_meaning.items():
        lines = []
        for f in members:
            h200, model = counts(f)
            said = words([rows()[m] for m in f.members])
            form = code(f.row) + (f"<br>{said}" if said else "")
            lines.append((form, need(f.form.need), "yes" if executes(f.form) else "no", h200 or "", model or ""))
        parts += [paragraph(doc), table(("form", "needs", "runs", "H200", "model"), lines, right=(3, 4))]
    return page(*parts)


def chapters() -> dict[int, dict[str, list[Row]]]:
    """chapter -> opcode -> rows."""
    out: dict[int, dict[str, list[Row]]] = {}
    for row, f in rows().items():
        out.setdefault(chapter_of(f), {}).setdefault(row[0], []).append(row)
    return {c: dict(sorted(ops.items())) for c, ops in sorted(out.items())}


def chapter_page(chapter: int, opcodes: dict[str, list[Row]]) -> str:
    """One page."""
    title = f"# {CHAPTERS[chapter][0].upper()}{CHAPTERS[chapter][1:]}"
    about = f"Chapter 9.7.{chapter} of the PTX manual: {', '.join(f'[{o}](#{o})' for o in opcodes)}."
    back = "[All chapters, and how to read the tables](README.md). On the command line: `warplab isa OPCODE`."
    return page(title, paragraph(about), back, *(_opcode(o, own) for o, own in opcodes.items()), source=SOURCE)


def index() -> str:
    """The front page of the reference."""
    lines = []
    for c, opcodes in chapters().items():
        own = [r for rs in opcodes.values() for r in rs]
        run = [r for r in own if executes(rows()[r])]
        shown = ", ".join(f"[{o}]({slug(c)}#{o})" for o in opcodes)
        lines.append((f"[{CHAPTERS[c]}]({slug(c)})", len(own), len(run), shown))
    total = f"{len({r[0] for r in rows()})} opcodes, {len(rows())} forms; {sum(executes(f) for f in rows().values())} forms run."
    parts = [
        "# Instructions", total,
        table(("chapter", "forms", "run", "opcodes"), lines, right=(1, 2)), "## Notation", NOTATION, COLUMNS,
    ]  # fmt: skip
    return page(*parts, source=SOURCE)


def pages() -> dict[str, str]:
    """Every page of the reference by its place in docs/."""
    out = {f"{FOLDER}/README.md": index()}
    for chapter, opcodes in chapters().items():
        out[f"{FOLDER}/{slug(chapter)}"] = chapter_page(chapter, opcodes)
    return out
