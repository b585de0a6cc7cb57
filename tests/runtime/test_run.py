"""`warplab run` on small programs that say themselves what must come out."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main

PROGRAMS = sorted((Path(__file__).parents[1] / "data" / "run").glob("*.ptx"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_programs_hold_what_they_say(program: Path) -> None:
    done = CliRunner().invoke(main, ["run", str(program)])
    assert done.exit_code == 0, done.output
