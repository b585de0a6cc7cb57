"""What patterns mean: in one scope, or in all that declare the same ranges of registers."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import numpy as np

from .ir import Function, Variable
from .nest import enter
from .patterns import DOUBLE, EXAMPLES, LARGE, NAME, NUMBER, REGISTER, SINGLE, VARIABLE, Patterns
from .recipes import Recipe, call_of, declaration_of, lead_of, recipe_of
from .words import COMMON, NAMES, Unreadable, Words, hidden

if TYPE_CHECKING:
    from .scopes import Scope

_MOST = 1 << 16  # patterns remembered, more than any text has


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
        self[""] = None  # not empty any more: it has begun

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
    rf"@!?{_REGISTER}|{_REGISTER}\|{_REGISTER}|\{{?(?:-?{_REGISTER}|-?[{NUMBER}{LARGE}]|0[fF]{SINGLE}|0[dD]{DOUBLE}|_)\}}?"
    rf"|\[(?:{_REGISTER}|{VARIABLE}[\w:]+{VARIABLE})(?:\+-?[{NUMBER}{LARGE}])?\]|{VARIABLE}[\w:]+{VARIABLE}|\${NAME}"
)
_SHARED: dict[frozenset[tuple[str, str]], dict[str, Recipe]] = {}
_USUAL: dict[str, str] = {}  # the types of ranges, as somebody declared them first
_MOST_RANGES = 256


def shared(scope: Scope) -> dict[str, Recipe]:
    """What statements mean in all scopes that declare ranges of registers as this one does."""
    if len(scope.stems) > _MOST_RANGES or hidden(scope):
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
