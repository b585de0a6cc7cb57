"""`warplab docs`: pages, their sections, and names that do not exist."""

from __future__ import annotations

import pytest

from warplab.runtime.cli.reference.docs import pages, sections
from warplab.runtime.golden.output import call


def test_pages_are_listed_with_their_titles() -> None:
    code, out, _ = call(["docs"])
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0 and lines["ptx"] == "PTX in two pages" and lines["instructions/integer"] == "Integer"
    assert set(lines) == set(pages())


@pytest.mark.parametrize("name", ["faults", "faults.md", "docs/faults.md"])
def test_a_page_is_printed_as_it_is(name: str) -> None:
    assert call(["docs", name])[1] == pages()["faults"].read_text()


def test_a_section_ends_where_the_next_one_of_its_level_begins() -> None:
    text = "# Title\n\n## One\n\na\n\n### Below\n\n```sh\n# no heading\n```\n\n## Two\n\nb\n"
    found = sections(text)
    assert list(found) == ["title", "one", "below", "two"]
    assert found["one"].endswith("# no heading\n```\n") and found["two"] == "## Two\n\nb\n"
    assert call(["docs", "faults", "limits"])[1].startswith("## Limits\n")


@pytest.mark.parametrize(("words", "near"), [(["fault"], "'faults'"), (["faults", "limit"], "'limits'")])
def test_a_wrong_name_is_an_error_with_the_nearest_one(words: list[str], near: str) -> None:
    code, _, err = call(["docs", *words])
    assert code == 2 and f"did you mean {near}" in err


def test_sections_of_the_guide_by_their_numbers() -> None:
    assert call(["docs", "guide"])[1] == pages()["guide/README"].read_text()
    assert call(["docs", "guide", "F.4"])[1] == pages()["guide/F.4"].read_text()
    assert call(["docs", "guide", "F.4.3"])[1].startswith("## F.4.3 Shared memory of devices 2.x\n")
    assert call(["docs", "guide", "F.4.3.1.9"])[1].startswith("## F.4.3.1 ")  # no statements of its own: the section around it
    assert call(["docs", "guide", "B.13.4"])[1].startswith("# B.13 ")
    assert call(["docs", "guide", "F"])[1] == call(["docs", "guide"])[1]
    code, _, err = call(["docs", "guide", "Q.1"])
    assert code == 2 and "there is no section of the guide 'Q.1'" in err
