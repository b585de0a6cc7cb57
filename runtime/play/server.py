"""The server of the page: it listens on 127.0.0.1 unless told otherwise, and answers who knows its token."""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections import OrderedDict
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..compilers import is_installed
from ..errors import UsageError
from ..grading.compiling import build
from ..grading.lab import Lab, LabTest, Limits, Submission
from ..grading.report import once
from ..grading.supervise import Worker, grade_one
from ..run.runspec import directives
from ..sources import CPP
from ..watched import WatchedProcess
from .jobs import PlayedProgram, PlayLimits
from .pool import Jobs, WorkerPool, asked

EXAMPLES = ("vecadd", "race", "nan")
LONGEST = 1 << 20  # bytes of a request
PAGES = 64  # pages that are kept
WORKER = "warplab.runtime.play.worker"
HEADERS = {
    "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
}  # fmt: skip
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; frame-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
MADE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
    "sandbox allow-scripts"
)


@dataclass(frozen=True, slots=True)
class PlayLab:
    """A lab as the page shows it: hidden tests are no part of it."""

    lab: Lab
    hidden: int

    @staticmethod
    def of(lab: Lab) -> PlayLab:
        """What students may see of a lab."""
        visible = tuple(t for t in lab.tests if not t.hidden)
        return PlayLab(replace(lab, tests=visible), len(lab.tests) - len(visible))

    def told(self) -> dict[str, Any]:
        """The lab for the page."""
        folder = self.lab.folder
        readme = folder / "README.md"
        starters = {s: (folder / f"starter.{s}").read_text(encoding="utf-8") for s in ("ptx", "cu") if (folder / f"starter.{s}").is_file()}
        return {
            "title": self.lab.title, "readme": readme.read_text(encoding="utf-8") if readme.is_file() else "", "starters": starters,
            "tests": [{"name": t.name, "points": t.points} for t in self.lab.tests], "hidden": self.hidden, "files": list(self.lab.files),
        }  # fmt: skip


