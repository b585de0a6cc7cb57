"""House rules, read from the sources: imports run one way only, our code names only warplab.*, and each folder's page names its files."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.imports import circles, modules, trees

ROOT = Path(__file__).parents[1]
ORDER = ("isa", "assembler", "interpreter", "runtime")
THIRD_PARTY = {
    "isa": {"numpy"},
    "assembler": {"numpy", "lark"},
    "interpreter": {"numpy"},
    "runtime": {"numpy", "click"},
}
ONLY_WHEN_ASKED = {
    "runtime/pytest_plugin.py": {"pytest"},  # pytest itself loads it
    "interpreter/native/jit.py": {"llvmlite"},  # the extra of the native engine
    "runtime/tui/app.py": {"textual"},  # the extra of the full screen
    **{
        f"runtime/lsp/{name}.py": {"pygls", "lsprotocol"} for name in ("server", "session", "questions", "changes", "places")
    },  # that of editors
}


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(absolute module name, line) of every import in a file."""
    package = ["warplab", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *(node.module.split(".") if node.module else [])]), node.lineno


def test_imports_run_one_way() -> None:
    wrong = []
    for rank, folder in enumerate(ORDER):
        for path, tree in trees(folder).items():
            where = str(path.relative_to(ROOT))
            for name, line in imports(path, tree):
                top = name.split(".")[0]
                if top == "warplab":
                    target = name.partition(".")[2].partition(".")[0]
                    if target not in ORDER[: rank + 1]:
                        wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
                elif top in ORDER or top in ("tests", "tools", "samples"):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, not warplab.{name}")
                elif top not in sys.stdlib_module_names and top not in THIRD_PARTY[folder] | ONLY_WHEN_ASKED.get(where, set()):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, which the bare install lacks")
    assert not wrong, "\n".join(wrong)


def test_text_files_name_their_encoding() -> None:
    """The default depends on the user's locale."""
    wrong = []
    for path, tree in (pair for folder in ORDER for pair in trees(folder).items()):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "write_text"):
                named = any(k.arg == "encoding" for k in node.keywords)
                if not named and [ast.unparse(a) for a in node.args] != ["'direct_url.json'"]:  # of a distribution: always UTF-8
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


def test_no_imports_run_in_circles() -> None:
    """Imports for annotations alone count, too."""
    assert [" ".join(circle) for room in ORDER for circle in circles(modules(room)) if len(circle) > 1] == []


def test_an_observer_needs_no_engine() -> None:
    wrong = [name for name in modules("interpreter")["warplab.interpreter.observe"] if ".vector" in name or ".native" in name]
    assert not wrong, wrong


def test_help_imports_neither_numpy_nor_lark() -> None:
    code = (
        "import sys; from warplab.runtime.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'numpy', 'lark'} & set(sys.modules), sorted(sys.modules)"
    )
    path = str(ROOT / "tests" / "importroot")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr


def test_a_run_imports_what_it_uses() -> None:
    """Neither what only other options need, nor what numpy's library and the garbage collector would do at each start."""
    code = (
        "import atexit, gc, sys; from warplab.runtime.cli import main\n"
        "def check():\n"
        "    assert not {'importlib.metadata', 'concurrent.futures.process', 'llvmlite'} & set(sys.modules)\n"
        "    assert len(__import__('os').listdir('/proc/self/task')) == 1, 'threads of OpenBLAS'\n"
        "    assert gc.get_freeze_count() > 10_000, 'the collector looks at all modules as the process ends'\n"
        "    print('checked')\n"
        "atexit.register(check)\n"  # called last, as the first to be registered
        "main(['run', 'samples/vecadd.ptx'])"
    )
    path = str(ROOT / "tests" / "importroot")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"}, cwd=ROOT
    )
    assert (done.stderr, done.stdout.splitlines()[-1]) == ("", "checked"), done


def test_a_program_that_brings_no_ptx_needs_no_grammar() -> None:
    code = "import sys, warplab.runtime.exec.launcher; assert 'lark' not in sys.modules"
    path = str(ROOT / "tests" / "importroot")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr


def test_a_readme_names_what_stands_beside_it() -> None:
    missing = []
    for page in [p for folder in (*ORDER, "tools") for p in sorted((ROOT / folder).rglob("README.md"))]:
        text = page.read_text()
        for path in sorted(page.parent.iterdir()):
            name = f"{path.name}/" if path.is_dir() else path.name
            if not name.startswith(("_", ".")) and path.suffix in ("", ".py") and name not in text:
                missing.append(str(path.relative_to(ROOT)))
    assert not missing, missing
