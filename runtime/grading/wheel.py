"""The wheel of the warplab that runs, made again of the files that were installed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from importlib.metadata import PackageNotFoundError, distribution

STAMP = (2020, 1, 1, 0, 0, 0)  # the same installation makes the same wheel
OF_THE_INSTALLER = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")


def installed_wheel() -> tuple[str, bytes] | None:
    """Its name and its bytes; None in a source tree, or where that is installed with -e."""
    try:
        found = distribution("warplab")
    except PackageNotFoundError:
        return None
    if json.loads(found.read_text("direct_url.json") or "{}").get("dir_info", {}).get("editable") or not found.files:
        return None
    info = f"warplab-{found.version}.dist-info"
    contents = {}
    for file in found.files:
        path = file.as_posix()
        own = path.startswith("warplab/") or (path.startswith(f"{info}/") and path.partition("/")[2] not in OF_THE_INSTALLER)
        if own and "__pycache__" not in path:
            contents[path] = file.read_binary()
    if f"{info}/WHEEL" not in contents:
        return None
    hashes = {p: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=") for p, data in contents.items()}
    lines = [f"{p},sha256={hashes[p]},{len(data)}" for p, data in contents.items()]
    contents[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            archive.writestr(zipfile.ZipInfo(path, STAMP), data, zipfile.ZIP_DEFLATED)
    return f"warplab-{found.version}-py3-none-any.whl", out.getvalue()
