"""One client's debugger: its state, and how a request comes to the function that answers it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..debugger.prompt import Prompt
from ..debugger.session import Session, Stop
from ..errors import UsageError
from ..recording.questions import Recording
from .arguments import RequestArguments
from .framing import Message
from .handles import Handles


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a launch request has led to."""

    launches: list[Recording]
    number: int  # of the one that is looked at first


class StopTable(Protocol):
    """What the client wants to stop at, see breakpoints.py."""

    def put(self, key: str, kind: str, each: list[RequestArguments], source: RequestArguments | None = None) -> list[dict[str, Any]]:
        """Sets those of one request; what the client is told of each."""

    def apply(self) -> None:
        """Sets all of them in the launch that is looked at now."""

    def number_of(self, stop: Stop) -> int | None:
        """The client's number of it; None of one that a command has set."""

    def kind_of(self, stop: Stop) -> str:
        """Why it stops, in the protocol's words."""

    def logged(self, stop: Stop) -> str | None:
        """What it prints instead of stopping; None where it stops."""


Loader = Callable[[RequestArguments, Callable[[str, str], None]], Loaded]
Body = dict[str, Any] | None
Answer = Callable[["Adapter", RequestArguments], Body]
REQUESTS: dict[str, Answer] = {}


def request(*names: str) -> Callable[[Answer], Answer]:
    """Enters a function into the table of requests."""

    def enter(answer: Answer) -> Answer:
        for name in names:
            REQUESTS[name] = answer
        return answer

    return enter


@dataclass(eq=False)
class Adapter:
    """What a client has asked for so far."""

    send: Callable[[Message], None]
    load: Loader
    prompt: Prompt | None = None
    launched: RequestArguments | None = None
    by_lanes: bool = False  # a thread of the protocol is a lane, and not a warp
    stops_at_end: bool = True
    configured: bool = False
    over: bool = False  # the client has left
    first_line: int = 1  # what the client calls the first line
    first_column: int = 1
    hexadecimal: bool = False
    handles: Handles = field(default_factory=Handles)
    sent: int = 0
    later: list[tuple[str, dict[str, Any]]] = field(default_factory=list)  # events that follow the response
    breakpoints: StopTable = field(init=False)

    # ------------------------------------------------------------ messages

    def _send(self, kind: str, **rest: Any) -> None:
        self.sent += 1
        self.send({"seq": self.sent, "type": kind, **rest})

    def event(self, name: str, body: dict[str, Any] | None = None) -> None:
        """Sends an event now."""
        self._send("event", event=name, **({} if body is None else {"body": body}))

    def afterwards(self, name: str, **body: Any) -> None:
        """Sends an event when the request is answered."""
        self.later.append((name, body))

    def say(self, text: str, category: str = "console") -> None:
        """Prints in the client's debug console."""
        self.output(text if text.endswith("\n") else f"{text}\n", category)

    def output(self, text: str, category: str) -> None:
        """The same of text that may be a part of a line."""
        self.event("output", {"category": category, "output": text})

    def handle(self, message: Message) -> None:
        """Answers a message; nothing in it ends the adapter."""
        if message.get("type") != "request":
            return  # responses to what is never asked
        command, number = message.get("command"), message.get("seq")
        number = number if isinstance(number, int) else 0
        name = command if isinstance(command, str) else ""
        self.later.clear()
        body: Body = None
        problem = ""
        try:
            answer = REQUESTS.get(name)
            if answer is None:
                raise UsageError(f"the request {name or command!r} is not supported")
            body = answer(self, RequestArguments(message.get("arguments") or {}))
        except UsageError as e:
            problem = str(e)
        except KeyboardInterrupt:
            problem = "interrupted"
        except Exception as e:  # a fault of ours ends the request, not the debugger
            problem = f"internal error in {name}: {type(e).__name__}: {e}"
            if os.environ.get("WARPLAB_TRACEBACK"):
                self.say(traceback.format_exc(), "stderr")
        self._reply(name, number, body, problem)
        while self.later:
            event, content = self.later.pop(0)
            self.event(event, content)

    def _reply(self, name: str, number: int, body: Body, problem: str) -> None:
        reply: dict[str, Any] = {"request_seq": number, "success": not problem, "command": name}
        if problem:
            self.later.clear()
            reply["message"] = problem.splitlines()[0] or "error"
            reply["body"] = {"error": {"id": 1, "format": problem.replace("{", "{{").replace("}", "}}"), "showUser": True}}
        elif body is not None:
            reply["body"] = body
        self._send("response", **reply)

    # ------------------------------------------------------------ what is debugged

    @property
    def debugger(self) -> Prompt:
        """The debugger on the launch; UsageError before there is one."""
        if self.prompt is None:
            raise UsageError("nothing is launched yet")
        return self.prompt

    @property
    def session(self) -> Session:
        """Where it stands."""
        return self.debugger.session

    @property
    def rec(self) -> Recording:
        """The launch that it looks at."""
        return self.debugger.rec

    # ------------------------------------------------------------ threads

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.rec.threads // 32)

    def thread_id(self, lane: int) -> int:
        """The protocol's thread that a lane belongs to."""
        if self.by_lanes:
            return lane + 1
        block, thread = divmod(lane, self.rec.threads)
        return block * self.warps + (thread >> 5) + 1

    def lanes_of(self, thread: int) -> range:
        """The lanes of a thread of the protocol."""
        rec = self.rec
        blocks = len(rec.track.blocks)
        if not 1 <= thread <= blocks * (rec.threads if self.by_lanes else self.warps):
            raise UsageError(f"there is no thread {thread}")
        if self.by_lanes:
            return range(thread - 1, thread)
        block, warp = divmod(thread - 1, self.warps)
        return range(block * rec.threads + warp * 32, block * rec.threads + min(warp * 32 + 32, rec.threads))

    def focus(self, thread: int) -> None:
        """Looks at a thread, at the lane that is looked at already if it is of that warp."""
        s = self.session
        if s.lane not in self.lanes_of(thread):
            s.focus(self.lane_of(thread))

    def lane_of(self, thread: int) -> int:
        """The lane that stands for a warp: the one that is looked at, else the first one of those that go on first."""
        import numpy as np

        from ..debugger.session import groups_at

        lanes = self.lanes_of(thread)
        s = self.session
        if s.lane in lanes:
            return s.lane
        if not self.rec.is_recorded(lanes[0] // self.rec.threads):
            raise UsageError("the block is not in the recording: --blocks chooses others")
        return int(groups_at(self.rec, np.array(lanes), s.step)[0][1][0])
