"""Changes to a text that do what the help of a diagnostic says.  Each is tried: one that does not remove its diagnostic, or brings another, is not offered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from warplab.isa.notation import resolve

from ..diagnostics import Diagnostic
from .edited import EditedText
from .spelled import spelled_at


@dataclass(frozen=True, slots=True)
class Replacement:
    """A stretch of a text, and what takes its place."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends a diagnostic."""

    title: str
    changes: tuple[Replacement, ...]


Maker = Callable[[EditedText, Diagnostic, re.Match[str]], Iterator[Fix]]
_MAKERS: list[tuple[re.Pattern[str], Maker]] = []


def fixes(edited: EditedText, d: Diagnostic) -> list[Fix]:
    """The changes that mend a diagnostic."""
    found = []
    for pattern, make in _MAKERS:
        m = pattern.search(d.help) or pattern.search(f"{d.code}: {d.message}")
        if m is not None:
            found += [fix for fix in make(edited, d, m) if _mends(edited, d, fix)]
    return list(dict.fromkeys(found))


def applied(text: str, changes: tuple[Replacement, ...]) -> str:
    """A text with its changes made."""
    for c in sorted(changes, key=lambda c: c.start, reverse=True):
        text = text[: c.start] + c.text + text[c.end :]
    return text


def _mends(edited: EditedText, d: Diagnostic, fix: Fix) -> bool:
    after = EditedText(applied(edited.text, fix.changes), edited.name).diagnostics
    said = [(x.code, x.message) for x in after]
    before = [(x.code, x.message) for x in edited.diagnostics]
    fewer = before.count((d.code, d.message)) - said.count((d.code, d.message))
    end = d.span.end + sum(len(c.text) - (c.end - c.start) for c in fix.changes if c.start <= d.span.end)
    new = [x for x in after if x.severity == "error" and (x.code, x.message) not in before and x.span.start <= end]
    return fewer > 0 and not new


def _of(pattern: str) -> Callable[[Maker], Maker]:
    """Makes fixes where the help, or the code with its message, has this text."""

    def add(make: Maker) -> Maker:
        _MAKERS.append((re.compile(pattern), make))
        return make

    return add


def _word_at(edited: EditedText, d: Diagnostic) -> tuple[int, int]:
    """The word that a diagnostic is about, with a component."""
    m = re.compile(r"\.?[\w$%]+(?:\.[xyzw]\b)?", re.A).match(edited.source.code, d.span.start)
    return (d.span.start, max(m.end(), d.span.end)) if m else (d.span.start, d.span.end)


