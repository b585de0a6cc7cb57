"""Reads stretches of plain statements by their patterns alone: a look-up or two for each statement, nothing for its nodes."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from .chunks import Chunk, Recipe
from .ir import Label, Variable
from .patterns import DOUBLE, EXAMPLES, NAME, NUMBER, REGISTER, SINGLE, VARIABLE, Patterns
from .statements import HEADS
from .words import COMMON, KINDS, LABEL, LOCATION, NAMING, Unreadable, Words, hidden

if TYPE_CHECKING:
    from .scopes import Scope
    from .statements import Statements

_NAME_OF_LABEL = re.compile(r"\s*([A-Za-z][\w$]*|[_$%][\w$]+):", re.ASCII)
_MOST = 1 << 16  # shapes remembered, more than any text has
FIRST, LARGEST = 64, 1 << 12  # statements of a window
WORTH = 8  # statements from which on a chunk costs less than reading them one by one


_RECIPES: dict[str, Recipe | None] = {}


def recipe_of(shape: str) -> Recipe | None:
    """What a shape means; None for what is better read by the grammar."""
    try:
        return _RECIPES[shape]
    except KeyError:
        made = _recipe(shape)
        if len(_RECIPES) < _MOST:
            _RECIPES[shape] = made
        return made


def _recipe(shape: str) -> Recipe | None:
    words = shape.split(" ")
    i, labels, locations = 0, [], []
    while words[i] in (LABEL, LOCATION):
        if words[i] == LABEL:
            labels.append(i)
            i += 1
        elif words[i + 1 : i + 4] == ["#int"] * 3:
            locations.append(i)
            i += 4
        else:
            return None
        if i == len(words):
            return None
    guard = i if words[i][0:1] == "@" else -1
    i += guard >= 0
    head = HEADS.get(words[i]) if i < len(words) else None
    if head is None:
        return None
    made = Recipe(shape, head, i + 1, tuple(labels), tuple(locations), guard, words[guard][1:2] == "!")
    operands = words[i + 1 :]
    if operands and (operands[1::2] != [","] * (len(operands) // 2) or len(operands) % 2 == 0):
        return None
    groups: list[slice] = []
    begun = -1
    for n in range(0, len(operands), 2):
        word = operands[n]
        if word.removeprefix("{").removesuffix("}") not in KINDS or (word[0] == "{" and begun >= 0):
            return None
        if word[0] == "{":
            begun = n
        if begun < 0 or word[-1] == "}":
            if word[-1] == "}" and begun < 0:
                return None
            groups.append(slice(i + 1 + (n if begun < 0 else begun), i + 2 + n, 2))
            begun = -1
    if begun >= 0:
        return None
    made.naming = tuple([i + 1 + n for n, word in enumerate(operands) if word.strip("{}") in NAMING])
    if any("{" in word for word in operands):
        made.vectors = tuple(groups)
        made.plain = False
    return made


def tokens_of(text: str) -> list[str]:
    """What stands between blanks; a comma or semicolon is a token."""
    return text.replace(",", " , ").replace(";", " ; ").split()


class Known(dict[str, Recipe | None]):
    """What the statements of one scope mean that mean it there alone: by their patterns, or by their texts where only those tell."""

    __slots__ = ("counts", "scope", "shared", "words")

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def start(self, patterns: Patterns) -> None:
        """Begins anew, with what the scope declares now."""
        stems = self.scope.stems
        self.words: Words | None = None
        self.counts = np.array([stems[s].count if s in stems else 0 for s in patterns.stems], np.int64)
        self.shared = shared(self.scope)
        self[""] = None

    def unusual(self, text: str) -> Recipe | None:
        """What a statement means that has a name in it, or is met for the first time; None for what is better read by the grammar."""
        if text.lstrip()[:1] in "{}." and ".loc" not in text:
            return None
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

    def learn(self, text: str, general: str) -> Recipe | None:
        """Finds out what a statement means; `general` has the kind of a variable in the place of its name."""
        words = self.words
        if words is None:
            words = self.words = Words(self.scope)
        try:
            recipe = recipe_of(" ".join([words[t] for t in tokens_of(text.translate(EXAMPLES))]))
        except Unreadable:
            recipe = None
        if recipe is None or len(self.shared) >= _MOST or not all(t in COMMON or _ANYWHERE.fullmatch(t) for t in tokens_of(general)):
            self[text] = recipe
        else:
            self.shared[general] = recipe
        return recipe


_NAMED = re.compile(r"[\[ \t]([A-Za-z_$][\w$]+)(?:$|[\]+,])")
# Tokens that mean the same in all scopes that declare the same ranges of registers.
_REGISTER = rf"%[a-z]+{REGISTER}"
_ANYWHERE = re.compile(
    rf"@!?{_REGISTER}|{_REGISTER}\|{_REGISTER}|\{{?(?:-?{_REGISTER}|-?{NUMBER}|0[fF]{SINGLE}|0[dD]{DOUBLE}|_)\}}?"
    rf"|\[(?:{_REGISTER}|{VARIABLE}[\w:]+{VARIABLE})(?:\+-?{NUMBER})?\]|{VARIABLE}[\w:]+{VARIABLE}|\${NAME}:?"
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
        self.closing = -1  # where the body ends, or a block in it,
        self.last = 0  # and the number of the stretch that does not end before
        self.pause = 0  # how often to leave it be, where there is little between unusual statements,
        self.left = 0  # and how often still

    def read(self, pos: int) -> int:
        """Reads the plain statements that stand at an offset; tells where they end."""
        if self.left:
            self.left -= 1
            return pos
        source, scope = self.source, self.body.scope
        ends, texts = source.ends, source.patterns.texts
        if self.closing < pos:
            self.closing = self.code.find("\n}", pos)
            self.closing = len(self.code) if self.closing < 0 else self.closing
            self.last = source.piece(self.closing)
        known = scope.words
        if not isinstance(known, Known):
            known = scope.words = Known(scope)
        if not known:
            known.start(source.patterns)
        first = k = source.piece(pos)
        recipes: list[Recipe] = []
        size, begin = FIRST, pos
        while k < self.last:
            stop = min(self.last, k + size)
            window = texts[k:stop]
            if k == first:
                window[0] = self.rest(k, pos)
            found = self.window(known, window, k, begin, ends[stop - 1])
            recipes += found
            if len(found) < stop - k:
                break
            k, size, begin = stop, min(4 * size, LARGEST), ends[stop - 1] + 1
        self.left = self.pause = 0 if len(recipes) > WORTH else min(64, 2 * self.pause + 1)
        return self.chunk(pos, first, recipes) if recipes else pos

    def rest(self, k: int, pos: int) -> str:
        """The pattern of what is left of a stretch."""
        source = self.source
        start = source.ends[k - 1] + 1 if k else 0
        if start == pos or self.code[start:pos].isspace():
            return source.patterns.texts[k]
        return source.patterns.rest(k, start, pos)

    def window(self, known: Known, texts: list[str], k: int, begin: int, end: int) -> list[Recipe]:
        """What a number of statements mean, up to the first one that is not plain; their patterns do not matter any more then."""
        source, patterns = self.source, self.source.patterns
        lo, hi = patterns.at.searchsorted((begin, end)).tolist()
        undeclared = patterns.number[lo:hi] >= known.counts[patterns.stem[lo:hi]]
        bare = {source.piece(at) - k for at in patterns.at[lo:hi][undeclared].tolist()} if undeclared.any() else set()
        labels = self.labels(k, begin, end, bare)
        found: list[Recipe | None] = list(map(known.shared.get, texts))
        for i in bare:
            found[i] = None
        for i in [i for i, recipe in enumerate(found) if recipe is None]:
            text = texts[i]
            if i in bare:
                text = self.code[source.ends[k + i - 1] + 1 if i else begin : source.ends[k + i]]
            recipe = known[text] if text in known else known.unusual(text)
            if recipe is None:
                del found[i:]
                break
            found[i] = recipe
        if labels:
            scope, stop = known.scope, source.ends[k + len(found) - 1] if found else begin
            for at, name in labels:
                if at < stop:
                    scope.unknown(name)
        return found  # type: ignore[return-value]

    def labels(self, k: int, begin: int, end: int, bare: set[int]) -> list[tuple[int, str]]:
        """The labels that are named and nowhere declared so far; adds the statements that name something else to the bare ones."""
        found = []
        names, scope, code = self.source.patterns.names, self.body.scope, self.code
        assert scope.parent is not None
        own, outer = scope.names, scope.parent.names
        for at, to in names[bisect_left(names, (begin,)) : bisect_left(names, (end,))]:
            name = code[at:to]
            known = own.get(name)
            if code[to] == ":" or known.__class__ is Label:
                continue
            if known is None and name not in outer:
                found.append((at, name))
            else:
                bare.add(self.source.piece(at) - k)
        return found

    def chunk(self, pos: int, first: int, recipes: list[Recipe]) -> int:
        """Puts a chunk into the body; tells where it ends."""
        body = self.body
        chunk = Chunk(self.source, body.scope, pos, first, recipes)
        labelled = {recipe for recipe in chunk.kinds if recipe.labels}
        if labelled:
            for i in [i for i, recipe in enumerate(recipes) if recipe in labelled]:
                at = chunk.text(i)[1]
                while m := _NAME_OF_LABEL.match(self.code, at):
                    body.declare_label(m)
                    at = m.end()
        body.scope.chunks.append(chunk)
        body.statements.append(chunk)  # type: ignore[arg-type]
        return self.source.ends[first + len(recipes) - 1] + 1
