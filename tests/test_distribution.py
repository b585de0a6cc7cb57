"""The container, the GitHub Action, the workflow and the pre-commit hooks: their commands exist, and bash accepts them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from warplab.runtime.cli import COMMANDS
from warplab.runtime.golden.output import call

from . import shells

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
FIRST = "warplab run samples/vecadd.ptx"


def read(name: str) -> Any:
    """A YAML file of the repository."""
    return yaml.safe_load((ROOT / name).read_text())


def test_the_readme_begins_with_the_first_command() -> None:
    first, second = re.search(r"^```sh\n(.*)\n(.*)\n```$", (ROOT / "README.md").read_text(), re.M).groups()
    assert first == f"pip install . && {FIRST}"
    assert second == 'pip install -e ".[test]" && python -m tests'


def test_the_container_runs_the_first_command(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    assert [line.split()[0] for line in lines] == ["FROM", "WORKDIR", "COPY", "RUN", "CMD"]
    command = json.loads(lines[-1].removeprefix("CMD "))
    assert shlex.join(command) == FIRST
    monkeypatch.chdir(ROOT)
    assert call(command[1:])[0] == 0
    ignored = (ROOT / ".dockerignore").read_text().split()  # what the command and the build need is not among it
    assert not {"samples", "docs", "runtime", "pyproject.toml", "README.md", "LICENSE"} & set(ignored)


def test_the_development_container_installs_warplab() -> None:
    found = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert shells.words("bash", found["postCreateCommand"]) == [["pip", "install", "-e", ".[test]"], FIRST.split()]


def test_the_workflow_has_each_version_of_python() -> None:
    job = read(".github/workflows/tests.yml")["jobs"]["tests"]
    named = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert job["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert job["steps"][-1]["run"] == "python -m tests"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"PATHS": ".", "OPTIONS": "", "JUNIT": "warplab.xml"}, ["test", ".", "--junit", "warplab.xml"]),
        ({"PATHS": "a b", "OPTIONS": "-k add", "JUNIT": ""}, ["test", "a", "b", "-k", "add"]),
    ],
)
def test_the_action_calls_warplab_with_its_inputs(given: dict[str, str], expected: list[str]) -> None:
    action = read("action.yml")
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite" and all("uses" in s or s["shell"] == "bash" for s in steps)
    test = steps[-1]
    inputs = {name: re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1] for name, value in test["env"].items()}
    assert inputs.keys() == given.keys() and set(inputs.values()) <= set(action["inputs"])
    script = "".join(f"{name}={shlex.quote(value)}\n" for name, value in given.items()) + test["run"]
    assert shells.words("bash", script) == [["warplab", *expected]]


@pytest.mark.parametrize("hook", read(".pre-commit-hooks.yaml"), ids=lambda h: h["id"])
def test_the_hooks_pass_on_a_formatted_file(hook: dict[str, str], tmp_path: Path) -> None:
    program, command, *options = hook["entry"].split()
    assert program == "warplab" and command in COMMANDS
    path = tmp_path / "vecadd.ptx"
    path.write_bytes((ROOT / "samples" / "vecadd.ptx").read_bytes())
    assert re.search(hook["files"], str(path))
    call(["fmt", str(path)])
    formatted = path.read_bytes()
    assert call([command, *options, str(path)])[0] == 0 and path.read_bytes() == formatted
    path.write_text(path.read_text().replace("add.f32", "addd.f32"))
    assert command == "fmt" or call([command, *options, str(path)])[0] == 3


def test_the_script_of_continuous_integration_runs_the_second_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    line = next(line for line in script.splitlines() if line.startswith("command="))
    done = subprocess.run(["bash", "-c", f'{line}\nprintf %s "$command"'], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == 'pip install -e ".[test]" && python -m tests'
