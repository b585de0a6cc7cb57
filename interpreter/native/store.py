"""Compiled code on disk: object files by what they were made from, in the user's cache folder.

The folder is bounded; what was used longest ago goes first.  A file that was damaged, or a folder that cannot be written, costs time and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "WARPLAB_CACHE"  # another folder
LIMIT = 256 << 20  # bytes of all files
LOOKS = 64  # at all files, while as many bytes are written as the limit allows
_DIGEST = 32  # bytes in front of the code, which say that it is whole


def folder() -> Path:
    """Where compiled code is kept."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "warplab"


def is_empty() -> bool:
    """Is nothing kept there?"""
    try:
        with os.scandir(folder()) as files:
            return next(files, None) is None
    except OSError:
        return True


class ObjectStore:
    """The files of one folder."""

    def __init__(self, place: Path, limit: int = LIMIT) -> None:
        self.place = place
        self.limit = limit

    def get(self, key: str) -> bytes | None:
        """The code that was kept under a key; None if there is none, or a damaged one."""
        path = self._path(key)
        try:
            content = path.read_bytes()
            code = content[_DIGEST:]
            if hashlib.sha256(code).digest() != content[:_DIGEST]:
                path.unlink()
                return None
            os.utime(path)
        except OSError:
            return None
        return code

    def put(self, key: str, code: bytes) -> None:
        """Keeps code; readers find all of it or nothing."""
        try:
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.place, prefix=".")
        except OSError:
            return
        digest = hashlib.sha256(code).digest()
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(digest + code)
            os.replace(name, self._path(key))
            if int.from_bytes(digest[:4], "little") * self.limit < LOOKS * len(code) << 32:
                self._bound()
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)

    def _bound(self) -> None:
        """Removes what is too much.  To look at thousands of files takes longer than to write one: `put` leaves it to chance, as its content says."""
        files = sorted(((p.stat(), p) for p in self.place.glob("*.o")), key=lambda f: f[0].st_mtime)
        size = sum(stat.st_size for stat, _ in files)
        for stat, path in files:
            if size <= self.limit:
                return
            path.unlink(missing_ok=True)
            size -= stat.st_size

    def _path(self, key: str) -> Path:
        return self.place / f"{key}.o"
