"""Reads stretches of plain statements by their patterns alone: a look-up or two for each statement, nothing for its nodes."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from .chunks import Chunk, enter
from .ir import Function, Label, Variable
from .patterns import DOUBLE, EXAMPLES, NAME, NUMBER, REGISTER, SINGLE, VARIABLE, Patterns
from .recipes import Recipe, call_of, declaration_of, items, lead_of, recipe_of
from .words import COMMON, NAMES, Unreadable, Words, hidden

if TYPE_CHECKING:
    from .scopes import Scope
    from .statements import Statements

_MOST = 1 << 16  # patterns remembered, more than any text has
FIRST, LARGEST = 64, 1 << 10  # statements of a window
WORTH = 8  # statements from which on a chunk costs less than reading them one by one


def tokens_of(text: str) -> list[str]:
    """What stands between blanks; a comma is a token."""
    return text.replace(",", " , ").split()


class Known(dict[str, Recipe | None]):
    """What the statements of one scope mean that mean it there alone: by their patterns, or by their texts where only those tell.

    A statement in a block is known by what the block declares, and itself.
    """

    __slots__ = ("counts", "scope", "shared", "words")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def start(self, patterns: Patterns) -> None:
        """Begins anew, with what the scope declares now."""
        stems = self.scope.stems
        self.words: dict[str, Words] = {}  # by what a block declares
        self.counts = np.array([stems[s].count if s in stems else 0 for s in patterns.stems], np.int64)
        self.shared = shared(self.scope)
        self[""] = None

    def unusual(self, text: str, block: str) -> Recipe | None:
        """What a statement means that has a name in it, or is met for the first time; None for what is better read by the grammar."""
        if block:
            key = block + text
            recipe = self.shared.get(key)
            return recipe if recipe is not None else self[key] if key in self else self.learn(text, key, block)
        if text in self:
            return self[text]
        scope = self.scope
        m = _NAMED.search(text)
        if m is None:
            return self.learn(text, text)
        name = m[1]
        variable = scope.names.get(name)
        if variable is None and scope.parent is not None:
            variable = scope.parent.names.get(name)
            if variable.__class__ is Variable:
                scope.outer[name] = variable
        if variable.__class__ is not Variable:
            return self.learn(text, text)
        general = f"{text[: m.start(1)]}{VARIABLE}{variable.space}:{variable.type.name}{VARIABLE}{text[m.end(1) :]}"
        recipe = self.shared.get(general)
        return self.learn(text, general) if recipe is None else recipe

    def learn(self, text: str, general: str, block: str = "") -> Recipe | None:
        """Finds out what a statement means; `general` has the kind of a variable in the place of its name."""
        example = text.translate(EXAMPLES)
        lead, at = lead_of(example)
        rest = example[at:].strip()
        recipe = None
        everywhere = len(self.shared) < _MOST
        if rest.startswith("call"):
            everywhere = False
            recipe = self.call(lead, rest, block)
        elif rest.startswith((".reg", ".param")):
            recipe = declaration_of(lead, rest)
            if recipe is not None and not NAMES.keys().isdisjoint(recipe.declares):
                recipe = None
        elif rest[:1] not in ("", "."):
            words = self.words.get(block)
            if words is None:
                words = self.words[block] = Words(self.within(block) if block else self.scope)
            try:
                recipe = recipe_of(lead, " ".join([words[t] for t in tokens_of(rest)]))
            except Unreadable:
                recipe = None
            if recipe is not None and everywhere:
                tokens = tokens_of(general[len(block) :])[-len(tokens_of(rest)) :]
                tokens[0] = tokens[0].lstrip("{}")
                own = declared(block)
                everywhere = all(t in COMMON or _ANYWHERE.fullmatch(t) or t.strip("@!{}[]").partition("+")[0] in own for t in tokens)
                everywhere = everywhere and general.count(f"${NAME}:") == lead.count("L")
        if recipe is not None and everywhere:
            self.shared[general] = recipe
        else:
            self[general if block else text] = recipe
        return recipe

    def call(self, lead: str, text: str, block: str) -> Recipe | None:
        """What a call means of a function that is declared, with what the block declares."""
        scope, found = self.scope, call_of(lead, text)
        if found is None or not declared(block).issuperset(found[2]):
            return None
        name = found[1]
        function = scope.names.get(name)
        if function is None and scope.parent is not None and name not in declared(block):
            function = scope.parent.names.get(name)
            if isinstance(function, Function):
                scope.outer[name] = function
        return found[0] if isinstance(function, Function) else None

    def within(self, block: str) -> Scope:
        """A scope like that of a block that declares this."""
        made = self.scope.aside(block)
        made.blocks = 1
        for text in block.split("\0")[:-1]:
            enter(made, text + ";", 0, None)
        return made


@functools.lru_cache(maxsize=4096)
def declared(block: str) -> frozenset[str]:
    """The names that a block's declarations declare."""
    found = [declaration_of("", text) for text in block.split("\0")[:-1]]
    return frozenset(name for recipe in found if recipe is not None for name in recipe.declares)


