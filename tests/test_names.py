"""House rules of names: one class for each name."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("isa", "assembler", "interpreter", "runtime")
PUBLIC = ["Program"]  # of the assembler, and in cuda.core's words of the runtime


def test_no_two_classes_have_one_name() -> None:
    trees = [ast.parse(path.read_text()) for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == PUBLIC
