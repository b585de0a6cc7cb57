"""What an instruction is stands in its row: code outside isa/ asks `form.facts` and `form.effect`, and compares no opcode with a word.

What ptxas makes of PTX (interpreter/ptxas/) may name opcodes: it is about single instructions.
"""

import ast
from collections import Counter
from collections.abc import Iterator

import warplab.isa.ops  # noqa: F401  (fills FORMS)
from tools.imports import ROOT, trees
from warplab.isa.notation import FORMS

FREE = ("interpreter/ptxas/",)


def is_opcode(node: ast.expr) -> bool:
    """Is it an instruction's opcode: `i.opcode`, or a name that says so?"""
    return (isinstance(node, ast.Attribute) and node.attr == "opcode") or (isinstance(node, ast.Name) and node.id == "opcode")


def words(node: ast.AST) -> list[str]:
    """The opcodes that an expression names: strings, keys of tables, strings of words; not what it asks of the rows."""
    match node:
        case ast.Constant(value=str(text)):
            return [word for word in (text.split() if " " in text else [text]) if word in FORMS]
        case ast.Call(func=ast.Name(id="opcodes" | "with_effect")):
            return []
        case ast.Dict(keys=keys):
            return [word for key in keys if key is not None for word in words(key)]
    return [word for child in ast.iter_child_nodes(node) for word in words(child)]


def compared(tree: ast.AST) -> Iterator[ast.AST]:
    """What opcodes are compared with, matched against, or looked up in."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others) if any(map(is_opcode, (left, *others))):
                yield from [side for side in (left, *others) if not is_opcode(side)]
            case ast.Match(subject=subject, cases=cases) if is_opcode(subject):
                yield from [case.pattern for case in cases]
            case ast.Subscript(value=table, slice=key) if is_opcode(key):
                yield table
            case ast.Call(func=ast.Attribute(value=table, attr="get" | "isdisjoint" | "intersection"), args=arguments):
                named = [arguments[0]] if arguments else []
                if any(is_opcode(n) or (isinstance(n, ast.Attribute) and n.attr == "opcodes") for n in named):
                    yield table
                elif isinstance(table, ast.Attribute) and table.attr == "opcodes":
                    yield from named


def tables(tree: ast.Module) -> dict[str, ast.expr]:
    """The values of a module's own names."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            found |= {target.id: node.value for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            found[node.target.id] = node.value
    return found


def named_opcodes(trees: dict[str, ast.Module]) -> Counter[str]:
    """How many opcodes the tests of each file name, in place or in a table that they use; a table counts where it stands."""
    own = {path: tables(tree) for path, tree in trees.items()}
    found: Counter[str] = Counter()
    counted: set[tuple[str, str]] = set()

    def count(path: str, node: ast.AST) -> None:
        found[path] += len(words(node))
        for name in [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]:
            for place in [path] if name in own[path] else [p for p in own if name in own[p] and imports(trees[path], name)]:
                if (place, name) not in counted:
                    counted.add((place, name))
                    count(place, own[place][name])

    for path, tree in trees.items():
        for node in compared(tree):
            count(path, node)
    return +found


def imports(tree: ast.Module, name: str) -> bool:
    """Does a module import a name?"""
    return any(isinstance(node, ast.ImportFrom) and name in [alias.name for alias in node.names] for node in ast.walk(tree))


def test_no_opcode_is_tested_by_name() -> None:
    rooms = ("assembler", "interpreter", "runtime")
    read = {path.relative_to(ROOT).as_posix(): tree for room in rooms for path, tree in trees(room).items()}
    found = {path: n for path, n in named_opcodes(read).items() if not path.startswith(FREE)}
    assert found == {}, "make it a fact of the rows (isa/facts.py)"


def test_tests_of_opcodes_are_found() -> None:
    text = """
WIDE = {"ld": "add", "st": 2}
MORE = frozenset({"bar", *WIDE})
NONE = opcodes("access") | with_effect("call")
a = i.opcode in MORE or i.opcode == "mov" or i.opcode in NONE or i.space == "ld"
b = WIDE[i.opcode], listing.opcodes.isdisjoint({"call"}), WIDE.get(opcode)
match i.opcode:
    case "add" | "sub": pass
"""
    assert named_opcodes({"x.py": ast.parse(text)}) == {"x.py": 3 + 1 + 1 + 2}
