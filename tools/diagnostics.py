"""The page of all diagnostics: each code word with its explanation, an example, and the message that warplab gives for it."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler import PtxError, check, link, parse
from warplab.assembler.codes import CODES
from warplab.assembler.diagnostics import EXPLANATIONS, Diagnostic

from .markdown import page, paragraph

NAME = "diagnostics.md"
HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
ITEMS = ".global .b32 g;\n.func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n"
REGISTERS = ".visible .entry k() {\n.reg .pred %p<4>; .reg .u32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"


@dataclass(frozen=True)
class Example:
    """A text that has a diagnostic, or several modules that cannot be linked."""

    text: str
    inside: bool = True  # statements of the body rather than items of the module
    others: tuple[str, ...] = ()
    target: str | None = None

    @property
    def whole(self) -> str:
        """The module around it."""
        if self.others or ".version" in self.text or not self.text.isascii():
            return self.text
        return HEAD + ITEMS + (REGISTERS + self.text + "\nret;\n}\n" if self.inside else self.text + "\n")


def _module(*items: str) -> str:
    return HEAD + "\n".join(items) + "\n"


READING: dict[str, Example] = {
    "syntax": Example("add.u32 %r1, %r2 %r3;"),
    "empty-statement": Example("mov.u32 %r1, 5;;"),
    "non-ascii": Example(_module("// Größe", ".global .u32 size;")),
    "unterminated-comment": Example("mov.u32 %r1, 5;  /* five"),
    "unterminated-string": Example('.file 1 "kernel.cu', False),
    "unclosed-brace": Example(_module(".visible .entry open()", "{", "    ret;")),
    "undeclared-name": Example("add.u32 %r1, %r2, %r9;"),
    "unknown-label": Example("bra DONE;"),
    "duplicate-name": Example(".reg .u32 %n;\n.reg .f32 %n;"),
    "duplicate-label": Example("AGAIN: mov.u32 %r1, 1;\nAGAIN: mov.u32 %r2, 2;"),
    "duplicate-function": Example(".visible .entry twin() { ret; }\n.visible .entry twin() { ret; }", False),
    "redeclared-differently": Example(".func one(.param .u32 a);\n.func one(.param .f32 a) { ret; }", False),
    "not-a-constant": Example(".global .u32 size = 4.5 + 1;", False),
    "division-by-zero": Example(".global .u32 size = 8 / (2 - 2);", False),
    "constant-overflow": Example("mov.u64 %rd1, 99999999999999999999;"),
    "bad-declaration": Example(".global .shared .u32 both;", False),
    "bad-alignment": Example(".shared .align 12 .b8 tile[48];", False),
    "bad-array": Example(".local .u32 table[];"),
    "bad-initialiser": Example(".global .u32 pair[2] = {1, 2, 3};", False),
    "bad-operand": Example("mov.u32 %r1, g.x;"),
    "bad-predicate": Example("@%r1 bra END;\nEND: mov.u32 %r2, 1;"),
    "bad-directive": Example(".visible .entry e() .maxntid 0 { ret; }", False),
    "too-deep": Example("{ " * 600 + "} " * 600),
    "missing-version": Example(".target sm_90\n.address_size 64\n// .version is missing\n", False),
}  # fmt: skip

_USE = ".visible .entry use() { .reg .u32 %r; ld.global.u32 %r, [x]; ret; }"
LINKING: dict[str, Example] = {
    "unresolved-symbol": Example(_module(".extern .global .u32 x;", _USE), others=(_module(".global .u32 y;"),)),
    "clashing-symbols": Example(_module(".visible .global .u32 x;"), others=(_module(".visible .global .u32 x;"),)),
    "mismatched-space": Example(_module(".extern .global .u32 x;", _USE), others=(_module(".visible .const .u32 x;"),)),
    "mismatched-size": Example(_module(".extern .global .u32 x;", _USE), others=(_module(".visible .global .u32 x[2];"),)),
    "mismatched-signature": Example(
        _module(".extern .func f(.param .u32 a);", ".visible .entry e() { .param .u32 p; st.param.u32 [p], 1; call f, (p); ret; }"),
        others=(_module(".visible .func f(.param .f32 a) { ret; }"),),
    ),
    "common-too-big": Example(_module(".common .global .u32 x[4];", _USE), others=(_module(".visible .global .u32 x[2];"),)),
    "address-size-mismatch": Example(
        _module(".global .u32 x;"), others=(".version 7.0\n.target sm_50\n.address_size 32\n.global .u32 y;\n",)
    ),
}


def checking() -> dict[str, Example]:
    """The verifier's own examples."""
    out = {}
    for word, c in CODES.items():
        text = c.example
        if word == "needs":
            text = (HEAD + ITEMS + REGISTERS + text + "\nret;\n}\n").replace("9.0", "7.8").replace("sm_90a", "sm_80")
        out[word] = Example(text, c.inside, target="sm_90" if word == "target-mismatch" else None)
    return out


