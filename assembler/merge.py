"""A linked program as one PTX text: what `warplab link --output` writes.

Declarations that found their definition go, local names that two modules use are told apart by a number, and line numbers stay behind:
they belong to texts that the linked one is none of.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from .ir import Declaration, File, Function, Item, Module, Section, Variable
from .link import Program
from .printer import print_item
from .verify.needs import capability

_LOC = re.compile(r"^\s*\.loc\b.*\n", re.M)


def merge(program: Program) -> str:
    """One text with everything that the modules of a program define."""
    modules = program.modules
    version = max(m.version for m in modules)
    target = max((m.target for m in modules), key=capability)
    options = [o for m in modules for o in m.targets if not capability(o)[0] and o != "debug"]
    out = [f".version {version[0]}.{version[1]}", f".target {', '.join(dict.fromkeys([target, *options]))}"]
    if version >= (2, 3):
        out.append(f".address_size {modules[0].address_size}")
    prototypes = list(_prototypes(program))
    known: set[str] = {f.name for f in prototypes}
    out += [line for f in prototypes for line in print_item(f)]
    for i, module in enumerate(modules):
        text = "\n".join(line for item in module.items for line in _kept(program, item, known))
        out.append(_renamed(_LOC.sub("", text + "\n").rstrip("\n"), _clashing(modules, i)))
    return "\n".join(out) + "\n"


def _prototypes(program: Program) -> Iterator[Function]:
    """Declarations of the functions that modules take from each other, since a name is declared before it is used."""
    for f in program.functions.values():
        if f.linkage and not f.is_entry and sum(f.name in m.functions for m in program.modules) > 1:
            yield dataclasses.replace(f, body=None)


def _kept(program: Program, item: Item, known: set[str]) -> Iterator[str]:
    """The lines of an item, or of what is left of it."""
    if isinstance(item, Section | File):
        return
    if isinstance(item, Function):
        winner = program.definition(item)
        if item.body is None:
            if item.name in known or (winner.body is not None and item.definition is not winner):
                return
            known.add(item.name)
        elif winner is not item:
            return  # a weak one that lost
    elif isinstance(item, Declaration) and item.type is None:
        left = tuple(v for v in item.variables if _stays(program, v, known))
        if not left:
            return
        item = dataclasses.replace(item, variables=left)
    yield from print_item(item)


def _stays(program: Program, v: Variable, known: set[str]) -> bool:
    """Is it a definition that won, or a declaration that nothing before it makes needless?"""
    defined = v.linkage != "extern"
    if defined and program.definition(v) is not v:
        return False
    if not defined and v.name in known:
        return False
    if v.linkage:
        known.add(v.name)
    return True


def _clashing(modules: tuple[Module, ...], i: int) -> dict[str, str]:
    """New names for the local names of a module that another module uses as well."""
    names: list[dict[str, Function | Variable]] = [{**m.functions, **m.variables} for m in modules]
    local = [n for n, node in names[i].items() if not node.linkage and not _linked(modules[i], n)]
    everything = {n for there in names for n in there}
    others = {n for k, there in enumerate(names) for n, node in there.items() if k < i or (k > i and node.linkage)}
    out = {}
    for name in local:
        if name in others:
            number = i
            while f"{name}${number}" in everything:
                number += len(modules)
            out[name] = f"{name}${number}"
    return out


def _linked(module: Module, name: str) -> bool:
    """Has any declaration of a function a linkage?"""
    return any(isinstance(item, Function) and item.name == name and item.linkage for item in module.items)


def _renamed(text: str, names: dict[str, str]) -> str:
    if not names:
        return text
    pattern = re.compile(r'"[^"]*"|(?<![\w$%.])(?:' + "|".join(map(re.escape, names)) + r")(?![\w$])")
    return pattern.sub(lambda m: names.get(m[0], m[0]), text)
