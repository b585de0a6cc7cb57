"""How many machine instructions a form of PTX stands for on each device: the rows of interpreter/ptxas/machine/expansions.json, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from warplab.interpreter.ptxas.machine.expansions import Capability, expansion, named, table
from warplab.isa.notation import Form, resolve

from .tables import table as columns

HEAD = "machine instructions"
LATEST = (9, 0)
LEGEND = """\
machine instructions: of the common path, counted with {}
  a column holds up to the next one; constant: by a constant; again: a second division by the same number"""


def counted_for(form: Form) -> dict[str, dict[Capability, int]]:
    """Spellings of a form that stand for several machine instructions -> how many, by compute capability."""
    names = [name for name in table().rows if name.split(".")[0] == form.opcode and _form(name) is form]
    return {name: {c: len(found) for c in sorted(table().sources) if (found := expansion(name, c)) is not None} for name in names}


def counted_lines(form: Form, only: Capability | None, spelling: str) -> Iterator[str]:
    """The counts of a form for all devices or for one; for a whole spelling, the instructions, too."""
    rows = {name: row for name, row in counted_for(form).items() if spelling in ("", name.split()[0]) or _form(spelling) is None}
    if not rows:
        return
    changes = [only] if only is not None else list(_changes(list(rows.values())))
    cells = [[name, *(_cell(name, c) for c in changes)] for name in rows]
    yield from columns([HEAD, *(f"{a}.{b}" for a, b in changes)], cells).splitlines()
    c = only or LATEST
    if spelling in rows and (made := expansion(spelling, c)) is not None:
        yield f"on {c[0]}.{c[1]}: {named(made)}"


def source_line() -> str:
    """Who counted."""
    by_source: dict[str, list[Capability]] = {}
    for c, source in sorted(table().sources.items()):
        by_source.setdefault(source, []).append(c)
    said = [f"{source} for {a[0]}.{a[1]} to {z[0]}.{z[1]}" for source, found in by_source.items() for a, z in [(found[0], found[-1])]]
    return LEGEND.format("; ".join(said))


def _form(name: str) -> Form | None:
    opcode, *words = name.split()[0].split(".")
    found = resolve(opcode, tuple(words))
    return found[0] if found else None


def _changes(rows: list[dict[Capability, int]]) -> Iterator[Capability]:
    """The capabilities at which some count changes."""
    before: list[int | None] | None = None
    for c in sorted(table().sources):
        now = [row.get(c) for row in rows]
        if now != before:
            yield c
        before = now


def _cell(name: str, c: Capability) -> str:
    found = expansion(name, c)
    return "" if found is None else str(len(found))