# Tokens that mean the same in all scopes that declare the same ranges of registers.
_NAMED = re.compile(r"[\[ \t]([A-Za-z_$][\w$]+)(?:$|[\]+,])")
_REGISTER = rf"%[a-z]+{REGISTER}"
_ANYWHERE = re.compile(
    rf"@!?{_REGISTER}|{_REGISTER}\|{_REGISTER}|\{{?(?:-?{_REGISTER}|-?{NUMBER}|0[fF]{SINGLE}|0[dD]{DOUBLE}|_)\}}?"
    rf"|\[(?:{_REGISTER}|{VARIABLE}[\w:]+{VARIABLE})(?:\+-?{NUMBER})?\]|{VARIABLE}[\w:]+{VARIABLE}|\${NAME}"
)
_SHARED: dict[frozenset[tuple[str, str]], dict[str, Recipe]] = {}
_USUAL: dict[str, str] = {}  # the types of ranges, as somebody declared them first
_MOST_RANGES = 256


def shared(scope: Scope) -> dict[str, Recipe]:
    """What statements mean in all scopes that declare ranges of registers as this one does."""
    if hidden(scope):
        return {}
    unusual = []
    for stem, entry in scope.stems.items():
        usual = _USUAL.get(stem)
        if usual is None and len(_USUAL) < _MOST_RANGES:
            _USUAL[stem] = entry.word
        elif usual != entry.word:
            unusual.append((stem, entry.word))
    key = frozenset(unusual)
    known = _SHARED.get(key)
    if known is None:
        known = {}
        if len(_SHARED) < _MOST_RANGES:
            _SHARED[key] = known
    return known


class Reader:
    """Reads the chunks of one body."""

    def __init__(self, body: Statements) -> None:
        self.body = body
        self.source = body.source
        self.code = body.code
        self.closing = -1  # where the body ends, or seems to end,
        self.last = 0  # and the number of the stretch that does not end before
        self.pause = 0  # how often to leave it be, where there is little between unusual statements,
        self.left = 0  # and how often still
        self.first = 0  # the stretch where the chunk begins that is being read
        self.recipes: list[Recipe] = []  # what it holds so far
        self.opened = -1  # the stretch where its open block begins,
        self.block = ""  # and what that declares
        self.unknown: list[tuple[int, str]] = []  # labels that nothing has declared so far, and where they are named

    def read(self, pos: int) -> int:
        """Reads the plain statements that stand at an offset; tells where they end."""
        if self.left:
            self.left -= 1
            return pos
        source, scope = self.source, self.body.scope
        ends, texts = source.ends, source.patterns.texts
        if self.closing < pos:
            self.closing = self.code.find("\n\n}", pos)
            self.closing = len(self.code) if self.closing < 0 else self.closing
            self.last = source.piece(self.closing)
        known = scope.words
        if not isinstance(known, Known):
            known = scope.words = Known(scope)
        if not known:
            known.start(source.patterns)
        self.first = k = source.piece(pos)
        self.recipes, self.unknown, self.opened, self.block = [], [], -1, ""
        size, begin, stop = FIRST, pos, k
        while k < self.last and k == stop:
            stop = min(self.last, k + size)
            window = texts[k:stop]
            if k == self.first:
                window[0] = self.rest(k, pos)
            k = self.window(known, window, k, begin, ends[stop - 1])
            size, begin = min(4 * size, LARGEST), ends[stop - 1] + 1
        self.left = self.pause = 0 if k - self.first > WORTH else min(64, 2 * self.pause + 1)
        end = self.cut(k)
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
