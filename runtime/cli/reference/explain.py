"""`warplab explain`: the paragraph behind a diagnostic's code word."""

from __future__ import annotations

import re
import shutil
import textwrap
from difflib import get_close_matches
from itertools import groupby

import click

import warplab.assembler.link
import warplab.assembler.verify  # noqa: F401  both add their explanations
from warplab.assembler.diagnostics import EXPLANATIONS
from warplab.assembler.diagnostics import explain as explanation
from warplab.isa.foreign import component, in_ptx
from warplab.isa.notation import FORMS

from .. import completing, files
from .docs import pages, sections


@click.command()
@click.argument("code", required=False, shell_complete=completing.codes)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(code: str | None, as_json: bool) -> None:
    """Explains the code word of a diagnostic; without one, lists them all."""
    if code is None:
        if as_json:
            files.print_json(dict(sorted(EXPLANATIONS.items())))
        else:
            click.echo("\n".join(sorted(EXPLANATIONS)))
        return
    text = explanation(code)
    if text is None:
        elsewhere = next(
            (
                page
                for page in ("memcheck", "initcheck", "racecheck", "synccheck", "sanitize", "faults", "profiling")
                if code in sections(pages()[page].read_text(encoding="utf-8"))
            ),
            None,
        )
        if elsewhere is not None:
            raise click.UsageError(f"{code} is not the code word of a diagnostic: warplab docs {elsewhere} {code} explains it")
        word, _, part = code.removesuffix("()").partition(".")
        if said := component(word, part) if part else in_ptx(word):
            click.echo(said)
            return
        if word.lower() in FORMS:
            raise click.UsageError(f"{code} is an instruction: warplab isa {code.lower()} shows its forms")
        near = get_close_matches(code, EXPLANATIONS, 1)
        raise click.UsageError(f"no diagnostic has the code word {code}" + (f"; did you mean {near[0]}?" if near else ""))
    if as_json:
        files.print_json({"code": code, "explanation": text})
    else:
        click.echo(f"{click.style(code, bold=True)}\n\n{wrapped(text)}")


def wrapped(text: str) -> str:
    """Paragraphs as wide as the terminal; lines that are indented are code, and what stands between backticks is not divided."""
    width = max(40, min(shutil.get_terminal_size((100, 24)).columns, 100))
    out = []
    for is_code, lines in groupby(text.splitlines(), lambda line: line.startswith("    ") or not line.strip()):
        if is_code:
            out += [f"  {line}".rstrip() for line in lines]
            continue
        whole = re.sub(r"`[^`]*`", lambda m: m[0].replace(" ", "\0"), " ".join(lines))
        filled = textwrap.fill(whole, width, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        out.append(filled.replace("\0", " "))
    return "\n".join(out)