@_of(r"^is (\S+) meant\?$")
def _meant(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    start, end = d.span.start, d.span.end
    new = m[1]
    if new.startswith(".") and edited.text[start : start + 1] != ".":
        new = new[1:]
    yield Fix(f"Change to {m[1]}", (Replacement(start, end, new),))


@_of(r"^(\S+) is ([\w.%]+)(?: in PTX)$")
def _called(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    start, end = _word_at(edited, d)
    spelled = re.compile(r"[\w$%]+(?:\.\w+)*", re.A).match(edited.source.code, start)
    yield Fix(f"Change to {m[2]}", (Replacement(start, end, m[2]),))
    if spelled is not None and spelled.end() > end:
        yield Fix(f"Change to {m[2]}", (Replacement(start, spelled.end(), m[2]),))


@_of(r"^PTX is written in lower case: (\S+)$")
def _lower(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    yield Fix(f"Change to {m[1]}", (Replacement(d.span.start, d.span.start + len(m[1]), m[1]),))


@_of(r"^the type (\w+) is \.(\w+) in PTX$")
def _type(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    begin = edited.line(edited.line_of(d.span.start))[0]
    found = list(re.compile(rf"\.?\b{m[1]}\b").finditer(edited.source.code, begin, d.span.end))
    if found:
        yield Fix(f"Change to .{m[2]}", (Replacement(found[-1].start(), found[-1].end(), f".{m[2]}"),))


@_of(r"^(?:write )?([a-z]\w*(?:\.[\w:]+)+)(?: or ([a-z][\w.:]+))?(?: for predicates$| gives the whole product| to get the value|$)")
def _spelling(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    """Another spelling of the instruction: whole, or with a state space in it."""
    spelled = spelled_at(edited.source.code, d.span.start)
    if spelled is None:
        return
    for new in filter(None, m.groups()):
        opcode, *words = new.split(".")
        kept = tuple(w for w in spelled.words if w not in words)
        for candidate in (tuple(words), (*words, *kept)):
            if resolve(opcode, candidate) is not None:
                text = ".".join((opcode, *candidate))
                yield Fix(f"Change to {text}", (Replacement(spelled.start, spelled.end, text),))
                break


@_of(r"\.lo is missing|^\.((?:\w|::)+)(?: or [^ ]+)* is missing$|is missing: the result")
def _missing_word(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    spelled = spelled_at(edited.source.code, d.span.start)
    if spelled is None:
        return
    for word in re.findall(r"\.((?:\w|::)+)", d.help):
        for at in range(len(spelled.words) + 1):
            words = (*spelled.words[:at], word, *spelled.words[at:])
            if resolve(spelled.opcode, words) is not None:
                text = ".".join((spelled.opcode, *words))
                yield Fix(f"Change to {text}", (Replacement(spelled.start, spelled.end, text),))
                break


@_of(r"^valid here: (.*)$")
def _valid_here(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    for word in m[1].split(", ")[:4]:
        dot = "." if edited.text[d.span.start : d.span.start + 1] == "." else ""
        yield Fix(f"Change to {word}", (Replacement(d.span.start, d.span.end, dot + word.lstrip(".")),))


@_of(r"^write (\[[^\]]+\]|%\w+\.x|-?\d+\.0|0[fd][0-9A-F]+(?=:)|[\w%$]+\+-\w+)(?:[:,].*)?$")
def _operand(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    yield Fix(f"Change to {m[1]}", (Replacement(d.span.start, d.span.end, m[1]),))


@_of(r"^a constant has no suffix: write (\S+)$")
def _suffix(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    yield Fix(f"Change to {m[1]}", (Replacement(d.span.start, d.span.end, ""),))


@_of(r"^a ';' is missing at the end of line (\d+)$")
def _semicolon(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    start, end = edited.line(int(m[1]) - 1)
    at = start + len(edited.source.code[start:end].rstrip())
    yield Fix("Insert ;", (Replacement(at, at, ";"),))


@_of(r"^a guard begins with @")
def _guard(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    start, _ = edited.line(edited.line_of(d.span.start))
    begun = re.compile(r"[ \t]*").match(edited.text, start)
    at = begun.end() if begun is not None else start
    yield Fix("Insert @", (Replacement(at, at, "@"),))


@_of(r"^a comment begins with //$")
def _comment(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    yield Fix("Change to //", (Replacement(d.span.start, d.span.start + 1, "//"),))


@_of(r"^no \{ is open here$|^empty-statement:|^unused-label:")
def _superfluous(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    end = d.span.end + (edited.text[d.span.end : d.span.end + 1] == ":")
    yield Fix(f"Remove {edited.text[d.span.start : end]}", (Replacement(d.span.start, end, ""),))


@_of(r"^unclosed-brace:")
def _brace(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    before = "" if edited.text.endswith("\n") else "\n"
    yield Fix("Insert }", (Replacement(len(edited.text), len(edited.text), f"{before}}}\n"),))


@_of(r"^write (\.version \S+) before all else$")
def _version(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    target = "" if re.search(r"^\s*\.target\b", edited.source.code, re.M) else "\n.target sm_90\n.address_size 64"
    start = edited.source.skip(0)
    yield Fix(f"Insert {m[1]}", (Replacement(start, start, f"{m[1]}{target}\n"),))


@_of(r"^write (\.extern) before it$")
def _extern(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    start = edited.line(edited.line_of(d.span.start))[0]
    yield Fix("Insert .extern", (Replacement(start, start, ".extern "),))


@_of(r"as in \.reg \.(\w+) (\S+);$")
def _declare(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    """Declares a register with the type that its instruction asks for first."""
    spelled = spelled_at(edited.source.code, d.span.start)
    wanted = [f"b{bits}" for w in (spelled.words if spelled else ()) if (bits := re.sub(r"\D", "", w)) in ("16", "32", "64")]
    if spelled is not None and any(f.operands and f.operands[0].name == "p" for f in spelled.forms[:1]):
        wanted.insert(0, "pred")
    for type in dict.fromkeys([*wanted, m[1], "pred", "b64"]):
        yield from _declared(edited, d, f".reg .{type} {m[2]};")


def _declared(edited: EditedText, d: Diagnostic, text: str) -> Iterator[Fix]:
    function = edited.names.function_at(d.span.start)
    if function is not None and function.body is not None:
        at = function.body.span.start + 1
        indent = re.compile(r"\s*\n([ \t]*)").match(edited.text, at)
        yield Fix(f"Declare {text}", (Replacement(at, at, f"\n{indent[1] if indent else '    '}{text}"),))


@_of(r"^undeclared-name: (\S*?)([1-9]\d{0,5}) is not declared$")
def _enlarge(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    """Declares more registers of a range."""
    function = edited.names.function_at(d.span.start)
    for made in edited.names.ranges.values():
        scope = edited.names.scopes[made]
        if made.name == m[1] and function is not None and scope is not None and scope.start < d.span.start < scope.end:
            count = re.compile(r"<\s*(\d+)").search(edited.source.code, made.span.end)
            if count is not None:
                yield Fix(f"Declare {m[1]}<{int(m[2]) + 1}>", (Replacement(count.start(1), count.end(1), str(int(m[2]) + 1)),))


@_of(r"^(?:needs|unknown-version|unknown-target): .*needs (?:PTX (\d+\.\d+))?(?: and )?(?:(sm_\w+))?")
def _needs(edited: EditedText, d: Diagnostic, m: re.Match[str]) -> Iterator[Fix]:
    """A newer version, a newer target, or both."""
    changes = []
    for new, directive in ((m[1], r"\.version\s+(\S+)"), (m[2], r"\.target\s+(\w+)")):
        found = re.compile(directive).search(edited.source.code)
        if new and found is not None:
            changes.append(Replacement(found.start(1), found.end(1), new))
    if changes:
        yield Fix(f"Change to {' and '.join(f'PTX {c.text}' if c.text[0].isdigit() else c.text for c in changes)}", tuple(changes))
