"""The types of the driver's and the runtime's calls for type checkers, which cannot follow tables.

A wheel has them as `driver/__init__.pyi` and `cudart/__init__.pyi`.  In a checkout, `python -m warplab.runtime.api.stubs` writes them.
Nothing of this needs numpy: a wheel is built without it.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from ..cudart.constants import CONSTANTS as RUNTIME_CONSTANTS
from ..cudart.enums import OWN as RUNTIME_ENUMS
from ..cudart.structs import OWN as RUNTIME_STRUCTS
from ..driver.tables import layout
from ..driver.tables.compact import ClassTable
from ..driver.tables.constants import CONSTANTS
from ..driver.tables.enums import ENUMS
from ..driver.tables.structs import STRUCTS
from .table import ApiTable, CParameter, driver_calls, runtime_calls

HEAD = '''\
"""Types for type checkers, written by warplab.runtime.api.stubs; the code is beside it."""

from enum import IntEnum
from typing import Any, Final, Generic, TypeVar

{imports}

T = TypeVar("T")

class Field(Generic[T]):
    """A structure's field: read as a T, set with whatever can be made one."""
    def __get__(self, owner: Any, kind: Any = None) -> T: ...
    def __set__(self, owner: Any, value: Any) -> None: ...

'''
MORE = "from .arrays import make_cudaExtent as make_cudaExtent, make_cudaPitchedPtr as make_cudaPitchedPtr, make_cudaPos as make_cudaPos"
PLAIN = dict.fromkeys("i8 u8 i16 u16 i32 u32 i64 u64 ptr".split(), "int") | {
    "f32": "float",
    "f64": "float",
    "str": "bytes",
    "chars": "bytes",
}


def _classes(tables: tuple[ClassTable, ...], names: set[str]) -> Iterator[str]:
    """The enums, handles and structures."""

    def field(kind: Any) -> str:
        if get_origin(kind) is Annotated:
            return field(get_args(kind)[0])
        if get_origin(kind) is list:
            return f"list[{field(get_args(kind)[0])}]"
        name = getattr(kind, "__name__", "")
        return name if name in names or name in ("int", "float", "bytes") else "Any"

    for name in sorted(names):
        found: Any = next(filter(None, (table.get(name) for table in tables)))
        if found.__name__ != name:
            yield f"{name} = {found.__name__}"
        elif issubclass(found, IntEnum):
            yield f"class {name}(IntEnum):\n" + "".join(f"    {n} = {m.value}\n" for n, m in found.__members__.items())
        else:
            base = next(c.__name__ for c in found.__mro__[1:] if c.__module__ == layout.__name__)
            body = "".join(f"    {n}: Field[{field(kind)}]\n" for n, kind in inspect.get_annotations(found).items())
            yield f"class {name}({base}):\n{body}" if body else f"class {name}({base}): ..."


def _functions(table: ApiTable, code: str, names: set[str]) -> Iterator[str]:
    """The calls."""

    def argument(p: CParameter) -> str:
        kind = PLAIN.get(p.type, "object") if not p.mark or p.mark == "=" else "object"
        return f"{p.name}: {kind if kind in ('int', 'float') and p.type != 'ptr' else 'object'}{' = ...' if p.default else ''}"

    def result(p: CParameter) -> str:
        kind = PLAIN.get(p.type) or (p.type if p.type in names else "Any")
        return f"list[{kind}]" if p.count and p.type != "chars" else kind

    for name in sorted(table.python_names()):
        row = table[name]
        yield f"def {name}({', '.join(map(argument, row.arguments))}) -> tuple[{', '.join([code, *map(result, row.results)])}]: ..."


def _stub(table: ApiTable, constants: Mapping[str, int], classes: tuple[ClassTable, ...], code: str, imports: str, more: str = "") -> str:
    names = {name for t in classes for name in t.names()}
    numbers = [f"{n}: Final = {value}" for n, value in sorted(constants.items())]
    parts = [HEAD.format(imports=imports), more, *numbers, *_classes(classes, names), *_functions(table, code, names)]
    return "\n".join(filter(None, parts)) + "\n"


def stubs() -> dict[str, str]:
    """The text of each stub by its place in `warplab.runtime`."""
    layouts = "tables.layout import Handle, NumberHandle, Struct, Union"
    runtime = runtime_calls(), RUNTIME_CONSTANTS, (RUNTIME_ENUMS, RUNTIME_STRUCTS), "cudaError_t", f"from ..driver.{layouts}", MORE
    return {
        "driver/__init__.pyi": _stub(driver_calls(), CONSTANTS, (ENUMS, STRUCTS), "CUresult", f"from .{layouts}"),
        "cudart/__init__.pyi": _stub(*runtime),
    }


def write(folder: Path) -> None:
    """Writes the stubs into a folder that has the content of `warplab.runtime`."""
    for place, text in stubs().items():
        (folder / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[1])
