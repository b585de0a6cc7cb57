"""Several modules, as texts, IR or object files, become one Program: every extern declaration finds its definition.

The rules are nvlink's: names without linkage stay in their module, one strong definition a name, a weak one gives way, the first
of several weak ones and the largest of several common ones wins; sizes, state spaces and prototypes must agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from .diagnostics import Diagnostic, PtxError, explain_codes
from .ir import Function, Module, Span, Variable
from .objects import ObjectFile, load
from .walk import declared, used_functions

N = TypeVar("N", bound=Function | Variable)
Node = Function | Variable

# What the driver or the device runtime library provides: allowed to stay without a definition.
RUNTIME = frozenset(
    """
    vprintf malloc free __assertfail cudaMalloc cudaFree cudaGetParameterBuffer cudaGetParameterBufferV2
    cudaLaunchDevice cudaLaunchDeviceV2 cudaDeviceSynchronize cudaDeviceGetAttribute cudaDeviceGetLimit
    cudaDeviceGetCacheConfig cudaDeviceGetSharedMemConfig cudaGetLastError cudaPeekAtLastError cudaGetErrorString
    cudaGetErrorName cudaGetDeviceCount cudaGetDevice cudaStreamCreateWithFlags cudaStreamDestroy cudaStreamWaitEvent
    cudaEventCreateWithFlags cudaEventRecord cudaEventDestroy cudaFuncGetAttributes cudaMemcpyAsync cudaMemcpy2DAsync
    cudaMemcpy3DAsync cudaMemsetAsync cudaMemset2DAsync cudaMemset3DAsync cudaRuntimeGetVersion
    cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaGraphLaunch
    cudaCGGetIntrinsicHandle cudaCGSynchronize cudaCGSynchronizeGrid cudaCGGetSize cudaCGGetRank
    """.split()
)

explain_codes(
    {
        "unresolved-symbol": "The module declares the name .extern and uses it, but none of the linked modules defines it with .visible, "
        ".weak or .common linkage. A name without linkage is known in its own module only.",
        "clashing-symbols": "Two modules define one name, both with .visible linkage. Make one of them .weak, or give it no linkage.",
        "mismatched-space": "The name is a function here and a variable there, an .entry here and a .func there, or a variable in two "
        "different state spaces.",
        "mismatched-size": "The variable has another size in another module. An .extern declaration may leave the size open: `x[]`.",
        "mismatched-signature": "The parameters or results of the function differ between two modules. Sizes must agree one by one, and a "
        "floating-point parameter is not an integer one, nor an array.",
        "common-too-big": "A .common variable is bigger than the definition that takes its place.",
        "address-size-mismatch": "Modules of .address_size 32 and 64 cannot be linked with each other.",
    }
)


class LinkError(PtxError):
    """The modules do not fit together. Each diagnostic names its file, and a note the other place."""

    def __init__(self, diagnostics: Iterable[Diagnostic], texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        super().__init__(diagnostics)

    def render(self) -> str:
        """All messages, each with its line."""
        return "\n\n".join(d.render(self.texts.get(d.file, ""), d.file) for d in self.diagnostics)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Linked modules.

    kernels and functions map names to definitions, variables too; a name without linkage is found unless a linked one or one of an
    earlier module has it.
    """

    name: str
    modules: tuple[Module, ...]
    kernels: dict[str, Function]
    functions: dict[str, Function]  # kernels too
    variables: dict[str, Variable]
    unresolved: tuple[str, ...]  # functions of the device runtime
    resolved: dict[Node, Node] = field(repr=False, default_factory=dict)

    def definition(self, declaration: N) -> N:
        """The definition of a declared function or variable; the declaration itself if the device runtime provides it."""
        return cast(N, self.resolved.get(declaration, declaration))


@dataclass(frozen=True, slots=True)
class _Entry:
    """What one module says of one global name."""

    module: Module
    node: Node
    linkage: str
    target: Node  # what the name stands for: another function than node for an alias

    @property
    def defined(self) -> bool:
        return self.target.is_defined if isinstance(self.target, Function) else self.linkage != "extern"

    @property
    def size(self) -> int:
        return self.node.size if isinstance(self.node, Variable) else 0

    @property
    def is_dynamic_shared(self) -> bool:
        return isinstance(self.node, Variable) and self.node.space == "shared" and self.node.size == 0

    @property
    def kind(self) -> str:
        if isinstance(self.node, Variable):
            return f".{self.node.space} variable"
        return ".entry" if self.node.is_entry else ".func"


