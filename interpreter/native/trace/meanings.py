"""A row's meaning, called with symbols."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from warplab.isa.notation import Form

from . import functions  # noqa: F401  fills FUNCTIONS
from .code import Code
from .rules import MEANINGS
from .symbol import Symbol, lift


def traced(code: Code, form: Form, settled: Mapping[str, str | bool], operands: Sequence[Any], **words: Any) -> tuple[Symbol | None, ...]:
    """The results of a pure row on symbols of a piece of code, which grows by what the row does."""
    meaning = form.bind(settled)
    plain = meaning.func if isinstance(meaning, functools.partial) else meaning
    if plain in MEANINGS:
        words = {**(meaning.keywords if isinstance(meaning, functools.partial) else {}), **words}
        meaning, words = MEANINGS[plain], _asked(MEANINGS[plain], words)
    result = meaning(*operands, **words)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(r if r is None or isinstance(r, Symbol) else lift(code, r, r.dtype, code.width) for r in results)


def _asked(meaning: Any, words: dict[str, Any]) -> dict[str, Any]:
    """The keywords of a plain meaning, which has no defaults."""
    return {"ftz": words.get("ftz", False)} if "ftz" in meaning.__code__.co_varnames else {}
