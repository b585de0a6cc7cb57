"""The player's script is that of its sources, and its types hold, where node and its packages are there."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "runtime" / "player" / "player.js"
SOURCES = ROOT / "player"
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (SOURCES / "node_modules").is_dir(), reason="node, or `npm ci` in player/, is missing"
)


def test_the_script_is_built_from_the_sources() -> None:
    digest = hashlib.sha256()
    for path in sorted((SOURCES / "src").iterdir()):
        digest.update(f"{path.name}\n".encode() + path.read_bytes())
    first = SCRIPT.read_text().split("\n", 1)[0]
    assert first.endswith(f"sha256 {digest.hexdigest()}"), "the sources have changed: npm run build, in player/"


@needs_node
def test_a_build_makes_the_same_script(tmp_path: Path) -> None:
    subprocess.run(["node", "build.mjs", tmp_path / "player.js"], cwd=SOURCES, check=True)
    assert (tmp_path / "player.js").read_bytes() == SCRIPT.read_bytes()


@needs_node
def test_types_of_the_sources() -> None:
    done = subprocess.run(["node_modules/.bin/tsc", "--noEmit", "-p", "."], cwd=SOURCES, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
