"""Submissions in CUDA C++: each file is compiled once, by a process with limits, and sees no other file than the compiler's headers.

A compiler reads what #include names and quotes it in its messages; a submission that names anything but a header is not compiled.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from warplab.isa.profiles import runs_on

from ..compilers.cache import cached
from ..compilers.compile import compiler, fitted
from ..compilers.source import Compiled, CppSource, failed
from ..device.described import target_of
from ..errors import ApiError
from ..run.runspec import RunSpec
from ..sources import CPP, DEFAULT_DEVICE, oldest_device
from .lab import Lab, Limits, Submission

MEMORY = 4 << 10  # MiB of addresses, of which a compiler uses a part
SAID = 20_000  # characters of the compiler's messages that are kept
# a directive that reads a file or says in which file it stands, wherever it is: in a comment, too, as this does not know which are
_HASH = r"(?:\#|%:|\?\?=)(?:\s|/\*.*?\*/)*"
_READS = re.compile(rf"{_HASH}(?:include|include_next|import|embed)\b(?P<operand>[^\n]*)", re.S)
_MOVES = re.compile(rf"{_HASH}(?:line\b|\d)", re.S)
_HEADER = re.compile(r"""\s*(?:<(?P<system>[\w+./-]+)>|"(?P<own>[\w+./-]+)")""")
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\v\f]*\r?\n")


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """What a compiler made of a file, or why there is nothing."""

    ptx: bytes = b""
    wrong: str = ""
    target: str = ""  # that it is compiled for

    def on(self, spec: RunSpec) -> bool:
        """Is it code for the device of a run?"""
        return not self.target or runs_on(self.target, target_of(spec.device or DEFAULT_DEVICE))


def build(lab: Lab, submission: Submission) -> Mapping[str, BuiltFile]:
    """The programs of a submission's files in CUDA C++, by their names.  Raises UsageError where there is no compiler."""
    device = oldest_device([spec for t in lab.tests for spec in t.runs])
    out = {}
    for name, data in submission.files.items():
        if name.endswith(CPP):
            linked = any(t.modules for t in lab.tests if submission.named(t.file) == name)
            out[name] = _built(name, data, device, linked, lab.limits)
    return out


@lru_cache(1000)
def _built(name: str, data: bytes, device: str, linked: bool, limits: Limits) -> BuiltFile:
    if len(data) > limits.source << 10:
        return BuiltFile(wrong=f"{name} is larger than {limits.source} KiB")
    text = data.decode(errors="replace")
    if wrong := _reads_files(text):
        return BuiltFile(wrong=f"{name}: {wrong}")
    source = fitted(CppSource(text, name, device, ("-lineinfo", *["-rdc=true"] * linked)), "nvcc")
    try:
        made = cached(source, compiler(source.name), lambda: _in_child(source, limits))
    except ApiError as e:
        return BuiltFile(wrong=e.message)
    return BuiltFile(made.ptx, target=made.architecture)


def _reads_files(text: str) -> str:
    """What is wrong with the files that a text names."""
    spliced = _SPLICE.sub("", text)
    for m in _READS.finditer(spliced):
        header = _HEADER.match(m["operand"])
        name = (header["system"] or header["own"]) if header is not None else ""
        if not name or name.startswith("/") or ".." in name:
            return f"#include{m['operand'].rstrip()[:100]}: a submission includes headers of the compiler, by their names"
    return "#line has no place in a submission" if _MOVES.search(spliced) else ""


def _in_child(source: CppSource, limits: Limits) -> Compiled:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "warplab.runtime.compilers.bounded"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=folder, env={**environment, "TMPDIR": folder}, start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = process.communicate(pickle.dumps((source, limits.seconds, MEMORY)), limits.seconds)
        except subprocess.TimeoutExpired:
            raise ApiError("", f"{source.name}: the compiler took more than {limits.seconds:g} s and was ended") from None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    try:
        answer = json.loads(said)
    except ValueError:
        answer = {"error": ""}
    if "error" in answer:
        message = str(answer["error"]).strip()
        if not message or message == failed(source.name, "").message:
            message = f"{source.name}: the compiler ended without a message: it may have met a limit of time, memory or output"
        raise ApiError("", message[:SAID])
    return Compiled(answer["ptx"].encode(), source.architecture, answer["log"])
