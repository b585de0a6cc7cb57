"""The extension for VS Code: its types, its package, and its grammar in VS Code's own reader of grammars."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from warplab.assembler import check
from warplab.assembler.editing import colours
from warplab.assembler.editing.edited import EditedText

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"
SAMPLES = sorted((ROOT / "samples").rglob("*.ptx"))
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (EXTENSION / "node_modules").is_dir(), reason="node, or `npm ci` in editors/vscode, is missing"
)
SCOPES = {
    "comment": "comment.", "string": "string.", "number": "constant.numeric.", "type": "storage.type.ptx", "keyword": ("keyword.other.directive.", "storage.type.function."),
    "macro": "variable.language.", "modifier": ("storage.modifier.", "keyword.other.directive."),
}  # fmt: skip


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
    return found


@needs_node
def test_the_grammar_agrees_with_the_assembler_about_every_sample() -> None:
    """Where the assembler's colours see a comment, a number, a type, ..., the grammar does, too."""
    done = subprocess.run(["node", "test/tokens.mjs", *map(str, SAMPLES)], cwd=EXTENSION, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wrong = []
    for name, found in json.loads(done.stdout).items():
        edited = EditedText(Path(name).read_text())
        scopes = {}
        for line, start, end, scope in found:
            for column in range(start, end):
                scopes[line, column] = scope
        for t in colours.tokens(edited):
            line = edited.line_of(t.start)
            scope = scopes.get((line, t.start - edited.line(line)[0]), "")
            if t.kind in SCOPES and not scope.startswith(SCOPES[t.kind]):
                wrong.append((Path(name).name, line + 1, edited.text[t.start : t.end], t.kind, scope))
    assert not wrong, (len(wrong), wrong[:20])


@needs_node
def test_types_build_and_package(tmp_path: Path) -> None:
    checked = subprocess.run(["node_modules/.bin/tsc", "--noEmit", "-p", "."], cwd=EXTENSION, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    made = tmp_path / "warplab.vsix"
    done = subprocess.run(
        ["node_modules/.bin/vsce", "package", "--no-dependencies", "-o", str(made)], cwd=EXTENSION, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(made) as archive:
        names = {n.removeprefix("extension/") for n in archive.namelist()}
    assert {"dist/extension.js", "syntaxes/ptx.tmLanguage.json", "snippets/ptx.json", "walkthrough/run.md", "package.json"} <= names
    assert not any(n.startswith(("node_modules", "src", "test")) for n in names)


def test_what_the_manifest_names_is_there() -> None:
    contributes = manifest()["contributes"]
    steps = [s["media"]["markdown"] for w in contributes["walkthroughs"] for s in w["steps"]]
    paths = [contributes["grammars"][0]["path"], contributes["snippets"][0]["path"], contributes["languages"][0]["configuration"], *steps]
    assert not [p for p in paths if not (EXTENSION / p).is_file()]
    source = "".join(p.read_text() for p in (EXTENSION / "src").iterdir())
    registered = set(re.findall(r'registerCommand\("([\w.]+)"', source))
    assert registered == {c["command"] for c in contributes["commands"]}


def test_the_problem_matcher_reads_what_check_prints() -> None:
    (first, second) = manifest()["contributes"]["problemMatchers"][0]["pattern"]
    text = (ROOT / "samples" / "vecadd.ptx").read_text().replace("add.f32", "ad.f32")
    lines = check(text)[0].render(text, "samples/vecadd.ptx").splitlines()
    m, place = re.match(first["regexp"], lines[0]), re.match(second["regexp"], lines[1])
    assert m is not None and m.groups() == ("error", "unknown-instruction", "no instruction is called ad")
    assert place is not None and place.groups() == ("samples/vecadd.ptx", "45", "5")


@pytest.mark.parametrize("name", json.loads((EXTENSION / "snippets" / "ptx.json").read_text()))
def test_snippets_are_ptx(name: str) -> None:
    """With the texts that stand in them, each is PTX: as a module, or in a kernel that declares what it names."""
    snippet = json.loads((EXTENSION / "snippets" / "ptx.json").read_text())[name]
    text = "\n".join(snippet["body"])
    values = dict(re.findall(r"\$\{(\d+):([^}]*)\}", text))
    text = re.sub(r"\$\{(\d+):([^}]*)\}", lambda m: m[2], text)
    text = re.sub(r"\$(\d+)", lambda m: values.get(m[1], ""), text)
    if ".version" not in text:
        text = (
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
            f".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n{text}\ndone:\nret;\n}}\n"
        )
    assert not [d for d in check(text) if d.severity == "error"], text