def link(inputs: Sequence[str | bytes | Module | ObjectFile], name: str = "<program>") -> Program:
    """Links PTX, modules and object files; raises LinkError if they do not fit together, and PtxError or ObjectError if one of them is invalid."""
    return link_modules([load(source, f"<input {i}>") for i, source in enumerate(inputs)], name)


def link_modules(modules: Sequence[Module], name: str = "<program>", *, complete: bool = True, alone: bool = False) -> Program:
    """Links verified modules; the program is `complete`, or names may stay without a definition.

    Of a text that is compiled `alone`, as a driver does, variables that are only declared are its own if they have a size, as ptxas makes them.
    """
    linker = _Linker()
    table: dict[str, _Entry] = {}
    for module in modules:
        if module.address_size != modules[0].address_size:
            there = modules[0]
            linker.say(
                module, Span(0, 0, 1, 1), "address-size-mismatch",
                f".address_size is {module.address_size}, but {there.address_size} in {there.name}",
            )  # fmt: skip
        for entry in _entries(module):
            linker.add(table, entry)
    for entry in table.values():
        own = entry.defined or entry.is_dynamic_shared or (alone and entry.size) or entry.node.name in RUNTIME
        if complete and not own:
            linker.say(
                entry.module, entry.node.span, "unresolved-symbol", f"{entry.kind} {entry.node.name} is declared here and defined nowhere"
            )
    if linker.found:
        raise LinkError(linker.found, {m.name: m.text for m in modules})
    return _program(name, modules, table)


def _program(name: str, modules: Sequence[Module], table: Mapping[str, _Entry]) -> Program:
    resolved: dict[Node, Node] = {}
    functions: dict[str, Function] = {}
    variables: dict[str, Variable] = {}
    for entry in table.values():
        if entry.defined and isinstance(entry.target, Function):
            functions[entry.node.name] = entry.target
        elif entry.defined and isinstance(entry.target, Variable):
            variables[entry.node.name] = entry.target
    for module in modules:
        for label, nodes in _named(module).items():
            known = table.get(label) if _linkage(module, label, nodes) else None
            winner = known.target if known is not None else _target(module, label, nodes)
            for node in nodes:
                if node is not winner and isinstance(node, Function) == isinstance(winner, Function):
                    resolved[node] = winner
            if isinstance(winner, Variable):
                variables.setdefault(label, winner)
            elif winner.is_defined:
                functions.setdefault(label, winner)
    kernels = {n: f for n, f in functions.items() if f.is_entry}
    missing = tuple(e.node.name for e in table.values() if not e.defined and isinstance(e.node, Function))
    return Program(name, tuple(modules), kernels, functions, variables, missing, resolved)


