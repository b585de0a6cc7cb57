"""`warplab isa`: the instruction reference, printed from the rows."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable
from difflib import get_close_matches

import click

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.isa.facts import Need
from warplab.isa.foreign import component, in_ptx
from warplab.isa.notation import FORMS, Form, resolve
from warplab.isa.profiles import profile, target_capability

from .. import completing, files

CHAPTERS = {  # of the manual's section 9.7
    1: "integer", 2: "extended precision", 3: "floating point", 4: "half precision", 5: "mixed precision", 7: "comparison, selection",
    8: "half comparison", 9: "logic, shift", 10: "data movement", 12: "texture", 13: "surface", 14: "control flow", 15: "synchronisation",
    16: "matrix", 17: "warpgroup matrix", 18: "tensor core 5", 19: "stack", 20: "video", 21: "miscellaneous",
}  # fmt: skip


@click.command()
@click.argument("words", nargs=-1, shell_complete=completing.opcodes)
@click.option("--search", "-s", metavar="TEXT", help="Only forms whose row, description or chapter contains all these words.")
@click.option("--target", metavar="SM", help="Only forms that this target has, such as sm_70.")
@click.option("--not-executed", is_flag=True, help="Only forms that are assembled but not executed, and why.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def isa(words: tuple[str, ...], search: str | None, target: str | None, not_executed: bool, as_json: bool) -> None:
    """Looks instructions up in the reference.

    WORDS are opcodes ("shfl"), whole spellings ("shfl.sync.bfly.b32") or sections of the PTX manual ("9.7.9"). Without any, all
    opcodes are listed.
    """
    words = tuple(w.lower() if w.split(".")[0].lower() in FORMS else w for w in words)
    found = _select(words, search, _capability(target))
    known = bool(found)
    if not_executed:
        found = [f for f in found if not _executes(f)]
    if as_json:
        files.print_json([_as_json(f) for f in found])
    elif known and not found:
        click.echo("every form is executed")
    elif not found:
        click.echo(_unknown(words), err=True)
    elif not words and search is None and not not_executed:
        click.echo(_overview(found))
    else:
        click.echo("\n".join(_lines(found, words, _capability(target))))
    if not known:
        click.get_current_context().exit(1)


def _unknown(words: tuple[str, ...]) -> str:
    """What to say where no form is found."""
    if not words:
        return "no instruction matches"
    opcode, *rest = words[0].removesuffix("()").split(".")
    if opcode in FORMS:
        return f"no form of {opcode} matches; `warplab isa {opcode}` lists them all"
    if said := (component(opcode, rest[0]) if rest else "") or in_ptx(opcode):
        return f"no instruction is called {words[0]}; {said}"
    longer = [name for name in FORMS if name.startswith(opcode)]  # of the words as near as these, the beginning decides
    near = list(dict.fromkeys([*longer[:3], *get_close_matches(opcode, FORMS, 3)]))[:3]
    return f"no instruction is called {words[0]}" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _capability(target: str | None) -> int | None:
    if target is None:
        return None
    try:
        profile(target)
    except ValueError as e:
        raise click.BadParameter(str(e), param_hint="--target") from None
    major, minor = target_capability(target)
    return 10 * major + minor


def _select(words: Iterable[str], search: str | None, capability: int | None) -> list[Form]:
    """The forms asked for, in the order of the table."""
    wanted = list(words)
    by_opcode = wanted and not any(w[:1].isdigit() for w in wanted)  # then only their rows need reading
    opcodes = dict.fromkeys(w.split(".")[0] for w in wanted) if by_opcode else FORMS
    found = [f for opcode in opcodes for f in FORMS.get(opcode, ())]
    if wanted:
        found = [f for f in found if any(_matches(f, w) for w in wanted)]
    if search is not None:
        found = [f for f in found if all(text in _about(f) for text in search.lower().split())]
    if capability is not None:
        found = [f for f in found if f.need.sm <= capability]
    return found


def _about(form: Form) -> str:
    """All that is said of a form, to be searched."""
    chapter = CHAPTERS.get(int(form.section.split(".")[2]), "")
    return " ".join((form.row, form.doc, chapter, *(w for s in form.slots for w in s.words))).lower()


def _matches(form: Form, word: str) -> bool:
    if word[:1].isdigit():
        return form.section == word or form.section.startswith(word + ".")
    opcode, *modifiers = word.split(".")
    if opcode != form.opcode:
        return False
    if not modifiers:
        return True
    whole = resolve(opcode, tuple(modifiers))
    if whole is not None:
        return whole[0] is form
    return all(any(m in s.words for s in form.slots) for m in modifiers)


def _overview(forms: list[Form]) -> str:
    """All opcodes, by section of the manual."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
    chapters: dict[int, dict[str, None]] = {}
    for f in forms:
        chapters.setdefault(int(f.section.split(".")[2]), {})[f.opcode] = None
    lines = []
    for number, names in sorted(chapters.items()):
        head = f"9.7.{number:<3} {CHAPTERS.get(number, ''):<22} "
        lines += textwrap.wrap(" ".join(names), width, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)
    opcodes = {f.opcode for f in forms}
    return "\n".join([*lines, f"{len(opcodes)} opcodes, {len(forms)} forms; `warplab isa OPCODE` shows the forms of one"])


