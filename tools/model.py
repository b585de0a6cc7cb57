"""Which rows the tests against models perform: traces them and writes tests/data/model.json.

    python -m tools.model            takes a minute and a half

A model is Python's own arithmetic or a description of one lane at a time; tests of recordings and of the tables themselves don't count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

from .rows import MODEL, Row, performed, places

ROOT = Path(__file__).parents[1]
SUITES = [
    "tests/isa", "tests/interpreter/test_reference.py", "tests/interpreter/vector/test_launch_control.py",
    "tests/interpreter/tensors/test_tensor_memory.py", "tests/interpreter/tensors/test_tensor_products.py", "tests/interpreter/tensors/test_tensor_copies.py",
    "tests/interpreter/tensors/test_tensor_forms.py",
]  # fmt: skip
NO_MODEL = ("record", "test_rows", "test_profiles")  # in the name of a test or its file


class Trace:
    """Notes the rows of every test that passes."""

    def __init__(self) -> None:
        self.tests: Counter[Row] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Counts a test for each row that it performs."""
        with performed() as seen:
            yield
        if not any(word in item.nodeid for word in NO_MODEL):
            self.tests.update({places()[id(f)] for f in seen if id(f) in places()})


def traced() -> dict[str, int]:
    """Runs the suites in a process of their own; tests by row, as "opcode#place"."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        env = os.environ | {"PYTHONPATH": f"{ROOT / 'tests' / 'importroot'}"}
        subprocess.run([sys.executable, "-m", "tools.model", str(out)], check=True, capture_output=True, cwd=ROOT, env=env)
        found: dict[str, int] = json.loads(out.read_text(encoding="utf-8"))
    return found


def stored() -> dict[str, int]:
    """What the file says."""
    found: dict[str, int] = json.loads(MODEL.read_text(encoding="utf-8"))
    return found


def main(path: Path) -> int:
    """Runs the suites here, under the trace, and writes the file."""
    trace = Trace()
    code = pytest.main([*SUITES, "-q", "-p", "no:cacheprovider"], plugins=[trace])
    if code == 0:
        tests = {f"{opcode}#{n}": tests for (opcode, n), tests in sorted(trace.tests.items())}
        path.write_text(json.dumps(tests, indent=0, separators=(",", ":")) + "\n", encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else MODEL))
