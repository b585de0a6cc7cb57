"""Requests that ask about a text."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from warplab.assembler.editing import colours
from warplab.assembler.editing.completion import completion, explained
from warplab.assembler.editing.edited import EditedText
from warplab.assembler.editing.hover import hover
from warplab.assembler.editing.names import Named, Occurrence
from warplab.assembler.editing.outline import OutlinePart, folds, outline
from warplab.assembler.editing.pressure import live_hints

from .places import offset_of, position, range_of
from .session import PtxServer

SYMBOLS = {
    "kernel": lsp.SymbolKind.Function, "function": lsp.SymbolKind.Method, "variable": lsp.SymbolKind.Variable,
    "parameter": lsp.SymbolKind.Field, "label": lsp.SymbolKind.Key,
}  # fmt: skip
COMPLETIONS = {
    "opcode": lsp.CompletionItemKind.Keyword, "word": lsp.CompletionItemKind.EnumMember, "register": lsp.CompletionItemKind.Variable,
    "special": lsp.CompletionItemKind.Constant, "variable": lsp.CompletionItemKind.Field, "label": lsp.CompletionItemKind.Reference,
    "function": lsp.CompletionItemKind.Function, "directive": lsp.CompletionItemKind.Keyword, "type": lsp.CompletionItemKind.TypeParameter,
}  # fmt: skip
LEGEND = lsp.SemanticTokensLegend(list(colours.KINDS), ["declaration"])


def add_questions(out: PtxServer) -> None:
    """Answers them."""

    def asked(params: lsp.HoverParams | lsp.CompletionParams) -> tuple[EditedText, int]:
        edited = out.text(params.text_document.uri).edited
        return edited, offset_of(edited, params.position)

    def places(
        params: lsp.DefinitionParams | lsp.ReferenceParams | lsp.DocumentHighlightParams,
    ) -> tuple[EditedText, Named | None, list[Occurrence]]:
        edited = out.text(params.text_document.uri).edited
        at = edited.names.at(offset_of(edited, params.position))
        return edited, (at.named if at is not None else None), (edited.names.of(at.named) if at is not None else [])

    @out.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        one = out.text(params.text_document.uri)
        if one.is_cuda:
            text = one.compiled.hover(params.position.line + 1)
            return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text)) if text else None
        edited, offset = asked(params)
        found = hover(edited, offset)
        if found is None:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.markdown), range_of(edited, found.start, found.end))

    @out.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "%", "[", "@"], resolve_provider=True))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        if out.text(params.text_document.uri).is_cuda:
            return lsp.CompletionList(False, [])
        edited, offset = asked(params)
        found = completion(edited, offset)
        where = range_of(edited, found.start, offset)
        items = [
            lsp.CompletionItem(
                p.text, kind=COMPLETIONS[p.kind], detail=p.detail or None, filter_text=p.text, sort_text=f"{p.rank:03}{n:05}",
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, p.markdown) if p.markdown else None,
                text_edit=lsp.TextEdit(where, p.text), data="opcode" if p.kind == "opcode" else None,
            )
            for n, p in enumerate(found.found)
        ]  # fmt: skip
        return lsp.CompletionList(False, items)

    @out.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolved(item: lsp.CompletionItem) -> lsp.CompletionItem:
        if item.data == "opcode":
            item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, explained(item.label))
        return item

    @out.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> lsp.Location | None:
        edited, named, _ = places(params)
        if named is None or named.span.start < 0:
            return None
        return lsp.Location(params.text_document.uri, range_of(edited, named.span.start, named.span.end))

    @out.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        edited, _, found = places(params)
        wanted = [o for o in found if params.context.include_declaration or o.role != "declared"]
        return [lsp.Location(params.text_document.uri, range_of(edited, o.start, o.end)) for o in wanted]

    @out.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        edited, _, found = places(params)
        kinds = {
            "read": lsp.DocumentHighlightKind.Read,
            "written": lsp.DocumentHighlightKind.Write,
            "declared": lsp.DocumentHighlightKind.Text,
        }
        return [lsp.DocumentHighlight(range_of(edited, o.start, o.end), kinds[o.role]) for o in found]

    @out.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        one = out.text(params.text_document.uri)
        return [] if one.is_cuda else [_symbol(one.edited, p) for p in outline(one.edited)]

    @out.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        one = out.text(params.text_document.uri)
        comment = lsp.FoldingRangeKind.Comment
        return [
            lsp.FoldingRange(f.first, f.last, kind=comment if f.is_comment else None) for f in (() if one.is_cuda else folds(one.edited))
        ]

    @out.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        one = out.text(params.text_document.uri)
        return lsp.SemanticTokens([] if one.is_cuda else _encoded(one.edited, list(colours.tokens(one.edited))))

    @out.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    def coloured_in(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        one = out.text(params.text_document.uri)
        start, end = edited_lines(one.edited, params.range)
        return lsp.SemanticTokens([] if one.is_cuda else _encoded(one.edited, list(colours.tokens(one.edited, start, end))))

    @out.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        one = out.text(params.text_document.uri)
        if one.is_cuda:
            return []
        start, end = offset_of(one.edited, params.range.start), offset_of(one.edited, params.range.end)
        return [
            lsp.InlayHint(position(one.edited, h.offset), h.text, tooltip=h.names, padding_left=True)
            for h in live_hints(one.edited, start, end)
        ]


def edited_lines(edited: EditedText, where: lsp.Range) -> tuple[int, int]:
    """The whole lines of a range."""
    return edited.line(where.start.line)[0], edited.line(where.end.line)[1]


def _symbol(edited: EditedText, p: OutlinePart) -> lsp.DocumentSymbol:
    whole, name = range_of(edited, p.start, p.end), range_of(edited, p.name_start, p.name_end)
    return lsp.DocumentSymbol(p.name, SYMBOLS[p.kind], whole, name, p.detail, children=[_symbol(edited, inner) for inner in p.parts])


def _encoded(edited: EditedText, tokens: Sequence[colours.Token]) -> list[int]:
    """Five numbers for each token: lines and characters from the token before, its length, its kind, whether it declares."""
    out: list[int] = []
    line = character = 0
    for t in tokens:
        start, end = position(edited, t.start), position(edited, t.end)
        if start.line > line:
            character = 0
        out += (
            start.line - line,
            start.character - character,
            end.character - start.character,
            colours.KINDS.index(t.kind),
            int(t.declares),
        )
        line, character = start.line, start.character
    return out
