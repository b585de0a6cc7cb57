"""An editor for tests: it asks an adapter in this process, and keeps the events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from warplab.runtime.cli.recorded.dap import load
from warplab.runtime.dap.server import adapter

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data" / "debug"
VECADD = ROOT / "samples" / "vecadd.ptx"
TRITON = DATA / "triton_decay.ptx"
TRITON_RUN = (
    "--grid 4 --block 64 --arg x=f32[250]:arange --arg y=f32[250]:arange --arg out:r=f32[250] --arg 250 --arg 5 --arg null --arg null"
)


class Editor:
    """A client and its adapter."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.adapter = adapter(lambda m: self.sent.append(json.loads(json.dumps(m))), load)
        self.count = 0
        self.events: list[dict[str, Any]] = []

    def reply(self, command: object, arguments: object = None) -> dict[str, Any]:
        """The response to a request; events are kept."""
        self.count += 1
        self.adapter.handle({"seq": self.count, "type": "request", "command": command, "arguments": arguments})
        new, self.sent[:] = list(self.sent), []
        self.events += [m for m in new if m["type"] == "event"]
        (response,) = [m for m in new if m["type"] == "response"]
        assert response["request_seq"] == self.count
        return response

    def ask(self, command: str, /, **arguments: Any) -> dict[str, Any]:
        """The body of the response to a request that succeeds."""
        response = self.reply(command, arguments)
        assert response["success"], response
        body: dict[str, Any] = response.get("body", {})
        return body

    def refused(self, command: str, /, **arguments: Any) -> str:
        """Why a request fails."""
        response = self.reply(command, arguments)
        assert not response["success"], response
        message: str = response["body"]["error"]["format"]
        return message

    def event(self, name: str) -> dict[str, Any]:
        """The last event of a name; events before it are forgotten."""
        (*_, found) = [e for e in self.events if e["event"] == name]
        self.events.clear()
        body: dict[str, Any] = found.get("body", {})
        return body

    # ------------------------------------------------------------ what editors do

    def launch(self, program: Path = VECADD, args: str = "", **more: Any) -> None:
        """Begins to debug, up to the place where breakpoints are set."""
        self.ask("initialize", adapterID="warplab")
        self.ask("launch", program=str(program), args=args, **more)
        assert self.events[-1]["event"] == "initialized"

    def set(self, path: Path, *lines: int | dict[str, Any]) -> list[dict[str, Any]]:
        """Sets the breakpoints of a file."""
        each = [{"line": line} if isinstance(line, int) else line for line in lines]
        found: list[dict[str, Any]] = self.ask("setBreakpoints", source={"path": str(path)}, breakpoints=each)["breakpoints"]
        return found

    def go(self, command: str = "configurationDone", **arguments: Any) -> dict[str, Any]:
        """Moves; why it stops, and where."""
        if command != "configurationDone":
            arguments.setdefault("threadId", self.thread)
        self.ask(command, **arguments)
        stopped = self.event("stopped")
        self.thread: int = stopped["threadId"]
        return stopped | self.top()

    def top(self) -> dict[str, Any]:
        """The innermost frame of the thread."""
        frame: dict[str, Any] = self.ask("stackTrace", threadId=self.thread)["stackFrames"][0]
        return {"frame": frame["id"], "line": frame["line"], "file": frame["source"].get("name"), "name": frame["name"]}

    def scope(self, name: str, frame: int) -> dict[str, dict[str, Any]]:
        """The variables of a scope by their names."""
        (found,) = [s for s in self.ask("scopes", frameId=frame)["scopes"] if s["name"] == name]
        return {v["name"]: v for v in self.inside(found)}

    def inside(self, variable: dict[str, Any], **some: int) -> list[dict[str, Any]]:
        """What is inside of a variable."""
        found: list[dict[str, Any]] = self.ask("variables", variablesReference=variable["variablesReference"], **some)["variables"]
        return found

    def value(self, expression: str, context: str = "watch", **more: Any) -> str:
        """An expression's value."""
        result: str = self.ask("evaluate", expression=expression, context=context, **more)["result"]
        return result
