"""The adapter and a client that others wrote: `npm install --prefix tests/runtime/dap` brings it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .editor import ROOT, TRITON, TRITON_RUN

HERE = Path(__file__).parent
CLIENT = "@vscode/debugadapter-testsupport"


def test_a_triton_kernel_in_a_client_that_others_wrote(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    found = subprocess.run([node, "-e", f"require.resolve('{CLIENT}')"], cwd=HERE, capture_output=True)
    if found.returncode:
        pytest.skip(f"{CLIENT} is not installed: npm install --prefix {HERE.relative_to(ROOT)}")
    for file in (TRITON, TRITON.with_suffix(".py")):
        shutil.copy(file, tmp_path)
    program, source = tmp_path / TRITON.name, tmp_path / "triton_decay.py"
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    adapter = tmp_path.parent / "adapter.py"
    adapter.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'tests' / 'importroot')!r})\nfrom warplab.runtime.cli import main\nmain(['dap'])\n"
    )
    lines = source.read_text().splitlines()
    chosen, halved = (next(n for n, line in enumerate(lines, 1) if t in line) for t in ("tl.where", "* 0.5"))
    words = [sys.executable, adapter, program, TRITON_RUN, source, chosen, "laneid == 7 && ctaid.x == 3 && %r14 == 2", "%r13"]
    done = subprocess.run([node, str(HERE / "scenario.js"), *map(str, words)], cwd=HERE, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["stepBack"] is True and seen["verified"] == [True] and seen["threads"] == 8
    assert (seen["first"]["reason"], seen["first"]["line"], seen["first"]["file"]) == ("breakpoint", chosen, "triton_decay.py")
    assert seen["back"]["reason"] == "step" and seen["back"]["line"] == halved
    expected = []
    for x in range(192, 224):  # what the warp has computed in two turns
        total = float(x)
        for k in range(2):
            total = total * 0.5 + x
            total = total - k if total > 100 else total
        expected.append(total)
    assert seen["register"] == {"type": ".f32", "lanes": expected}
    assert "cannot be changed" in seen["refused"]
    assert seen["again"]["line"] == chosen and seen["begin"]["reason"] == "entry"
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
