"""What several tests of the native engine use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from warplab.interpreter.native.program import NativeProgram


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[NativeProgram]:
    """What is compiled in a test."""
    from warplab.interpreter.native.program import NativeProgram  # here: other tests of this folder run without llvmlite

    made: list[NativeProgram] = []
    begin = NativeProgram.__init__

    def noted(self: NativeProgram, *more: Any, **others: Any) -> None:
        begin(self, *more, **others)
        made.append(self)

    monkeypatch.setattr(NativeProgram, "__init__", noted)
    return made
