"""PTX text in one layout: one statement a line, indented by its block, one space where a space belongs; comments stay where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .parse import parse

INDENT = "    "
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\f\v]+)|(?P<newline>\n)|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<string>\"[^\"]*\")|(?P<dwarf>@@DWARF[^\n]*)"
    r"|(?P<word>[\w$%.]+(?:::[\w.]+)*)|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||.)",
    re.S,
)
_UNENDED = frozenset({".version", ".target", ".address_size", ".file", ".loc"})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


@dataclass(slots=True)
class _Token:
    kind: str  # word, sign, string, line, block, dwarf
    text: str
    spaced: bool  # blanks stood before it
    fresh: bool  # it was the first on its line
    gap: bool  # an empty line stood before it


def _tokens(text: str) -> list[_Token]:
    out: list[_Token] = []
    spaced, newlines = False, 1
    for m in _TOKEN.finditer(text):
        kind = m.lastgroup or ""
        if kind == "space":
            spaced = True
        elif kind == "newline":
            newlines += 1
            spaced = True
        else:
            out.append(_Token(kind, m.group().rstrip(), spaced, newlines > 0, newlines > 1 and bool(out)))
            spaced, newlines = False, 0
    return out


def format_text(text: str | bytes, name: str = "<text>") -> str:
    """Formats PTX; raises PtxError for syntax errors."""
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    parse(text, name)
    return "".join(line + "\n" for line in _Layout(_tokens(text)).lines())


class _Layout:
    """The tokens of a text, taken apart into lines."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def lines(self) -> Iterator[str]:
        """The finished lines."""
        section = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.gap:
                yield ""
            if token.text == "}":
                self.depth = max(0, self.depth - 1)
                section = False
                yield self.finish(self.take(1), self.depth)
            elif token.text == "{":
                yield self.finish(self.take(1), self.depth)
                self.depth += 1
            elif token.kind in ("line", "block", "dwarf"):
                yield self.finish(self.take(1), self.depth if token.kind != "dwarf" else 0)
            else:
                section = section or token.text == ".section"
                words = self.statement(section and self.depth > 0)
                label = words[-1].text == ":"
                yield from self.wrapped(words, self.depth - 1 if label and self.depth else self.depth)

    def take(self, count: int) -> list[_Token]:
        """The next tokens."""
        self.at += count
        return self.tokens[self.at - count : self.at]

    def finish(self, words: list[_Token], depth: int) -> str:
        """One line, with the line comment that stood behind it."""
        line = INDENT * depth + _joined(words)
        while self.at < len(self.tokens) and self.tokens[self.at].kind in ("line", "block") and not self.tokens[self.at].fresh:
            last = self.take(1)[0]
            line += "  " + last.text
            if last.kind == "line":
                break
        return line

    def statement(self, in_section: bool) -> list[_Token]:
        """The tokens of the statement that begins here."""
        first, start, depth = self.tokens[self.at], self.at, 0
        header = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            text = token.text
            if self.at > start and depth == 0:
                if (in_section or first.text in _UNENDED) and token.fresh:
                    break
                if first.text in _UNENDED and token.kind == "word" and text[0] == "." and first.text not in (".file", ".loc"):
                    break
                if text in ("{", "}") and (header or first.text == ".section" or text == "}"):
                    break
            header = header or text in (".entry", ".func")
            if token.kind == "sign":
                depth += (text in _OPENING) - (text in _CLOSING)
            self.at += 1
            if text == ";" and depth == 0 and not (header and self.tokens[self.at - 2].kind == "string"):
                break
            if text == ":" and self.at == start + 2 and not self.declares():
                break
            if token.kind == "line":
                continue
        return self.tokens[start : self.at]

    def declares(self) -> bool:
        """Whether a directive follows the colon, as in `ts: .branchtargets A, B;`."""
        following = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        return following in (".branchtargets", ".calltargets", ".callprototype")

    def wrapped(self, words: list[_Token], depth: int) -> Iterator[str]:
        """A statement's lines: one, unless it holds line comments or is the header of a function with several parameters."""
        header = any(w.text in (".entry", ".func") for w in words[:3])
        commas = sum(w.text == "," for w in words)
        line: list[_Token] = []
        level, extra = 0, 0
        for i, word in enumerate(words):
            if (
                header
                and commas
                and level == 0
                and word.text.startswith(".")
                and line
                and i > 2
                and words[i - 1].text != "("
                and _performs(word.text)
            ):
                yield INDENT * (depth + extra) + _joined(line)
                line = []
            closing = word.text == ")" and header and commas and level == 1 and _is_last_list(words, i)
            level -= word.text in _CLOSING and word.kind == "sign"
            if closing and line:
                yield INDENT * (depth + extra) + _joined(line)
                line, extra = [], 0
            line.append(word)
            level += word.text in _OPENING and word.kind == "sign"
            if word.kind == "line":
                yield INDENT * (depth + extra) + _joined(line)
                line, extra = [], max(extra, 1)
            elif header and commas and level == 1 and (word.text == "," or (word.text == "(" and _is_last_list(words, _match(words, i)))):
                following = words[i + 1] if i + 1 < len(words) else None
                if following is not None and following.kind == "line" and not following.fresh:
                    continue
                yield INDENT * (depth + extra) + _joined(line)
                line, extra = [], 1
        if line:
            yield self.finish_joined(line, depth + (extra if not header or line[0].text != ")" else 0))

    def finish_joined(self, words: list[_Token], depth: int) -> str:
        """The last line of a statement."""
        return self.finish(words, depth)


def _performs(word: str) -> bool:
    return word.startswith((".max", ".min", ".req", ".explicit", ".blocks", ".noreturn", ".pragma", ".abi"))


def _match(words: list[_Token], i: int) -> int:
    """The index of the parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(words)):
        depth += (words[j].text == "(") - (words[j].text == ")")
        if depth == 0:
            return j
    return len(words)


def _is_last_list(words: list[_Token], i: int) -> bool:
    """Whether the parenthesis at i closes a header's last list, that of its parameters."""
    return not any(w.text == "(" for w in words[i + 1 :])


def _joined(words: list[_Token]) -> str:
    out: list[str] = []
    previous: _Token | None = None
    for word in words:
        if previous is not None and _space(previous, word):
            out.append(" ")
        out.append(word.text)
        previous = word
    return "".join(out)


def _space(a: _Token, b: _Token) -> bool:
    """Whether a space stands between two neighbours."""
    if b.text in (",", ";", ")", "]", "}", ":") and b.kind == "sign":
        return b.text == ":" and b.spaced and a.kind != "word"
    if a.text in ("(", "[", "{", "!", "~", "@") and a.kind == "sign":
        return False
    if a.text == "," or b.kind in ("line", "block") or a.kind in ("line", "block", "string") or b.kind == "string":
        return True
    if a.kind == b.kind == "word":
        return True
    if a.text == ":":
        return True
    return b.spaced
