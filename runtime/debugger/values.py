"""Commands that show values and memory."""

from __future__ import annotations

import re

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ..errors import UsageError
from ..recording.telling import number
from .prompt import Prompt
from .showing import FORMATS, WIDTHS, typed
from .words import command

MOST_EXAMINED = 1 << 16


@command("print", "[/FORMAT] EXPRESSION, or c[0]@8: its value", "p", "inspect")
def print_(p: Prompt, text: str) -> None:
    """See the table."""
    if not text:
        raise UsageError("print needs an expression, such as %r5 or c[0]@8")
    value = p.shown(text)
    p.printed.append(value)
    p.say(f"${len(p.printed)} = {value}")


@command("output", "EXPRESSION: its value alone")
def output(p: Prompt, text: str) -> None:
    """See the table."""
    p.say(p.shown(text))


@command("display", "EXPRESSION: shows it at each stop")
def display(p: Prompt, text: str) -> None:
    """See the table."""
    if text:
        p.shown(text)
        p.displays.append((max([n for n, _ in p.displays], default=0) + 1, text))
    for n, one in p.displays[-1:] if text else p.displays:
        p.say(f"{n}: {one} = {p.shown(one)}")


@command("undisplay", "[N]: shows it no longer")
def undisplay(p: Prompt, text: str) -> None:
    """See the table."""
    p.displays = [d for d in p.displays if text and str(d[0]) not in text.split()]


@command(
    "set", "listsize N: lines that `list` shows; pagination, confirm, height and width of gdb's scripts are accepted, and mean nothing here"
)
def set_(p: Prompt, text: str) -> None:
    """See the table."""
    name, _, value = text.partition(" ")
    if name == "listsize":
        n = p.integer(value) if value.strip() else 0
        if not 0 < n <= MOST_EXAMINED:
            raise UsageError("set listsize: a number of lines is expected")
        p.listed_lines = n
    elif name not in ("pagination", "confirm", "height", "width", "verbose"):
        raise UsageError(f"set {text}: nothing of the launch can be changed, it is over; run it again with other options, and see `diff`")


@command(
    "call",
    "is refused, as are return, kill, signal and set var: the launch is over, and nothing of it can be changed",
    "return",
    "kill",
    "signal",
)
def call(p: Prompt, text: str) -> None:
    """See the table."""
    raise UsageError("the launch is over: nothing of it can be changed, and nothing is executed")


@command("x", "/COUNT FORMAT SIZE ADDRESS or NAME: memory, such as x/8fw c or x/4xg 0x10000")
def examine(p: Prompt, text: str) -> None:
    """See the table."""
    m = re.fullmatch(r"(?:/(\d*)([a-z]*)\s+)?(.+)", text)
    if m is None:
        raise UsageError("x needs an address or a name, such as x/8fw c")
    count = int(m[1] or 1)
    letters = m[2] or ""
    form = next((f for f in letters if f in FORMATS and f not in WIDTHS), "x")
    width = next((WIDTHS[w] for w in letters if w in WIDTHS), 4)
    if set(letters) - set(FORMATS) - set(WIDTHS) or not 0 < count <= MOST_EXAMINED:
        raise UsageError(f"x/{m[1] or ''}{letters}: formats are {' '.join(FORMATS)}, sizes b h w g")
    space, owner, at = _address(p, m[3])
    if form == "f" and width == 1:
        width = 4
    raw = p.rec.bytes.held(space, owner, at, count * width, p.session.step)
    each = {8: 2, 4: 4, 2: 8, 1: 8}[width]
    values = typed(raw, form, width)
    for k in range(0, count, each):
        line = "\t".join(number(v, form) for v in values[k : k + each])
        p.say(f"{at + k * width:#x} <{p.rec.name_of(space, at + k * width)}>:\t{line}")


def _address(p: Prompt, text: str) -> tuple[str, int, int]:
    """A space, an owner and an address: of `c`, `&c[3]`, `tile[2]`, `%rd4`, `0x10000`."""
    rec, s = p.rec, p.session
    name = text.strip().lstrip("&")
    if re.fullmatch(r"[A-Za-z_$][\w$.]*(\[[^\]]*\])*", name) and any(o.name == name.partition("[")[0] for o in rec.track.objects):
        cell = p.cell(name)
        return cell.space, cell.owner, cell.address
    at = p.integer(text)
    for space, base, owner in (("shared", SHARED_BASE, s.lane // rec.threads), ("local", LOCAL_BASE, s.lane)):
        if base <= at < base + WINDOW_SIZE:
            return space, owner, at - base
    return "global", 0, at
