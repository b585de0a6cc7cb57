"""The zip that Gradescope takes as an autograder: setup.sh installs warplab, run_autograder grades one submission with the lab inside."""

from __future__ import annotations

import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .lab import Lab

SETUP = """\
#!/usr/bin/env bash
set -e
root="${{AUTOGRADER_ROOT:-/autograder}}"
apt-get update && apt-get install -y python3 python3-pip python3-venv
python3 -m venv "$root/venv"
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
files=("$root"/submission/*.ptx)
if test "${#files[@]}" -ne 1; then
    echo "{\\"score\\": 0, \\"output\\": \\"Hand in one .ptx file. Found: ${#files[@]}.\\"}" > "$results"
    exit 0
fi
submission="${files[0]}\""""
FOLDER = 'submission="$root/submission"'
STAMP = (2020, 1, 1, 0, 0, 0)  # the same lab makes the same zip


def write_bundle(lab: Lab, out: Path, wheel: Path | None = None) -> list[str]:
    """Writes the zip; gives the names in it. Reference and wrong submissions stay outside."""
    what = f'"$root/source/{wheel.name}"' if wheel is not None else f"warplab=={_version()}"
    contents: dict[str, tuple[bytes, bool]] = {
        "setup.sh": (SETUP.format(what=what).encode(), True),
        "run_autograder": (RUN.format(choose=FOLDER if lab.files else ONE_FILE).encode(), True),
    }
    for path in sorted(lab.folder.rglob("*")):
        inside = path.relative_to(lab.folder)
        if path.is_file() and inside.parts[0] not in ("wrong", "reference", "reference.ptx", "__pycache__"):
            contents[f"lab/{inside.as_posix()}"] = (path.read_bytes(), False)
    if wheel is not None:
        contents[wheel.name] = (wheel.read_bytes(), False)
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