@dataclass(eq=False)
class Playground:
    """What the server serves."""

    labs: list[PlayLab] = field(default_factory=list)
    program: tuple[str, str] = ("", "")  # name and text to begin with
    processes: int = 2
    limits: PlayLimits = field(default_factory=PlayLimits)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    def __post_init__(self) -> None:
        self.runs = WorkerPool([WatchedProcess(WORKER) for _ in range(self.processes)])
        self.typing = WorkerPool([WatchedProcess(WORKER)])  # what is asked as one types does not wait for runs
        self.graders = WorkerPool([Worker() for _ in range(self.processes)])
        self.jobs = Jobs()
        self.pages: OrderedDict[str, str] = OrderedDict()
        self.lock = threading.Lock()

    def close(self) -> None:
        """Ends all processes."""
        for pool in (self.runs, self.typing, self.graders):
            pool.close()

    def warm(self) -> None:
        """Starts the processes, and lets each load what a run needs, before the first question."""
        with ExitStack() as all_of_them:
            for pool in (self.typing, self.runs):
                for worker in [all_of_them.enter_context(pool.one()) for _ in pool.workers]:
                    text = _example("vecadd")
                    worker.ask(("run", (PlayedProgram(text, "program.ptx", text.encode()),)), 60, 1024)

    # ------------------------------------------------------------ questions

    def answer(self, what: str, q: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question of the page."""
        match what:
            case "start":
                return self.start()
            case "check" | "opcode":
                return self.ask_typing(what, _text(q))
            case "complete" | "hover":
                return self.ask_typing(what, _text(q), _number(q, "offset"))
            case "ptx":
                return self.compiled(_text(q))
            case "run" | "sanitize" | "record" | "profile":
                lab = self.lab(_number(q, "lab")) if "lab" in q else None
                return self.run(what, _text(q), q.get("language") == "cu", str(q.get("job", ""))[:64], lab)
            case "grade":
                return self.grade(_number(q, "lab"), _text(q), q.get("language") == "cu", str(q.get("job", ""))[:64])
            case "stop":
                self.jobs.stop(str(q.get("job", ""))[:64])
                return {}
        raise UsageError(f"there is no question {what}")

    def start(self) -> dict[str, Any]:
        """What the page begins with."""
        examples = {name: _example(name) for name in EXAMPLES}
        name, text = self.program
        return {
            "examples": examples, "program": {"name": name, "text": text}, "labs": [one.told() for one in self.labs], "cuda": is_installed(),
            "limits": {"seconds": self.limits.seconds, "memory": self.limits.memory},
        }  # fmt: skip

    def ask_typing(self, what: str, *arguments: Any) -> dict[str, Any]:
        """A question about a text that is being typed."""
        return asked(self.typing, self.jobs, "", (what, arguments), replace(self.limits, seconds=2.0))

    def compiled(self, text: str) -> dict[str, Any]:
        """The PTX of CUDA C++."""
        made = self._program(text, True)
        return made if isinstance(made, dict) else {"ptx": made.ptx.decode(errors="replace")}

    def _program(self, text: str, is_cpp: bool) -> PlayedProgram | dict[str, Any]:
        if not is_cpp:
            return PlayedProgram(text, "program.ptx", text.encode(), limits=self.limits)
        name = f"program{CPP}"
        try:
            specs = directives(text)
            test = LabTest("run", 0, False, tuple(specs))
            (made,) = build(Lab(Path(), "", (), Limits(), (test,)), Submission(name, {name: text.encode()})).values()
        except UsageError as e:
            return {"error": str(e)}
        if made.wrong:
            return {"error": made.wrong}
        return PlayedProgram(text, name, made.ptx, not all(made.on(s) for s in specs), self.limits)

    def run(self, what: str, text: str, is_cpp: bool, job: str, lab: Lab | None = None) -> dict[str, Any]:
        """Runs a program, which may leave it to the first test of a lab how; a player or a profile is a page of its own."""
        program = self._program(text, is_cpp)
        if isinstance(program, dict):
            return program
        if lab is not None and (first := next((t for t in lab.tests if t.runs and not t.modules), None)) is not None:
            program = replace(program, otherwise=first.runs[:1], folder=lab.folder)
        answer = asked(self.runs, self.jobs, job, (what, (program,)), self.limits)
        made = answer.pop("page", "")
        if made:
            name = secrets.token_urlsafe(8)
            with self.lock:
                self.pages[name] = str(made)
                while len(self.pages) > PAGES:
                    self.pages.popitem(last=False)
            answer["page"] = name
        if is_cpp:
            answer["ptx"] = program.ptx.decode(errors="replace")
        return answer

    def lab(self, number: int) -> Lab:
        """A lab by its number."""
        if not 0 <= number < len(self.labs):
            raise UsageError(f"there is no lab {number}")
        return self.labs[number].lab

    def grade(self, number: int, text: str, is_cpp: bool, job: str) -> dict[str, Any]:
        """The visible tests of a lab."""
        lab = self.lab(number)
        if len(lab.files) > 1:
            return {"error": f"this lab has several files: {', '.join(lab.files)}; hand them to warplab grade"}
        name = Path(lab.files[0] if lab.files else "program.ptx").with_suffix(CPP if is_cpp else ".ptx").name
        try:
            with self.graders.one() as worker, self.jobs.running(job, worker) as begins:
                if not begins:
                    return {"error": "stopped"}
                report = grade_one(lab, Submission("yours", {name: text.encode()}), worker)
        except UsageError as e:
            return {"error": str(e)}
        said = {t.name: words for t, words in once(report, show_hidden=False)}
        tests = [
            {"name": t.name, "points": t.points, "earned": t.earned, "passed": t.passed, "said": said.get(t.name, "")} for t in report.tests
        ]
        return {"tests": tests, "score": report.score, "total": report.total}


def _example(name: str) -> str:
    return files(__package__).joinpath("programs", f"{name}.ptx").read_text(encoding="utf-8")


def _text(q: dict[str, Any]) -> str:
    text = q.get("text")
    if not isinstance(text, str):
        raise UsageError("a question needs a text")
    return text


def _number(q: dict[str, Any], key: str) -> int:
    value = q.get(key)
    if not isinstance(value, int) or not 0 <= value <= LONGEST:
        raise UsageError(f"{key} is a number")
    return value


def server(playground: Playground, host: str, port: int, names: tuple[str, ...] = ()) -> ThreadingHTTPServer:
    """An HTTP server; `names`: further names under which a proxy may reach it."""

    class Handler(BaseHTTPRequestHandler):
        """A request."""

        protocol_version = "HTTP/1.1"
        server_version = "warplab"
        sys_version = ""
        timeout = 60

        def do_GET(self) -> None:
            """The page, its files and players."""
            path = self.known()
            if path is None:
                return
            if path == "":
                self.reply(200, "text/html", _file("play.html"), {"Content-Security-Policy": PAGE_POLICY})
            elif path in ("play.js", "play.css"):
                self.reply(200, "text/javascript" if path.endswith("js") else "text/css", _file(path))
            elif path.startswith("page/") and (found := playground.pages.get(path.removeprefix("page/"))) is not None:
                self.reply(200, "text/html", found.encode(), {"Content-Security-Policy": MADE_POLICY})
            else:
                self.reply(404, "text/plain", b"there is no such page\n")

        def do_POST(self) -> None:
            """A question, in JSON."""
            path = self.known()
            if path is None:
                return
            length = self.headers.get("Content-Length", "")
            if (
                not length.isdigit()
                or int(length) > LONGEST
                or self.headers.get("Content-Type", "").partition(";")[0] != "application/json"
            ):
                self.close_connection = True
                self.reply(413, "text/plain", b"a question is JSON of at most 1 MiB\n")
                return
            try:
                q = json.loads(self.rfile.read(int(length)))
                if not isinstance(q, dict):
                    raise UsageError("a question is an object")
                self.json(200, playground.answer(path, q))
            except (UsageError, ValueError, RecursionError) as e:
                self.json(400, {"error": str(e)})

        def known(self) -> str | None:
            """The path behind the token; what is not asked under this server's name and token gets no answer."""
            allowed = {f"{n}:{self.server.server_port}" for n in ("127.0.0.1", "localhost", host)} | set(names)  # type: ignore[attr-defined]
            token, slash, path = self.path.partition("?")[0].lstrip("/").partition("/")
            good = secrets.compare_digest(token.encode(), playground.token.encode())
            if good and slash and self.headers.get("Host", "") in allowed:
                return path
            self.close_connection = True
            self.reply(403, "text/plain", b"open the address that warplab play has printed\n")
            return None

        def json(self, code: int, value: object) -> None:
            """Answers with JSON."""
            self.reply(code, "application/json", json.dumps(value).encode())

        def reply(self, code: int, kind: str, data: bytes, more: dict[str, str] | None = None) -> None:
            """Answers."""
            self.send_response(code)
            for name, value in {
                **HEADERS,
                **(more or {}),
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(data)),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Says nothing: the address has the token."""

    return QuietServer((host, port), Handler)


class QuietServer(ThreadingHTTPServer):
    """A thread for each request; who leaves before the answer is no news."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An error in a request that no answer could tell."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _file(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()
