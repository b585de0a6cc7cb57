"""Reads stretches of plain statements by their patterns alone: a look-up or two for each statement, nothing for its nodes."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from .chunks import Chunk
from .ir import Label
from .known import Known, declared
from .recipes import Recipe, declaration_of, items

if TYPE_CHECKING:
    from .statements import Statements

FIRST, LARGEST = 64, 1 << 10  # statements of a window
WORTH = 8  # statements from which on a chunk costs less than reading them one by one


class Reader:
    """Reads the chunks of one body."""

    def __init__(self, body: Statements) -> None:
        self.body = body
        self.source = body.source
        self.code = body.code
        self.pause = 0  # how often to leave it be, where there is little between unusual statements,
        self.left = 0  # and how often still
        self.first = 0  # the stretch where the chunk begins that is being read
        self.recipes: list[Recipe] = []  # what it holds so far
        self.opened = -1  # the stretch where its open block begins,
        self.block = ""  # and what that declares
        self.unknown: list[tuple[int, str]] = []  # labels that nothing has declared so far, and where they are named

    def read(self, pos: int) -> int:
        """Reads the plain statements that stand at an offset; tells where they end."""
        source, scope = self.source, self.body.scope
        assert scope.parent is not None
        if self.left or scope.parent.stems or scope.parent.registers:  # a module with registers is wrong, or very old
            self.left -= self.left > 0
            return pos
        ends, texts = source.ends, source.patterns.texts
        last = source.last(pos)
        known = scope.words
        if not isinstance(known, Known):
            known = scope.words = Known(scope)
        if not known:
            known.start(source.patterns)
        self.first = k = source.piece(pos)
        self.recipes, self.unknown, self.opened, self.block = [], [], -1, ""
        size, begin, stop = FIRST, pos, k
        while k < last and k == stop:
            stop = min(last, k + size)
            window = texts[k:stop]
            if k == self.first:
                window[0] = self.rest(k, pos)
            k = self.window(known, window, k, begin, ends[stop - 1])
            size, begin = min(4 * size, LARGEST), ends[stop - 1] + 1
        self.left = self.pause = 0 if k - self.first > WORTH else min(64, 2 * self.pause + 1)
        end = self.cut(k) if self.recipes else pos
        return self.chunk(pos, end) if self.recipes else pos

    def rest(self, k: int, pos: int) -> str:
        """The pattern of what is left of a stretch."""
        source = self.source
        start = source.ends[k - 1] + 1 if k else 0
        if start == pos or self.code[start:pos].isspace():
            return source.patterns.texts[k]
        return source.patterns.rest(k, start, pos)

    def window(self, known: Known, texts: list[str], k: int, begin: int, end: int) -> int:
        """Takes in a number of statements, up to the first one that is not plain; tells which comes next."""
        source, patterns = self.source, self.source.patterns
        lo, hi = patterns.at.searchsorted((begin, end)).tolist()
        undeclared = patterns.number[lo:hi] >= known.counts[patterns.stem[lo:hi]]
        bare = {source.piece(at) - k for at in patterns.at[lo:hi][undeclared].tolist()} if undeclared.any() else set()
        self.labels(k, begin, end, bare)
        found: list[Recipe | None] = list(map(known.shared.get, texts))
        for i in bare:
            found[i] = None
        turns = [i for i, recipe in enumerate(found) if recipe is None or recipe.turns]
        i = 0 if self.opened >= 0 or not turns else turns[0]
        while turns and i < len(found):
            text, recipe = texts[i], found[i]
            if recipe is None:
                if i in bare:
                    text = self.code[source.ends[k + i - 1] + 1 if i else begin : source.ends[k + i]]
                block = "" if self.opened < 0 or text.lstrip()[:1] in "{}" else self.block
                recipe = None if block and i in bare else known.unusual(text, block)
            if recipe is not None and recipe.declares:  # how large something is, and where it may lie, only the text tells
                recipe = self.declaration(recipe, source.ends[k + i - 1] + 1 if i else begin, source.ends[k + i])
            if recipe is None or not self.fits(recipe, k + i):
                break
            found[i] = recipe
            i += 1
            if self.opened < 0:
                n = bisect_left(turns, i)
                i = turns[n] if n < len(turns) else len(found)
        else:
            i = len(found)
        self.recipes += found[:i]  # type: ignore[arg-type]
        return k + i

    def declaration(self, recipe: Recipe, start: int, end: int) -> Recipe | None:
        """The recipe of a declaration with its numbers."""
        for m in items(self.code, start):
            start = m.end()
        return declaration_of(recipe.lead, self.code[start:end].strip())

    def fits(self, recipe: Recipe, k: int) -> bool:
        """Notes what a statement does to blocks; False for what the chunk cannot have here."""
        lead = recipe.lead
        opened, block = self.opened, self.block
        if "}" in lead:
            if opened < 0:
                return False
            opened, block = -1, ""
        if "{" in lead:
            if opened >= 0:
                return False
            opened, block = k, ""
        if opened < 0 and recipe.declares:
            return False
        if opened >= 0:
            if recipe.jumps or ("L" in lead and "{" not in lead):
                return False
            if recipe.declares:
                if not declared(block).isdisjoint(recipe.declares):
                    return False
                block += recipe.shape + "\0"
        self.opened, self.block = opened, block
        return True

    def cut(self, k: int) -> int:
        """Ends the chunk before a stretch, or before the block that it would leave open; tells the offset where that is."""
        ends = self.source.ends
        if self.opened >= 0:
            start = ends[k - 1] + 1
            at = self.source.skip(start)
            if self.code[at : at + 1] != "}":
                k = self.opened
                if self.recipes[k - self.first].lead[:1] != "}":
                    self.opened = -1
                start = ends[k - 1] + 1 if k else 0
                at = self.source.skip(start)
        del self.recipes[k - self.first :]
        return at + 1 if self.opened >= 0 else ends[k - 1] + 1

    def labels(self, k: int, begin: int, end: int, bare: set[int]) -> None:
        """Notes the labels that are named and nowhere declared so far; adds the statements that name something else to the bare ones."""
        names, scope, code = self.source.patterns.names, self.body.scope, self.code
        assert scope.parent is not None
        own, outer = scope.names, scope.parent.names
        for at, to in names[bisect_left(names, (begin,)) : bisect_left(names, (end,))]:
            name = code[at:to]
            known = own.get(name)
            if code[to] == ":" or known.__class__ is Label or code[at - 14 : at - 1] == "function_name":
                continue
            if known is None and name not in outer:
                self.unknown.append((at, name))
            else:
                bare.add(self.source.piece(at) - k)

    def chunk(self, pos: int, end: int) -> int:
        """Puts a chunk into the body; tells where it ends."""
        body, recipes = self.body, self.recipes
        chunk = Chunk(self.source, body.scope, pos, end, self.first, recipes)
        for at, name in self.unknown:
            if at < end:
                body.scope.unknown(name)
        labelled = {recipe for recipe in chunk.kinds if "L" in recipe.lead}
        if labelled:
            for i in [i for i, recipe in enumerate(recipes) if recipe in labelled]:
                for m in items(self.code, chunk.span(i)[0]):
                    if m[2]:
                        body.declare_label(m[2], m.start(2))
        body.scope.chunks.append(chunk)
        body.statements.append(chunk)  # type: ignore[arg-type]
        return end
