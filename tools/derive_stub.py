"""Compiles runtime/exec/binaries/stub.c and writes its machine code into runtime/exec/binaries/stub.py, as text.

python -m tools.derive_stub x86_64=gcc aarch64=aarch64-linux-gnu-gcc
"""

from __future__ import annotations

import base64
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "runtime" / "exec" / "binaries"
FLAGS = """-Os -fPIC -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-builtin -fno-jump-tables
    -nostdlib -shared -Wl,--build-id=none -Wall -Werror -Wno-unused-parameter"""
OWN_FLAGS = {"x86_64": "-fcf-protection=none -mno-sse", "aarch64": "-mgeneral-regs-only -mno-outline-atomics -mcmodel=tiny"}
SYMBOLS = ("entry", "la_version", "la_objsearch", "la_objopen", "la_activity")
MODULE = '''\
"""The machine code of stub.c, written by tools/derive_stub.py: bytes in base 85 and where its functions begin."""

CODE = {{
{code}
}}
'''


def compiled(compiler: str, machine: str) -> tuple[bytes, dict[str, int]]:
    """The machine code and the offsets of its functions."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stub.so"
        subprocess.run(
            [*shlex.split(compiler), *FLAGS.split(), *OWN_FLAGS[machine].split(), str(FOLDER / "stub.c"), "-o", str(out)], check=True
        )
        raw = out.read_bytes()
        sections = subprocess.run(["readelf", "-SW", str(out)], capture_output=True, text=True, check=True).stdout
        symbols = subprocess.run(["readelf", "-sW", str(out)], capture_output=True, text=True, check=True).stdout
        relocations = subprocess.run(["readelf", "-rW", str(out)], capture_output=True, text=True, check=True).stdout
    assert "no relocations" in relocations, relocations
    assert not re.search(r"\] \.(rodata|data|bss)\S* +\w+ +\w+ +\w+ +0*[1-9a-f]", sections), sections
    m = re.search(r"\] \.text +PROGBITS +(\w+) +(\w+) +(\w+)", sections)
    assert m is not None, sections
    address, offset, size = (int(word, 16) for word in m.groups())
    where = {}
    for line in symbols.splitlines():
        words = line.split()
        if len(words) == 8 and words[7] in SYMBOLS:
            where[words[7]] = int(words[1], 16) - address
    assert where["entry"] == 0, where
    return raw[offset : offset + size], where


def main() -> None:
    """Writes the module."""
    lines = []
    for word in sys.argv[1:]:
        machine, _, compiler = word.partition("=")
        code, where = compiled(compiler, machine)
        raw = base64.b85encode(code).decode()
        text = [raw[at : at + 120] for at in range(0, len(raw), 120)]
        lines.append(
            f"    {machine!r}: (\n        (\n" + "\n".join(f"            {t!r}" for t in text) + f"\n        ),\n        {where!r},\n    ),"
        )
    (FOLDER / "stub.py").write_text(MODULE.format(code="\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
