"""The options of FileCheck behind a `// RUN:` line; one that is not known here is refused rather than ignored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .numeric import Number, NumberFormat

_OPTION = re.compile(r"--?(?P<name>check-prefix(?:es)?|implicit-check-not|match-full-lines|D(?=[#A-Za-z_$]))(?P<value>=?.*)", re.S)
_DEFINED = re.compile(r"(?P<number>#?)(?P<name>\$?[A-Za-z_]\w*)=(?P<value>.*)", re.S)
_PREFIX = re.compile(r"[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class FileCheckOptions:
    """How output is held against the lines of a file."""

    prefixes: tuple[str, ...] = ("CHECK",)
    names: tuple[tuple[str, str | Number], ...] = ()  # of -DNAME=VALUE
    nots: tuple[str, ...] = ()  # of --implicit-check-not
    full_lines: bool = False


class OptionError(Exception):
    """An option that FileCheck does not have, or that is not supported."""


def read_options(words: Sequence[str]) -> FileCheckOptions:
    """The options among the words behind `FileCheck`; the name of the test itself and `-` stand for themselves.

    >>> read_options(["--check-prefixes=A,B", "-DN=7"])
    FileCheckOptions(prefixes=('A', 'B'), names=(('N', '7'),), nots=(), full_lines=False)
    """
    out = FileCheckOptions()
    prefixes: tuple[str, ...] = ()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            continue
        m = _OPTION.fullmatch(word)
        if m is None or (m["value"] and m["name"] != "D" and m["value"][0] != "="):
            known = "--check-prefix, --check-prefixes, --implicit-check-not, --match-full-lines and -D"
            raise OptionError(f"{word} is not supported; there are {known}")
        if m["name"] == "match-full-lines":
            out = replace(out, full_lines=True)
            continue
        value = m["value"] if m["name"] == "D" else m["value"][1:] if m["value"] else rest.pop(0) if rest else ""
        match m["name"]:
            case "D":
                out = replace(out, names=(*out.names, _defined(value, word)))
            case "implicit-check-not":
                out = replace(out, nots=(*out.nots, value))
            case _:
                more = tuple(value.split(","))
                if not all(map(_PREFIX.fullmatch, more)):
                    raise OptionError(f"{word} {value}: a prefix begins with a letter and has letters, digits, - and _")
                prefixes += more
    return replace(out, prefixes=prefixes or out.prefixes)


def _defined(text: str, word: str) -> tuple[str, str | Number]:
    m = _DEFINED.fullmatch(text)
    if m is None:
        raise OptionError(f"{word}: write -DNAME=TEXT or -D#NAME=NUMBER")
    if not m["number"]:
        return m["name"], m["value"]
    try:
        return m["name"], Number(int(m["value"], 0), NumberFormat())
    except ValueError:
        raise OptionError(f"{word}: {m['value']!r} is not a number") from None
