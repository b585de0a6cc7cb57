"""House rules, read from the sources: imports run one way only, our code names only warplab.*, and each folder's page names its files."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
ORDER = ("isa", "assembler", "interpreter", "runtime")
THIRD_PARTY = {
    "isa": {"numpy"},
    "assembler": {"numpy", "lark"},
    "interpreter": {"numpy"},
    "runtime": {"numpy", "click"},
}
ONLY_WHEN_ASKED = {"runtime/pytest_plugin.py": {"pytest"}}  # pytest itself loads it


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """(absolute module name, line) of every import in a file."""
    package = ["warplab", *path.relative_to(ROOT).parent.parts]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield name.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            yield ".".join([*base, *(node.module.split(".") if node.module else [])]), node.lineno


def test_imports_run_one_way() -> None:
    wrong = []
    for rank, folder in enumerate(ORDER):
        for path in sorted((ROOT / folder).rglob("*.py")):
            where = str(path.relative_to(ROOT))
            for name, line in imports(path):
                top = name.split(".")[0]
                if top == "warplab":
                    target = name.partition(".")[2].partition(".")[0]
                    if target not in ORDER[: rank + 1]:
                        wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
                elif top in ORDER or top in ("tests", "samples"):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, not warplab.{name}")
                elif top not in sys.stdlib_module_names and top not in THIRD_PARTY[folder] | ONLY_WHEN_ASKED.get(where, set()):
                    wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}, which the bare install lacks")
    assert not wrong, "\n".join(wrong)


LARGEST_CIRCLE = {"isa": 1, "assembler": 1, "interpreter": 3, "runtime": 6}  # files that import each other when they run
ANNOTATED = {"isa": 1, "assembler": 1, "interpreter": 26, "runtime": 6}  # and with what is imported for annotations alone


def room_imports(folder: str, annotations: bool) -> dict[str, set[str]]:
    """The modules of a folder, each with those of them that it imports."""
    paths = {".".join(("warplab", *p.relative_to(ROOT).with_suffix("").parts)): p for p in (ROOT / folder).rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    found: dict[str, set[str]] = {}
    for name, path in modules.items():
        package = ["warplab", *path.relative_to(ROOT).parent.parts]
        tree = ast.parse(path.read_text())
        typing = [] if annotations else [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
        left_out = {id(inner) for n in typing for inner in ast.walk(n)}
        nodes = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and id(n) not in left_out]
        named = set()
        for node in nodes:
            base = ".".join([*(package[: len(package) - node.level + 1] if node.level else ()), *filter(None, [node.module])])
            named |= {f"{base}.{a.name}" if f"{base}.{a.name}" in modules else base for a in node.names}
        found[name] = (named & modules.keys()) - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """The sets of modules that import each other, by way of others too."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        work = [start]
        while work:
            for name in graph[work.pop()] - seen:
                seen.add(name)
                work.append(name)
        reached[start] = seen
    return sorted({tuple(sorted([a, *(b for b in reached[a] if b != a and a in reached[b])])) for a in graph if a in reached[a]})


def test_few_files_import_each_other() -> None:
    for annotations, limits in ((False, LARGEST_CIRCLE), (True, ANNOTATED)):
        large = {folder: [c for c in circles(room_imports(folder, annotations)) if len(c) > limits[folder]] for folder in ORDER}
        assert not any(large.values()), large


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


def test_a_readme_names_what_stands_beside_it() -> None:
    missing = []
    for page in [p for folder in ORDER for p in sorted((ROOT / folder).rglob("README.md"))]:
        text = page.read_text()
        for path in sorted(page.parent.iterdir()):
            name = f"{path.name}/" if path.is_dir() else path.name
            if not name.startswith(("_", ".")) and path.suffix in ("", ".py") and name not in text:
                missing.append(str(path.relative_to(ROOT)))
    assert not missing, missing
