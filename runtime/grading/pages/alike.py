"""Which submissions are alike: by their tokens, so that layout, comments and other names do not hide it, and less what all were given.

Two files are the same up to names if their tokens are, where each name is replaced by the number of its first use.  They are similar
if most runs of `RUN` tokens of the shorter one are in the other one, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...sources import PTX
from ..lab import Submission

RUN = 12  # tokens
LEAST = 60  # runs of its own that a file needs to be called similar: short solutions are alike without having been copied
SHARE = 0.8  # of the runs of the shorter file
_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?P<name>%?[A-Za-z_$][\w$]*)|(?P<number>\.?\d[\w.]*)|(?P<sign>\.[a-z]\w*|<<=?|>>=?|[-+*/%&|^!=<>]=|&&|\|\||\+\+|--|\S)""",
    re.S,
)
# Words that mean something: C++ and CUDA; of PTX, what follows a dot, and opcodes, which stand before one.
_WORDS = frozenset(
    "__global__ __device__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads __syncwarp __threadfence threadIdx blockIdx blockDim gridDim "
    "if else for while do switch case default break continue return const unsigned int float double long short char bool void "
    "struct auto static inline "
    "template typename sizeof asm volatile true false atomicAdd atomicInc atomicCAS atomicExch atomicMax atomicMin min max".split()
)


@dataclass(frozen=True, slots=True)
class Alike:
    """Submissions that are alike, and how much of the shorter one is in the other."""

    names: tuple[str, ...]
    share: float
    how: str  # identical, renamed, similar


@dataclass(frozen=True, slots=True)
class _TokenText:
    tokens: tuple[str, ...]
    numbered: tuple[str, ...]  # each name as the number of its first use
    runs: frozenset[tuple[str, ...]]  # of tokens in which all names are one


def alike(submissions: Sequence[Submission], given: Sequence[Submission] = ()) -> list[Alike]:
    """Groups that are the same, and pairs of them that are similar, the most alike first; what is `given`, as a starter is, does not count."""
    handed_out = [_text(s.files) for s in given]
    common = frozenset[tuple[str, ...]]().union(*(text.runs for text in handed_out))
    starters = {text.tokens for text in handed_out}
    groups: dict[tuple[str, ...], dict[str, _TokenText]] = {}
    for s in submissions:
        text = _text(s.files)
        if text.tokens and text.tokens not in starters:
            groups.setdefault(text.numbered, {})[s.name] = text
    out = [
        Alike(tuple(group), 1.0, "identical" if len({text.tokens for text in group.values()}) == 1 else "renamed")
        for group in groups.values() if len(group) > 1
    ]  # fmt: skip
    own = {next(iter(group)): next(iter(group.values())).runs - common for group in groups.values()}
    for (a, x), (b, y) in combinations(own.items(), 2):
        least = min(len(x), len(y))
        if least >= LEAST and len(x & y) >= SHARE * least:
            out.append(Alike((a, b), len(x & y) / least, "similar"))
    return sorted(out, key=lambda found: (-found.share, ["identical", "renamed", "similar"].index(found.how)))


def unchanged(submissions: Sequence[Submission], given: Sequence[Submission]) -> list[str]:
    """Submissions that are a starter as it was handed out."""
    starters = {_text(s.files).tokens for s in given}
    return [s.name for s in submissions if _text(s.files).tokens in starters]


def _text(files: Mapping[str, bytes]) -> _TokenText:
    tokens: list[str] = []
    numbered: list[str] = []
    shapes: list[str] = []
    numbers: dict[str, int] = {}
    for file, data in sorted(files.items()):
        text = data.decode(errors="replace")
        for match in _TOKEN.finditer(text):
            word = match[0]
            if word.startswith(("//", "/*")):
                continue
            tokens.append(word)
            opcode = file.endswith(PTX) and text[match.end() : match.end() + 1] == "."
            free = match["name"] is not None and word not in _WORDS and not opcode
            numbered.append(f"#{numbers.setdefault(word, len(numbers))}" if free else word)
            shapes.append("#" if free else word)
    runs = frozenset(tuple(shapes[n : n + RUN]) for n in range(len(shapes) - RUN + 1))
    return _TokenText(tuple(tokens), tuple(numbered), runs)
