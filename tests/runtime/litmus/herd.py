"""Litmus tests of herd's format, made of columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from warplab.runtime.litmus.herd.judge import HerdReport, judge_herd
from warplab.runtime.litmus.herd.parse import parse


def text_of(columns: Sequence[Sequence[str]], condition: str, places: str, first: str = "x=0; y=0;") -> str:
    """A test: of each thread its instructions, and where it runs, as `00 10` says it of two blocks of device 0 (block, device)."""
    header = " | ".join(f"P{n}@cta {place[0]},gpu {place[1]}" for n, place in enumerate(places.split()))
    rows = [" | ".join(row) for row in zip_longest(*columns, fillvalue="")]
    return "\n".join(["PTX made", "{", first, "}", *(f"{row} ;" for row in [header, *rows]), condition])


def judged(columns: Sequence[str], condition: str, places: str = "00 10 20 30", first: str = "x=0; y=0;") -> HerdReport:
    """What comes of a test whose columns separate their instructions by `;`."""
    split = [[i.strip() for i in column.split(";")] for column in columns]
    text = text_of(split, condition, " ".join(places.split()[: len(columns)]), first)
    return judge_herd(parse(text, "made.litmus"))
