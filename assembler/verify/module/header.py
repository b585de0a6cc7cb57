"""Judges the head of a module: version, targets, address size."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warplab.isa.profiles import PROFILES, TARGETS, profile_note

from ...diagnostics import Diagnostic, nearest
from ...ir import Module, Section, Span
from ..needs import NEWEST, VERSIONS, capability

NEWEST_MODEL = max(10 * row.capability[0] + row.capability[1] for row in PROFILES.values())
OPTIONS = frozenset({"debug", "texmode_unified", "texmode_independent", "map_f64_to_f32"})


def header(module: Module, target: str | None) -> Iterator[Diagnostic]:
    """`.version`, `.target`, `.address_size`, and the target that the caller means to assemble for."""

    def error(code: str, message: str, word: str, help: str = "") -> Diagnostic:
        return Diagnostic("error", code, message, _find(module, word), (), help, file=module.name)

    version = module.version
    if version == (0, 0):
        if re.search(r"\.version\s+0\.0\s", module.text):
            yield error("unknown-version", "there is no PTX version 0.0", ".version")
        return
    if version > NEWEST and version[0] == NEWEST[0] and version[1] < 10:
        text = f"PTX {version[0]}.{version[1]} is newer than {NEWEST[0]}.{NEWEST[1]}; what it added is not known here"
        yield Diagnostic("note", "newer-version", text, _find(module, ".version"), file=module.name)
    elif version not in VERSIONS:
        newest = f"{NEWEST[0]}.{NEWEST[1]}"
        yield error("unknown-version", f"there is no PTX version {version[0]}.{version[1]}", ".version", f"the newest is {newest}")
        return
    named = False
    for name in module.targets:
        plain = name.replace("compute_", "sm_")
        if plain in TARGETS:
            named = True
            if version < TARGETS[plain]:
                first = "{}.{}".format(*TARGETS[plain])
                yield error("version-target", f"{name} needs PTX {first}, the module says .version {version[0]}.{version[1]}", name)
            elif capability(plain)[0] > NEWEST_MODEL and (note := profile_note(plain)):
                yield Diagnostic("note", "newer-target", note, _find(module, name), file=module.name)
        elif plain.startswith("sm_"):
            longer = sorted(t for t in TARGETS if t.startswith(plain))
            near = nearest(plain, TARGETS)
            help = f"there are {', '.join(longer)}" if longer else f"is {near} meant?" if near else ""
            yield error("unknown-target", f"there is no target {name}", name, help)
            named = True
        elif name not in OPTIONS:
            meant = "sm_" + re.sub(r"\D*(\d+\w?)$", r"\1", name)
            yield error("unknown-target", f"{name} is not a target", name, f"is {meant} meant?" if meant in TARGETS else "")
            named = True
    if not named and module.targets:
        yield error("unknown-target", ".target names no architecture", ".target", "write .target sm_90")
    sm, suffix = capability(module.target)
    if "map_f64_to_f32" in module.targets and sm >= 13:
        yield error("bad-target", "map_f64_to_f32 is for targets below sm_13, which have no .f64", ".target")
    if "debug" in module.targets and not any(isinstance(i, Section) and i.name.startswith(".debug") for i in module.items):
        yield error("no-debug", ".target debug requires .section .debug_..., which the module does not have", "debug")
    if ".address_size" in module.text and version < (2, 3):
        yield error("needs", ".address_size needs PTX 2.3", ".address_size")
    if version >= (2, 2) and ".const" in module.text and (bank := re.search(r"\.const\s*\[\s*\d+\s*\]\s*\.", module.text)):
        yield error("bad-variable", "constant banks ended with PTX 2.2", bank[0])
    if module.address_size == 32 and ".address_size" in module.text:
        yield error("address-size", "32-bit addresses are not supported", ".address_size", "write .address_size 64")
    if target is not None:
        yield from _device(module, target, sm, suffix, error)


def _device(module: Module, target: str, sm: int, suffix: str, error: object) -> Iterator[Diagnostic]:
    """A module runs on its own target and later ones; with a letter on that very one, or its family."""
    device, letter = capability(target)
    span = _find(module, ".target")
    reason = ""
    if sm > device:
        reason = f"the module is for {module.target}, newer than {target}"
    elif suffix == "a" and (sm, "a") != (device, letter):
        reason = f"a module for {module.target} runs on {module.target} only, not on {target}"
    elif suffix == "f" and sm // 10 != device // 10:
        reason = f"a module for {module.target} runs on its family only, not on {target}"
    if reason and device:
        yield Diagnostic("error", "target-mismatch", reason, span, file=module.name)


def _find(module: Module, word: str) -> Span:
    """Where the header has a word; a target's name counts after .target only."""
    start = 0 if word.startswith(".") else max(0, module.text.find(".target"))
    at = max(0, module.text.find(word, start))
    line = module.text.count("\n", 0, at) + 1
    return Span(at, at + len(word), line, at - module.text.rfind("\n", 0, at))
