"""House rules of names: one class for each name."""

import ast
from collections import Counter

from tools.imports import ROOMS, trees

PUBLIC = ["Program"]  # of the assembler, and in cuda.core's words of the runtime


def test_no_two_classes_have_one_name() -> None:
    read = [tree for room in ROOMS for tree in trees(room).values()]
    names = Counter(node.name for tree in read for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in names.items() if count > 1] == PUBLIC
