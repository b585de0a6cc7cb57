"""`warplab docs`: the pages of the documentation as text; they are installed with the package."""

from __future__ import annotations

import re
import sys
from difflib import get_close_matches
from pathlib import Path

import click

from ..completing import words

PAGES = Path(__file__).resolve().parents[3] / "docs"


def pages() -> dict[str, Path]:
    """Each page by its name: profiling, instructions/integer."""
    return {path.relative_to(PAGES).with_suffix("").as_posix(): path for path in sorted(PAGES.rglob("*.md"))}


def anchor(heading: str) -> str:
    """The name of a section in links.

    >>> anchor("## How far the counters go")
    'how-far-the-counters-go'
    """
    return re.sub(r"[^\w -]", "", heading.lstrip("# ").lower()).replace(" ", "-")


def sections(text: str) -> dict[str, str]:
    """Each section of a page by its anchor, with the sections below it."""
    # a heading in a code block is none
    plain = re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M | re.S)
    headings = [(m.start(), len(m[1]), anchor(m[0])) for m in re.finditer(r"^(#+) .*$", plain, re.M)]
    found = {}
    for i, (start, level, name) in enumerate(headings):
        end = next((s for s, other, _ in headings[i + 1 :] if other <= level), len(text))
        found[name] = text[start:end].rstrip() + "\n"
    return found


def known(name: str, names: dict[str, str] | dict[str, Path], kind: str) -> str:
    """The name itself, or an error that suggests a similar one."""
    if name in names:
        return name
    near = get_close_matches(name, names, 1)
    raise click.UsageError(f"there is no {kind} {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"))


def _of_guide(section: str | None) -> tuple[str, str | None]:
    """The page on which a section of the CUDA guide stands, and its heading there: F.4.3 stands on guide/F.4.

    A section without statements of its own stands in the one around it; a whole chapter is listed with the others.
    """
    names = {name.partition("/")[2]: path for name, path in pages().items() if name.startswith("guide/")}
    numbers = [n for n in names if "." in n]
    if section is None or section in {n.partition(".")[0] for n in numbers}:
        return "guide/README", None
    place = next((n for n in numbers if section == n or section.startswith(f"{n}.")), section)
    page = f"guide/{known(place, names, 'section of the guide')}"
    there = sections(pages()[page].read_text(encoding="utf-8"))
    while section != place and not any(n.startswith(f"{anchor(section)}-") for n in there):
        section = section.rpartition(".")[0]
    return page, section if section != place else None


@click.command()
@click.argument("page", required=False, shell_complete=words(pages))
@click.argument("section", required=False)
def docs(page: str | None, section: str | None) -> None:
    """Prints a page of the documentation, or one of its sections.

    Without PAGE, the pages are listed. SECTION is the name of a heading, as in `warplab docs profiling bank-conflict`;
    of the CUDA guide a number, as in `warplab docs guide F.4.3`.
    """
    if page is None:
        width = max(map(len, pages()))
        for name, path in pages().items():
            click.echo(f"{name:{width}}  {path.read_text(encoding='utf-8').partition(chr(10))[0].lstrip('# ')}")
        return
    if page == "guide":
        page, section = _of_guide(section)
    text = pages()[known(page.removeprefix("docs/").removesuffix(".md"), pages(), "page")].read_text(encoding="utf-8")
    if section is not None:
        found = sections(text)
        name = next((n for n in found if n.startswith(f"{anchor(section)}-") and page.startswith("guide/")), anchor(section))
        text = found[known(name, found, f"section of {page} called")]
    if sys.stdout.isatty():
        click.echo_via_pager(text)
    else:
        click.echo(text, nl=False)
