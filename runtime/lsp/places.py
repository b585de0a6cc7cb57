"""Offsets of a text as the positions of the protocol, which counts units of UTF-16."""

from __future__ import annotations

from lsprotocol.types import Position, Range, TextEdit

from warplab.assembler.editing.edited import EditedText
from warplab.assembler.editing.fixes import Replacement


def position(edited: EditedText, offset: int) -> Position:
    """The position of an offset."""
    line = edited.line_of(offset)
    begin, _ = edited.line(line)
    before = edited.text[begin:offset]
    return Position(line, len(before) if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2)


def offset_of(edited: EditedText, at: Position) -> int:
    """The offset of a position; one beyond its line is the line's end."""
    begin, end = edited.line(at.line)
    line = edited.text[begin:end]
    if line.isascii():
        return min(begin + at.character, end)
    return begin + len(line.encode("utf-16-le", "surrogatepass")[: 2 * at.character].decode("utf-16-le", "ignore"))


def range_of(edited: EditedText, start: int, end: int) -> Range:
    """The range of a stretch."""
    return Range(position(edited, start), position(edited, end))


def line_range(edited: EditedText, line: int) -> Range:
    """The text of a line, counted from 1, without its indentation."""
    begin, end = edited.line(line - 1)
    text = edited.text[begin:end]
    return range_of(edited, begin + len(text) - len(text.lstrip()), end)


def edit_of(edited: EditedText, change: Replacement) -> TextEdit:
    """A change as the protocol has it."""
    return TextEdit(range_of(edited, change.start, change.end), change.text)
