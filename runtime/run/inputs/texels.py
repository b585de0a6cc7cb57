"""`--tex` and `--surf`: arrays as people write them, with the options of a texture or a surface.

NAME=VALUE[,OPTION...]      VALUE as in --arg, @picture.png, or the name of another texture or surface, whose array it shares

The array's axes are rows and columns, or planes, rows and columns; channels are its last axis if channels=N says so, or if it is a picture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ...device.memory.textures import ADDRESS_MODES, FILTERS, INTEGER, NORMALIZED, SEAMLESS, SRGB, SamplerSettings
from ...errors import UsageError

_NAME = re.compile(r"^[A-Za-z_$%][\w$%]*$")
_PARTS = re.compile(r"(?:[^,\[(]|\[[^\]]*\]|\([^)]*\))+")  # between commas outside of brackets
FLAGS = {"normalized": NORMALIZED, "srgb": SRGB, "seamless": SEAMLESS}
PLAIN = ("layered", "cube", "memory")  # options without a value, besides FLAGS
SHAPING = ("channels", "levels", "layered", "cube")  # options of a new array
SAMPLING = ("filter", "address", "border", "read", *FLAGS, "mip", "clamp", "bias", "anisotropy")
KNOWN = {  # kind of resource -> its options, and one as an example
    "tex": ((*SHAPING, *SAMPLING, "memory", "handle"), "img=@picture.png,filter=linear"),
    "surf": ((*SHAPING, "level", "handle"), "img=u8[64,64],channels=4"),
    "tensormap": (
        ("box", "step", "swizzle", "interleave", "fill", "l2", "type", "dims", "strides", "offset", "lower", "upper", "channels", "pixels"),
        "a=f16[128,64],box=64/64",
    ),
}


@dataclass(frozen=True, slots=True)
class ResourceText:
    """One --tex, --surf or --tensormap."""

    kind: str  # tex, surf or tensormap
    name: str
    value: str
    options: Mapping[str, str]

    def flaw(self, why: str) -> UsageError:
        """What is wrong with it."""
        return UsageError(f"--{self.kind} {self.name}: {why}")

    def number(self, option: str, kind: Callable[[str], Any], default: Any) -> Any:
        """An option that is a number."""
        try:
            return kind(self.options[option]) if option in self.options else default
        except ValueError:
            raise self.flaw(f"{option}={self.options[option]} is not a number") from None

    @property
    def shares(self) -> bool:
        """Is the value the name of another one?"""
        return bool(_NAME.match(self.value)) and self.value != "null"

    def choice(self, option: str, words: tuple[str, ...], word: str) -> int:
        """The place of a word among those that there are."""
        if word not in words:
            raise self.flaw(f"{option}={word}: write {' or '.join(words)}")
        return words.index(word)


def parse_resource(kind: str, text: str) -> ResourceText:
    """`NAME=VALUE[,OPTION...]`."""
    head, *rest = _PARTS.findall(text.strip()) or [""]
    while rest and rest[0][:1].isdigit():  # no option, but the next size of f32:4,4:arange
        head += f",{rest.pop(0)}"
    name, eq, value = head.partition("=")
    if not eq or not _NAME.match(name) or not value:
        raise UsageError(f"--{kind} {text!r}: expected NAME=VALUE[,OPTION...], such as {KNOWN[kind][1]}")
    known = KNOWN[kind][0]
    options: dict[str, str] = {}
    for part in rest:
        word, _, given = (text.strip() for text in part.partition("="))
        if word not in known:
            near = get_close_matches(word, known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--{kind} {name}: no option is called {word!r}{meant} (the options: {' '.join(known)})")
        if bool(given) == (word in (*FLAGS, *PLAIN)):
            raise UsageError(f"--{kind} {name}: {word} {'has no value' if given else f'needs a value: {word}=...'}")
        if word in options:
            raise UsageError(f"--{kind} {name}: {word} is given twice")
        options[word] = given
    return ResourceText(kind, name, value, options)


def sampling(r: ResourceText, levels: int) -> SamplerSettings:
    """How a texture of so many levels is read."""
    given = r.options.get
    filter = r.choice("filter", FILTERS, given("filter", "point"))
    element = r.choice("read", ("float", "element"), given("read", "float" if filter else "element"))
    modes = [r.choice("address", ADDRESS_MODES, word) for word in given("address", "clamp").split("/")]
    border = r.number("border", lambda text: [float(x) for x in text.split("/")], [0.0])
    ends = r.number("clamp", lambda text: [float(x) for x in text.split("/")], [0.0, float(levels - 1)])
    if len(modes) > 3 or len(border) > 4 or len(ends) > 2:
        raise r.flaw("there are up to three address modes, four channels of a border and two ends of a clamp, with / between them")
    x, y, z = (*modes, modes[-1], modes[-1])[:3]
    red, green, blue, alpha = (*border, 0.0, 0.0, 0.0)[:4]
    flags = sum(bit for word, bit in FLAGS.items() if word in r.options) | (INTEGER if element else 0)
    return SamplerSettings(
        (x, y, z), filter, r.choice("mip", FILTERS, given("mip", "point")), flags, r.number("bias", float, 0.0), (ends[0], ends[-1]),
        r.number("anisotropy", int, 0), (red, green, blue, alpha),
    )  # fmt: skip
