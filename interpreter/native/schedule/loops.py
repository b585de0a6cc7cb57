"""Plain loops over memory as LLVM IR: a subset of Python, so that the same text runs as Python in tests.

Values are 64-bit integers; a parameter annotated Words, Masks or Flags is a pointer to 64-bit, unsigned 32-bit or 8-bit elements, one annotated with a record
(records.py) is its place.  There are while, for x in range(..) or in part of an array, if, assignments, arithmetic, comparisons, constants of a module, calls
of functions translated with it, and of int(x), popcount(x), smaller(array, at, x), prefetch(array, at), clear(address, bytes) and
invoke(address, words, at, count), which calls compiled code.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from .records import RecordLowering

Words = Any  # NDArray[np.int64], whose elements serve as plain numbers
Masks = Any  # NDArray[np.uint32]
Flags = Any  # NDArray[np.bool_]

_ELEMENTS = {"Words": "i64", "Masks": "i32", "Flags": "i8"}
_ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl",
               ast.RShift: "ashr"}  # fmt: skip
_BUILT_IN = {"popcount", "smaller", "prefetch", "clear", "taken", "invoke"}
VECTOR = 32  # elements that smaller() compares
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge"}


def popcount(x: int) -> int:
    """How many bits of x are set."""
    return int(x).bit_count()


def smaller(array: Words, at: int, x: int) -> int:
    """How many of VECTOR elements of 64 bits from one on are less than x."""
    return sum(array[at + i] < x for i in range(VECTOR))


def prefetch(array: Words, at: int) -> int:
    """An element is soon read."""
    return 0


def called_from(entry: Callable[..., Any]) -> list[Callable[..., Any]]:
    """A function, and all that it calls, and that these call."""
    found = [entry]
    for f in found:
        named = (f.__globals__.get(name) for name in f.__code__.co_names if name not in _BUILT_IN)
        found += [g for g in named if inspect.isfunction(g) and g not in found]
    return found


def translated(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int], entry: str = "") -> str:
    """LLVM IR of some functions; `constants` are the names that they read from a module; `entry`: only this one is called from elsewhere, and no function
    becomes a part of another, for which the compiler would take several times as long; without one, those without branches become parts of others.
    """
    declared = [
        "declare i64 @llvm.ctpop.i64(i64)",
        f"declare i{VECTOR} @llvm.ctpop.i{VECTOR}(i{VECTOR})",
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    ]
    return "\n".join([*declared, *[_Function(f, constants).text(entry) for f in functions]])


def texts_of(functions: Sequence[Callable[..., int]], constants: Mapping[str, int], modules: Sequence[ModuleType]) -> str:
    """All that a translation depends on: the files of the functions, of their records (`modules`), and of what translates them, and the constants."""
    files = sorted({__file__, *(f.__code__.co_filename for f in functions), *(str(m.__file__) for m in modules)})
    return "\0".join([*(Path(file).read_text(encoding="utf-8") for file in files), repr(sorted(constants.items()))])


class _Function:
    def __init__(self, f: Callable[..., Any], constants: Mapping[str, int]) -> None:
        (tree,) = ast.parse(inspect.getsource(f)).body
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree = RecordLowering(f).visit(tree)
        self.constants = constants
        self.pointers = {
            a.arg: _ELEMENTS[ast.unparse(a.annotation)] for a in tree.args.args if a.annotation and ast.unparse(a.annotation) in _ELEMENTS
        }
        self.lines: list[str] = []
        self.count = 0
        self.truths: list[str] = []  # places for what is only found out step by step
        self.loops: list[tuple[str, str]] = []  # where continue and break lead

    def text(self, entry: str) -> str:
        """The function."""
        names = [a.arg for a in self.tree.args.args]
        stored = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.locals = stored | {n for n in names if n not in self.pointers}
        head = ", ".join(f"ptr %{n}" if n in self.pointers else f"i64 %given.{n}" for n in names)
        self.lines = [f"  store i64 %given.{n}, ptr %at.{n}" for n in names if n not in self.pointers]
        self.body(self.tree.body)
        places = [*[f"  %at.{n} = alloca i64" for n in sorted(self.locals)], *[f"  {t} = alloca i1" for t in self.truths]]
        linkage = "internal " if entry not in ("", self.tree.name) else ""
        short = not any(isinstance(n, ast.For | ast.While | ast.If) for n in ast.walk(self.tree))
        inlined = " noinline" if entry else " alwaysinline" if short else ""
        return "\n".join(
            [
                f"define {linkage}i64 @{self.tree.name}({head}){inlined} {{",
                "entry:",
                *places,
                *self.lines,
                "  ret i64 0",
                "}",
            ]
        )

    # ------------------------------------------------------------ lines

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def labels(self, n: int) -> list[str]:
        self.count += n
        return [f"L{self.count - i}" for i in range(n)]

    def jump(self, label: str) -> None:
        """Ends a piece; what follows it in the text is reached only by its label."""
        self.lines.append(f"  br label %{label}")

    def begin(self, label: str) -> None:
        self.lines.append(f"{label}:")

    # ------------------------------------------------------------ statements

    def body(self, statements: list[ast.stmt]) -> None:
        for s in statements:
            self.statement(s)

    def statement(self, s: ast.stmt) -> None:
        match s:
            case ast.Expr(ast.Constant()):
                pass  # a docstring
            case ast.Expr(ast.Call() as call):
                self.value(call)
            case ast.Assign(targets, value):
                found = self.value(value)
                for target in targets:
                    self.put(target, found)
            case ast.AugAssign(ast.Name(n), op, value):
                self.put(s.target, self.value(ast.BinOp(ast.Name(n, ast.Load()), op, value)))
            case ast.AugAssign(ast.Subscript(array, at), op, value):
                self.put(s.target, self.value(ast.BinOp(ast.Subscript(array, at, ast.Load()), op, value)))
            case ast.Return(value):
                self.lines.append(f"  ret i64 {self.value(value) if value else 0}")
                self.begin(*self.labels(1))
            case ast.If(test, yes, no):
                a, b, end = self.labels(3)
                self.lines.append(f"  br i1 {self.truth(test)}, label %{a}, label %{b}")
                for label, statements in ((a, yes), (b, no)):
                    self.begin(label)
                    self.body(statements)
                    self.jump(end)
                self.begin(end)
            case ast.While(test, body):
                head, inside, end = self.labels(3)
                self.jump(head)
                self.begin(head)
                self.lines.append(f"  br i1 {self.truth(test)}, label %{inside}, label %{end}")
                self.begin(inside)
                self.loops.append((head, end))
                self.body(body)
                self.loops.pop()
                self.jump(head)
                self.begin(end)
            case ast.For(number, ast.Call(ast.Name("range"), [*first, count]), body):
                head, inside, following, end = self.labels(4)
                self.put(number, self.value(first[0] if first else ast.Constant(0)))
                last = self.value(count)
                self.jump(head)
                self.begin(head)
                self.lines.append(f"  br i1 {self.new(f'icmp slt i64 {self.value(number)}, {last}')}, label %{inside}, label %{end}")
                self.begin(inside)
                self.loops.append((following, end))
                self.body(body)
                self.loops.pop()
                self.jump(following)
                self.begin(following)
                self.put(number, self.new(f"add i64 {self.value(number)}, 1"))
                self.jump(head)
                self.begin(end)
            case ast.Break() | ast.Continue():
                self.jump(self.loops[-1][isinstance(s, ast.Break)])
                self.begin(*self.labels(1))
            case _:
                raise NotImplementedError(ast.unparse(s))

    def put(self, target: ast.expr, value: str) -> None:
        if isinstance(target, ast.Name):
            self.lines.append(f"  store i64 {value}, ptr %at.{target.id}")
            return
        place, element = self.place(target)
        if element != "i64":
            value = self.new(f"trunc i64 {value} to {element}")
        self.lines.append(f"  store {element} {value}, ptr {place}")

    def place(self, e: ast.expr) -> tuple[str, str]:
        assert isinstance(e, ast.Subscript) and isinstance(e.value, ast.Name)
        element = self.pointers[e.value.id]
        return self.new(f"getelementptr {element}, ptr %{e.value.id}, i64 {self.value(e.slice)}"), element

    # ------------------------------------------------------------ expressions

    def truth(self, e: ast.expr) -> str:
        match e:
            case ast.Compare(left, [op], [right]):
                return self.new(f"icmp {_COMPARISONS[type(op)]} i64 {self.value(left)}, {self.value(right)}")
            case ast.BoolOp(op, values):
                result, end = f"%truth{len(self.truths)}", *self.labels(1)
                self.truths.append(result)
                for n, v in enumerate(values):
                    x = self.truth(v)
                    self.lines.append(f"  store i1 {x}, ptr {result}")
                    if n + 1 < len(values):
                        (more,) = self.labels(1)
                        yes, no = (more, end) if isinstance(op, ast.And) else (end, more)
                        self.lines.append(f"  br i1 {x}, label %{yes}, label %{no}")
                        self.begin(more)
                self.jump(end)
                self.begin(end)
                return self.new(f"load i1, ptr {result}")
            case ast.UnaryOp(ast.Not(), x):
                return self.new(f"xor i1 {self.truth(x)}, true")
        return self.new(f"icmp ne i64 {self.value(e)}, 0")

    def value(self, e: ast.expr) -> str:
        match e:
            case ast.Constant(value):
                assert isinstance(value, int)
                return str(int(value))
            case ast.Name(n):
                return self.new(f"load i64, ptr %at.{n}")
            case ast.Attribute(ast.Name(), n):
                return str(self.constants[n])
            case ast.BinOp(left, op, right):
                return self.new(f"{_ARITHMETIC[type(op)]} i64 {self.value(left)}, {self.value(right)}")
            case ast.UnaryOp(ast.USub(), x):
                return self.new(f"sub i64 0, {self.value(x)}")
            case ast.UnaryOp(ast.Invert(), x):
                return self.new(f"xor i64 -1, {self.value(x)}")
            case ast.Subscript():
                place, element = self.place(e)
                found = self.new(f"load {element}, ptr {place}")
                return found if element == "i64" else self.new(f"zext {element} {found} to i64")
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                return self.new(f"zext i1 {self.truth(e)} to i64")
            case ast.Call(ast.Name("int"), [x]):
                return self.value(x)
            case ast.Call(ast.Name("popcount"), [x]):
                return self.new(f"call i64 @llvm.ctpop.i64(i64 {self.value(x)})")
            case ast.Call(ast.Name("smaller"), [array, at, x]):
                place, vector = self.place(ast.Subscript(array, at))[0], f"<{VECTOR} x i64>"
                one = self.new(f"insertelement {vector} poison, i64 {self.value(x)}, i32 0")
                each = self.new(f"shufflevector {vector} {one}, {vector} poison, <{VECTOR} x i32> zeroinitializer")
                less = self.new(f"icmp slt {vector} {self.new(f'load {vector}, ptr {place}, align 8')}, {each}")
                bits = self.new(f"bitcast <{VECTOR} x i1> {less} to i{VECTOR}")
                return self.new(f"zext i{VECTOR} {self.new(f'call i{VECTOR} @llvm.ctpop.i{VECTOR}(i{VECTOR} {bits})')} to i64")
            case ast.Call(ast.Name("prefetch"), [array, at]):
                place, _ = self.place(ast.Subscript(array, at))
                self.lines.append(f"  call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")
                return "0"
            case ast.Call(ast.Name("clear"), [address, size]):
                first = self.new(f"inttoptr i64 {self.value(address)} to ptr")
                self.lines.append(f"  call void @llvm.memset.p0.i64(ptr {first}, i8 0, i64 {self.value(size)}, i1 false)")
                return "0"
            case ast.Call(ast.Name("taken"), [address, by]):
                counter = self.new(f"inttoptr i64 {self.value(address)} to ptr")
                return self.new(f"atomicrmw add ptr {counter}, i64 {self.value(by)} seq_cst")
            case ast.Call(ast.Name("invoke"), [address, ast.Name(words), at, count]):
                function = self.new(f"inttoptr i64 {self.value(address)} to ptr")
                first = self.new(f"getelementptr i64, ptr %{words}, i64 {self.value(at)}")
                return self.new(f"call i64 {function}(ptr %{words}, ptr {first}, i64 {self.value(count)})")
            case ast.Call(ast.Name(f) | ast.Attribute(ast.Name(), f), arguments):
                given = [f"ptr %{a.id}" if isinstance(a, ast.Name) and a.id in self.pointers else f"i64 {self.value(a)}" for a in arguments]
                return self.new(f"call i64 @{f}({', '.join(given)})")
        raise NotImplementedError(ast.unparse(e))


def constants_of(module: Any) -> dict[str, int]:
    """The numbers that a module gives names to."""
    return {name: value for name, value in vars(module).items() if type(value) is int}
