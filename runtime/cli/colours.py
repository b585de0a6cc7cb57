"""Colour for what commands print: diagnostics and verdicts are painted by the words they begin with.

Text stays plain until it is printed.  A terminal gets colour; NO_COLOR and FORCE_COLOR decide otherwise, and --color decides over both.
"""

from __future__ import annotations

import os
import re

import click

CHOICES = {"auto": None, "always": True, "never": False}
# what stands at the beginning of a line, and its style
STYLES: tuple[tuple[str, dict[str, str | bool]], ...] = (
    (r"(?:FAULT|FAILED|DIFFERS|failed|(?:internal )?error)(?:\[[\w-]+\])?(?=[: ]|$)", {"fg": "red", "bold": True}),
    (r"warning(?:\[[\w-]+\])?(?=:)", {"fg": "yellow", "bold": True}),
    (r"note(?:\[[\w-]+\])?(?=:)", {"fg": "cyan", "bold": True}),
    (r"ok(?= )", {"fg": "green", "bold": True}),
    (r" *-->| *\d* \|(?= |$)", {"fg": "blue", "bold": True}),
    (r"(?:========= )? *(?:= )?help:", {"fg": "green"}),
    (r"========= Error(?=:)", {"fg": "red", "bold": True}),
    (r"========= Info(?=:)", {"fg": "cyan", "bold": True}),
)
# the lines of reports: what was launched, the heads of tables, advice
REPORTS: tuple[tuple[str, dict[str, str | bool]], ...] = (
    (r"\S+<<<.*>>> on .*$", {"fg": "cyan", "bold": True}),
    (r"(?:counter +value|line +text|allocation +size|resource +blocks|name +score) .*$|resource +blocks$", {"bold": True}),
    (r"advice$", {"fg": "yellow", "bold": True}),
)
_STYLES = STYLES + REPORTS
_LINE = re.compile("|".join(f"(?P<s{i}>^(?:{pattern}))" for i, (pattern, _) in enumerate(_STYLES)), re.M)
_LIMITS = re.compile(r"(?<= )limits$", re.M)
_CARETS = re.compile(r"^(\s*\| [\s]*)(\^+)", re.M)


def paint(text: str) -> str:
    """The text with ANSI colours, which click.echo removes again where none are wanted."""
    text = _CARETS.sub(lambda m: m[1] + click.style(m[2], fg="red", bold=True), text)
    text = _LIMITS.sub(lambda m: click.style(m[0], fg="yellow"), text)
    return _LINE.sub(lambda m: click.style(m[0], **_STYLES[int(str(m.lastgroup)[1:])][1]), text)  # type: ignore[arg-type]


def wanted(choice: str | None = None) -> bool | None:
    """Is there colour?  None: on a terminal."""
    if choice is not None and choice != "auto":
        return CHOICES[choice]
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return None


def _chosen(ctx: click.Context, _param: click.Parameter, choice: str | None) -> None:
    if choice is not None:
        ctx.color = ctx.find_root().color = wanted(choice)


def option() -> click.Option:
    """--color, which every command has."""
    return click.Option(
        ["--color"], type=click.Choice(list(CHOICES)), expose_value=False, is_eager=True, callback=_chosen,
        help="Colour: auto (on a terminal, the default), always or never; also NO_COLOR and FORCE_COLOR.",
    )  # fmt: skip
