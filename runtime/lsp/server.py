"""The server of a client: its texts open, change and close; other requests have files of their own."""

from __future__ import annotations

from lsprotocol import types as lsp

from .changes import add_changes, add_commands
from .questions import add_questions
from .session import PtxServer


def server() -> PtxServer:
    """A server with all its requests."""
    out = PtxServer()
    _texts(out)
    add_questions(out)
    add_changes(out)
    add_commands(out)
    return out


def _texts(out: PtxServer) -> None:
    @out.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        out.changed(uri)
        if out.text(uri).is_cuda:
            out.beside(out.compile(uri))

    @out.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def edited(params: lsp.DidChangeTextDocumentParams) -> None:
        out.changed(params.text_document.uri)

    @out.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        if out.text(params.text_document.uri).is_cuda:
            out.beside(out.compile(params.text_document.uri))

    @out.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        one = out.open.pop(params.text_document.uri, None)
        if one is not None and one.waiting is not None:
            one.waiting.cancel()
        out.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))
