"""Findings of the checkers as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from warplab.interpreter.checkers.findings import Finding


def as_json(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Each finding as a table of plain values."""
    return [asdict(f) for f in findings]


def as_text(findings: Sequence[Finding]) -> str:
    """Each finding as a paragraph with a frame at its left, and a summary, in the manner of compute-sanitizer."""
    lines = [line for f in findings for line in (*_paragraph(f), "")]
    errors = sum(f.severity == "error" for f in findings)
    more = f", {len(findings) - errors} remarks" if errors < len(findings) else ""
    lines.append(f"ERROR SUMMARY: {errors} error{'' if errors == 1 else 's'}{more}")
    return "\n".join(f"========= {line}".rstrip() for line in lines)


def _paragraph(f: Finding) -> Iterator[str]:
    where = f" in {f.space} memory" if f.space else ""
    yield f"{'Error' if f.severity == 'error' else 'Info'}: {f.kind}{where} ({f.tool})"
    yield f"    {f.message}"
    yield from _place("at", f.line, f.instruction, f.source)
    yield from _place("and", f.other_line, f.other_instruction, f.other_source)
    if f.block is not None:
        again = f", {f.count} times" if f.count > 1 else ""
        other = f" and block {f.other_block}, thread {f.other_thread}" if f.other_block is not None else ""
        yield f"    by block {f.block}, thread {f.thread}{other} of {f.kernel}{again}"
    if f.nearby:
        yield f"    {f.nearby}"
    if f.help:
        yield f"    help: {f.help}"


def _place(word: str, line: int | None, instruction: str, source: str) -> Iterator[str]:
    if line is not None:
        yield f"    {word} line {line}: {instruction}" + (f"   ({source})" if source else "")
