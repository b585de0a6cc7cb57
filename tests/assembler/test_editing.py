"""What an editor asks about a text: names, hovers, completions, fixes, new names, parts, colours."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from warplab.assembler import check
from warplab.assembler.editing import colours
from warplab.assembler.editing.completion import completion, explained
from warplab.assembler.editing.edited import EditedText
from warplab.assembler.editing.fixes import applied, fixes
from warplab.assembler.editing.hover import hover
from warplab.assembler.editing.outline import folds, outline
from warplab.assembler.editing.pressure import live_hints
from warplab.assembler.editing.rename import CannotRename, renamed
from warplab.isa.notation import FORMS, resolve

SAMPLES = sorted((Path(__file__).parents[2] / "samples").rglob("*.ptx"))
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LOOP = (
    HEAD
    + """
.global .u32 table[4] = {1, 2, 3, 4};
.visible .entry sum(.param .u64 data, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r2, [n];
    mov.u32 %r1, %tid.x;
    mov.f32 %f1, 0f3F800000;
loop:  // adds
    {
        .reg .b64 %r1;
        mov.u64 %r1, table;
    }
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p, %r1, %r2;
    @%p bra loop;
    st.global.u32 [%rd1+4], %r1;
    ret;
}
"""
)


def place(text: str, word: str, count: int = 0) -> int:
    """Where a word stands for the n-th time."""
    at = -1
    for _ in range(count + 1):
        at = text.index(word, at + 1)
    return at


def lines_of(text: str, word: str, count: int = 0) -> list[tuple[int, str]]:
    """The lines, from 1, and roles of all places of a name."""
    edited = EditedText(text)
    at = edited.names.at(place(text, word, count))
    assert at is not None, word
    return [(edited.line_of(o.start) + 1, o.role) for o in edited.names.of(at.named)]


def number(text: str, line: str) -> int:
    """The number of a line."""
    return [row.strip() for row in text.split("\n")].index(line) + 1


def test_a_name_is_what_its_scope_says() -> None:
    outer = lines_of(LOOP, "%r1, %tid")
    inner = lines_of(LOOP, "%r1, table")
    assert [role for _, role in outer] == ["written", "written", "read", "read", "read"]
    assert [role for _, role in inner] == ["declared", "written"]
    assert not {line for line, _ in outer} & {line for line, _ in inner}
    assert [role for _, role in lines_of(LOOP, "loop")] == ["declared", "read"]
    assert [role for _, role in lines_of(LOOP, "table")] == ["declared", "read"]
    assert [role for _, role in lines_of(LOOP, "data")] == ["declared", "read"]


def test_names_in_a_statement_that_cannot_be_read() -> None:
    broken = LOOP.replace("setp.lt.u32 %p, %r1, %r2;", "setp.lt.u32 %p, , %r2 %rd1;")
    assert (number(broken, "setp.lt.u32 %p, , %r2 %rd1;"), "read") in lines_of(broken, "%r2, [n]")


@pytest.mark.parametrize("path", SAMPLES[::7], ids=lambda p: p.stem)
def test_every_register_of_a_sample_is_found(path: Path) -> None:
    edited = EditedText(path.read_text())
    found = {o.start for o in edited.names.occurrences}
    for t in colours.tokens(edited):
        word = edited.text[t.start : t.end]
        if word.startswith("%") and t.kind != "macro" and t.kind not in ("comment", "string"):
            assert t.start in found, word


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("add.u32 %r1", "d = a + b"),
        ("%r1, %tid", "written in lines"),
        ("%tid.x", "The thread's place in its CTA"),
        ("table[4]", "`.global .u32 table[4]`\n\n16 bytes"),
        ("loop:", "a label at line"),
        ("sum(", ".entry sum(.param .u64 data, .param .u32 n)"),
        ("0f3F800000", "is 1 in .f32"),
        ("%rd<3>", "registers %rd0 to %rd2"),
    ],
)
def test_hover(word: str, said: str) -> None:
    found = hover(EditedText(LOOP), place(LOOP, word) + 1)
    assert found is not None and said in found.markdown
    assert LOOP[found.start : found.end] in word


def test_hover_says_nothing_in_a_comment() -> None:
    assert hover(EditedText(LOOP), place(LOOP, "adds") + 1) is None


def typed(text: str) -> list[str]:
    """What may be typed where a text has |, the best first."""
    at = text.index("|")
    found = completion(EditedText(text.replace("|", "")), at)
    before = text[found.start : at]
    return [p.text for p in sorted(found.found, key=lambda p: p.rank) if p.text.startswith(before)]


def in_loop(line: str) -> str:
    return LOOP.replace("    add.u32 %r1, %r1, 1;", f"    {line}\n    add.u32 %r1, %r1, 1;")


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("se|", ["setp", "selp", "set"]),
        ("@|", ["%p"]),
        ("@%p br|", ["bra", "brx", "brkpt", "brev"]),
        ("bra lo|", ["loop"]),
        ("mul.|", ["lo", "hi", "wide"]),
        ("setp.|", ["eq", "ne", "lt"]),
        ("cvt.rn.|", ["f32", "f64"]),
        ("add.f32 %f1, |", ["%f1"]),
        ("mov.u32 %r3, %ct|", ["%ctaid.x", "%ctaid.y"]),
        ("ld.global.u32 %r3, [|", ["%rd1"]),
        ("ld.param.u32 %r3, [|", ["n", "data"]),
        (".re|", [".reg"]),
        (".reg .pr|", [".pred"]),
        ("// ad|", []),
    ],
)
def test_completion(line: str, first: list[str]) -> None:
    found = typed(in_loop(line))
    assert set(first) <= set(found[: len(first) + 12]), found
    assert bool(found) == bool(first)


def test_the_words_that_are_proposed_make_instructions() -> None:
    """From every opcode on, words that are proposed one after the other end in a spelling."""
    draw = random.Random(5)
    for opcode in FORMS:
        words: tuple[str, ...] = ()
        for _ in range(24):
            if resolve(opcode, words) is not None:
                break
            found = typed(in_loop(".".join((opcode, *words)) + ".|"))
            assert found, (opcode, words)
            words = (*words, draw.choice(found[:6]))
        else:
            pytest.fail(f"{opcode} {words}")
        assert explained(opcode)


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("ad.u32 %r1, %r1, 1;", "add.u32 %r1, %r1, 1;"),
        ("add.u32 %r1, %r1, 1", "add.u32 %r1, %r1, 1;"),
        ("ADD.u32 %r1, %r1, 1;", "add.u32 %r1, %r1, 1;"),
        ("add.f32 %f1, %f1, 1;", "add.f32 %f1, %f1, 1.0;"),
        ("add.f32 %f1, %f1, 2.5f;", "add.f32 %f1, %f1, 2.5;"),
        ("mov.u32 %r1, threadIdx.x;", "mov.u32 %r1, %tid.x;"),
        ("mov.u32 %r1, %laneId;", "mov.u32 %r1, %laneid;"),
        ("fadd %f1, %f1, %f1;", "add.f32 %f1, %f1, %f1;"),
        ("mul.u32 %r1, %r1, %r1;", "mul.lo.u32 %r1, %r1, %r1;"),
        ("mul.u32 %rd1, %r1, %r1;", "mul.wide.u32 %rd1, %r1, %r1;"),
        ("ld.global.u32 %r1, %rd1;", "ld.global.u32 %r1, [%rd1];"),
        ("add.float %f1, %f1, %f1;", "add.f32 %f1, %f1, %f1;"),
        ("cvt.f32.s32 %f1, %r1;", "cvt.rn.f32.s32 %f1, %r1;"),
        ("# more", "// more"),
        ("%p bra loop;", "@%p bra loop;"),
        ("setp.gte.u32 %p, %r1, %r2;", "setp.ge.u32 %p, %r1, %r2;"),
        ("mov.u32 %r1, %r1;;", "mov.u32 %r1, %r1;"),
    ],
)
def test_a_fix_does_what_the_help_says(line: str, mended: str) -> None:
    text = in_loop(line)
    edited = EditedText(text)
    found = [f for d in edited.diagnostics for f in fixes(edited, d)]
    assert applied(text, found[0].changes) == in_loop(mended), [f.title for f in found]
    assert not [d for d in check(in_loop(mended)) if d.severity == "error"]


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("mov.f32 %f123, 1.0;", ".reg .f32 %f<124>;"),
        ("mov.u32 %count, 1;", ".reg .b32 %count;"),
        ("mov.u64 %base, 1;", ".reg .b64 %base;"),
        ("wgmma.fence.sync.aligned;", ".target sm_90a"),
    ],
)
def test_a_fix_may_be_elsewhere(line: str, new: str) -> None:
    edited = EditedText(in_loop(line))
    after = next(t for d in edited.diagnostics for f in fixes(edited, d) if new in (t := applied(edited.text, f.changes)))
    assert not [d for d in check(after) if d.severity == "error"]


def test_a_register_of_a_range_gets_a_name() -> None:
    after = applied(LOOP, renamed(EditedText(LOOP), place(LOOP, "%r2, [n]"), "%count"))
    assert "    .reg .b32 %r<8>;\n    .reg .b32 %count;\n" in after
    assert "ld.param.u32 %count, [n];" in after and "setp.lt.u32 %p, %r1, %count;" in after
    assert not check(after)


def test_a_whole_range_gets_a_name() -> None:
    after = applied(LOOP, renamed(EditedText(LOOP), place(LOOP, "%r<8>"), "%i"))
    assert ".reg .b32 %i<8>;" in after and "add.u32 %i1, %i1, 1;" in after
    assert "        .reg .b64 %r1;\n        mov.u64 %r1, table;" in after, "the inner block has a register of its own"


@pytest.mark.parametrize(
    ("word", "new", "why"),
    [
        ("loop", "data", "declared already"),
        ("%r2, [n]", "%r5", "declared already"),
        ("%r2, [n]", "%tid", "special register"),
        ("%r2, [n]", "2x", "is not a name"),
        ("ret", "x", "nothing here has a name"),
    ],
)
def test_a_new_name_is_refused(word: str, new: str, why: str) -> None:
    with pytest.raises(CannotRename, match=why):
        renamed(EditedText(LOOP), place(LOOP, word), new)


@pytest.mark.parametrize("path", SAMPLES[::9], ids=lambda p: p.stem)
def test_any_name_of_a_sample_can_change(path: Path) -> None:
    text = path.read_text()
    edited = EditedText(text)
    before = [(d.severity, d.code) for d in edited.diagnostics]
    for named in list(edited.names.scopes)[::3]:
        first = edited.names.of(named)
        if first and getattr(named, "linkage", "") != "extern":  # what another module has keeps its name
            after = applied(text, renamed(edited, first[0].start, "$fresh$"))
            assert [(d.severity, d.code) for d in check(after)] == before, named.name


def test_outline_and_folds() -> None:
    edited = EditedText(LOOP)
    table, entry = outline(edited)
    assert (table.name, table.kind, entry.name, entry.kind) == ("table", "variable", "sum", "kernel")
    assert [(p.name, p.kind) for p in entry.parts] == [("data", "parameter"), ("n", "parameter"), ("loop", "label")]
    lines = LOOP.split("\n")
    assert [(lines[f.first], lines[f.last + 1]) for f in folds(edited)] == [("    {", "    }"), ("{", "}")]


def test_colours() -> None:
    found = {LOOP[t.start : t.end]: (t.kind, t.declares) for t in colours.tokens(EditedText(LOOP))}
    assert found["add"] == ("operator", False) and found[".u32"] == ("type", False) and found[".entry"] == ("keyword", False)
    assert found[".lt"] == ("modifier", False) and found["%tid.x"] == ("macro", False) and found["// adds"] == ("comment", False)
    assert found["0f3F800000"] == ("number", False) and found["sum"] == ("function", True) and found["data"] == ("parameter", False)


def test_live_registers_where_blocks_begin() -> None:
    edited = EditedText(LOOP)
    first, *_ = live_hints(edited, 0, len(LOOP))
    assert edited.text[: first.offset].endswith("loop:")
    assert (first.text, set(first.names.split())) == ("live: 2 .b32, 1 .b64", {"%rd1", "%r2", "%r1"})


@pytest.mark.parametrize("path", SAMPLES[::11], ids=lambda p: p.stem)
def test_broken_text_gets_answers(path: Path) -> None:
    """Samples that are cut, with pieces lost, doubled or scrambled: every question has an answer."""
    whole = path.read_text()
    draw = random.Random(path.stem)
    for _ in range(6):
        a, b = sorted(draw.randrange(len(whole)) for _ in range(2))
        b = min(b, a + 60)
        text = draw.choice(
            [whole[:a], whole[:a] + whole[b:], whole[:b] + whole[a:], whole[:a] + draw.choice('{}();"[]@.%:,/*') + whole[a:]]
        )
        edited = EditedText(text)
        for at in (a, max(0, min(b, len(text))), draw.randrange(len(text) + 1)):
            completion(edited, at)
            hover(edited, at)
        list(colours.tokens(edited))
        list(live_hints(edited, 0, len(text)))
        list(folds(edited))
        outline(edited)
        for d in edited.diagnostics[:3]:
            for fix in fixes(edited, d):
                assert (d.code, d.message) not in [(x.code, x.message) for x in check(applied(text, fix.changes))] or len(
                    edited.diagnostics
                ) > 1
