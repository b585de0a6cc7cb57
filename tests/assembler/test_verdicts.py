"""Programs with the verdict and the line that ptxas 13.0 gives: what the verifier once judged otherwise."""

import itertools
import json
from pathlib import Path

import pytest

from warplab.assembler.verify import check

DATA = Path(__file__).parent / "data" / "verdicts.jsonl"
MUTANTS = Path(__file__).parents[1] / "data" / "mutants.jsonl"


def programs():
    """Text, architecture, whether it is legal, and the lines of the errors; a seed's text differs in one stretch of lines."""
    with MUTANTS.open() as file:
        seeds = {name: text.split("\n") for name, text in json.loads(next(file)).items()}
    for line in DATA.read_text().splitlines():
        seed, at, cut, put, arch, legal, lines = json.loads(line)
        text = seeds.get(seed, [])
        yield "\n".join([*text[:at], *put, *text[at + cut :]]), arch, legal, lines


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.long)])
def test_each_program_gets_the_verdict_and_the_line_of_ptxas(step):
    wrong = []
    number = 0
    for number, (text, arch, legal, lines) in enumerate(itertools.islice(programs(), 0, None, step), 1):
        errors = [d for d in check(text, arch, warnings=()) if d.severity == "error"]
        if (not errors) != legal or (errors and lines and errors[0].span.line not in lines):
            wrong.append((number, legal, lines, errors[:1]))
    assert number > 200 / step
    assert wrong == []
