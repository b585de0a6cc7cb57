"""The screen: source, lanes, registers, memory, what commands have printed, and a prompt.  A key is a command of the debugger's table."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Footer, Input, RichLog, Static

from ..debugger.prompt import Prompt
from ..debugger.words import completed, execute
from ..errors import UsageError
from . import panels
from .panels import Line

STYLES = {
    "text": "$foreground", "soft": "$foreground-muted", "own": "bold $foreground", "here": "bold $text-accent", "stop": "$text-error",
    "lanes": "$text-success", "step": "bold $text-accent",
}  # fmt: skip
KEYS = {  # a key, the command that it is, and what the footer says
    "f5": ("continue", "Continue"), "f4": ("reverse-continue", "Back"), "f8": ("stepi", "Step"), "f7": ("reverse-stepi", "Step back"),
    "f10": ("next", "Line"), "f9": ("reverse-next", "Line back"), "f2": ("thread -1", "Lane −"), "f3": ("thread +1", "Lane +"),
}  # fmt: skip
EMPTY = {  # keys of an empty prompt
    "right": "stepi", "left": "reverse-stepi", "shift+right": "continue", "shift+left": "reverse-continue",
    "pagedown": "next", "pageup": "reverse-next", "home": "goto 0", "end": "goto end",
}  # fmt: skip


class CommandLine(Input):
    """The prompt: history, completion, and keys that step while it is empty."""

    def __init__(self, screen_app: DebuggerScreen) -> None:
        super().__init__(placeholder="a command; help lists all of them. ← → step, Shift+← Shift+→ go to the breakpoint", id="prompt")
        self.debugger = screen_app
        self.history: list[str] = []
        self.at = 0

    async def _on_key(self, event: events.Key) -> None:
        command = EMPTY.get(event.key) if not self.value else None
        if command is not None:
            self.debugger.command(command, echo=False)
        elif event.key == "tab" and self.value:
            self._complete()
        elif event.key in ("up", "down") and self.history:
            self.at = max(min(self.at + (1 if event.key == "down" else -1), len(self.history)), 0)
            self.value = self.history[self.at] if self.at < len(self.history) else ""
            self.cursor_position = len(self.value)
        else:
            return
        event.prevent_default()
        event.stop()

    def _complete(self) -> None:
        head, _, word = self.value.rpartition(" ")
        found = completed(self.debugger.prompt, word)
        if not found:
            return
        shared = found[0]
        for one in found[1:]:
            while not one.startswith(shared):
                shared = shared[:-1]
        if len(found) > 1 and shared == word:
            self.debugger.say("  ".join(found))
        self.value = f"{head} {shared}" if head else shared
        self.cursor_position = len(self.value)


class DebuggerScreen(App[None]):
    """The debugger of one prompt on a full screen."""

    TITLE = "warplab debug"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012
    CSS = """
    #head { height: 1; background: $panel; }
    #time { height: 1; background: $panel; }
    #panels { layout: grid; height: 1fr; }
    .-wide #panels { grid-size: 2 3; grid-columns: 3fr 2fr; grid-rows: 2fr 4fr 3fr; }
    .-narrow #panels { grid-size: 1 5; grid-rows: 5fr 3 4fr 3fr 3fr; }
    .-wide #source { row-span: 2; }
    .panel { border: round $panel-lighten-2; border-title-color: $text-accent; padding: 0 1; overflow: hidden; }
    .-narrow .panel { border: none; border-top: solid $panel-lighten-2; padding: 0; }
    #said { background: $background; overflow-y: auto; scrollbar-size: 1 1; }
    #prompt { border: none; height: 1; padding: 0; background: $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *[Binding(key, f"command({command!r})", says, priority=True) for key, (command, says) in KEYS.items()],
        Binding("ctrl+t", "colours", "Colours", priority=True), Binding("ctrl+q", "quit", "Quit", priority=True),
    ]  # fmt: skip

    def __init__(self, prompt: Prompt) -> None:
        super().__init__()
        self.prompt = prompt
        self._say_before = prompt.say

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Static(id="time")
        with Container(id="panels"):
            for name, title in (("source", "Source"), ("lanes", "Warps of the block"), ("registers", "Registers")):
                yield self._panel(name, title)
            said = RichLog(id="said", classes="panel", wrap=True)
            said.border_title = "Commands"
            said.can_focus = False
            yield said
            yield self._panel("memory", "Memory")
        yield CommandLine(self)
        yield Footer(show_command_palette=False)

    def _panel(self, name: str, title: str) -> VerticalScroll:
        panel = VerticalScroll(Static(id=f"{name}-text"), id=name, classes="panel", can_focus=False)
        panel.border_title = title
        return panel

    def on_mount(self) -> None:
        self.prompt.say = self.say
        self.query_one(CommandLine).focus()
        self.call_after_refresh(self.show_all)

    def on_unmount(self) -> None:
        self.prompt.say = self._say_before

    def on_resize(self) -> None:
        self.call_after_refresh(self.show_all)

    # ------------------------------------------------------------ commands

    def say(self, text: str) -> None:
        """What a command prints."""
        self.query_one("#said", RichLog).write(text)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        line = self.query_one(CommandLine)
        text = message.value.strip() or (line.history[-1] if line.history else "")
        line.value = ""
        if text:
            line.history = [*[h for h in line.history if h != text], text]
            line.at = len(line.history)
            self.command(text)

    def action_command(self, text: str) -> None:
        """A key that is a command."""
        self.command(text, echo=False)

    def command(self, text: str, echo: bool = True) -> None:
        """Executes a command of the debugger, and shows where it has led."""
        if echo:
            self.say(f"(warplab) {text}")
        try:
            execute(self.prompt, text)
        except UsageError as e:
            self.query_one("#said", RichLog).write(Content.styled(str(e), "$text-error"))
        if self.prompt.over or not self.prompt.full_screen:
            self.exit()
        else:
            self.show_all()

    def action_colours(self) -> None:
        """Light or dark."""
        self.theme = "textual-light" if self.current_theme.dark else "textual-dark"

    # ------------------------------------------------------------ panels

    def show_all(self) -> None:
        """Draws all panels."""
        p = self.prompt
        self.query_one("#head", Static).update(_content([panels.title(p)], self.size.width))
        self.query_one("#time", Static).update(_content([panels.timeline(p, max(self.size.width, 1))], self.size.width))
        title, lines = panels.source(p, max(self.query_one("#source").size.height, 1))
        self.query_one("#source").border_title = title
        self.query_one("#source-text", Static).update(_content(lines, self.query_one("#source").size.width))
        shown: dict[str, Callable[[int, int], list[Line]]] = {
            "lanes": lambda height, width: panels.lanes(p, height),
            "registers": lambda height, width: panels.registers(p, height),
            "memory": lambda height, width: panels.memory(p, height, width),
        }
        for name, of in shown.items():
            size = self.query_one(f"#{name}").size
            self.query_one(f"#{name}-text", Static).update(_content(of(max(size.height, 1), size.width), size.width))


def _content(lines: list[Line], width: int) -> Content:
    """Lines as textual draws them, each in one row."""
    pieces: list[tuple[str, str]] = []
    for n, line in enumerate(lines):
        left = width
        for text, role in line:
            pieces.append((text[:left], STYLES[role]))
            left = max(left - len(text), 0)
        if n + 1 < len(lines):
            pieces.append(("\n", ""))
    return Content.assemble(*pieces)
