"""Writes the types of the driver's and the runtime's functions for type checkers, which cannot follow tables: `python -m tools.api_types`.

Enums, structures and constants are listed from the tables, functions from their annotations, so that `err, ptr = cuMemAlloc(4)` has types.
tests/runtime/test_api_types.py compares.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin

from warplab.runtime import cudart, driver
from warplab.runtime.driver.tables import layout

ROOT = Path(__file__).parents[1]
HEAD = '''\
"""Written by tools/api_types.py for type checkers; the code is beside it."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar

{imports}

T = TypeVar("T")

class Field(Generic[T]):
    """A structure's field: read as a T, set with whatever can be made one."""
    def __get__(self, owner: Any, kind: Any = None) -> T: ...
    def __set__(self, owner: Any, value: Any) -> None: ...

'''
PLAIN = {"int", "float", "bytes", "str", "bool", "list", "tuple", "object", "Any", "Sequence", "None"}


def known(text: object, names: set[str], otherwise: str = "Any") -> str:
    """An annotation as it stands, if every name in it is one of the module's or of Python's own."""
    if not isinstance(text, str) or not set(re.findall(r"[A-Za-z_]\w*", text)) <= names | PLAIN:
        return otherwise
    return text


def field_type(kind: Any, names: set[str]) -> str:
    """The type of a structure's field."""
    if get_origin(kind) is Annotated:
        return field_type(get_args(kind)[0], names)
    if get_origin(kind) is list:
        return f"list[{field_type(get_args(kind)[0], names)}]"
    return known(getattr(kind, "__name__", ""), names)


def classes(module: ModuleType, names: set[str]) -> Iterator[str]:
    """The enums, handles and structures of a module."""
    for name in dir(module):
        found = getattr(module, name)
        if not isinstance(found, type):
            continue
        if found.__name__ != name and found.__name__ in names:
            yield f"{name} = {found.__name__}"
        elif issubclass(found, IntEnum):
            members = "".join(f"    {n} = {m.value}\n" for n, m in found.__members__.items())
            yield f"class {name}(IntEnum):\n{members}"
        else:
            base = next(c.__name__ for c in found.__mro__[1:] if c.__module__ == layout.__name__)
            fields = inspect.get_annotations(found)
            body = "".join(f"    {field}: Field[{field_type(kind, names)}]\n" for field, kind in fields.items())
            yield f"class {name}({base}):\n{body}" if body else f"class {name}({base}): ..."


def result(function: Any, code: str, names: set[str]) -> str:
    """What a call returns: a tuple of its code and its results, or a plain value."""
    said = inspect.signature(function).return_annotation
    kinds, count = function.__dict__.get("kinds"), function.__dict__.get("results")
    if kinds is not None:
        return f"tuple[{', '.join([code, *(known(k.removesuffix('*'), names) for k in kinds)])}]"
    if count is None:
        return known(said, names)
    if count == 1:
        return f"tuple[{code}, {known(said, names).replace('object', 'Any')}]"
    inner = re.fullmatch(r"tuple\[(.*)\]", str(said))
    parts = re.split(r", (?![^\[]*\])", inner[1]) if inner else []
    parts = parts if len(parts) == count and "..." not in parts else ["Any"] * count
    return f"tuple[{', '.join([code, *(known(p, names) for p in parts)])}]"


def functions(module: ModuleType, code: str, names: set[str]) -> Iterator[str]:
    """The calls of a module."""
    for name in dir(module):
        found = getattr(module, name)
        if isinstance(found, type) or not callable(found):
            continue
        parameters = [
            ("*" if p.kind is p.VAR_POSITIONAL else "")
            + f"{p.name}: {known(p.annotation, names, 'object')}"
            + (" = ..." if p.default is not p.empty else "")
            for p in inspect.signature(found).parameters.values()
        ]
        yield f"def {name}({', '.join(parameters)}) -> {result(found, code, names)}: ..."


def stub(module: ModuleType, code: str, imports: str) -> str:
    """The stub of a module."""
    names = {name for name in dir(module) if isinstance(getattr(module, name), type)}
    constants = [f"{n}: Final = {getattr(module, n)}" for n in dir(module) if isinstance(getattr(module, n), int)]
    return "\n".join([HEAD.format(imports=imports), *constants, *classes(module, names), *functions(module, code, names)]) + "\n"


def stubs() -> dict[Path, str]:
    """The text of each stub by its place."""
    return {
        ROOT / "runtime" / "driver" / "__init__.pyi": stub(
            driver, "CUresult", "from .tables.layout import Handle, NumberHandle, Struct, Union"
        ),
        ROOT / "runtime" / "cudart" / "__init__.pyi": stub(
            cudart, "cudaError_t", "from ..driver.tables.layout import Handle, NumberHandle, Struct, Union"
        ),
    }


if __name__ == "__main__":
    for place, text in stubs().items():
        place.write_text(text, encoding="utf-8")
