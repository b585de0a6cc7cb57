"""A figure for many numbers at once: a page whose sliders choose among figures that are all in it, so it needs no server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import UsageError
from .figure import Figure, Scheme

MOST = 1000  # figures of a page
STYLE = """
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.5 ui-sans-serif, system-ui, sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 16px; }
h1 { font-size: 20px; margin: 0 0 12px; }
label { display: grid; grid-template-columns: minmax(5em, 8em) 1fr minmax(4em, 8em); gap: 12px; align-items: center; margin: 4px 0; }
label output { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
input[type=range] { width: 100%; min-width: 0; accent-color: var(--good); }
figure { margin: 16px 0 0; }
.wide { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 560px; height: auto; }
"""
SCRIPT = """
const sliders = [...document.querySelectorAll("input[type=range]")], figures = [...document.querySelectorAll("figure")];
function show() {
  let at = 0;
  for (const slider of sliders) {
    const values = JSON.parse(slider.dataset.values), n = Number(slider.value);
    slider.setAttribute("aria-valuetext", values[n]);
    slider.nextElementSibling.textContent = values[n];
    at = at * values.length + n;
  }
  figures.forEach((figure, n) => { figure.hidden = n !== at; });
}
sliders.forEach((slider) => slider.addEventListener("input", show));
show();
"""


@dataclass(frozen=True, slots=True)
class SlidingFigure:
    """The figures for every combination of some values, those of the last slider changing fastest."""

    title: str
    sliders: dict[str, tuple[list[str], int]]  # what each shows for its values, and which it begins with
    figures: tuple[Figure, ...]

    def page(self, scheme: Scheme = "auto") -> str:
        """HTML in one piece."""
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{STYLE}</style></head><body><main><h1>{escape(self.title)}</h1>\n"
            f"{''.join(map(_slider, self.sliders, self.sliders.values()))}\n"
            f"{''.join(_figure(f, n == self._first, scheme) for n, f in enumerate(self.figures))}"
            f"</main><script>{SCRIPT}</script></body></html>\n"
        )

    def save(self, path: str | Path, scheme: Scheme = "auto") -> None:
        """Writes the page."""
        if Path(path).suffix != ".html":
            raise UsageError(f"{path}: figures with sliders are written as .html")
        Path(path).write_text(self.page(scheme), encoding="utf-8")

    def _repr_html_(self) -> str:
        """What notebooks show: a page within theirs."""
        page, title = escape(self.page(), quote=True), escape(self.title, quote=True)
        return f'<iframe srcdoc="{page}" title="{title}" width="100%" height="480" style="border: 0"></iframe>'

    @property
    def _first(self) -> int:
        """The figure that is shown first."""
        at = 0
        for texts, begin in self.sliders.values():
            at = at * len(texts) + begin
        return at


def _slider(name: str, values: tuple[list[str], int]) -> str:
    texts, begin = values
    return (
        f'<label>{escape(name)}<input type="range" min="0" max="{len(texts) - 1}" value="{begin}" '
        f'data-values="{escape(json.dumps(texts), quote=True)}"><output>{escape(texts[begin])}</output></label>'
    )


def _figure(figure: Figure, shown: bool, scheme: Scheme) -> str:
    hidden = "" if shown else " hidden"
    return f'<figure{hidden}><div class="wide">{figure.text(scheme)}</div></figure>\n'


def sliders(
    draw: Callable[..., Figure], slide: Mapping[str, Sequence[Any]], given: Mapping[str, Any] = MappingProxyType({}),
    *, names: Mapping[str, list[str]] | None = None,
) -> SlidingFigure:  # fmt: skip
    """What `draw` makes of the values that slide, and of what is given beside them: `sliders(banks, {"stride": range(1, 33)}, {"width": 8})`.

    A slider begins with the value that is given, where that is one of its own.  `names`: what the sliders are called, and what they show.
    """
    names = names or {name: [str(v) for v in values] for name, values in slide.items()}
    for name, texts in names.items():
        if not texts:
            raise UsageError(f"the slider for {name} has no values")
    count = prod(map(len, slide.values()))
    if count > MOST:
        raise UsageError(f"{count:,} figures: a page has at most {MOST:,}; give the sliders fewer values")
    begins = [list(values).index(given[name]) if given.get(name) in values else 0 for name, values in slide.items()]
    drawn = [draw(**{**given, **dict(zip(slide, chosen, strict=True))}) for chosen in product(*slide.values())]
    return SlidingFigure(draw.__name__, {n: (t, b) for (n, t), b in zip(names.items(), begins, strict=True)}, tuple(drawn))
