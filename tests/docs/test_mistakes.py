"""A beginner's mistakes get messages that name the line, what was expected and what to do."""

from __future__ import annotations

import pytest

from tools import mistakes
from tools.mistakes import READING, RUNNING, SILENT, Mistake


@pytest.mark.parametrize("mistake", [*READING, *RUNNING, *SILENT], ids=lambda m: m.title)
def test_the_message_helps(mistake: Mistake) -> None:
    code, said = mistakes.answer(mistake)
    assert code == mistake.code, said
    for words in mistake.says:
        assert words in said, said


@pytest.mark.parametrize("mistake", READING, ids=lambda m: m.title)
def test_one_mistake_is_said_once(mistake: Mistake) -> None:
    _, said = mistakes.answer(mistake)
    assert said.count("error[") <= 2 and "^" in said and len(said.splitlines()) <= 16, said


def test_the_kernel_is_right_at_first() -> None:
    same = Mistake("", "// out[s]", "// out[s]", (), 0)
    assert mistakes.answer(same) == (0, "ok     segdot<<<4, 64>>>: 1 check passed")