def examples() -> dict[str, Example]:
    """An example of every code word."""
    return READING | checking() | LINKING


def found(word: str, example: Example) -> str:
    """The message that the example gives for the code word."""
    if example.others:
        texts = (example.text, *example.others)
        try:
            link([parse(t, f"{name}.ptx") for name, t in zip("ab", texts, strict=True)])
        except PtxError as e:
            return _short(str(e))
        raise AssertionError(f"the example of {word} is linked")
    own: list[Diagnostic] = [d for d in check(example.whole, example.target) if d.code == word]
    assert own, f"the example of {word} does not have it"
    return _short(own[0].render(example.whole, "example.ptx"))


def _short(text: str) -> str:
    """Lines of bearable length."""
    return "\n".join(line if len(line) < 160 else line[:150] + " ..." for line in text.split("\n"))


def _entry(word: str, example: Example) -> str:
    text, _, _ = EXPLANATIONS[word].partition("\n\nExample:")
    shown = example.whole if example.whole == example.text else example.text
    parts = [f"### {word}", paragraph(text)]
    if example.others:
        shown = "\n".join(f"// {n}.ptx\n{t}" for n, t in zip("ab", (example.text, *example.others), strict=True)).replace(HEAD, "")
    parts += [f"```ptx\n{_short(shown.strip())}\n```", f"```text\n{found(word, example)}\n```"]
    return page(*parts)


INTRO = """The assembler reports errors and warnings with their line, a caret under the smallest wrong part, and a suggestion if there is one. Each has a
code word: `warplab explain WORD` prints the paragraph of this page, and tests can require it with `//@ error[undeclared-name]`
([compiler testing](testing.md)). Errors of a running kernel are [faults](faults.md)."""
AROUND = """Each example below is followed by the message that the assembler prints for it. Statements are inserted into this module at line 8, other items at
line 6:"""


def pages() -> dict[str, str]:
    """The page by its place in docs/."""
    warnings = {w for w, c in CODES.items() if c.severity == "warning"}
    groups = {
        "Reading": READING,
        "Checking": {w: e for w, e in checking().items() if w not in warnings},
        "Warnings": {w: e for w, e in checking().items() if w in warnings},
        "Linking": LINKING,
    }
    parts = ["# Diagnostics", INTRO]
    parts += [f"{name}: " + ", ".join(f"[{w}](#{w})" for w in group) + "." for name, group in groups.items()]
    parts += [AROUND, f"```ptx\n{(HEAD + ITEMS + REGISTERS)}// here\nret;\n}}\n```"]
    for name, group in groups.items():
        parts.append(f"## {name}")
        parts += [_entry(w, e) for w, e in group.items()]
    wrapped = (paragraph(p) if p.startswith(tuple(groups)) else p for p in parts)
    return {NAME: page(*wrapped, source="`assembler/codes.py` and its neighbours")}
