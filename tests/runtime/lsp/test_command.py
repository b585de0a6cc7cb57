"""`warplab lsp` without the packages that it needs."""

from __future__ import annotations

import sys

import pytest

from warplab.runtime.golden.output import call


def test_what_to_install_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith(("warplab.runtime.lsp", "pygls", "lsprotocol"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("pygls", "lsprotocol"):
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = call(["lsp"])
    assert (code, out) == (2, "") and "pip install 'warplab[editor]'" in err