class _Linker:
    def __init__(self) -> None:
        self.found: list[Diagnostic] = []

    def say(self, module: Module, span: Span, code: str, message: str, other: _Entry | None = None, note: str = "") -> None:
        """An error at a place, and the other place that it is about."""
        self.found.append(Diagnostic("error", code, message, span, file=module.name))
        if other is not None:
            self.found.append(Diagnostic("note", code, note, other.node.span, file=other.module.name))

    def add(self, table: dict[str, _Entry], new: _Entry) -> None:
        """Enters a name, or lets it meet the one that is there."""
        name = new.node.name
        old = table.setdefault(name, new)
        if old is new or not self._agree(old, new):
            return
        if old.defined and new.defined:
            commons = [e for e in (old, new) if e.linkage == "common"]
            others = [e for e in (old, new) if e.linkage != "common"]
            if len(commons) == 1:
                common, other = commons[0], others[0]
                if common.size > other.size:
                    message = f".common variable {name} has {common.size} bytes, more than its definition"
                    self.say(common.module, common.node.span, "common-too-big", message, other, f"defined here with {other.size}")
                table[name] = other
            elif commons:
                table[name] = old if old.size >= new.size else new
            elif old.linkage != "weak" and new.linkage != "weak":
                message = f"{name} is defined a second time" + (": the same text is given twice" if old.module is new.module else "")
                self.say(new.module, new.node.span, "clashing-symbols", message, old, "first defined here")
            elif old.linkage == "weak" and new.linkage != "weak":
                table[name] = new
        elif (new.defined, new.size) > (old.defined, old.size):
            table[name] = new  # a definition before a declaration, a declaration with a size before one without

    def _agree(self, old: _Entry, new: _Entry) -> bool:
        name = new.node.name
        if old.kind != new.kind:
            message = f"{name} is a {new.kind} here, a {old.kind} elsewhere"
            self.say(new.module, new.node.span, "mismatched-space", message, old, f"a {old.kind} here")
            return False
        if isinstance(old.node, Function) and isinstance(new.node, Function):
            if not _same_prototype(old.node, new.node):
                message = f"{name} has the signature {_signature(new.node)} here, {_signature(old.node)} elsewhere"
                self.say(new.module, new.node.span, "mismatched-signature", message, old, "first declared here")
                return False
            return True
        both_defined = old.defined and new.defined
        either = both_defined and "common" in (old.linkage, new.linkage)
        open_ended = not both_defined and 0 in (old.size, new.size)
        if old.size != new.size and not either and not open_ended:
            message = f"{name} has {new.size} bytes here, {old.size} elsewhere"
            self.say(new.module, new.node.span, "mismatched-size", message, old, f"{old.size} bytes here")
            return False
        return True


# ---------------------------------------------------------------- what a module says of its names


def _named(module: Module) -> dict[str, list[Node]]:
    """Every declaration of each name of the module's own scope."""
    found: dict[str, list[Node]] = {}
    for item in module.items:
        for node in (item,) if isinstance(item, Function) else declared(item):
            found.setdefault(node.name, []).append(node)
    return found


def _target(module: Module, name: str, nodes: Sequence[Node]) -> Node:
    """What a name stands for in its module: the function it is an alias of, its definition, or else its first declaration."""
    if name in module.aliases:
        alias = module.aliases[name]
        return alias.definition or alias
    for node in nodes:
        if node.is_defined if isinstance(node, Function) else node.linkage != "extern":
            return node
    return nodes[0]


def _linkage(module: Module, name: str, nodes: Sequence[Node]) -> str:
    """The linkage of a name: a function without one has that of its declaration."""
    own = _target(module, name, nodes)
    if own.linkage and own in nodes:
        return own.linkage
    return next((n.linkage for n in nodes if n.linkage), "")


def _entries(module: Module) -> Iterator[_Entry]:
    """The names that a module exports or imports."""
    used: set[Function] | None = None
    for name, nodes in _named(module).items():
        linkage = _linkage(module, name, nodes)
        target = _target(module, name, nodes)
        missing = isinstance(target, Function) and not target.is_defined
        if missing:
            used = used_functions(module) if used is None else used
            if not used.intersection(nodes):
                continue  # only declared: nothing calls it, whatever its signature
        if linkage or missing:
            node = target if target in nodes else nodes[0]
            yield _Entry(module, node, linkage or "extern", target)


# ---------------------------------------------------------------- prototypes


def _class(v: Variable) -> tuple[str, int]:
    """What must agree of a parameter: its size, and whether it is an integer, a float, a predicate or an array."""
    if v.dims or v.vector > 1:
        return "array", v.size
    kind = v.type.kind if v.type.kind in "fpo" and v.type.elements == 1 else "i"
    return kind, v.type.bits


def _same_prototype(a: Function, b: Function) -> bool:
    if a.is_entry:
        return sum(v.size for v in a.params) == sum(v.size for v in b.params)
    return [[*map(_class, side)] for side in (a.returns, a.params)] == [[*map(_class, side)] for side in (b.returns, b.params)]


def _signature(f: Function) -> str:
    def side(variables: Sequence[Variable]) -> str:
        return ", ".join(f".{v.type}{''.join(f'[{d}]' for d in v.dims)}" for v in variables)

    returns = f"({side(f.returns)}) " if f.returns else ""
    return f"{returns}({side(f.params)})"
