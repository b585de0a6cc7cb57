"""What can end a launch: a Fault (the kernel is wrong), a Deadlock (no lane can proceed), a LimitReached (the caller's limits).

ExecutionError
  Fault            out of bounds, null, misaligned, freed, wrong space, read-only, stack, illegal instruction, trap, assert
  Deadlock         every lane left waits for another
  LimitReached     the step or wall limit of the launch
"""

from __future__ import annotations

from dataclasses import dataclass, field


def place(line: int, instruction: str, source: str) -> str:
    """Where an instruction stands: first the line of the program that was compiled, where there is one, then that of the PTX in brackets."""
    return f"{source}   [line {line}: {instruction}]" if source else f"line {line}: {instruction}"


def _named(kernel: str) -> str:
    from warplab.assembler.demangle import short_name  # here: who only catches these errors does without the assembler

    return short_name(kernel)


class ExecutionError(Exception):
    """The launch ended early."""


@dataclass(slots=True, repr=False)
class Fault(ExecutionError):
    """The kernel did what the machine refuses; filled in from the inside out (access, lane, instruction)."""

    # out-of-bounds null misaligned freed double-free invalid-free wrong-space read-only stack-overflow illegal-instruction trap assert
    # unsupported tensor-memory-leak mbarrier-overflow
    kind: str
    message: str
    space: str = ""
    address: int | None = None
    size: int = 0
    nearest: str = ""
    kernel: str = ""
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None
    instruction: str = ""
    line: int = 0
    source: str = ""  # file:line of the .loc in force
    lanes: int = 1  # how many lanes did it

    def __repr__(self) -> str:
        where = f" in {_named(self.kernel)}" if self.kernel else ""
        return f"<Fault {self.kind}{where}{f' at line {self.line}' if self.line else ''}: {self.message}>"

    def __str__(self) -> str:
        parts = [self.message]
        if self.nearest:
            parts.append(f"  {self.nearest}")
        if self.instruction:
            parts.append(f"  at {place(self.line, self.instruction, self.source)}")
        if self.block is not None:
            who = f"  kernel {_named(self.kernel)}, block {self.block}, thread {self.thread}"
            parts.append(who + (f" and {self.lanes - 1} more lanes" if self.lanes > 1 else ""))
        return "\n".join(parts)


@dataclass(slots=True)
class Waiting:
    """One group of lanes that can't proceed."""

    lanes: int
    example: str  # "block (0, 0, 0), thread (3, 0, 0)"
    instruction: str
    line: int
    source: str
    wants: str
    missing: str
    block: tuple[int, int, int] | None = None
    thread: tuple[int, int, int] | None = None


@dataclass(slots=True)
class Deadlock(ExecutionError):
    """No lane can proceed: which lanes wait where, for which others."""

    kernel: str
    waiting: list[Waiting] = field(default_factory=list)
    turns: bool = False  # registers of its lanes change: by itself, or with time, it may get on
    moved: bool = True  # has it got on since the standstill before?
    note: str = ""  # what else waits

    def __str__(self) -> str:
        what = f"in kernel {_named(self.kernel)}: no thread can continue" if self.kernel else "of a stream: its work cannot continue"
        lines = [f"deadlock {what}"]
        for w in self.waiting:
            lines.append(f"  {w.lanes} lanes ({w.example}) wait at {place(w.line, w.instruction, w.source)}")
            lines.append(f"    for {w.wants}; {w.missing}")
        if self.note:
            lines.append(f"  {self.note}")
        return "\n".join(lines)


@dataclass(slots=True)
class LimitReached(ExecutionError):
    """The launch used up its steps or its time."""

    kernel: str
    limit: str  # "10000 steps" or "2.0 s"
    where: str

    def __str__(self) -> str:
        return f"kernel {_named(self.kernel)} reached the limit of {self.limit}, at {self.where}\n  is there a loop that never ends?"


class LaunchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a launch: what it executed, and how far it was."""
