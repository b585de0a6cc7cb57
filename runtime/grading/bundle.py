"""The zip that Gradescope takes as an autograder: setup.sh installs warplab, run_autograder grades one submission with the lab inside."""

from __future__ import annotations

import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .lab import Lab

SETUP = """\
#!/usr/bin/env bash
set -e
apt-get update && apt-get install -y python3 python3-pip python3-venv
python3 -m venv /autograder/venv
/autograder/venv/bin/pip install {what}
"""
RUN = """\
#!/usr/bin/env bash
mkdir -p /autograder/results
/autograder/venv/bin/warplab grade /autograder/source/lab {submission} \\
    --format gradescope --out /autograder/results/results.json
test -s /autograder/results/results.json
"""
STAMP = (2020, 1, 1, 0, 0, 0)  # the same lab makes the same zip


def write_bundle(lab: Lab, out: Path, wheel: Path | None = None) -> list[str]:
    """Writes the zip; gives the names in it. Reference and wrong submissions stay outside."""
    what = f"/autograder/source/{wheel.name}" if wheel is not None else f"warplab=={_version()}"
    submission = "/autograder/submission" if len(lab.files) != 1 else f"/autograder/submission/{lab.files[0]}"
    contents: dict[str, tuple[bytes, bool]] = {
        "setup.sh": (SETUP.format(what=what).encode(), True),
        "run_autograder": (RUN.format(submission=submission).encode(), True),
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
