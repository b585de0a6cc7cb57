"""The commands of the debugger: a table of words, each with its function, in cuda-gdb's spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import UsageError
from .prompt import Prompt

Action = Callable[[Prompt, str], None]


@dataclass(frozen=True, slots=True)
class Word:
    """A command."""

    name: str
    action: Action
    says: str
    short: tuple[str, ...] = ()


TABLE: dict[str, Word] = {}


def command(name: str, says: str, *short: str) -> Callable[[Action], Action]:
    """Enters a function into the table."""

    def enter(action: Action) -> Action:
        word = Word(name, action, says, short)
        for one in (name, *short):
            TABLE[one] = word
        return action

    return enter


def execute(prompt: Prompt, line: str) -> None:
    """One line of input, and the commands of the breakpoint that it comes to; UsageError where it is wrong."""
    prompt.queued = [line]
    try:
        while prompt.queued and not prompt.over:
            _execute(prompt, prompt.queued.pop(0))
    finally:
        prompt.queued = []


def _execute(prompt: Prompt, line: str) -> None:
    if prompt.collecting:
        if line.strip() == "end":
            prompt.collecting = []
        for stop in prompt.collecting:
            stop.commands.append(line.strip())
        return
    text = line.split("#", 1)[0].strip() if not line.strip().startswith("echo") else line.strip()
    if not text:
        return
    name, _, rest = text.partition(" ")
    form = ""
    if "/" in name and name.partition("/")[0] in ("p", "print", "x", "output", "inspect", "display"):
        name, _, form = name.partition("/")
        rest = f"/{form} {rest}"
    word = TABLE.get(name) or _unique(name)
    word.action(prompt, rest.strip())


def is_command(name: str) -> bool:
    """Does a command begin so?"""
    return bool(_beginning(name))


def _beginning(name: str) -> dict[str, Word]:
    return {w.name: w for key, w in TABLE.items() if key.startswith(name)}


def _unique(name: str) -> Word:
    found = _beginning(name)
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        raise UsageError(f'Ambiguous command "{name}": {", ".join(sorted(found))}.')
    near = get_close_matches(name, TABLE, 1)
    raise UsageError(f'Undefined command: "{name}".' + (f' Did you mean "{near[0]}"?' if near else "") + '  Try "help".')


def described() -> Iterator[tuple[str, str]]:
    """Each command with what it does, for `help`."""
    for word in dict.fromkeys(TABLE.values()):
        yield ", ".join((word.name, *word.short)), word.says


def completed(prompt: Prompt, text: str) -> list[str]:
    """What a word may become: commands, and all that has a name where the debugger stands."""
    track, function = prompt.rec.track, prompt.session.looked_at[0]
    words = [*TABLE, *track.registers.get(function, {}), *(o.name for o in track.objects), *track.labels, *track.labels.get(function, {})]
    start = text.replace("$", "%", 1) if text[:1] == "$" else text
    return sorted({w for w in words if w.startswith(start)})
