"""A tree built from a template is the tree that lark makes of the same text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from warplab.assembler.ir import Declaration, Function, Instruction
from warplab.assembler.parse import parse_all
from warplab.assembler.parse.text import Source
from warplab.assembler.parse.trees import grammar, tree_of
from warplab.assembler.walk import statements

ROOT = Path(__file__).parents[2]
TEXTS = sorted((ROOT / "samples").rglob("*.ptx"))


def plain(node: Any) -> Any:
    """A tree as tuples: rules with what is below them, tokens with their type and place."""
    if node is None:
        return None
    if isinstance(node, str):
        token: Any = node
        return token.type, str(token), token.start_pos, token.end_pos
    return str(node.data), [plain(c) for c in node.children]


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_statements_of_the_samples(path: Path) -> None:
    module, _ = parse_all(path.read_text())
    code = Source(module.text, "x").code
    bodies = [f.body for f in module.items if isinstance(f, Function)]
    found = [s.span for b in bodies for s in statements(b) if isinstance(s, (Instruction, Declaration))]
    for text in [code[span.start : span.end] for span in found]:
        assert plain(tree_of(text)) == plain(grammar().parse(text, start="statement")), text


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("bra f;", "call f;"),
        ("mov.f32 a, 0f3F800000;", "mov.f32 b, 0d3FF0000000000000;"),
        ("mov.b32 a, WARP_SZ;", "mov.b32 a, b;"),
        ("mov.b32 a, 1;", "mov.b32  a ,0x1F ;"),
        ("add.s32 %r1, %r2, -1;", "add.s32 %r1, %r2, - 077;"),
        ("ld.v2.b32 {a, _}, [p+4];", "ld.v2.b32 {b, _}, [q+8];"),
        ("call (r), f, (a, b), proto;", "call (call), f, (a, b), proto;"),
    ],
)
def test_texts_that_look_alike(text: str, other: str) -> None:
    tree_of(text)
    assert plain(tree_of(other)) == plain(grammar().parse(other, start="statement"))


def test_each_version_of_lark_keeps_its_own_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for version, files in (("1", 1), ("2", 2), ("1", 2)):
        monkeypatch.setattr("lark.__version__", version)
        grammar.cache_clear()
        grammar()
        assert len(list(tmp_path.glob("warplab/grammar-*.lark"))) == files
    grammar.cache_clear()