def _lines(forms: list[Form], asked: tuple[str, ...], capability: int | None) -> Iterable[str]:
    from ...reports.expansions import counted_lines, source_line

    only = None if capability is None else (capability // 10, capability % 10)
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 120))
    opcode, counted = "", False
    for f in forms:
        if f.opcode != opcode:
            if opcode:
                yield ""
            opcode = f.opcode
            yield click.style(opcode, bold=True)
        yield from textwrap.wrap(
            f.row, width, initial_indent="  ", subsequent_indent="      ", break_long_words=False, break_on_hyphens=False
        )
        for slot in f.slots:
            if not slot.is_flag:
                words = " ".join(_with_need(w, f.word_needs.get(w)) for w in slot.words)
                head = f"      .{slot.name} = "
                yield from textwrap.wrap(words, width, initial_indent=head, subsequent_indent=" " * len(head), break_long_words=False)
        flags = [_with_need(f".{s.name}", f.word_needs[s.name]) for s in f.slots if s.is_flag and s.name in f.word_needs]
        if flags:
            yield "      " + " ".join(flags)
        facts = [x for x in (str(f.need), f.section and f"PTX ISA {f.section}", _status(f)) if x]
        doc = " ".join(f.doc.split())
        text = f"{doc} ({'; '.join(facts)})" if facts else doc
        yield from textwrap.wrap(text, width, initial_indent="      ", subsequent_indent="      ")
        for line in counted_lines(f, only, asked[0] if len(asked) == 1 else ""):
            counted = True
            yield f"      {line}"
    if counted:
        yield from ["", source_line()]


def _with_need(word: str, need: Need | None) -> str:
    return f"{word} ({need})" if need is not None and str(need) else word


def _executes(form: Form) -> bool:
    return form.meaning is not None or bool(form.effect)


def _status(form: Form) -> str:
    """Nothing for a form that is executed, else why it is not."""
    if _executes(form):
        return ""
    return "not executed" + (f": {form.facts.not_executed}" if form.facts.not_executed else "")


def _as_json(form: Form) -> files.Json:
    from ...reports.expansions import counted_for

    return {
        "opcode": form.opcode,
        "row": form.row,
        "slots": [{"name": s.name, "words": list(s.words), "optional": s.optional} for s in form.slots],
        "operands": [o.text for o in form.operands],
        "doc": " ".join(form.doc.split()),
        "section": form.section,
        "ptx": form.need.ptx,
        "sm": form.need.sm,
        "arch": form.need.arch,
        "word_needs": {w: {"ptx": n.ptx, "sm": n.sm, "arch": n.arch} for w, n in form.word_needs.items()},
        "executes": _executes(form),
        "not_executed": form.facts.not_executed,
        "machine_instructions": {
            name: {f"{major}.{minor}": n for (major, minor), n in row.items()} for name, row in counted_for(form).items()
        },
    }
