"""`// XFAIL:`, `// REQUIRES:` and `// UNSUPPORTED:` lines, as LLVM's lit has them: conditions on where a file's tests run.

A condition is made of features with !, && and ||, several are separated by commas; `*` is always true.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from ..compilers import is_installed
from ..errors import UsageError

_LINE = re.compile(r"^\s*//\s*(XFAIL|REQUIRES|UNSUPPORTED):\s*(.*?)\s*$", re.M)
_TOKEN = re.compile(r"\s*(&&|\|\||[!()*]|[\w.-]+)")


class Expectation(NamedTuple):
    """What the lines of a file say, here."""

    skipped: str = ""  # why its tests do not run
    fails: str = ""  # why they are expected to fail


def _features(gpu: bool) -> dict[str, Callable[[], bool]]:
    """Each feature, and whether it is there."""
    return {
        "gpu": lambda: gpu,
        "cuda": is_installed,  # a compiler of CUDA C++
        "native": lambda: find_spec("llvmlite") is not None,
        "linux": lambda: sys.platform == "linux",
        "darwin": lambda: sys.platform == "darwin",
        "windows": lambda: sys.platform == "win32",
    }


def expectation(text: str, gpu: bool) -> Expectation:
    """Reads the lines of a file."""
    skipped = fails = ""
    if not any(word in text for word in ("XFAIL:", "REQUIRES:", "UNSUPPORTED:")):
        return Expectation()
    for word, conditions in _LINE.findall(text):
        for condition in (c.strip() for c in conditions.split(",")):
            holds = _Condition(f"{word}: {condition}", condition, gpu).value()
            if word == "XFAIL" and holds:
                fails = fails or f"XFAIL: {condition}"
            elif word != "XFAIL" and holds == (word == "UNSUPPORTED"):
                skipped = skipped or f"{word}: {condition}"
    return Expectation(skipped, fails)


class _Condition:
    """Evaluates one condition."""

    def __init__(self, line: str, text: str, gpu: bool) -> None:
        self.line, self.features = line, _features(gpu)
        self.tokens = _TOKEN.findall(text)
        if "".join(self.tokens) != "".join(text.split()) or not text:
            raise UsageError(f"{line}: write features with !, && and ||, or *")

    def value(self) -> bool:
        found = self._any()
        if self.tokens:
            raise UsageError(f"{self.line}: {self.tokens[0]} is not expected there")
        return found

    def _any(self) -> bool:
        found = self._all()
        while self.tokens[:1] == ["||"]:
            self.tokens.pop(0)
            found = self._all() or found
        return found

    def _all(self) -> bool:
        found = self._one()
        while self.tokens[:1] == ["&&"]:
            self.tokens.pop(0)
            found = self._one() and found
        return found

    def _one(self) -> bool:
        token = self.tokens.pop(0) if self.tokens else "the end"
        if token == "!":
            return not self._one()
        if token in ("*", "true"):
            return True
        if token == "false":
            return False
        if token == "(":
            found = self._any()
            if self.tokens[:1] != [")"]:
                raise UsageError(f"{self.line}: a ) is missing")
            self.tokens.pop(0)
            return found
        if not token:
            raise UsageError(f"{self.line}: a feature is missing at the end")
        if token not in self.features:
            raise UsageError(f"{self.line}: {token} is not a feature; there are {', '.join(self.features)} and *")
        return self.features[token]()
