"""PTX text to ir.Module.  The fast path splits a statement into texts that lark has already understood; all else goes to the grammar.

`parse` raises PtxError; `parse_all` recovers after each error and hands on what it could read, with all diagnostics.
"""

from __future__ import annotations

import dataclasses
import gc
import re
from typing import Any

from lark.exceptions import UnexpectedInput

from warplab.isa.notation import Form, resolve

from . import declarations as decl
from . import shapes
from .diagnostics import LIMIT, Diagnostic, Note, PtxError, nearest
from .flaw import Flaw
from .ir import (
    Address,
    Alias,
    Arguments,
    Block,
    Declaration,
    Directive,
    File,
    Function,
    Instruction,
    Item,
    Label,
    Module,
    Operand,
    Pair,
    Pragma,
    Prototype,
    Register,
    Section,
    Span,
    Statement,
    Targets,
    Variable,
    Vector,
)  # fmt: skip
from .making import FastInstruction, FastSpan, make_location, make_register, make_span
from .scopes import Scope, Stem, Unresolved
from .text import Source

_LABEL = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)\s*:(?!:)", re.ASCII)
_HEAD = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)((?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)", re.ASCII)
_WORD = re.compile(r"\.[A-Za-z_][\w$]*", re.ASCII)
_PARTS = re.compile(
    r"(?:@\s*(!?)\s*([A-Za-z][\w$]*|[_$%][\w$]+)\s*(?![\w$.]))?([A-Za-z_][\w$]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)(?:\s+(.*\S))?\s*",
    re.ASCII | re.S,
)
_END = re.compile(r'(?:[^;"]|"[^"]*")*?;')
_RESYNC = re.compile(r"[;{}]")
_SECTION = re.compile(r"\.section\s+(\.?[\w$.]+)\s*\{([^{}]*)\}")
_DWARF_LINE = re.compile(r"@@DWARF[^\n]*")
_SECTION_ITEM = r"[-+]?\s*\.?[\w$%]+(?:\s*[-+]\s*\.?[\w$%]+)?"
_SECTION_ENTRY = re.compile(rf"\s*(?:[\w$%]+\s*:|\.b(?:8|16|32|64)\s+{_SECTION_ITEM}(?:\s*,\s*{_SECTION_ITEM})*)(?=[\s}}:]|$)", re.A)
_TOO_DEEP = Flaw("too-deep", "this is nested too deeply")
_VALUES = re.compile(r"[\s\w,]*")
_ITEM = re.compile(r"^[ \t]*(\.(?:visible|entry|func|extern|weak|common|section|file|alias)(?![\w$]))", re.M | re.A)
_OTHER = frozenset("{}.")
DEPTH = 500  # blocks within blocks
LONG = 4000  # characters of a statement that the fast path looks at

Head = tuple[str, tuple[str, ...], Form | None, dict[str, str | bool] | None]


def _make_instruction(head: Head, operands: tuple[Operand, ...], guard: Register | None, negated: bool, span: Span) -> Instruction:
    return Instruction(head[0], head[1], operands, guard, negated, head[2], head[3], span)


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.code = source.code
        self.diagnostics: list[Diagnostic] = []
        self.items: list[Item] = []
        self.version = (0, 0)
        self.targets: tuple[str, ...] = ()
        self.address_size = 0
        self.scope = Scope(None, [])
        self.functions: dict[str, Function] = {}
        self.variables: dict[str, Variable] = {}
        self.aliases: dict[str, Function] = {}
        self.files: dict[int, str] = {}
        self.file_spans: dict[int, Span] = {}
        self.tainted = False  # a declaration was lost: undeclared names are then no news

    # ------------------------------------------------------------ messages

    def report(self, code: str, message: str, start: int, end: int, *, notes: tuple[Note, ...] = (), hint: str = "") -> None:
        """Adds an error."""
        span = self.source.span(start, end)
        self.diagnostics.append(Diagnostic("error", code, message, span, notes, hint, file=self.source.name))

    def flaw(self, flaw: Flaw, start: int, end: int) -> None:
        """Reports a flaw of the statement at start..end, on the word it is about."""
        at, to = self._find(flaw.word, start, end)
        notes = (Note("first declared here", flaw.other),) if isinstance(flaw.other, Span) else ()
        self.report(flaw.code, flaw.message, at, to, notes=notes, hint=flaw.hint)

    def _find(self, word: str, start: int, end: int) -> tuple[int, int]:
        if word:
            m = re.compile(r"(?<![\w$%])" * (word[0] not in ".-[]") + re.escape(word) + r"(?![\w$])" * (word[-1].isalnum())).search(
                self.code, start, end
            )
            if m:
                return m.start(), m.end()
        start = self.source.skip(start)
        return start, max(start + 1, len(self.code[start:end].rstrip()) + start)

    def syntax(self, error: UnexpectedInput, start: int) -> int:
        """Reports lark's error for a piece of text that began at start; tells where reading may go on."""
        at = getattr(error, "pos_in_stream", None)
        token = getattr(error, "token", None)
        if token is not None and token.type == "$END":
            at = None
        elif token is not None:
            at = token.start_pos
        return self.unexpected(at if at is not None else len(self.code), start, _expected(error))

    def unexpected(self, at: int, start: int, expected: str = "") -> int:
        """Reports the token at an offset and tells where reading may go on."""
        at, end = self.source.token(at)
        if at == end:
            self.report("syntax", f"the text ends in the middle of a statement{expected}", len(self.code), len(self.code))
            return len(self.code)
        word = self.code[at:end]
        if word == ";" and at == self.source.skip(start):
            self.report("empty-statement", "a ';' without a statement", at, end)
            return end
        self.report("syntax", f"unexpected {word[:40]}{expected}", at, end)
        return self.resync(at, start)

    def resync(self, at: int, start: int) -> int:
        """The offset after an error at which the next statement may begin."""
        code = self.code
        newline = code.rfind("\n", 0, at) + 1
        if at > start and (code[at] == "}" or (newline > start and not code[newline:at].strip())):
            return at
        depth, pos = 0, at
        while m := _RESYNC.search(code, pos):
            c, pos = m.group(), m.end()
            if c == ";":
                return pos
            if c == "{":
                depth += 1
            elif depth == 0:
                return m.start() if m.start() > start else pos
            else:
                depth -= 1
        return len(code)

    def undeclared(self, name: str, scope: Scope, at: int, to: int) -> None:
        """Reports a name that nothing declares."""
        near = nearest(name, scope.known())
        self.report("undeclared-name", f"{name} is not declared", at, to, hint=f"is {near} meant?" if near else scope.range_hint(name))

    # ------------------------------------------------------------ the module

    def module(self) -> Module:
        """Reads everything."""
        source, code = self.source, self.code
        if source.problem is not None:
            self.diagnostics.append(source.problem)
            if source.problem.code == "unterminated-comment":
                return self.result()
        pos = self.header(source.skip(0))
        while True:
            pos = source.skip(pos)
            if pos >= len(code) or len(self.diagnostics) > 4 * LIMIT:
                return self.result()
            before = pos
            pos = self.item(pos)
            assert pos > before, code[before : before + 80]

    def result(self) -> Module:
        """The Module of what was read."""
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
            before = re.compile(r"\.target\s+\w+(\s*,\s*\w+)*").match(self.code, pos)
            at, end = self.source.token(before.end() if before else pos)
            self.report("missing-version", "a module begins with .version", at, end)
            return before.end() if before else pos
        self.version = (int(m[1][:6]), int(m[2][:6]))
        pos = skip(m.end())
        while self.word(pos) == ".target":
            pos = skip(self.directive(pos))
        if self.word(pos) == ".address_size" and self.targets:
            pos = skip(self.directive(pos))
        if not self.targets and len(self.diagnostics) == 0:
            at, end = self.source.token(pos)
            self.report("missing-version", ".version is followed by .target", at, end)
        return pos

    def word(self, pos: int) -> str:
        """The directive word at pos, or ""."""
        m = _WORD.match(self.code, pos)
        return m.group() if m else ""

    def directive(self, pos: int) -> int:
        """One directive without an end mark."""
        try:
            tree, end = self.prefix(pos)
        except UnexpectedInput as error:
            return self.syntax(error, pos)
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
            self.flaw(flaw, pos, end)
        return end

    def set_address_size(self, token: Any) -> None:
        """`.address_size 64`."""
        self.address_size = decl.integer(token)
        if self.address_size not in (32, 64):
            raise Flaw("bad-directive", "an address has 32 or 64 bits", str(token))

    def prefix(self, pos: int) -> tuple[Any, int]:
        """lark's tree of the directive at pos, and where it ends: at the first token that cannot belong to it."""
        from lark.utils import TextSlice

        parser = shapes.grammar().parse_interactive(TextSlice(self.code, pos, len(self.code)), start="directive")
        end = pos
        try:
            for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                parser.feed_token(token)
                end = token.end_pos or end
        except UnexpectedInput:
            if "$END" not in parser.accepts():  # type: ignore[no-untyped-call]
                raise
        return parser.feed_eof(), end  # type: ignore[no-untyped-call]

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
                return self.next_item(self.unexpected(pos, pos), pos)
        code = self.code
        if code.startswith("@@DWARF", pos):
            m = _DWARF_LINE.match(code, pos)
            assert m is not None
            if self.version >= (2, 0):
                self.report("bad-directive", "@@DWARF ended with PTX 2.0; .section took its place", pos, pos + 7)
            self.items.append(Section("@@DWARF", (m.group()[7:].strip(),), self.source.span(pos, m.end())))
            return m.end()
        if not word:
            return self.next_item(self.unexpected(pos, pos), pos)
        return self.statement(pos, self.end_of_item(pos))

    def end_of_item(self, pos: int) -> int:
        """The offset after the ';' or the '{' that ends a declaration or a function's header."""
        depth, last = 0, ""
        for m in re.compile(r'"[^"]*"|[;{}=]').finditer(self.code, pos):
            c = m.group()
            if c == "{" and last != "=" and depth == 0:
                return m.end()
            if c == ";" and depth == 0:
                if ".pragma" in (head := self.code[pos : m.end()]) and not head.startswith(".pragma"):
                    continue
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
            at = self.source.skip(pos + len(".section"))
            return self.unexpected(at, pos)
        at = m.start(2)
        while entry := _SECTION_ENTRY.match(self.code, at, m.end(2)):
            at = entry.end()
        at = self.source.skip(at)
        if at < m.end(2):
            self.unexpected(at, pos)
            return m.end()
        lines = tuple(s for s in (line.strip() for line in m[2].split("\n")) if s)
        self.items.append(Section(m[1], lines, self.source.span(pos, m.end())))
        return m.end()

    def tree(self, pos: int, end: int) -> Any:
        """lark's tree of a statement, its offsets counted in the whole text; None after an error."""
        from lark.utils import TextSlice

        return shapes.grammar().parse(TextSlice(self.code, pos, end), start="statement").children

    def next_item(self, pos: int, start: int) -> int:
        """After an error in the item at start: where the next one seems to begin, a function's body skipped."""
        m = _ITEM.search(self.code, max(pos, start + 1))
        return m.start(1) if m else len(self.code)

    def statement(self, pos: int, end: int) -> int:
        """A declaration, function or other directive of the module."""
        try:
            children = self.tree(pos, end)
        except UnexpectedInput as error:
            self.tainted = True
            return self.next_item(self.syntax(error, pos), pos)
        tree, span = children[0], self.source.span(pos, end)
        try:
            match tree.data:
                case "function":
                    return self.function(tree, len(children) > 1, pos, end)
                case "declaration":
                    self.items.append(self.module_variables(tree, span))
                case "pragma":
                    self.items.append(Pragma(tuple(str(t)[1:-1] for t in tree.children), span))
                case "alias":
                    self.alias(tree, span)
                case _:
                    return self.unexpected(pos, pos)
        except (Flaw, RecursionError) as error:
            self.tainted = True
            self.flaw(error if isinstance(error, Flaw) else _TOO_DEEP, pos, end)
            if tree.data == "function" and len(children) > 1:
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
        span_of = self.source.span
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
        name, where = str(token), self.source.span(token.start_pos, token.end_pos)
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
            made = [dataclasses.replace(decl.declared(token, where, one, dims, value), name=f"{name}{i}") for i in range(n)]
        else:
            made = [decl.declared(token, where, one, dims, value)]
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

    def function(self, tree: Any, defined: bool, pos: int, end: int) -> int:
        """A function's header, and its body where it has one."""
        link, _, *rest = tree.children
        link = decl.linkage(link) if getattr(link, "data", "linkage") == "linkage" else ""
        span_of = self.source.span
        registers: list[Register] = []
        scope = Scope(self.scope, registers)
        name_at = next(i for i, c in enumerate(rest) if getattr(c, "type", "") == "NAME")
        token, is_entry = rest[name_at], tree.children[1].type == "ENTRY"
        before, after = rest[:name_at], rest[name_at + 1 :]
        lists: list[tuple[Variable, ...]] = []
        for part in (before[-1], after[0]):
            made = [decl.parameter(t, span_of) for t in part.children if t is not None] if part is not None else []
            made = [decl.with_register(v, scope) if v.space == "reg" else v for v in made]
            lists.append(tuple(made))
            for v in made:
                scope.declare(v.name, v.register if v.register is not None else v)
                if is_entry and v.space != "param":
                    raise Flaw("bad-declaration", f"parameter {v.name} of an .entry must say .param", v.name)
                if is_entry and 0 in v.dims:
                    raise Flaw("bad-array", f"parameter {v.name} of an .entry needs a size", v.name)
        if is_entry and lists[0]:
            raise Flaw("syntax", "an .entry returns nothing", "(")
        directives = tuple(decl.performance(t, is_entry, span_of) for t in after[1:])
        self.positive(directives)
        attributes = [a for t in before[:-1] for a in decl.attributes(t)]
        directives += tuple(Directive("." + a, (), span_of(pos, end)) for a in attributes)
        function = Function(str(token), is_entry, link, lists[0], lists[1], directives, span_of(token.start_pos, token.end_pos))
        try:
            self.declare_function(function, defined)
        except Flaw as flaw:
            self.flaw(flaw, token.start_pos, end)
            if defined:
                self.functions[function.name] = function
        self.items.append(function)
        return self.body(function, scope, end) if defined else end

    def positive(self, directives: tuple[Directive, ...]) -> None:
        """Refuses zeros in what must be positive."""
        for d in directives:
            if d.name in (".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg") and not all(d.values):
                # ptxas complains when it has seen that no further value comes.
                at, end = d.span.start, d.span.end
                if d.name.endswith("ntid") and len(d.values) < 3:
                    at, end = self.source.token(_VALUES.match(self.code, end).end())  # type: ignore[union-attr]
                self.report("bad-directive", f"{d.name} takes positive numbers", at, end)

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

    def body(self, function: Function, scope: Scope, pos: int) -> int:
        """The statements of a function's body, to its closing brace.  This loop is where a big module's time goes."""
        code, find, rfind, count = self.code, self.code.find, self.code.rfind, self.code.count
        size, forward, heads, build, with_vectors = len(self.code), scope.forward, _HEADS, shapes.build, shapes.with_vectors
        body = _Body(self, function, scope, pos - 1)
        statements, operands = body.statements, scope.operands.__getitem__
        counted, line, end = pos, count("\n", 0, pos) + 1, -1
        while True:
            if end < pos:
                end = find(";", pos)
                if end < 0:
                    end = size
            if end - pos > LONG:  # many labels or braces in a row, or nonsense: no copies of this
                pos = body.other(self.source.skip(pos), end, -1)
                if body.done:
                    return pos
                statements, scope = body.statements, body.scope
                operands = scope.operands.__getitem__
                continue
            chunk = code[pos:end].lstrip()
            start = end - len(chunk)
            line += count("\n", counted, start)
            counted = start
            guard, negated = None, False
            try:
                word, text = chunk.split(None, 1)
                if word[0] == "@":
                    negated = word[1:2] == "!"
                    guard = operands(word[2:] if negated else word[1:])
                    if guard.__class__ is not Register:
                        raise _Slow
                    word, text = text.split(None, 1)
                opcode, modifiers, form, settled = heads[word]
                if opcode == "call":
                    found = build("call_operands", text, scope)
                elif "{" in text:
                    found = with_vectors(text, operands)
                else:
                    texts = text.split(", ")
                    if len(texts) <= text.count(","):
                        texts = text.split(",")
                    found = tuple(map(operands, texts))
                if end == size:
                    raise _Slow
            except Flaw as flaw:
                forward.clear()
                self.flaw(flaw, start, end)
                pos = end + 1
                continue
            except (_Slow, UnexpectedInput, ValueError, KeyError, shapes.Compound):
                forward.clear()
                pos = body.other(start, end, line)
                if body.done:
                    return pos
                statements, scope = body.statements, body.scope
                operands = scope.operands.__getitem__
                continue
            span = FastSpan()
            span.start = start
            span.end = pos = end + 1
            span.line = line
            span.column = start - rfind("\n", 0, start)
            span.__class__ = Span  # type: ignore[assignment]
            made = FastInstruction()
            made.opcode = opcode
            made.modifiers = modifiers
            made.operands = found
            made.guard = guard  # type: ignore[assignment]
            made.guard_negated = negated
            made.form = form
            made.settled = settled
            made.span = span  # type: ignore[assignment]
            made.__class__ = Instruction  # type: ignore[assignment]
            statements.append(made)  # type: ignore[arg-type]
            if forward:
                body.wait(made)  # type: ignore[arg-type]


class _Slow(Exception):
    """What the fast path does not know: labels, braces, directives, odd layouts, errors."""


_HEADS: dict[str, Head] = {}


def _head(text: str) -> Head:
    """An opcode with its modifiers, resolved."""
    if not _HEAD.fullmatch(text):
        raise _Slow
    words = text.split(".")
    found = resolve(words[0], tuple(words[1:]))
    head = (words[0], tuple(words[1:]), found[0] if found else None, found[1] if found else None)
    if found is not None:
        _HEADS[text] = head
    return head


class _Open:
    """A block whose end has not come yet."""

    __slots__ = ("column", "line", "mark", "scope", "start", "statements")

    def __init__(self, statements: list[Statement], scope: Scope, mark: int, start: int, line: int, column: int) -> None:
        self.statements = statements  # of the block around it
        self.scope = scope  # around it; the block gets one of its own with its first declaration
        self.mark = mark  # how many labels that scope was waiting for
        self.start = start
        self.line = line
        self.column = column


class _Body:
    """A function's body while it is read."""

    def __init__(self, parser: _Parser, function: Function, scope: Scope, start: int) -> None:
        self.parser = parser
        self.source = parser.source
        self.code = parser.code
        self.function = function
        self.scope = scope
        self.statements: list[Statement] = []
        self.stack: list[_Open] = []
        self.start = start
        self.done = False
        self.inner: dict[str, Label] = {}  # labels of blocks that are closed

    def other(self, start: int, end: int, line: int) -> int:
        """What the loop above does not know: all up to the next instruction, or one unusual statement; line is -1 where it is not known."""
        code, skip = self.code, self.source.skip
        if line < 0:
            line = self.source.span(start, start).line
        while True:
            c = code[start : start + 1]
            if c == "{":
                pos = self.open(start, line)
            elif c == "}":
                self.close(start)
                pos = start + 1
                if self.done:
                    return pos
            elif c == ".":
                pos = self.directive(start, line)
            elif m := _LABEL.match(code, start):
                pos = self.label(m, line)
            else:
                if end - start > LONG or end == len(code):
                    return self.slow(start)
                parts = _PARTS.fullmatch(code, start, end) if start < end else None
                return self.slow(start) if parts is None else self.plain(parts, start, end, line)
            after = skip(pos)
            if code[after : after + 1] not in _OTHER:
                return after
            line += code.count("\n", start, after)
            start = after
            if end < start:
                end = code.find(";", start)
                end = len(code) if end < 0 else end

    def plain(self, m: re.Match[str], start: int, end: int, line: int) -> int:
        """An instruction whose opcode or layout is new."""
        forward, scope = self.scope.forward, self.scope
        sign, guard_name, word, text = m.groups()
        guard = None
        try:
            if guard_name is not None:
                found_guard = scope.lookup(guard_name)
                if not isinstance(found_guard, Register):
                    raise Flaw("bad-predicate", f"{guard_name} is no predicate register", guard_name)
                guard = found_guard
            head = _HEADS.get(word) or _head(word)
            found = shapes.build("call_operands" if head[0] == "call" else "operands", text, scope) if text else ()
        except (_Slow, UnexpectedInput):
            forward.clear()
            return self.slow(start)
        except Flaw as flaw:
            forward.clear()
            self.parser.flaw(flaw, start, end)
            return end + 1
        column = start - self.code.rfind("\n", 0, start)
        made = _make_instruction(head, found, guard, bool(sign), make_span(start, end + 1, line, column))
        self.statements.append(made)
        if forward:
            self.wait(made)
        return end + 1

    def slow(self, start: int) -> int:
        """Reads one thing at start, whatever it is."""
        code, parser = self.code, self.parser
        if start >= len(code) or len(parser.diagnostics) > 4 * LIMIT:
            where = self.stack[-1].start if self.stack else self.start
            note = Note("opened here", self.source.span(where, where + 1))
            parser.report("unclosed-brace", "the text ends before the } comes", len(code), len(code), notes=(note,))
            while not self.done:
                self.close(len(code))
            return len(code)
        c = code[start]
        if c == "\\":
            return self.backslash(start)
        if c == "@" and code.startswith("@@DWARF", start):
            return parser.item(start)
        return self.statement(start)

    # ------------------------------------------------------------ blocks and labels

    def open(self, start: int, line: int) -> int:
        """`{`"""
        if len(self.stack) >= DEPTH:
            self.parser.report("too-deep", f"blocks are nested more than {DEPTH} deep", start, start + 1)
            return len(self.code)
        column = start - self.code.rfind("\n", 0, start)
        self.stack.append(_Open(self.statements, self.scope, len(self.scope.pending), start, line, column))
        self.scope.blocks += 1
        self.statements = []
        return start + 1

    def own_scope(self) -> Scope:
        """The scope of this very block, which most blocks never need."""
        top = self.stack[-1] if self.stack else None
        if top is not None and self.scope is top.scope:
            self.scope = Scope(top.scope, top.scope.registers, inner=True)
            self.scope.pending = top.scope.pending[top.mark :]
            del top.scope.pending[top.mark :]
        return self.scope

    def close(self, at: int) -> None:
        """`}`"""
        scope = self.scope
        if not self.stack:
            self.finish(at)
            return
        top = self.stack.pop()
        block = Block(tuple(self.statements), make_span(top.start, at + 1, top.line, top.column))
        self.statements, self.scope = top.statements, top.scope
        self.scope.blocks -= 1
        self.statements.append(block)
        if scope is not top.scope:
            if scope.pending:
                self.settle(scope)
                top.scope.pending += scope.pending
            self.inner.update([(n, e) for n, e in scope.names.items() if e.__class__ is Label])  # type: ignore[misc]
            scope.close()

    def settle(self, scope: Scope) -> None:
        """Gives their labels to the statements that waited for them."""
        left = []
        for statement, name in scope.pending:
            label = scope.names.get(name)
            if not isinstance(label, Label):
                left.append((statement, name))
            else:
                _patch(statement, name, label)
        scope.pending = left

    def finish(self, at: int) -> None:
        """The closing brace of the body."""
        self.done = True
        scope, function = self.scope, self.function
        self.settle(scope)
        block = Block(tuple(self.statements), self.source.span(self.start, at + 1))
        if scope.future:
            missing = set(map(id, scope.future.values()))
            scope.pending += [(s, o.name) for s in _all(list(block.statements)) for o in _labels(s) if id(o) in missing]
        if scope.pending:
            broken = {id(statement) for statement, _ in scope.pending}
            for statement, name in scope.pending:
                self.unresolved(statement, name)
            block = _without(block, broken)
        function.body = block
        function.registers = tuple(scope.registers)
        scope.close()

    def unresolved(self, statement: Instruction | Targets, name: str) -> None:
        """A name that nothing declares."""
        parser, span = self.parser, statement.span
        start = span.start
        if isinstance(statement, Instruction):  # the opcode may have the same name
            start = self.code.index(statement.opcode, start) + len(statement.opcode)
        at, to = parser._find(name, start, span.end)
        if isinstance(statement, Targets) or statement.opcode in ("bra", "brx"):
            inner = self.inner.get(name)
            notes = (Note("it is inside this block", inner.span),) if inner else ()
            near = nearest(name, [n for n, e in self.scope.names.items() if isinstance(e, Label)])
            hint = f"is {near} meant?" if near else ""
            parser.report("unknown-label", f"no label {name} can be reached from here", at, to, notes=notes, hint=hint)
        elif not parser.tainted:
            parser.undeclared(name, self.scope, at, to)

    def wait(self, made: Instruction | Targets) -> None:
        """A statement names something unknown: a label that comes later, it may be."""
        scope = self.scope
        names = [u.name for u in scope.forward]
        scope.forward.clear()
        places = made.operands if isinstance(made, Instruction) else made.targets
        waiting = [o.name for o in places if isinstance(o, Unresolved)]
        if waiting == names:
            scope.pending += [(made, n) for n in names]
            return
        self.statements.pop()
        name = next(n for n in names if n not in waiting)
        at, to = self.parser._find(name, made.span.start, made.span.end)
        self.parser.undeclared(name, scope, at, to)

    def label(self, m: re.Match[str], line: int) -> int:
        """`name:`, or what a name with a colon may introduce."""
        code, name, start, pos = self.code, m[1], m.start(), m.end()
        after = self.source.skip(pos)
        if code[after : after + 1] == "." and self.parser.word(after) in (".branchtargets", ".calltargets", ".callprototype"):
            return self.statement(start)
        scope = self.own_scope()
        span = make_span(start, start + len(name), line, start - code.rfind("\n", 0, start))
        label = scope.future.pop(name, None)
        if label is not None:
            object.__setattr__(label, "span", span)
        else:
            label = Label(name, span)
        outer = None
        if self.stack:
            found = scope.lookup(name)
            outer = found if isinstance(found, Label) else self.future(name)
        try:
            scope.declare_label(name, label)
        except Flaw as flaw:
            self.parser.flaw(flaw, start, start + len(name))
            return pos
        if outer is not None:
            # What this block said so far meant its own label, not the one around it.
            for statement in _all(self.statements):
                _patch(statement, outer, label)
        self.statements.append(label)
        return pos

    def future(self, name: str) -> Label | None:
        """The label of the body that is still to come, if one of this name is."""
        scope = self.stack[0].scope
        return scope.future.get(name)

    def backslash(self, start: int) -> int:
        """ptxas overlooks a backslash before a statement."""
        at, end = self.source.token(start + 1)
        return self.parser.unexpected(at, start) if self.code[at:end] in ("", "}", "\\") else at

    # ------------------------------------------------------------ statements

    def directive(self, start: int, line: int) -> int:
        """A statement that begins with a dot."""
        code, parser = self.code, self.parser
        word = parser.word(start)
        if word == ".loc":
            return self.location(start, line)
        if word == ".reg":
            end = code.find(";", start) + 1
            if end and self.registers(start, end, line):
                return end
        elif word in (".file", ".section", ".version", ".target", ".address_size", ".entry", ".func", ".visible", ".extern", ".alias"):
            return parser.unexpected(start, start)
        return self.statement(start)

    def registers(self, start: int, end: int, line: int) -> bool:
        """`.reg ...;` by its shape; False leaves it to the grammar, errors included."""
        made = shapes.registers(self.code[start:end])
        if made is None:
            return False
        words, names = made
        scope, type, vector = self.own_scope(), words.type, words.vector
        own, operands, numbered, column = scope.names, scope.operands, scope.registers, start - self.code.rfind("\n", 0, start)
        registers, stems = [], []
        if operands:
            operands.clear()
        for name, count, at in names:
            where = make_span(start + at, start + at + len(name), line, column + at)
            try:
                if count >= 0:
                    scope.declare_stem(name, Stem(count, type, vector, where))
                else:
                    register = make_register(name, type, vector, len(numbered), where)
                    if name in own or scope.stems:
                        scope.declare(name, register)
                    own[name] = operands[name] = register
                    numbered.append(register)
                    registers.append(register)
            except Flaw as flaw:
                self.parser.flaw(flaw, start + at, end)
            stems.append((name, count))
        span = make_span(start, end, line, column)
        self.statements.append(Declaration(tuple(registers), (), tuple(stems), span, type, vector))
        return True

    def location(self, start: int, line: int) -> int:
        """`.loc ...`, usually alone on its line."""
        code, parser = self.code, self.parser
        end = code.find("\n", start)
        end = len(code) if end < 0 else end
        try:
            values = shapes.build("directive", code[start:end], self.scope)
        except (UnexpectedInput, Flaw):
            try:
                tree, end = parser.prefix(start)
                values = shapes.build("directive", code[start:end], self.scope)
            except UnexpectedInput as error:
                return parser.syntax(error, start)
            except Flaw as flaw:
                parser.flaw(flaw, start, end)
                return end
        if values is None:
            return parser.unexpected(start, start)
        file, row, column, function, offset, inlined = values
        end = start + len(code[start:end].rstrip())
        span = make_span(start, end, line, start - code.rfind("\n", 0, start))
        self.statements.append(make_location(file, row, column, span, function, offset, inlined))
        return end

    def statement(self, start: int) -> int:
        """Any statement, by the grammar."""
        code, parser = self.code, self.parser
        m = _END.match(code, start)
        end = m.end() if m else len(code)
        try:
            children = parser.tree(start, end)
        except UnexpectedInput as error:
            if code[start] == ".":
                parser.tainted = True
            return parser.syntax(error, start)
        tree = children[0]
        span = self.source.span(start, end)
        try:
            made = self.made(tree, span)
        except (Flaw, RecursionError) as error:
            self.scope.forward.clear()
            parser.flaw(error if isinstance(error, Flaw) else _TOO_DEEP, start, end)
            if tree.data == "declaration":
                parser.tainted = True
            return end
        if made is None:
            return parser.unexpected(start, start)
        self.statements.append(made)
        if self.scope.forward and isinstance(made, (Instruction, Targets)):
            self.wait(made)
        return end

    def made(self, tree: Any, span: Span) -> Statement | None:
        """The node of a statement's tree; None for what belongs outside of functions."""
        scope, parser = self.scope, self.parser
        match tree.data:
            case "instruction":
                return self.instruction(tree, span)
            case "declaration":
                return parser.variable_statement(tree, self.own_scope(), span)
            case "pragma":
                return Pragma(tuple(str(t)[1:-1] for t in tree.children), span)
            case "targets":
                token, kind, *names = tree.children
                targets = tuple([scope.operands[str(n)] for n in names])
                if kind.type == "CALLTARGETS":
                    for n, t in zip(names, targets, strict=True):
                        if not isinstance(t, Function):
                            scope.forward.clear()
                            raise Flaw("undeclared-name", f"no function is called {n}", str(n))
                made = Targets(str(token), "branch" if kind.type == "BRANCHTARGETS" else "call", targets, span)  # type: ignore[arg-type]
                self.own_scope().declare(made.name, made)
                return made
            case "prototype":
                return self.prototype(tree, span)
        return None

    def prototype(self, tree: Any, span: Span) -> Prototype:
        """`name: .callprototype (...) _ (...);`"""
        token, returns, _, params, *rest = tree.children
        lists = []
        for part in (returns, params):
            trees = [t for t in part.children if t is not None] if part is not None else []
            lists.append(tuple([decl.parameter(t, self.source.span) for t in trees]))
        directives = [decl.performance(t, False, self.source.span) for t in rest]
        made = Prototype(str(token), lists[0], lists[1], span, any(d.name == ".noreturn" for d in directives))
        self.own_scope().declare(made.name, made)
        return made

    def instruction(self, tree: Any, span: Span) -> Instruction:
        """An instruction in an unusual layout."""
        scope, guard, negated = self.scope, None, False
        children = list(tree.children)
        if getattr(children[0], "data", "") == "guard":
            sign, name = children.pop(0).children
            negated, name = sign is not None, str(name)
            found = scope.lookup(name)
            if not isinstance(found, Register):
                raise Flaw("bad-predicate", f"{name} is no predicate register", name)
            guard = found
        operands = children.pop() if not isinstance(children[-1], str) else None
        head = _head(str(children[0]) + "".join(map(str, children[1:])))
        found_operands = shapes.from_tree(operands, scope) if operands is not None else ()
        return _make_instruction(head, found_operands, guard, negated, span)


def _word_at(code: str, word: str, pos: int) -> int:
    """Where a word stands next, not as a part of another."""
    while True:
        pos = code.find(word, pos)
        before, after = code[pos - 1], code[pos + len(word)]
        if not (before.isalnum() or before in "_$%." or after.isalnum() or after in "_$"):
            return pos
        pos += 1


def _all(statements: list[Statement]) -> list[Instruction | Targets]:
    """The statements that may name labels, those of inner blocks too."""
    out: list[Instruction | Targets] = []
    todo: list[Statement] = list(statements)
    while todo:
        s = todo.pop()
        if isinstance(s, Block):
            todo += s.statements
        elif isinstance(s, (Instruction, Targets)):
            out.append(s)
    return out


def _labels(statement: Instruction | Targets) -> list[Label]:
    """The labels that a statement names, in vectors and pairs too."""
    out: list[Label] = []
    todo: list[object] = list(statement.operands if isinstance(statement, Instruction) else statement.targets)
    while todo:
        match todo.pop():
            case Label() as label:
                out.append(label)
            case Vector(elements=inner) | Arguments(elements=inner):
                todo += inner
            case Pair(first=first, second=second):
                todo += (first, second)
            case Address(parts=parts):
                todo += parts
    return out


def _patch(statement: Instruction | Targets, old: str | Label, new: Label) -> None:
    """Puts a label in the place of one that is not known yet (a name) or was wrong."""
    field = "operands" if isinstance(statement, Instruction) else "targets"
    places = getattr(statement, field)
    fits = [isinstance(o, Unresolved) and o.name == old if isinstance(old, str) else o is old for o in places]
    if any(fits):
        object.__setattr__(statement, field, tuple([new if fit else o for fit, o in zip(fits, places, strict=True)]))


def _without(block: Block, broken: set[int]) -> Block:
    """The block less the statements whose names stand for nothing."""
    kept = [_without(s, broken) if isinstance(s, Block) else s for s in block.statements if id(s) not in broken]
    return Block(tuple(kept), block.span)


_SIGNS = {
    "SEMICOLON": ";", "COMMA": ",", "RPAR": ")", "LPAR": "(", "RSQB": "]", "LSQB": "[", "RBRACE": "}", "LBRACE": "{", "COLON": ":",
    "EQUAL": "=", "NAME": "a name", "INTEGER": "a number", "STRING": "a string", "MORETHAN": ">",
}  # fmt: skip


def _expected(error: UnexpectedInput) -> str:
    """What would have fitted, where that can be said in a few words."""
    wanted = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ()
    words = sorted({_SIGNS[w] for w in wanted if w in _SIGNS})
    return f"; expected {' or '.join(words)}" if 0 < len(words) <= 4 else ""


def parse_all(text: str | bytes, name: str = "<text>") -> tuple[Module, list[Diagnostic]]:
    """What can be read of a text, and what is wrong with it, in the order of the text."""
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    was_enabled = gc.isenabled()
    gc.disable()  # a parse makes no garbage cycles, and the collector would look at a big module again and again
    try:
        parser = _Parser(Source(text, name))
        module = parser.module()
    finally:
        if was_enabled:
            gc.enable()
    return module, sorted(parser.diagnostics, key=lambda d: d.span.start)


def parse(text: str | bytes, name: str = "<text>") -> Module:
    """The Module that a PTX text describes; raises PtxError."""
    module, diagnostics = parse_all(text, name)
    if diagnostics:
        raise PtxError(diagnostics, module.text, name)
    return module
