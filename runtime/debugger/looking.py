"""Commands that show the text, the calls, and why a value is what it is; and those about the prompt itself."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ..errors import UsageError
from ..recording.conditions import LanesAt
from ..recording.differences import difference, told
from ..recording.expressions import parse_expression
from ..recording.places import instructions_at
from ..recording.questions import Cell, Recording
from ..recording.slices import origin as born
from ..recording.slices import why as reasons
from ..recording.telling import link_lines as link
from ..recording.telling import number, origin_lines, place
from ..recording.telling import thread_text as thread
from .prompt import Prompt
from .words import command, described, execute

MOST_WRITERS = 20
MOST_LINKS = 12


@command("backtrace", "the calls of the thread that are open", "bt", "where")
def backtrace(p: Prompt, _: str) -> None:
    """See the table."""
    frames = p.rec.backtrace(p.session.lane, p.session.step)
    for n, f in enumerate(frames):
        p.say(f"#{n}  {place(p.rec, f.instruction)}")
    if not frames:
        p.say("the thread has ended")


@command("frame", "[N]: looks at a call of the thread, 0 is the innermost", "f")
def frame(p: Prompt, text: str) -> None:
    """See the table."""
    s = p.session
    frames = p.rec.backtrace(s.lane, s.step)
    level = p.integer(text) if text else s.level
    if not frames:
        raise UsageError("the thread has ended")
    if not 0 <= level < len(frames):
        raise UsageError(f"no frame {level}; there are {len(frames)}")
    s.level = level
    p.listed = None
    p.say(f"#{level}  {place(p.rec, frames[level].instruction)}")


@command("up", "[N]: looks at the caller")
def up(p: Prompt, text: str) -> None:
    """See the table."""
    frames = p.rec.backtrace(p.session.lane, p.session.step)
    frame(p, str(min(p.session.level + (p.integer(text) if text else 1), len(frames) - 1)))


@command("down", "[N]: back to the called function")
def down(p: Prompt, text: str) -> None:
    """See the table."""
    frame(p, str(max(p.session.level - (p.integer(text) if text else 1), 0)))


@command("list", "[LINE or FUNCTION]: the text around the thread's place, or around another one", "l")
def list_(p: Prompt, text: str) -> None:
    """See the table."""
    rec, s = p.rec, p.session
    frames = rec.backtrace(s.lane, s.step)
    here = frames[min(s.level, len(frames) - 1)].instruction if frames else None
    if text:
        i = rec.track.instructions[min(instructions_at(rec, text))]
        module, first = i.module, max(i.line - p.listed_lines // 2, 1)
    elif p.listed is not None:
        module, first = p.listed
    elif here is not None:
        module, first = here.module, max(here.line - p.listed_lines // 2, 1)
    else:
        module, first = 0, 1
    lines = rec.track.texts[module][1].splitlines()
    if first > len(lines):
        raise UsageError(f"Line number {first} out of range; the text has {len(lines)} lines.")
    for n in range(first, min(first + p.listed_lines, len(lines) + 1)):
        mark = "=>" if here is not None and here.module == module and here.line == n else "  "
        p.say(f"{mark} {n}\t{lines[n - 1]}".rstrip())
    p.listed = module, first + p.listed_lines


@command("why", "%f3 or c[7]: the instructions that its value comes from, the last one first")
def why(p: Prompt, text: str) -> None:
    """See the table."""
    what = p.target(text)
    links = reasons(p.rec, what, p.session.lane, p.session.step)
    if not links and (links := reasons(p.rec, what, p.session.lane, p.rec.step_count)):
        p.say(f"nothing has written {text.strip()} before step {p.session.step}; at the end it comes from")
    if not links:
        p.say(f"nothing has written {text.strip()} before step {p.session.step}")
    for one in links[:MOST_LINKS]:
        for line in link(p.rec, one):
            p.say(line)
    if len(links) > MOST_LINKS:
        p.say(f"  ... {len(links)} instructions in all")


@command("writers", "c[7]: every step that wrote it")
def writers(p: Prompt, text: str) -> None:
    """See the table."""
    cell = p.cell(text)
    assert isinstance(cell, Cell)
    found = p.rec.writers(cell)
    if not found:
        p.say(f"nothing writes {text.strip()}")
    for step, lane in found[:MOST_WRITERS]:
        issued = p.rec.issued(cell, step)
        i = p.rec.columns.instruction(min(issued, p.rec.step_count - 1))
        old, new = (number(p.rec.cell_value(cell, step + n)) for n in (0, 1))
        when = f"step {step}" + (f", stored at step {issued}" if issued != step else "")
        p.say(f"{when}, line {i.line}: {i.text}   {thread(p.rec, lane)}: {old} -> {new}")
    if len(found) > MOST_WRITERS:
        p.say(f"... {len(found)} writes in all")


@command("origin", "nan, inf or uninitialised: where the first bad value in memory was born")
def origin(p: Prompt, text: str) -> None:
    """See the table."""
    found = born(p.rec, text or "nan")
    for line in origin_lines(p.rec, text or "nan", found):
        p.say(line)
    if found is not None and found.way:
        p.session.focus(found.way[0].lane)
        p.session.go(found.way[0].step)


@command("tui", "enable or disable: the full screen, or lines again")
def tui(p: Prompt, text: str) -> None:
    """See the table."""
    if text not in ("enable", "disable", ""):
        raise UsageError("tui: there are enable and disable")
    if text != "disable" and find_spec("textual") is None:
        raise UsageError("the full screen needs textual: pip install 'warplab[tui]'")
    p.full_screen = text != "disable"


@command("diff", "FILE.wlrec: the first store that differs in another recording, and where its value comes from in both")
def diff(p: Prompt, text: str) -> None:
    """See the table."""
    if not text:
        raise UsageError("diff needs the file of another recording")
    other = Recording.load(text)
    for line in told(p.rec, other, difference(p.rec, other), ("this", text)):
        p.say(line)


@command("at", "EXPRESSION: its value in every lane of the thread's warp")
def at_(p: Prompt, text: str) -> None:
    """See the table."""
    rec, s = p.rec, p.session
    values = parse_expression(text).evaluate(LanesAt(rec, s.step, rec.warp_of(s.lane), s.looked_at))
    for k in range(0, values.size, 8):
        p.say(f"  {k:>2}: " + "  ".join(number(v) for v in values[k : k + 8]))


@command("help", "[COMMAND]: what a command does", "h")
def help_(p: Prompt, text: str) -> None:
    """See the table."""
    rows = [(names, says) for names, says in described() if not text or text in names.split(", ")]
    if not rows:
        raise UsageError(f"there is no command {text}")
    for names, says in rows:
        p.say(f"{names:<28} {says}")


@command("echo", "TEXT: prints it")
def echo(p: Prompt, text: str) -> None:
    """See the table."""
    p.say(text.replace("\\n", ""))


@command("source", "FILE: executes the commands of a file")
def source(p: Prompt, text: str) -> None:
    """See the table."""
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as e:
        raise UsageError(f"{text}: {e.strerror if isinstance(e, OSError) else 'not a text'}") from None
    p.depth += 1
    if p.depth > 16:
        raise UsageError(f"{text} sources itself")
    try:
        for line in lines:
            if not p.over:
                execute(p, line)
    finally:
        p.depth -= 1


@command("quit", "ends the debugger", "q", "exit")
def quit_(p: Prompt, _: str) -> None:
    """See the table."""
    p.over = True
