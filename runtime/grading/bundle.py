"""A lab as a zip: for Gradescope, whose setup.sh installs warplab and whose run_autograder grades one submission; or to hand out.

Either has the lab's own files alone: lab.toml, README.md, the starter, and what these name.  No link is followed.
"""

from __future__ import annotations

import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..errors import UsageError
from .lab import Lab
from .speed import TIMES
from .speed import as_json as times_json
from .supervise import timed
from .wheel import installed_wheel

SETUP = """\
#!/usr/bin/env bash
set -e
root="${{AUTOGRADER_ROOT:-/autograder}}"
export DEBIAN_FRONTEND=noninteractive
apt-get update
# the image's python3 may be too old, and Debian's has no venv of its own
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    python=python3
    apt-get install -y python3-venv
else
    python=python3.11
    apt-get install -y python3.11 python3.11-venv
fi
"$python" -m venv "$root/venv"
"$root/venv/bin/pip" install {what}
"""
# Gradescope shows nothing but results.json: one is written whatever was handed in.
RUN = """\
#!/usr/bin/env bash
root="${{AUTOGRADER_ROOT:-/autograder}}"
results="$root/results/results.json"
mkdir -p "$root/results"
rm -f "$results"
{choose}
"$root/venv/bin/warplab" grade "$root/source/lab" "$submission" --format gradescope --out "$results"
if ! test -s "$results"; then
    echo '{{"score": 0, "output": "This could not be graded: tell your teacher."}}' > "$results"
fi
"""
ONE_FILE = """\
shopt -s nullglob
files=("$root"/submission/*.ptx "$root"/submission/*.cu)
if test "${#files[@]}" -ne 1; then
    echo "{\\"score\\": 0, \\"output\\": \\"Hand in one .ptx or .cu file. Found: ${#files[@]}.\\"}" > "$results"
    exit 0
fi
submission="${files[0]}\""""
FOLDER = 'submission="$root/submission"'
OTHERS = ("wrong", "reference", "reference_cuda", "reference.ptx", "reference.cu")  # no student sees them
STARTERS = ("starter", "starter_cuda", "starter.ptx", "starter.cu")
_TEST = re.compile(r"[ \t]*\[\[\s*test\s*\]\]")
STAMP = (2020, 1, 1, 0, 0, 0)  # the same lab makes the same zip


def write_bundle(lab: Lab, out: Path, wheel: Path | None = None) -> list[str]:
    """Writes the zip; gives the names in it. Reference and wrong submissions stay outside."""
    brought = (wheel.name, wheel.read_bytes()) if wheel is not None else installed_wheel()
    extra = "[cuda]" if any((lab.folder / name).exists() for name in STARTERS if name not in ("starter", "starter.ptx")) else ""
    what = f'"$root/source/{brought[0]}{extra}"' if brought is not None else f'"warplab{extra}=={_version()}"'
    contents: dict[str, tuple[bytes, bool]] = {
        "setup.sh": (SETUP.format(what=what).encode(), True),
        "run_autograder": (RUN.format(choose=FOLDER if lab.files else ONE_FILE).encode(), True),
    }
    for inside, data in own_files(lab, _toml(lab)).items():
        contents[f"lab/{inside}"] = (data, False)
    if brought is not None:
        contents[brought[0]] = (brought[1], False)
    return _write(out, contents)


def write_handout(lab: Lab, out: Path) -> list[str]:
    """Writes what students get: the lab without its hidden tests, and without what only those name; gives the names in it."""
    folder = lab.folder.resolve().name
    return _write(out, {f"{folder}/{inside}": (data, False) for inside, data in own_files(lab, without_hidden(_toml(lab))).items()})


def own_files(lab: Lab, toml: str) -> dict[str, bytes]:
    """The files of a lab whose lab.toml has this text, by their paths in its folder."""
    found = {"lab.toml": toml.encode()}
    if any(t.speed for t in lab.tests):
        tests = tuple(t["name"] for t in tomllib.loads(toml)["test"])
        found[TIMES] = times_json({k: v for k, v in timed(lab).times.items() if k.rpartition("/")[0] in tests}).encode()
    there = {p.relative_to(lab.folder).as_posix(): p for p in _files(lab.folder)}
    naming = toml
    for inside, path in there.items():
        if inside == "README.md" or inside.split("/")[0] in STARTERS:
            found[inside] = path.read_bytes()
    if "README.md" in found:
        naming += found["README.md"].decode(errors="replace")
    while True:  # a launch file names further files
        new = [i for i in there if i not in found and i.split("/")[0] not in OTHERS and _names(naming, i)]
        if not new:
            return dict(sorted(found.items()))
        for inside in new:
            found[inside] = there[inside].read_bytes()
            if inside.endswith(".toml"):
                naming += found[inside].decode(errors="replace")


def _names(text: str, path: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(path)}(?![\w/-])", text) is not None


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder; links and hidden ones are not among them."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _files(path)
        elif path.is_file():
            yield path


def _toml(lab: Lab) -> str:
    return (lab.folder / "lab.toml").read_text(encoding="utf-8")


def without_hidden(text: str) -> str:
    """The text of a lab.toml without its hidden tests."""
    pieces = re.split(r"(?m)^(?=[ \t]*\[)", text)  # at each table
    kept = "".join(p for p in pieces if not (_TEST.match(p) and tomllib.loads(p)["test"][0].get("hidden")))
    wanted = tomllib.loads(text)
    wanted["test"] = [t for t in wanted["test"] if not t.get("hidden")]
    if tomllib.loads(kept) != wanted:
        raise UsageError("lab.toml: the hidden tests can't be cut out: begin each [[test]], and no other line, with [")
    return kept


def _write(out: Path, contents: Mapping[str, tuple[bytes, bool]]) -> list[str]:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, (data, runs) in contents.items():
            info = zipfile.ZipInfo(name, STAMP)
            info.external_attr = (0o755 if runs else 0o644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, data)
    return list(contents)


def _version() -> str:
    try:
        return version("warplab")
    except PackageNotFoundError:  # run from a source tree
        return "0"
