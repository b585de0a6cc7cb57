"""Any command of a RUN line, in bash: `mycc %s -o %t.ptx && warplab run %t.ptx`."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

_HEAD = 'set -o pipefail\nnot() {{ ! "$@"; }}\nwarplab() {{ {python} -m warplab "$@"; }}\n'


def substituted(text: str, path: str, temporary: str = "") -> str:
    """%s is the test's file, %S its folder, %t a file of its own that is removed afterwards, %T the folder of that, %{X} the environment's X."""

    def value(m: re.Match[str]) -> str:
        known = {"%s": path, "%S": str(Path(path).parent), "%%": "%"}
        if temporary:
            known |= {"%t": str(Path(temporary, Path(path).stem)), "%T": temporary}
        if m[1] is not None:
            found = os.environ.get(m[1])
            if found is None:
                raise ValueError(f"%{{{m[1]}}}: the environment has no variable {m[1]}")
            return found
        if m[0] not in known:
            raise ValueError(f"{m[0]} is not supported; there are %s, %S, %t, %T and %{{VARIABLE}}")
        return known[m[0]]

    return re.sub(r"%(?:[%a-zA-Z]|\{(\w+)\})", value, text)


def run(command: str, path: Path) -> tuple[int, str, str]:
    """Exit code, standard output and error of a command; the first of a pipe that fails decides."""
    with tempfile.TemporaryDirectory(prefix="warplab-") as folder:
        words = substituted(command, shlex.quote(str(path)), folder)
        script = _HEAD.format(python=shlex.quote(sys.executable)) + words
        try:
            done = subprocess.run(["bash", "-c", script], capture_output=True, stdin=subprocess.DEVNULL, env=os.environ, check=False)
        except OSError as e:
            raise ValueError(f"the command needs bash: {e.strerror}") from None
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
