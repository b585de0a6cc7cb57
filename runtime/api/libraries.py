"""Reads the tables of libraries that programs call beside CUDA itself, such as cublas.txt: C functions of which warplab has stand-ins.

    PARAMETER ... | NAME ...

A parameter is written as in table.py.  The type `len` is i32, and i64 in the twin of the function whose name ends with _64.  A list in a name
stands for each of its words: `cublas[S D]axpy_v2`.  Functions behind `-` exist, and are refused.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path

from .table import CForm

LENGTH = ":len"


@cache
def functions(library: str) -> tuple[CForm, ...]:
    """All functions of a library."""
    out = []
    for line in Path(__file__).with_name(f"{library}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text, _, names = line.partition("|")
        for word in re.findall(r"(?:\[[^]]*\]|\S)+", names):
            for name in spelled(word):
                out.append(CForm(name, 0, text.strip().replace(LENGTH, ":i32")))
                if LENGTH in text:
                    out.append(CForm(f"{name}_64", 0, text.strip().replace(LENGTH, ":i64")))
    return tuple(out)


def spelled(word: str) -> list[str]:
    """The names that a word with lists stands for."""
    parts = [part.split() if n % 2 else [part] for n, part in enumerate(re.split(r"\[([^]]*)\]", word))]
    return ["".join(p) for p in itertools.product(*parts)]
