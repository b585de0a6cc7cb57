"""Declarations in an object file: variables, functions, tables of targets and prototypes <-> bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from warplab.isa.types import TYPES, ScalarType

from ..ir import Directive, Function, Label, Linkage, Prototype, Register, Targets, Variable
from .encoding import NOWHERE, Reader, Writer

LINKAGES: tuple[Linkage, ...] = get_args(Linkage)
# Names of records as the page that describes the format prints them.
VARIABLE = (
    "name, space and type strings, vector, number of dimensions, each, alignment, linkage, number of attributes, their strings, "
    "pointer (0, or 1, space string, alignment), register (0 or 1), symbol number (0 for none), initialised (0 or 1)"
)
FUNCTION = (
    "symbol number, entry (0 or 1), defined (0 or 1), linkage, results and parameters (a number and as many variable records each), "
    "number of directives, for each: name string, number of values, for each 0 and a signed number or 1 and a string"
)

SIZES = ("parameters", "static shared memory, that of called functions included", "local memory")  # of a defined function, in bytes


def write_type(out: Writer, kind: ScalarType) -> None:
    """A type, by its name."""
    out.string(kind.name)


def read_type(reader: Reader) -> ScalarType:
    """The type that a string names."""
    name = reader.string()
    if name not in TYPES:
        raise reader.fail(f"there is no type {name}")
    return TYPES[name]


@dataclass(slots=True)
class VariableRecord:
    """A variable whose initial value, if it has one, is still to come from its section."""

    variable: Variable
    symbol: int
    initialised: bool


def write_variable(out: Writer, v: Variable, symbol: int) -> None:
    """The record of a variable."""
    out.string(v.name)
    out.string(v.space)
    write_type(out, v.type)
    out.number(v.vector)
    out.numbers(v.dims)
    out.number(v.align)
    out.number(LINKAGES.index(v.linkage))
    out.texts(v.attributes)
    out.number(int(v.pointer is not None))
    if v.pointer is not None:
        out.string(v.pointer[0])
        out.number(v.pointer[1])
    out.number(int(v.register is not None))
    out.number(symbol)
    out.number(int(v.initial is not None))


def read_variable(reader: Reader) -> VariableRecord:
    """The variable that comes next."""
    name, space, kind, vector = reader.string(), reader.string(), read_type(reader), reader.number(5)
    dims = tuple(reader.number(1 << 40) for _ in range(reader.count()))
    align, linkage = reader.number(1 << 40), LINKAGES[reader.number(len(LINKAGES))]
    attributes = reader.texts()
    pointer = (reader.string(), reader.number(1 << 40)) if reader.number(2) else None
    register = Register(name, kind, vector, 0, NOWHERE) if reader.number(2) else None
    symbol = reader.number()
    initialised = bool(reader.number(2))
    variable = Variable(name, space, kind, vector, dims, align, linkage, NOWHERE, None, attributes, pointer, register)
    return VariableRecord(variable, symbol, initialised)


def write_variables(out: Writer, variables: Sequence[Variable]) -> None:
    """Parameters or results."""
    out.number(len(variables))
    for v in variables:
        write_variable(out, v, 0)


def read_variables(reader: Reader) -> tuple[Variable, ...]:
    """Parameters or results."""
    return tuple(read_variable(reader).variable for _ in range(reader.count()))


def write_function(out: Writer, f: Function, symbol: int) -> None:
    """The record of a function: all but its body."""
    out.number(symbol)
    out.number(int(f.is_entry))
    out.number(int(f.body is not None))
    out.number(LINKAGES.index(f.linkage))
    write_variables(out, f.returns)
    write_variables(out, f.params)
    out.number(len(f.directives))
    for d in f.directives:
        out.string(d.name)
        out.number(len(d.values))
        for value in d.values:
            if isinstance(value, int):
                out.number(0)
                out.signed(value)
            else:
                out.number(1)
                out.string(value)


def read_function(reader: Reader, names: Sequence[str]) -> tuple[Function, int, bool]:
    """The function that comes next, its symbol, and whether its body is there; names are those of the symbols."""
    symbol = reader.number(len(names))
    is_entry, defined = bool(reader.number(2)), bool(reader.number(2))
    linkage = LINKAGES[reader.number(len(LINKAGES))]
    returns, params = read_variables(reader), read_variables(reader)
    directives: list[Directive] = []
    for _ in range(reader.count()):
        name = reader.string()
        values = tuple(reader.string() if reader.number(2) else reader.signed() for _ in range(reader.count()))
        directives.append(Directive(name, values, NOWHERE))
    return Function(names[symbol], is_entry, linkage, returns, params, tuple(directives), NOWHERE), symbol, defined


def write_tables(
    out: Writer,
    targets: Sequence[Targets],
    prototypes: Sequence[Prototype],
    labels: Mapping[Label, int],
    symbols: Mapping[Variable | Function, int],
) -> None:
    """The tables of targets and of prototypes of a function."""
    out.number(len(targets))
    for t in targets:
        out.string(t.name)
        out.number(int(t.kind == "call"))
        out.numbers([labels[target] if isinstance(target, Label) else symbols[target] for target in t.targets])
    out.number(len(prototypes))
    for p in prototypes:
        out.string(p.name)
        write_variables(out, p.returns)
        write_variables(out, p.params)
        out.number(int(p.noreturn))


def read_tables(
    reader: Reader, labels: Sequence[Label], symbols: Sequence[Variable | Function | None]
) -> tuple[list[Targets], list[Prototype]]:
    """The tables of targets and of prototypes of a function."""
    targets: list[Targets] = []
    for _ in range(reader.count()):
        name, calls = reader.string(), reader.number(2)
        found: list[Label | Function] = []
        for _ in range(reader.count()):
            if calls:
                function = symbols[reader.number(len(symbols))]
                if not isinstance(function, Function):
                    raise reader.fail("a target of a call is not a function")
                found.append(function)
            else:
                found.append(labels[reader.number(len(labels))])
        targets.append(Targets(name, "call" if calls else "branch", tuple(found), NOWHERE))
    prototypes: list[Prototype] = []
    for _ in range(reader.count()):
        name, returns, params = reader.string(), read_variables(reader), read_variables(reader)
        prototypes.append(Prototype(name, returns, params, NOWHERE, bool(reader.number(2))))
    return targets, prototypes
