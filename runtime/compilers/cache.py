"""What was compiled before, by all that decides what a compiler makes of a file.

A file that includes another one of its folder is compiled each time, since nothing here says what that one holds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable

from warplab.interpreter.native.store import ObjectStore, folder

from .source import Compiled, CppSource

VARIABLES = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "CUDA_HOME", "CUDA_PATH")  # that compilers read
_DIRECTIVE = re.compile(r"^\s*#\s*include(?:_next)?\b\s*(.*)$", re.M)
_NAMED = re.compile(r'["<]([^">\n]+)[">]')


def cached(source: CppSource, compiler: str, make: Callable[[], Compiled]) -> Compiled:
    """What `make` gives, or gave before for the same source, options and compiler."""
    if not _stands_alone(source):
        return make()
    place = "" if source.path is None else str(source.path.resolve())  # which the code's line numbers name
    words = [compiler, repr(source), place, *(f"{v}={os.environ.get(v, '')}" for v in VARIABLES)]
    key = hashlib.sha256("\0".join(words).encode(errors="surrogateescape")).hexdigest()
    store = ObjectStore(folder())
    if (kept := store.get(key)) is not None:
        said, _, ptx = kept.partition(b"\n")
        log, symbols = json.loads(said)
        return Compiled(ptx, source.architecture, log, symbols)
    made = make()
    store.put(key, json.dumps([made.log, made.symbols]).encode() + b"\n" + made.ptx)
    return made


def _stands_alone(source: CppSource) -> bool:
    """Does a file include nothing but the compiler's headers?"""
    for operand in _DIRECTIVE.findall(source.text.replace("\\\n", "")):
        m = _NAMED.match(operand)
        if m is None or ".." in m[1] or (source.path is not None and (source.path.parent / m[1]).exists()):
            return False
    return True
