"""A client: its open texts, what is wrong with them, and their runs."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from warplab.assembler.diagnostics import LIMIT, Diagnostic
from warplab.assembler.editing.edited import EditedText

from .cuda import CompiledText, compiled
from .launches import Launched, Remark, launched
from .places import line_range, range_of

QUICK = 0.05  # seconds that a text may take to be checked at each keystroke; a longer one waits until the typing pauses
LONGEST_WAIT = 1.0
SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning, "note": lsp.DiagnosticSeverity.Information,
    "information": lsp.DiagnosticSeverity.Information,
}  # fmt: skip


@dataclass(eq=False)
class OpenText:
    """A text that is open in the editor."""

    edited: EditedText
    version: int | None
    is_cuda: bool
    cost: float = 0.0  # seconds of the last check
    waiting: asyncio.TimerHandle | None = None
    compiled: CompiledText = field(default_factory=CompiledText)
    found: tuple[Remark, ...] = ()  # of the last run


class PtxServer(LanguageServer):
    """One client's server."""

    def __init__(self) -> None:
        try:
            number = version("warplab")
        except PackageNotFoundError:
            number = "0"
        super().__init__("warplab", number)
        self.open: dict[str, OpenText] = {}
        self.tasks: set[asyncio.Task[None]] = set()  # that run beside the requests

    def text(self, uri: str) -> OpenText:
        """The newest state of a text."""
        document = self.workspace.get_text_document(uri)
        known = self.open.get(uri)
        if known is None:
            known = self.open[uri] = OpenText(EditedText(document.source, _name(uri)), document.version, uri.endswith(".cu"))
        elif known.version != document.version:
            known.edited, known.version = EditedText(document.source, _name(uri)), document.version
        return known

    # ------------------------------------------------------------ diagnostics

    def changed(self, uri: str) -> None:
        """A text is checked, at once if that is quick."""
        one = self.text(uri)
        one.found = ()
        if one.waiting is not None:
            one.waiting.cancel()
        delay = 0.0 if one.cost < QUICK else min(2 * one.cost, LONGEST_WAIT)
        one.waiting = asyncio.get_running_loop().call_later(delay, self.publish, uri)

    def publish(self, uri: str) -> None:
        """Sends what is wrong with a text, and what its last run found."""
        if uri not in self.open:
            return
        one = self.text(uri)
        said: list[lsp.Diagnostic] = []
        if not one.is_cuda:
            begun = time.perf_counter()
            said += [diagnostic(one.edited, uri, d) for d in one.edited.diagnostics[:LIMIT]]
            one.cost = time.perf_counter() - begun
        said += [remark(one.edited, uri, r) for r in (*one.compiled.remarks, *one.found)]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, said, one.version))

    def beside(self, work: object) -> None:
        """Lets something run beside the requests."""
        assert asyncio.iscoroutine(work)
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def compile(self, uri: str) -> None:
        """Compiles CUDA C++, for its hovers and the compiler's messages."""
        path = to_fs_path(uri)
        if path is None:
            return
        made = await asyncio.to_thread(compiled, Path(path))
        if uri in self.open:
            self.open[uri].compiled = made
            if made.problem:
                self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, made.problem))
            self.publish(uri)

    async def launch(self, uri: str, *options: str) -> Launched:
        """Runs the file of a text; its findings are shown until the text changes."""
        path = to_fs_path(uri)
        if path is None or not Path(path).is_file():
            return Launched(False, f"{uri} is not a file: save it first")
        made = await launched(Path(path), *options)
        if uri in self.open:
            self.open[uri].found = made.remarks
            self.publish(uri)
        kind = lsp.MessageType.Info if made.good else lsp.MessageType.Warning
        self.window_show_message(lsp.ShowMessageParams(kind, made.summary))
        return made


def _name(uri: str) -> str:
    return Path(to_fs_path(uri) or uri).name


def diagnostic(edited: EditedText, uri: str, d: Diagnostic) -> lsp.Diagnostic:
    """A diagnostic as the protocol has it."""
    message = d.message + (f"\nhelp: {d.help}" if d.help else "") + (f"\nforms: {' | '.join(d.forms)}" if d.forms else "")
    start, end = d.span.start, max(d.span.end, d.span.start + 1)
    end = min(end, edited.line(edited.line_of(start))[1]) if "\n" in edited.text[start:end] else end
    related = [lsp.DiagnosticRelatedInformation(lsp.Location(uri, range_of(edited, n.span.start, n.span.end)), n.message) for n in d.notes]
    tags = [lsp.DiagnosticTag.Unnecessary] if d.code.startswith(("unused", "unreachable", "dead")) else None
    return lsp.Diagnostic(range_of(edited, start, end), message, SEVERITIES[d.severity], d.code, None, "warplab", tags, related or None)


def remark(edited: EditedText, uri: str, r: Remark) -> lsp.Diagnostic:
    """A remark of a run as the protocol has it."""
    related = None
    if r.other_line:
        related = [lsp.DiagnosticRelatedInformation(lsp.Location(uri, line_range(edited, r.other_line)), r.other_message)]
    return lsp.Diagnostic(line_range(edited, r.line), r.message, SEVERITIES[r.severity], r.code, None, r.source, None, related)
