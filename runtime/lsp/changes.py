"""Requests that change a text or run it."""

from __future__ import annotations

import difflib

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from warplab.assembler import PtxError, format_text
from warplab.assembler.diagnostics import LIMIT
from warplab.assembler.editing.fixes import fixes
from warplab.assembler.editing.rename import CannotRename, renamed

from .places import edit_of, offset_of, range_of
from .session import PtxServer, diagnostic

RUN, SANITIZE = "warplab.run", "warplab.sanitize"


def add_changes(out: PtxServer) -> None:
    """Makes them."""

    @out.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def may_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        edited = out.text(params.text_document.uri).edited
        at = edited.names.at(offset_of(edited, params.position))
        return range_of(edited, at.start, at.end) if at is not None else None

    @out.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        edited = out.text(params.text_document.uri).edited
        try:
            changes = renamed(edited, offset_of(edited, params.position), params.new_name)
        except CannotRename as e:
            raise JsonRpcInvalidParams(str(e)) from None
        return lsp.WorkspaceEdit({params.text_document.uri: [edit_of(edited, c) for c in changes]})

    @out.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        one = out.text(params.text_document.uri)
        if one.is_cuda:
            return None
        try:
            new = format_text(one.edited.text, one.edited.name)
        except PtxError as e:
            first = e.diagnostics[0]
            said = f"not formatted: line {first.span.line}: {first.message}"
            out.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, said))
            return None
        return _line_edits(one.edited.text, new)

    @out.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        one = out.text(uri)
        if one.is_cuda:
            return []
        start, end = offset_of(one.edited, params.range.start), offset_of(one.edited, params.range.end)
        found = []
        for d in one.edited.diagnostics[:LIMIT]:
            if d.span.start > end or max(d.span.end, d.span.start + 1) < start:
                continue
            said = diagnostic(one.edited, uri, d)
            for n, fix in enumerate(fixes(one.edited, d)):
                edit = lsp.WorkspaceEdit({uri: [edit_of(one.edited, c) for c in fix.changes]})
                found.append(lsp.CodeAction(fix.title, lsp.CodeActionKind.QuickFix, [said], is_preferred=n == 0, edit=edit))
        return found


def _line_edits(old: str, new: str) -> list[lsp.TextEdit]:
    """The lines that differ, so that the cursor stays where it was."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    edits = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(lsp.TextEdit(lsp.Range(lsp.Position(i, 0), lsp.Position(j, 0)), "".join(after[k:m])))
    return edits


def add_commands(out: PtxServer) -> None:
    """Runs a file, and offers to where a //@ run comment stands."""

    @out.command(RUN)
    async def run(uri: str) -> str:
        return (await out.launch(uri)).summary

    @out.command(SANITIZE)
    async def sanitize(uri: str) -> str:
        return (await out.launch(uri, "--sanitize", "all", "--leak-check", "no")).summary

    @out.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        edited = out.text(uri).edited
        found = []
        for number, line in enumerate(edited.text.split("\n")):
            if line.lstrip().startswith("//@ run"):
                where = lsp.Range(lsp.Position(number, 0), lsp.Position(number, len(line)))
                for title, name in (("run", RUN), ("sanitize", SANITIZE)):
                    found.append(lsp.CodeLens(where, lsp.Command(title, name, arguments=[uri])))
        return found
