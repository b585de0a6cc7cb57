"""Reads stretches of plain statements by the kinds of their tokens alone: a few look-ups for each statement, nothing for its nodes."""

from __future__ import annotations

import itertools
import re
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from .chunks import Chunk, Recipe
from .statements import HEADS
from .words import KINDS, LABEL, LOCATION, NAMING, Unreadable, Words

if TYPE_CHECKING:
    from .statements import Statements

_NAME_OF_LABEL = re.compile(r"\s*([A-Za-z][\w$]*|[_$%][\w$]+):", re.ASCII)
_MOST = 1 << 16  # shapes remembered, more than any text has
LARGEST = 1 << 16  # characters of a window
WORTH = 200  # characters from which on a chunk costs less than its statements one by one
BETWEEN = frozenset(" \t\r\n\f\v;,")  # what stands before a token


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


class Reader:
    """Reads the chunks of one body, a window of the text after the other."""

    def __init__(self, body: Statements) -> None:
        self.body = body
        self.code = body.code
        self.closing = -1  # where the body ends, or a block in it
        self.stop = -1  # where the window ends
        self.pos = 0  # where a statement of the window begins,
        self.index = 0  # and with which of its tokens
        self.tokens: list[str] = []
        self.ahead = iter(self.tokens)  # those that have not been looked at,
        self.next = 0  # from this one on
        self.pause = 0  # how often to leave it be, where there is little between unusual statements,
        self.left = 0  # and how often still

    def read(self, pos: int) -> int:
        """Reads the plain statements that stand at an offset; tells where they end."""
        if self.left:
            self.left -= 1
            return pos
        if self.closing < pos:
            self.closing = self.code.find("\n}", pos)
            self.closing = len(self.code) if self.closing < 0 else self.closing
        begin, many = pos, False
        while self.turn(pos):
            pos, before = self.chunk(pos), pos
            many = many or pos - begin > WORTH
            if pos < self.stop or pos == before:
                break
        self.left = self.pause = 0 if many else min(64, 2 * self.pause + 1)
        return pos

    def turn(self, pos: int) -> bool:
        """Turns to the tokens at an offset; False where no statement ends before the body does."""
        code = self.code
        if self.pos <= pos < self.stop and code[pos - 1] in BETWEEN:
            index = self.index + len(tokens_of(code[self.pos : pos]))
            if index >= self.next:
                deque(itertools.islice(self.ahead, index - self.next), 0)
                self.index = self.next = index
                self.pos = pos
                return True
        self.stop = code.rfind(";", pos, min(self.closing, pos + LARGEST)) + 1
        self.pos = pos
        self.index = self.next = 0
        self.tokens = tokens_of(code[pos : self.stop])
        self.ahead = iter(self.tokens)
        return self.stop > pos

    def chunk(self, pos: int) -> int:
        """Reads from the tokens ahead; tells where that ends."""
        body = self.body
        source, scope = body.source, body.scope
        known = scope.words
        if not isinstance(known, Words):
            known = scope.words = Words(scope)
        if not known:
            known.start(self.closing - pos)
        words: list[str] = []
        self.next += 1  # an unreadable token is taken as well
        with suppress(Unreadable):
            words.extend(map(known.__getitem__, self.ahead))
            self.next -= 1
        self.next += len(words)
        shapes = " ".join(words).split(" ; ")
        if shapes[-1].endswith(" ;"):
            shapes[-1] = shapes[-1][:-2]
        else:
            shapes.pop()
        recipes: dict[str, Recipe] = {}
        unknown: set[str] = set()
        for shape in set(shapes):
            recipe = recipe_of(shape)
            if recipe is None:
                unknown.add(shape)
            else:
                recipes[shape] = recipe
        if unknown:
            del shapes[next(i for i, s in enumerate(shapes) if s in unknown) :]
            recipes = {s: recipes[s] for s in set(shapes)}
        if not shapes:
            return pos
        shapes = [recipes[s].shape for s in shapes]  # one object each, so that a big module stays small
        chunk = Chunk(source, scope, pos, source.piece(pos), shapes, recipes)
        labelled = {s for s, r in recipes.items() if r.labels}
        if labelled:
            for i in [i for i, s in enumerate(shapes) if s in labelled]:
                at = chunk.text(i)[1]
                while m := _NAME_OF_LABEL.match(self.code, at):
                    body.declare_label(m)
                    at = m.end()
        scope.chunks.append(chunk)
        body.statements.append(chunk)  # type: ignore[arg-type]
        return int(source.ends[chunk.first + len(shapes) - 1]) + 1
