"""Textures and surfaces as the tests of a recorder have them: `tex` and `surf` of a run, each under the handle that it had."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Module
from warplab.isa.textures.resources import Image, Sampler, Surface, Texture

from ...run.inputs.texels import FLAGS

ACCESS = re.compile(r"\b(?:tex|tld4|txq|suld|sust|sured|suq)\.")
Texels = NDArray[np.generic]
Save = Callable[[Texels], str]  # writes an input; gives the name of its file


def accessed(modules: Sequence[Module]) -> bool:
    """Do some modules read or write textures or surfaces?"""
    return any(ACCESS.search(m.text) for m in modules)


def texels(image: Image) -> Texels:
    """The first level, with the axes that a run gives it."""
    slices, rows, columns, channels = image.levels[0].shape
    shape = [*([slices] if image.depth else []), *([rows] if image.height else []), columns, *([channels] if channels > 1 else [])]
    return image.levels[0].reshape(shape)


class RecordedResources:
    """What the handles of a context stand for before a launch."""

    def __init__(self, objects: Mapping[int, Texture | Surface]) -> None:
        self.left_out = ""  # why they can't be recorded
        self.of = {h: o for h, o in objects.items() if not o.image.gone()}
        for o in self.of.values():
            if len(o.image.levels) > 1:
                self.left_out = "a texture has levels of detail"
            elif not o.image.resident:
                self.left_out = "an array is sparse"

    def written(self) -> dict[str, Texels]:
        """A copy of what surfaces hold."""
        return {f"r{h}": texels(o.image).copy() for h, o in self.of.items() if isinstance(o, Surface)}

    def lines(self, save: Save) -> list[str]:
        """The tables of a run."""
        out: list[str] = []
        seen: dict[int, str] = {}  # the address of the texels of an array: the resource that has it
        for kind, word in ((Surface, "surf"), (Texture, "tex")):
            rows = []
            for handle, o in self.of.items():
                if isinstance(o, kind):
                    i, name = o.image, f"r{handle}"
                    own = seen.setdefault(i.levels[0].ctypes.data, name)
                    options = [f"handle={handle}", *(_sampling(o.sampler) if isinstance(o, Texture) else ())]
                    if own == name:
                        options += _shaping(i)
                    rows.append(f'{name} = "{",".join([own if own != name else _value(i, save), *options])}"')
            if rows:
                out += ["", f"[run.{word}]", *rows]
        return out


def _value(i: Image, save: Save) -> str:
    found = texels(i)
    return f"{i.format.kind}{i.format.bits}[{','.join(map(str, found.shape))}]:@{save(np.ascontiguousarray(found))}"


def _shaping(i: Image) -> list[str]:
    out = [f"channels={i.format.channels}"] if i.format.channels > 1 else []
    return out + [w for w, is_so in (("layered", i.layered), ("cube", i.cube), ("memory", i.linear or i.pitched)) if is_so]


def _sampling(s: Sampler) -> list[str]:
    out = [f"filter={s.filter}", f"address={'/'.join(s.address)}", f"read={'element' if s.integer else 'float'}"]
    out += [word for word in FLAGS if getattr(s, word)]
    if any(s.border):
        out.append(f"border={'/'.join(map(repr, s.border))}")
    return out + ([f"anisotropy={s.anisotropy}"] if s.anisotropy else [])
