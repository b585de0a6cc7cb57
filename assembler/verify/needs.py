"""Which PTX version and target a form, word, special register or directive asks for, and whether a module has them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warplab.isa.facts import Need
from warplab.isa.notation import Form
from warplab.isa.special import SPECIAL

from ..ir import Module, SpecialRegister

VERSIONS = frozenset(
    (major, minor) for major, last in {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 0}.items() for minor in range(last + 1)
)
NEWEST = max(VERSIONS)
_NAME = re.compile(r"(?:sm|compute)_(\d+)([af]?)$")


@functools.cache
def capability(target: str) -> tuple[int, str]:
    """`sm_90a` as (90, "a")."""
    m = _NAME.match(target)
    return (int(m[1]), m[2]) if m else (0, "")


@dataclass(frozen=True, slots=True)
class Has:
    """What a module offers."""

    version: tuple[int, int]
    target: str

    @staticmethod
    def of(module: Module) -> Has:
        """What the module's header says; of several architectures the last one counts."""
        return _has(module.version, module.targets, module.target)

    def lacks(self, need: Need) -> str:
        """What is missing, in words; "" where nothing is."""
        sm, suffix = capability(self.target)
        missing = []
        ptx = (int(need.ptx), round(need.ptx * 10) % 10)
        if self.version < ptx:
            missing.append(f"PTX {ptx[0]}.{ptx[1]}")
        if sm >= need.ends and self.version >= (int(need.before), round(need.before * 10) % 10):
            missing.append(f"a PTX version before {need.before}")
        if sm < need.sm or (need.arch and not family(sm, suffix, need)):
            missing.append(f"sm_{need.sm}{need.arch[:1]}")
        return " and ".join(missing)


def family(sm: int, suffix: str, need: Need) -> bool:
    """Does a target with a letter offer what the manual gives to sm_90a, to the family sm_100f, or to any letter since?"""
    # What came with sm_90a and sm_103a ended with them; sm_120 lacks much of sm_100's.
    end = {90: 91, 100: 110 if need.arch == "f1" else 120, 103: 104}.get(need.sm, 999)
    if need.arch == "af":
        return suffix in ("a", "f") and sm >= need.sm
    return (suffix == "a" or suffix == need.arch[0]) and need.sm <= sm < end


def needed(form: Form, settled: Mapping[str, str | bool]) -> Iterator[tuple[str, Need]]:
    """Every need of a form under its modifiers, with the word that has it ("" for the form itself)."""
    yield "", form.need
    for slot, word in settled.items():
        need = form.word_needs.get(slot if word is True else str(word))
        if need is not None:
            yield (slot if word is True else str(word)), need


def of_special(operand: SpecialRegister) -> Need:
    """What a special register needs."""
    row = SPECIAL.get(operand.name)
    return row.need if row is not None else Need()


@functools.lru_cache(maxsize=64)
def _has(version: tuple[int, int], targets: tuple[str, ...], target: str) -> Has:
    named = [t for t in targets if capability(t)[0]]
    return Has(version, named[-1] if named else target)
