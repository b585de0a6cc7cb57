"""The module level of a PTX text: header, variables, function headers, and the directives between them."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from lark.exceptions import UnexpectedInput

from . import declarations as decl
from . import shapes
from .body import read_body
from .diagnostics import LIMIT
from .flaw import Flaw
from .headers import Header, plain_header
from .ir import LISTED, Alias, Declaration, Directive, File, Function, Item, Module, Pragma, Section, Span, Variable
from .making import make_variable
from .reports import TOO_DEEP, Reports
from .scopes import Scope
from .text import Source

_WORD = re.compile(r"\.[A-Za-z_][\w$]*", re.ASCII)
_SECTION_NAME = re.compile(r"\.section(?:\s+|(?=\.))(\.?[\w$.]+)")
_SECTION = re.compile(_SECTION_NAME.pattern + r"\s*\{([^{}]*)\}")
_DWARF_LINE = re.compile(r"@@DWARF[^\n]*")
_SECTION_ITEM = r"[-+]?\s*\.?[\w$%]+(?:\s*[-+]\s*\.?[\w$%]+)?"
_SECTION_ENTRIES = re.compile(
    rf"(?>\s*(?:[\w$%]+\s*:|\.b(?:8|16|32|64)\s+{_SECTION_ITEM}(?:\s*,\s*{_SECTION_ITEM})*)(?=[\s}}:]|$))*+", re.A
)
# A function that is only declared needs no ';' where the next item makes the end plain.
_LIST = r"(?:\([^(){};]*\)\s*)?"
_DECLARED = re.compile(
    rf"(?:\.(?:visible|extern|weak)\s+)?\.func\s*{_LIST}[A-Za-z_$%][\w$]*\s*{_LIST}(?:\.noreturn\s+)?"
    r"(?=\.(?:visible|extern|weak|func|entry|global|const|shared|file|section|alias|common|pragma)(?![\w$]))",
    re.A,
)
# As everybody writes them; all else is for the grammar.
_PLAIN_HEADER = re.compile(r"\.(?:target\s+(\w+(?:\s*,\s*\w+)*)|address_size\s+(32|64))(?=\s*\.)", re.A)
_PIECE = 1 << 16  # no directive is longer
_VALUES = re.compile(r"[\s\w,]*")
_ITEM = re.compile(r"^[ \t]*(\.(?:visible|entry|func|extern|weak|common|section|file|alias)(?![\w$]))", re.M | re.A)


class Parser:
    """Reads one module: its items one after the other, and what they declare."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.code = source.code
        self.reports = Reports(source)
        self.items: list[Item] = []
        self.base = 0  # where the piece begins that the grammar read last
        self.version = (0, 0)
        self.targets: tuple[str, ...] = ()
        self.address_size = 0
        self.scope = Scope(None, [])
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        self.aliases: dict[str, Function] = {}
        self.files: dict[int, str] = {}
        self.file_spans: dict[int, Span] = {}

    # ------------------------------------------------------------ the module

    def module(self) -> Module:
        """Reads everything."""
        source, code = self.source, self.code
        if source.problem is not None:
            self.reports.diagnostics.append(source.problem)
            if source.problem.code == "unterminated-comment":
                return self.result()
        pos = self.header(source.skip(0))
        while True:
            pos = source.skip(pos)
            if pos >= len(code) or len(self.reports.diagnostics) > 4 * LIMIT:
                return self.result()
            before = pos
            pos = self.item(pos)
            assert pos > before, code[before : before + 80]

    def result(self) -> Module:
        """The Module of what was read."""
        self.scope.close()
        for function in self.items:
            if isinstance(function, Function) and function.body is None:
                found = self.functions.get(function.name)
                function.definition = found if found is not None and found.body is not None else None
        return Module(
            self.source.name, self.source.text, self.version, self.targets, self.address_size or 64, tuple(self.items), self.variables,
            self.functions, self.aliases, self.files,
        )  # fmt: skip

    def header(self, pos: int) -> int:
        """`.version`, `.target` and perhaps `.address_size`, in this order."""
        skip = self.source.skip
        if not (m := re.compile(r"\.version\s+(\d+)\.(\d+)").match(self.code, pos)):
            # ptxas sees what is missing only when it has read a whole .target, and names the line of what follows.
            before = re.compile(r"(\s*\.target\s+\w+(\s*,\s*\w+)*)+").match(self.code, pos)
            at, end = self.source.token(before.end() if before else pos)
            self.reports.report("missing-version", "a module begins with .version", at, end, hint="write .version 8.0 before all else")
            self.version = (9, 0)  # so that what follows is judged as if it stood there
            while self.word(pos) == ".target":
                pos = skip(self.directive(pos))
            self.targets = self.targets or ("sm_90",)
            return skip(self.directive(pos)) if before and self.word(pos) == ".address_size" else pos
        self.version = (int(m[1][:6]), int(m[2][:6]))
        pos = skip(m.end())
        while self.word(pos) == ".target":
            pos = skip(self.directive(pos))
        if self.word(pos) == ".address_size" and self.targets:
            pos = skip(self.directive(pos))
        if not self.targets and len(self.reports.diagnostics) == 0:
            at, end = self.source.token(pos)
            self.reports.report("missing-version", ".version is followed by .target", at, end)
        return pos

    def word(self, pos: int) -> str:
        """The directive word at pos, or ""."""
        m = _WORD.match(self.code, pos)
        return m.group() if m else ""

    def directive(self, pos: int) -> int:
        """One directive without an end mark."""
        if plain := _PLAIN_HEADER.match(self.code, pos):
            if plain[1]:
                self.targets = tuple(re.split(r"\s*,\s*", plain[1]))
            else:
                self.address_size = int(plain[2])
            return plain.end()
        try:
            tree, end = self.prefix(pos)
        except UnexpectedInput as error:
            return self.reports.syntax(error, pos)
        tree = tree.children[0]
        values = tree.children
        try:
            match tree.data:
                case "target":
                    self.targets = tuple(str(t) for t in values)
                case "address_size":
                    self.set_address_size(values[0])
                case "file":
                    self.file(values, self.source.span(pos, end))
                case _:
                    raise Flaw("bad-directive", f".{tree.data} does not belong here")
        except Flaw as flaw:
            self.reports.flaw(flaw, pos, end)
        return end

    def set_address_size(self, token: Any) -> None:
        """`.address_size 64`."""
        self.address_size = decl.integer(token)
        if self.address_size not in (32, 64):
            raise Flaw("bad-directive", "an address has 32 or 64 bits", str(token))

    def prefix(self, pos: int) -> tuple[Any, int]:
        """lark's tree of the directive at pos, and where it ends: at the first token that cannot belong to it."""
        piece = self.code[pos : pos + _PIECE]
        parser = shapes.grammar().parse_interactive(piece, start="directive")
        end = 0
        try:
            for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                parser.feed_token(token)
                end = token.end_pos or end
        except UnexpectedInput:
            if "$END" not in parser.accepts():  # type: ignore[no-untyped-call]
                raise
        self.base = pos
        return parser.feed_eof(), pos + end  # type: ignore[no-untyped-call]

    def span_of(self, start: int, end: int) -> Span:
        """The span of a token of the piece that the grammar read last, which counts from its own beginning."""
        return self.source.span(self.base + start, self.base + end)

    def file(self, values: Any, span: Span) -> None:
        """`.file 1 "name", time, size`."""
        index, name = decl.integer(values[0]), str(values[1])[1:-1]
        if self.files.get(index, name) != name:
            raise Flaw("duplicate-name", f".file {index} is declared twice", str(values[0]), other=self.file_spans[index])
        self.files[index] = name
        self.file_spans[index] = span
        self.items.append(File(index, name, span, tuple(decl.integer(v) for v in values[2:] if v is not None)))

    def item(self, pos: int) -> int:
        """One item of the module; tells where the next begins."""
        word = self.word(pos)
        match word:
            case ".file":
                return self.directive(pos)
            case ".section":
                return self.section(pos)
            case ".version" | ".target" | ".address_size" | ".loc" | ".maxntid":
                return self.next_item(self.reports.unexpected(pos, pos), pos)
        code = self.code
        if code.startswith("@@DWARF", pos):
            m = _DWARF_LINE.match(code, pos)
            assert m is not None
            if self.version >= (2, 0):
                self.reports.report("bad-directive", "@@DWARF ended with PTX 2.0; .section took its place", pos, pos + 7)
            self.items.append(Section("@@DWARF", (m.group()[7:].strip(),), self.source.span(pos, m.end())))
            return m.end()
        if not word:
            return self.next_item(self.reports.unexpected(pos, pos), pos)
        if (plain := plain_header(self.source, pos)) is not None:
            header, defined, end = plain
            return self.function(header, Scope(self.scope, []), defined, end)
        if m := _DECLARED.match(code, pos):
            return self.statement(pos, m.end(), ";")
        return self.statement(pos, self.end_of_item(pos))

    def end_of_item(self, pos: int) -> int:
        """The offset after the ';' or the '{' that ends a declaration or a function's header."""
        depth, last = 0, ""
        for m in re.compile(r'"[^"]*"|[;{}=]').finditer(self.code, pos):
            c = m.group()
            if c == "{" and last != "=" and depth == 0:
                return m.end()
            if c == ";" and depth == 0:
                if ".pragma" in (head := self.code[pos : m.end()]) and ".entry" in head:
                    continue  # it ends a .pragma of the header
                return m.end()
            depth += (c == "{") - (c == "}")
            if depth < 0:
                return m.start()
            last = c
        return len(self.code)

    def section(self, pos: int) -> int:
        """`.section .debug_x { ... }`, kept as it stands."""
        m = _SECTION.match(self.code, pos)
        if not m:
            name = _SECTION_NAME.match(self.code, pos)
            return self.reports.unexpected(self.source.skip(name.end() if name else pos + len(".section")), pos)
        entries = _SECTION_ENTRIES.match(self.code, *m.span(2))
        assert entries is not None
        at = self.source.skip(entries.end())
        if at < m.end(2):
            self.reports.unexpected(at, pos)
            return m.end()
        lines = tuple(filter(None, map(str.strip, m[2].split("\n"))))
        self.items.append(Section(m[1], lines, self.source.span(pos, m.end())))
        return m.end()

    def tree(self, pos: int, end: int, missing: str = "") -> Any:
        """lark's tree of a statement, whose end mark may be missing; its tokens count from pos, see span_of."""
        self.base = pos
        return shapes.statement_tree(self.code[pos:end] + missing).children

    def next_item(self, pos: int, start: int) -> int:
        """After an error in the item at start: where the next one seems to begin, a function's body skipped."""
        m = _ITEM.search(self.code, max(pos, start + 1))
        return m.start(1) if m else len(self.code)

    def statement(self, pos: int, end: int, missing: str = "") -> int:
        """A declaration, function or other directive of the module."""
        try:
            children = self.tree(pos, end, missing)
        except UnexpectedInput as error:
            self.reports.tainted = True
            return self.next_item(self.reports.syntax(error, pos), pos)
        tree, span, code_end = children[0], self.source.span(pos, end), self.code[end - 1]
        try:
            match tree.data:
                case "entry" | "func":
                    return self.function_of(tree, children[1:], code_end == "{", pos, end)
                case "declaration":
                    self.items.append(self.module_variables(tree, span))
                case "pragma":
                    self.items.append(Pragma(tuple(str(t)[1:-1] for t in tree.children), span))
                case "alias":
                    self.alias(tree, span)
                case _:
                    return self.reports.unexpected(pos, pos)
        except (Flaw, RecursionError) as error:
            self.reports.tainted = True
            flaw = error if isinstance(error, Flaw) else TOO_DEEP
            self.reports.flaw(flaw, pos if flaw.at is None else self.base + flaw.at, end)
            if tree.data in ("entry", "func") and code_end == "{":
                return self.next_item(end, pos)
        return end

    def alias(self, tree: Any, span: Span) -> None:
        """`.alias name, target;`"""
        name, target = str(tree.children[0]), str(tree.children[1])
        for n in (name, target):
            if n not in self.functions:
                raise Flaw("undeclared-name", f"no function is called {n}", n)
        self.aliases[name] = self.functions[target]
        self.items.append(Alias(name, self.functions[target], span))

    def module_variables(self, tree: Any, span: Span) -> Declaration:
        """Variables at module scope."""
        made = self.variable_statement(tree, self.scope, span, module=True)
        if made.type is not None:
            raise Flaw("bad-declaration", "registers are declared inside functions", ".reg")
        for v in made.variables:
            self.variables[v.name] = v
        return made

    def variable_statement(self, tree: Any, scope: Scope, span: Span, module: bool = False) -> Declaration:
        """Any declaration: registers, or variables of one state space."""
        link = tree.children[0]
        spec_trees, rest = decl.split(tree.children[1:], "spec")
        words = decl.specs(spec_trees)
        words.linkage = decl.linkage(link)
        span_of = self.span_of
        if not words.space:
            raise Flaw("bad-declaration", "the declaration names no state space")
        if words.type is None:
            raise Flaw("syntax", "the declaration names no type", str(rest[0].children[0]) if rest else "")
        if words.vector * words.type.bits > 128:
            raise Flaw("bad-declaration", f"a vector of {words.vector} times .{words.type} is wider than 128 bits", f".{words.type}")
        if words.space in ("reg", "sreg"):
            registers, stems = decl.registers_of(words, rest, scope, span_of)
            return Declaration(tuple(registers), (), tuple(stems), span, words.type, words.vector)
        if module and words.space in ("param", "local"):
            raise Flaw("bad-declaration", f".{words.space} variables are declared inside functions", f".{words.space}")
        variables = [v for t in rest for v in self.variable(t, words, scope)]
        return Declaration((), tuple(variables), (), span)

    def variable(self, tree: Any, words: decl.Specs, scope: Scope) -> list[Variable]:
        """One declarator."""
        token, count, *rest, init = tree.children
        name, where = str(token), self.span_of(token.start_pos, token.end_pos)
        dims, value = decl.dimensions(rest), None
        assert words.type is not None
        if words.type.kind == "p":
            raise Flaw("bad-declaration", f"a predicate such as {name} lives in a register", name)
        one = dataclasses.replace(words)
        if init is not None:
            if words.space not in ("global", "const"):
                raise Flaw("bad-initialiser", f".{words.space} variables such as {name} have no initial value", name)
            if words.type.kind == "o":
                one.attributes = words.attributes + decl.settings(init)
            else:
                value = decl.initial(init, words, scope)
                dims = decl.shape_of(dims, value)
                decl.check_initial(value, (*dims, words.vector) if words.vector > 1 else dims, name)
        if 0 in dims and words.linkage != "extern":
            raise Flaw("bad-array", f"the array {name} has no size", name)
        if count is not None:
            n = decl.integer(count)
            if n > 1 << 16:
                raise Flaw("bad-declaration", f"{n} variables are too many", str(count))
            made = [dataclasses.replace(make_variable(name, one, dims, where, value), name=f"{name}{i}") for i in range(n)]
        else:
            made = [make_variable(name, one, dims, where, value)]
        return [self.enter(v, scope) for v in made]

    def enter(self, v: Variable, scope: Scope) -> Variable:
        """Declares a variable; one of the module may be declared again if it stays the same."""
        old = scope.own(v.name)
        if scope is not self.scope or not isinstance(old, Variable):
            scope.declare(v.name, v)
            return v
        if "extern" not in (old.linkage, v.linkage):
            raise Flaw("duplicate-name", f"{v.name} is declared twice in this module", v.name, other=old.span)
        if (old.space, old.type, old.vector, len(old.dims)) != (v.space, v.type, v.vector, len(v.dims)):
            raise Flaw("redeclared-differently", f"{v.name} was declared otherwise before", v.name, other=old.span)
        if old.linkage == "extern":
            scope.names[v.name] = v
            scope.operands.clear()
            return v
        return old

    # ------------------------------------------------------------ functions

    def function_of(self, tree: Any, more: Any, defined: bool, pos: int, end: int) -> int:
        """A function whose header the grammar has read."""
        link, keyword, *rest = tree.children
        span_of, is_entry = self.span_of, keyword.type == "ENTRY"
        scope = Scope(self.scope, [])
        name_at = next(i for i, c in enumerate(rest) if getattr(c, "type", "") == "NAME")
        token, before, after = rest[name_at], rest[:name_at], rest[name_at + 1 :]
        returns = None if is_entry else before.pop()
        lists: list[tuple[Variable, ...]] = []
        for part in (returns, after[0]):
            made = [decl.parameter(t, span_of) for t in part.children if t is not None] if part is not None else []
            lists.append(tuple([decl.with_register(v, scope) if v.space == "reg" else v for v in made]))
        directives = tuple(decl.performance(t, span_of) for t in after[1:])
        for t in more:
            match getattr(t, "data", ""):
                case "entry_directives":
                    directives = tuple(decl.performance(d, span_of) for d in t.children)
                case "strings":
                    directives += (Directive(".pragma", decl.texts(t), span_of(0, 0)),)
        attributes = [a for t in before for a in decl.attributes(t)]
        directives += tuple(Directive("." + a, (), self.source.span(pos, end)) for a in attributes)
        noticed = self.code.find(")", self.base + token.end_pos) if is_entry and after[0] is not None else end - 1
        span = span_of(token.start_pos, token.end_pos)
        header = Header(str(token), is_entry, decl.linkage(link), lists[0], lists[1], directives, span, noticed)
        return self.function(header, scope, defined, end)

    def function(self, header: Header, scope: Scope, defined: bool, end: int) -> int:
        """Enters a function, and reads its body where it has one."""
        is_entry, report = header.is_entry, self.reports.report
        for params in (header.returns, header.params):
            if is_entry and params and self.version < LISTED:
                text = f"the parameter list of {header.name} needs PTX 1.4; before, the body declares the parameters"
                report("needs", text, params[0].span.start, params[0].span.end)
            for v in params:
                self.declare_parameter(v, scope, is_entry, defined, end)
                if defined and v.space == "param" and (v.type.kind == "p" or (v.vector > 1 and not v.dims)):
                    what = "a predicate" if v.type.kind == "p" else "a vector"
                    report("bad-declaration", f"parameter {v.name} cannot be {what}", v.span.start, v.span.end)
        self.positive(header.directives)
        function = Function(header.name, is_entry, header.linkage, header.returns, header.params, header.directives, header.span)
        try:
            self.declare_function(function, defined)
        except Flaw as flaw:
            self.reports.flaw(Flaw(flaw.code, flaw.message, other=flaw.other), header.noticed, end)
            if defined:
                self.functions[function.name] = function
        self.items.append(function)
        if defined:
            return read_body(self, function, scope, end)
        scope.close()
        return end

    def declare_parameter(self, v: Variable, scope: Scope, is_entry: bool, defined: bool, end: int) -> None:
        """Enters a parameter of a function; ptxas looks at its state space when it has seen what follows, and at names where a body follows."""
        wrong = Flaw("bad-declaration", f"parameter {v.name} of an .entry must say .param", v.name) if v.space != "param" else None
        if v.space not in ("param", "reg"):
            wrong = Flaw("bad-declaration", f"parameter {v.name} is in state space .{v.space}, not .param", v.name)
        if wrong is not None and (is_entry or v.space != "reg"):
            at, to = self.source.token(v.span.end)
            self.reports.report(wrong.code, wrong.message, at, to)
        if is_entry and 0 in v.dims:
            at = self.code.find(")", v.span.end)
            self.reports.report("bad-array", f"parameter {v.name} of an .entry needs a size", at, at + 1)
        try:
            scope.declare(v.name, v.register if v.register is not None else v)
        except Flaw as flaw:
            if defined:
                self.reports.flaw(flaw, v.span.start, end)

    def positive(self, directives: tuple[Directive, ...]) -> None:
        """Refuses zeros in what must be positive."""
        for d in directives:
            if d.name in decl.POSITIVE and not all(d.values):
                # ptxas complains when it has seen that no further value comes.
                at, end = d.span.start, d.span.end
                if d.name.endswith("ntid") and len(d.values) < 3:
                    at, end = self.source.token(_VALUES.match(self.code, end).end())  # type: ignore[union-attr]
                self.reports.report("bad-directive", f"{d.name} takes positive numbers", at, end)

    def declare_function(self, function: Function, defined: bool) -> None:
        """Enters a function; declarations may be repeated, a definition stands once."""
        name, old = function.name, self.scope.names.get(function.name)
        if old is None:
            self.scope.names[name] = function
        elif not isinstance(old, Function):
            raise Flaw("duplicate-function", f"{name} is declared twice in this module", name, other=old.span)
        else:
            different = decl.same_signature(old, function)
            if old.body is not None and defined:
                raise Flaw("duplicate-function", f"{name} is defined twice", name, other=old.span)
            if different:
                raise Flaw("redeclared-differently", f"{name} was declared otherwise: {different}", name, other=old.span)
            if defined and "extern" in (old.linkage, function.linkage):
                raise Flaw("redeclared-differently", f"{name} is .extern, so it is defined elsewhere", name, other=old.span)
        if defined or name not in self.functions:
            self.functions[name] = function
            self.scope.names[name] = function
            self.scope.operands.clear()
