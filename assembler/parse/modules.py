"""The module level of a PTX text: header, variables, function headers, and the directives between them."""

from __future__ import annotations

import re
from typing import Any

from ..diagnostics import LIMIT
from ..ir import LISTED, Alias, Declaration, Directive, Function, Module, Pragma, Span, Variable
from . import declarations as decl
from .body import read_body
from .lazy_bodies import Judge, LaterBodies
from .reader import TextReader
from .reports import TOO_DEEP
from .scopes import Scope
from .sections import read_section
from .syntax_error import Flaw, Unexpected
from .text import Source

# A function that is only declared needs no ';' where the next item makes the end plain.
_LIST = r"(?:\([^(){};]*\)\s*)?"
_DECLARED = re.compile(
    rf"(?:\.(?:visible|extern|weak)\s+)?\.func\s*{_LIST}[A-Za-z_$%][\w$]*\s*{_LIST}(?:\.noreturn\s+)?"
    r"(?=\.(?:visible|extern|weak|func|entry|global|const|shared|file|section|alias|common|pragma)(?![\w$]))",
    re.A,
)
_VALUES = re.compile(r"[\s\w,]*")
_ITEM = re.compile(r"^[ \t]*(\.(?:visible|entry|func|extern|weak|common|section|file|alias)(?![\w$]))", re.M | re.A)


class Parser(TextReader):
    """Reads one module: its items one after the other, and what they declare."""

    def __init__(self, source: Source, judge_later: Judge | None = None) -> None:
        super().__init__(source)
        self.judge_later = judge_later  # what is done with a body that is read later; None: all are read at once
        self.later: LaterBodies | None = None
        self.scope = Scope(None, [])
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        self.aliases: dict[str, Function] = {}
        self.section_labels: set[str] = set()

    # ------------------------------------------------------------ the module

    def module(self) -> Module:
        """Reads everything."""
        source, code = self.source, self.code
        if source.problem is not None:
            self.reports.diagnostics.append(source.problem)
            if source.problem.code == "unterminated-comment":
                return self.result()
        pos = self.header(source.skip(0))
        if self.judge_later is not None:
            self.later = LaterBodies(self, self.judge_later)
        while True:
            pos = source.skip(pos)
            if pos >= len(code) or len(self.reports.diagnostics) > 4 * LIMIT:
                return self.result()
            before = pos
            pos = self.item(pos)
            assert pos > before, code[before : before + 80]

    def result(self) -> Module:
        """The Module of what was read."""
        for function in self.items:
            if isinstance(function, Function) and not function.is_defined:
                found = self.functions.get(function.name)
                function.definition = found if found is not None and found.is_defined else None
        made = Module(
            self.source.name, self.source.text, self.version, self.targets, self.address_size or 64, tuple(self.items), self.variables,
            self.functions, self.aliases, self.files,
        )  # fmt: skip
        if self.later is not None:
            self.later.module = made
        return made

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

    def item(self, pos: int) -> int:
        """One item of the module; tells where the next begins."""
        word = self.word(pos)
        match word:
            case ".file":
                return self.directive(pos)
            case ".section":
                section, end = read_section(self, pos, self.section_labels)
                if section is not None:
                    self.items.append(section)
                return end
            case ".version" | ".target" | ".address_size" | ".loc" | ".maxntid":
                return self.next_item(self.reports.unexpected(pos, pos), pos)
        code = self.code
        if code.startswith("@@DWARF", pos):
            return self.dwarf(pos)
        if not word:
            return self.next_item(self.reports.unexpected(pos, pos), pos)
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

    def next_item(self, pos: int, start: int) -> int:
        """After an error in the item at start: where the next one seems to begin, a function's body skipped."""
        m = _ITEM.search(self.code, max(pos, start + 1))
        return m.start(1) if m else len(self.code)

    def statement(self, pos: int, end: int, missing: str = "") -> int:
        """A declaration, function or other directive of the module."""
        try:
            children = self.tree(pos, end, missing)
        except (Unexpected, Flaw) as error:
            self.reports.tainted = True
            return self.next_item(self.reports.unreadable(error, pos, end), pos)
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
        made = decl.declaration(self, tree, self.scope, span)
        if made.type is not None:
            raise Flaw("bad-declaration", "registers are declared inside functions", ".reg")
        for v in made.variables:
            self.variables[v.name] = v
        return made

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
        function = Function(str(token), is_entry, decl.linkage(link), lists[0], lists[1], directives, span)
        return self.function(function, scope, defined, noticed, end)

    def function(self, function: Function, scope: Scope, defined: bool, noticed: int, end: int) -> int:
        """Enters a function, and reads its body where it has one.

        `noticed` is where ptxas notices that it does not go with an earlier one: behind an .entry's parameters, else behind the header.
        """
        name, is_entry, report = function.name, function.is_entry, self.reports.report
        for params in (function.returns, function.params):
            if is_entry and params and self.version < LISTED:
                text = f"the parameter list of {name} needs PTX 1.4; before, the body declares the parameters"
                report("needs", text, params[0].span.start, params[0].span.end)
            for v in params:
                self.declare_parameter(v, scope, is_entry, defined, end)
                if defined and v.space == "param" and (v.type.kind == "p" or (v.vector > 1 and not v.dims)):
                    what = "a predicate" if v.type.kind == "p" else "a vector"
                    report("bad-declaration", f"parameter {v.name} cannot be {what}", v.span.start, v.span.end)
        self.positive(function.directives)
        try:
            self.declare_function(function, defined)
        except Flaw as flaw:
            self.reports.flaw(Flaw(flaw.code, flaw.message, other=flaw.other), noticed, end)
            if defined:
                self.functions[name] = function
        self.items.append(function)
        if not defined:
            return end
        left = self.later.leave(function, scope, end) if self.later is not None and is_entry else None
        return read_body(self, function, scope, end) if left is None else left

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
                self.reports.report("bad-directive", f"{d.name} needs positive numbers", at, end)

    def declare_function(self, function: Function, defined: bool) -> None:
        """Enters a function; declarations may be repeated, a definition stands once."""
        name, old = function.name, self.scope.names.get(function.name)
        if old is None:
            self.scope.names[name] = function
        elif not isinstance(old, Function):
            raise Flaw("duplicate-function", f"{name} is declared twice in this module", name, other=old.span)
        else:
            different = decl.same_signature(old, function)
            if old.is_defined and defined:
                raise Flaw("duplicate-function", f"{name} is defined twice", name, other=old.span)
            if different:
                raise Flaw("redeclared-differently", f"{name} was declared otherwise: {different}", name, other=old.span)
            if defined and "extern" in (old.linkage, function.linkage):
                raise Flaw("redeclared-differently", f"{name} is .extern, so it is defined elsewhere", name, other=old.span)
        if defined or name not in self.functions:
            self.functions[name] = function
            self.scope.names[name] = function
            self.scope.clear()
