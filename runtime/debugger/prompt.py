"""What the commands of the debugger share: the session, where they print, and how they read places, cells and threads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..dwarf.places import AtAddress, InBytes
from ..dwarf.values import SourceValue
from ..errors import UsageError
from ..recording.conditions import Break, CellAccess, Change, Condition
from ..recording.expressions import PathStep, parse_expression
from ..recording.places import instructions_at
from ..recording.questions import Cell, Recording
from ..recording.telling import exception, number, place
from ..recording.telling import thread_text as thread
from .session import Arrival, Session, Stop, interrupted, standing

CELL = re.compile(r"([A-Za-z_$][\w$.]*)((?:\[[^\]]*\])*)\Z")
MOST_ELEMENTS = 4096
CONTEXT = 5  # lines before and behind the one that `list` shows


@dataclass(slots=True)
class Prompt:
    """A debugger with a person, or a script, in front of it."""

    launches: list[Recording]
    say: Callable[[str], None]
    number: int = 0  # of the launch that it looks at
    sessions: dict[int, Session] = field(default_factory=dict)
    displays: list[tuple[int, str]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)  # values, by which $1 and so on mean them
    listed_lines: int = 2 * CONTEXT  # that `list` shows at once
    collecting: list[Stop] = field(default_factory=list)  # the breakpoints whose commands the next lines are
    queued: list[str] = field(default_factory=list)  # commands that are executed next
    listed: tuple[int, int] | None = None  # module and line that `list` goes on at
    over: bool = False
    full_screen: bool = False  # it is one of runtime/tui, or is to become one
    depth: int = 0  # files of commands that are under way

    @property
    def session(self) -> Session:
        """The debugger on the launch that it looks at."""
        if self.number not in self.sessions:
            self.sessions[self.number] = Session(self.launches[self.number])
        return self.sessions[self.number]

    @property
    def rec(self) -> Recording:
        """That launch."""
        return self.launches[self.number]

    # ------------------------------------------------------------ saying where it is

    def arrived(self, a: Arrival, lane: int) -> None:
        """Says what has stopped it, and where it is."""
        s, rec = self.session, self.rec
        self.listed = None
        if s.lane != lane:
            self.say(f"[Switching focus to {thread(rec, s.lane)}]")
        if a.stop is not None and a.hit is not None:
            self._stopped(a)
        if a.end == "end":
            if rec.fault is not None:
                self.say(f"Program received signal {exception(rec.fault.text)}.")
            self.say(f"The launch ended early: {rec.track.ended}" if rec.track.ended else "The launch has ended.")
            self.say("(reverse-continue and reverse-stepi go back)" if rec.track.ended or s.stops else "")
            return
        if a.end == "begin":
            self.say("No more reverse-execution history: this is the beginning of the launch.")
        self.show_place(full=a.stop is not None or bool(a.end))
        for n, text in self.displays:
            self.say(f"{n}: {text} = {self.shown(text)}")

    def _stopped(self, a: Arrival) -> None:
        assert a.stop is not None and a.hit is not None
        what = a.stop.what
        if what == "breakpoint":
            kind = "Temporary breakpoint" if a.stop.temporary else "Breakpoint"
            self.say(f"{kind} {a.stop.number}, {len(a.hit.lanes)} {'lane' if len(a.hit.lanes) == 1 else 'lanes'}")
        elif what == "catchpoint":
            self.say(f"Catchpoint {a.stop.number} ({a.stop.text})")
            for e in self.rec.events_at(a.hit.step):
                self.say(f"  {e.text}")
        else:
            self.say(f"{what[0].upper()}{what[1:]} {a.stop.number}: {a.stop.text}")
            step = a.hit.step
            if "read" not in what:
                old, new = (self.watched_at(a.stop.condition, step + n) for n in (0, 1))
                self.say(f"  Old value = {old}\n  New value = {new}")
            i = self.rec.columns.instruction(min(step, self.rec.step_count - 1))
            self.say(f"  by {thread(self.rec, a.hit.lane)}\n  at line {i.line}: {i.text}")

    def show_place(self, full: bool = False) -> None:
        """The instruction that the thread executes next."""
        s, rec = self.session, self.rec
        at = rec.next_step(s.lane, s.step)
        if at is None:
            last = rec.interrupted_at(s.lane)
            self.say(f"{thread(rec, s.lane)} {'has ended' if last is None else 'is at ' + standing(rec, interrupted(last))}")
            return
        i = rec.columns.instruction(at)
        if full:
            self.say(f"{place(rec, i)}, step {at} of {rec.step_count}")
        self.say(f"{i.line}\t{i.text}")
        for e in rec.events_at(at):
            if e.kind == "fault":
                self.say(f"  fault: {e.text}")

    # ------------------------------------------------------------ reading

    def watched_at(self, condition: Condition, step: int) -> str:
        """What a watchpoint watches, before a step, in words."""
        rec, s = self.rec, self.session
        if isinstance(condition, CellAccess):
            return number(rec.cell_value(condition.cell, step))
        assert isinstance(condition, Change)
        found = rec.held(condition.register, np.array([condition.lane]), step, s.looked_at)
        return number(found.value[0]) if found.known[0] else "<not written>"

    def shown(self, text: str) -> str:
        """An expression in words; gdb's `what@count`, and a format."""
        form = ""
        if text.startswith("/"):
            form, _, text = text[1:].partition(" ")
            text = text.strip()
        if (old := self._printed(text)) is not None:
            return old
        what, at, count = text.rpartition("@")
        if at:
            return self._several(what, count, form)
        s, rec = self.session, self.rec
        if (value := self.source_value(text)) is not None:
            return value.text(form)
        types = rec.track.registers.get(s.looked_at[0], {})
        name = text if text in types else "%" + text[1:] if text[:1] == "$" else ""
        if name in types:
            found = rec.held(name, np.array([s.lane]), s.step, s.looked_at)
            return number(found.value[0], form) if found.known[0] else "<not written yet>"
        m = CELL.match(text)
        if m is not None and not m[2] and any(o.name == m[1] for o in rec.track.objects):
            whole = rec.memory(m[1], s.step, rec.thread(s.lane).block)
            flat = whole.ravel()
            return "{" + ", ".join(number(v, form) for v in flat[:200]) + (", ..." if flat.size > 200 else "") + "}"
        if m is not None and m[2] and self._is_constant(m[2]):
            return number(rec.cell_value(self.cell(text), s.step), form)
        self._check_scope(text)
        return number(parse_expression(text).evaluate(s.look())[0], form)

    def _printed(self, text: str) -> str | None:
        """A value that was printed before: $1, or $ for the last one; None where the text means something else."""
        m = re.fullmatch(r"\$(\d*)", text)
        if m is None or "%" + m[1] in self.rec.track.registers.get(self.session.looked_at[0], {}):
            return None
        n = int(m[1]) if m[1] else len(self.printed)
        if not 0 < n <= len(self.printed):
            raise UsageError(f"History has not yet reached ${n}." if m[1] else "nothing was printed yet")
        return self.printed[n - 1]

    def source_value(self, text: str, step: int | None = None) -> SourceValue | None:
        """What a variable of the source, or a path from one, holds; None where no variable has this name."""
        s = self.session
        try:
            e = parse_expression(text)
        except UsageError:
            return None
        at, frame = s.step if step is None else step, s.looked_at
        if e.kind not in ("cell", "path") or not s.names.knows(e.word, s.lane, at, frame):
            return None
        steps = e.steps or tuple(PathStep("element", index=n) for n in range(len(e.parts)))
        return s.names.value(e.word, steps, [int(p.evaluate(s.look())[0]) for p in e.parts], s.lane, at, frame)

    def _check_scope(self, text: str) -> None:
        """Refuses a variable of the source that is not in scope here, unless an array has its name."""
        name = re.match(r"[*&(\s]*([A-Za-z_]\w*)", text)
        if name is None or any(o.name == name[1] for o in self.rec.track.objects):
            return
        s = self.session
        if s.names.mentions(name[1]) and not s.names.knows(name[1], s.lane, s.step, s.looked_at):
            raise UsageError(f"{name[1]} is a variable of another place of the source")

    def _is_constant(self, index: str) -> bool:
        return re.fullmatch(r"(\[\s*(\d+|0x[0-9a-fA-F]+)\s*\])+", index) is not None

    def _several(self, what: str, count: str, form: str) -> str:
        n = self.integer(count)
        if (value := self.source_value(what)) is not None:
            size = max(value.type.bytes, 1)
            if not 0 < n <= MOST_ELEMENTS:
                raise UsageError(f"{what}@{n}: 1 to {MOST_ELEMENTS} elements can be shown")
            return "{" + ", ".join(replace(value, where=value.where.moved(k * size)).text(form, 1) for k in range(n)) + "}"
        first = self.cell(what.strip())
        whole = self.rec.object(first.name.partition("[")[0])
        last = (whole.start + whole.size - first.address) // first.size
        if not 0 < n <= last:
            raise UsageError(f"{what}@{n}: {last} elements are left there")
        raw = self.rec.bytes.held(first.space, first.owner, first.address, n * first.size, self.session.step)
        kind = np.asarray(self.rec.cell_value(first, 0)).dtype
        return "{" + ", ".join(number(v, form) for v in raw.view(kind)) + "}"

    def integer(self, text: str) -> int:
        """A number, or an expression that is one."""
        value = parse_expression(text).evaluate(self.session.look())[0]
        if np.asarray(value).dtype.kind not in "iub":
            raise UsageError(f"{text} is not an integer")
        return int(value)

    def cell(self, text: str) -> Cell:
        """`c[7]`, `tile[1][%r2]`; of shared memory in the thread's block."""
        if (value := self.source_value(text)) is not None:
            return self._cell_of(text, value)
        m = CELL.match(text.strip())
        self._check_scope(text)
        if m is None:
            raise UsageError(f"{text}: an element such as c[7] is expected")
        index: list[int] = [self.integer(i) for i in re.findall(r"\[([^\]]*)\]", m[2])]
        return self.rec.cell(m[1], index or [0] * max(len(self.rec.object(m[1]).shape), 1), self.session.lane // self.rec.threads)

    def _cell_of(self, text: str, value: SourceValue) -> Cell:
        """A variable of the source as an element of memory."""
        type = value.type.plain
        if not isinstance(value.where, AtAddress):
            raise UsageError(f"{text.strip()} is not in memory here")
        if type.bytes not in (1, 2, 4, 8) or type.kind not in ("base", "enum", "pointer"):
            raise UsageError(f"{text.strip()} is a {type}: name one of its members or elements")
        letter = "f" if type.encoding == "float" else "s" if type.encoding in ("signed", "char") else "u"
        return Cell(text.strip(), value.where.space, value.where.owner, value.where.address, f"{letter}{type.bytes * 8}")

    def target(self, text: str) -> str | Cell:
        """A register of the thread, or a cell."""
        text = text.strip()
        if not text:
            raise UsageError("name a register, such as %f3, or an element, such as c[7]")
        named = text in self.rec.track.registers.get(self.session.looked_at[0], {})
        value = None if named else self.source_value(text)
        if value is not None and isinstance(value.where, InBytes) and value.where.register:
            return value.where.register
        if text[0] in "%$" or named:
            name = text if named else "%" + text[1:]
            self.session.look().register(name)
            return name
        return self.cell(text)

    def breaking(self, text: str) -> Break:
        """`43 if %r1 > 3`."""
        where, _, when = (text if re.match(r"\s*if\b", text) else text.replace(" if ", "\0", 1)).partition("\0")
        where = where.strip()
        if where.startswith("if") or not where:
            at = self.rec.next_step(self.session.lane, self.session.step)
            if at is None:
                raise UsageError("the thread has ended: name a line, a label or a function")
            chosen = frozenset([self.rec.columns.instruction_number(at)])
            when = where[2:] if where else when
        else:
            chosen = instructions_at(self.rec, where)
        return Break(chosen, parse_expression(when) if when.strip() else None)

    def threads_of(self, text: str) -> dict[str, tuple[int, int, int] | int]:
        """`block 3 thread 17`, `block (1,0,0) thread (3,4)`, `warp 0 lane 5`."""
        out: dict[str, tuple[int, int, int] | int] = {}
        for m in re.finditer(
            r"(kernel|device|grid|sm|block|thread|warp|lane)\s*(\(\s*\d+\s*(?:,\s*\d+\s*){0,2}\)|\d+(?:\s*,\s*\d+){0,2})", text
        ):
            parts = [int(x) for x in re.findall(r"\d+", m[2])]
            out[m[1]] = parts[0] if len(parts) == 1 else (*parts, 0, 0)[:3]  # type: ignore[assignment]
        return out
